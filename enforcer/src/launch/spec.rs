//! What the supervisor tells the launcher: everything decided beforehand, so that the launcher only carries out.
//!
//! It travels as postcard in a sealed memfd. Both sides are the same program, so the format has no version.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};

use artifact::filesystem::{LandlockRule, Node, NodeKind};
use artifact::seccomp::Instruction;
use rustix::fs::{MemfdFlags, SealFlags};
use serde::{Deserialize, Serialize};

use crate::sys::signal::SignalSet;

/// One run, as the launcher sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LaunchSpec {
    /// Version 1 cgroups to join.
    pub(crate) cgroups: Vec<String>,
    /// A network namespace to enter.
    pub(crate) network: Option<OsString>,
    /// Mount attributes for everything that no mount of its own is made for.
    pub(crate) base_attributes: u64,
    /// Mounts, enclosing ones first.
    pub(crate) mounts: Vec<Mount>,
    /// Where the command starts.
    pub(crate) working_directory: OsString,
    /// The landlock ABI to use, as probed.
    pub(crate) landlock_abi: u32,
    /// File rules.
    pub(crate) landlock: Vec<LandlockRule>,
    /// TCP ports to grant; nothing when the right is not to be handled.
    pub(crate) connect_ports: Option<Vec<u16>>,
    /// The same for bind.
    pub(crate) bind_ports: Option<Vec<u16>>,
    /// The filter.
    pub(crate) seccomp: Vec<Instruction>,
    /// The run's ids.
    pub(crate) uid: u32,
    /// The run's group.
    pub(crate) gid: u32,
    /// Resource limits.
    pub(crate) rlimits: Vec<(Rlimit, u64)>,
    /// Signals blocked when remit was started; the command starts with these.
    pub(crate) signal_mask: SignalSet,
    /// `NAME=value`, complete.
    pub(crate) environment: Vec<OsString>,
    /// Program and arguments.
    pub(crate) command: Vec<OsString>,
}

/// One mount of the run's own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mount {
    /// Where.
    pub(crate) path: String,
    /// What stands there.
    pub(crate) kind: NodeKind,
    /// What is mounted.
    pub(crate) source: Source,
    /// `MOUNT_ATTR_*` bits to add.
    pub(crate) attributes: u64,
    /// Show files of this user and group as the run's own.
    pub(crate) owner: Option<(u32, u32)>,
    /// What has to be made in it first.
    pub(crate) skeleton: Vec<Node>,
}

/// What is mounted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Source {
    /// The host's object at this path, opened before anything is mounted.
    Host,
    /// What is visible at this path when its turn comes.
    Visible,
    /// This child of the mask file system.
    Mask(String),
    /// Nothing, without a record of who looks.
    Empty,
    /// procfs.
    Proc,
    /// The device directory.
    Devices,
    /// A tmpfs, of this many bytes, with this mode.
    Tmpfs {
        /// Size limit in bytes.
        size_bytes: u64,
        /// Mode of its root.
        mode: u32,
    },
}

/// Resource limits that stand in for, or add to, a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Rlimit {
    /// `RLIMIT_NOFILE`.
    OpenFiles,
    /// `RLIMIT_NPROC`.
    Processes,
    /// `RLIMIT_AS`.
    AddressSpace,
}

/// An empty memfd for a spec.
pub(crate) fn memfd() -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // The second flag is there since Linux 6.3.
    let memfd = rustix::fs::memfd_create("remit-spec", flags | MemfdFlags::NOEXEC_SEAL)
        .or_else(|_| rustix::fs::memfd_create("remit-spec", flags))?;
    Ok(memfd)
}

impl LaunchSpec {
    /// Writes it into a memfd and seals that.
    pub(crate) fn write(&self, memfd: OwnedFd) -> io::Result<()> {
        let bytes = postcard::to_stdvec(self).map_err(io::Error::other)?;
        let mut file = File::from(memfd);
        file.write_all(&bytes)?;
        file.rewind()?;
        let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        Ok(rustix::fs::fcntl_add_seals(file.as_fd(), all)?)
    }

    /// Reads it back.
    pub(crate) fn read(memfd: OwnedFd) -> io::Result<Self> {
        let mut bytes = Vec::new();
        File::from(memfd).read_to_end(&mut bytes)?;
        postcard::from_bytes(&bytes).map_err(io::Error::other)
    }
}
