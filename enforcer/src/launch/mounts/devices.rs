//! `/dev`: the harmless devices, a terminal multiplexer of its own, shared memory.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use artifact::filesystem::{LandlockRule, path};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};

use super::{attach_at, clone_of, open_exactly, private};
use crate::sys;

/// Devices that reveal nothing and control nothing.
const HARMLESS: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const LINKS: [(&str, &str); 5] = [
    ("ptmx", "pts/ptmx"),
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
const QUIET: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NOEXEC);
/// The same, as [`sys::mount`] says it.
const HAS: u64 = sys::mount::NOSUID | sys::mount::NOEXEC;
/// Room for the directory itself; it holds no data.
const DIRECTORY_BYTES: u64 = 65_536;
/// What a run may keep in shared memory.
const SHM_BYTES: u64 = 64 << 20;

/// The directory, not attached yet, and the host's device nodes, cloned before their mount is sealed against
/// devices.
#[derive(Debug)]
pub(super) struct Devices {
    root: OwnedFd,
    nodes: Vec<Node>,
}

/// A device, and the empty file that it goes over.
#[derive(Debug)]
struct Node {
    device: OwnedFd,
    place: OwnedFd,
}

impl Devices {
    pub(super) fn make() -> io::Result<Self> {
        let root = private::mount_tmpfs(DIRECTORY_BYTES, 0o755, QUIET)?;
        for (link, target) in LINKS {
            rustix::fs::symlinkat(target, &root, link)?;
        }
        for name in ["pts", "shm"] {
            rustix::fs::mkdirat(&root, name, Mode::from_raw_mode(0o755))?;
        }
        let mut nodes = Vec::with_capacity(HARMLESS.len());
        for name in HARMLESS {
            rustix::fs::mknodat(&root, name, FileType::RegularFile, Mode::empty(), 0)?;
            let device = clone_of(open_exactly(&format!("/dev/{name}"))?.as_fd())?;
            sys::mount::add_attributes_here(device.as_fd(), sys::mount::NOSUID | sys::mount::NOEXEC)?;
            nodes.push(Node {
                device,
                place: child(&root, name)?,
            });
        }
        Ok(Self { root, nodes })
    }

    /// Puts the directory over `path` and fills it.
    ///
    /// Landlock decides about each device, granted or not. Only terminals and shared memory, which cost a file system
    /// each, are left out where no rule speaks of them.
    pub(super) fn attach(&self, path: &str, attributes: u64, rules: &[LandlockRule]) -> io::Result<()> {
        let granted = |path: &str| {
            let about =
                |rule: &LandlockRule| path::covers(&rule.path, path) || path::covers(path, &rule.path);
            rules.iter().any(about)
        };
        super::attach(self.root.as_fd(), path)?;
        for node in &self.nodes {
            // A clone that is not attached costs more: closing it waits for an RCU grace period.
            attach_at(node.device.as_fd(), node.place.as_fd())?;
        }
        if granted("/dev/pts") || granted("/dev/ptmx") {
            attach_at(terminals(QUIET)?.as_fd(), child(&self.root, "pts")?.as_fd())?;
        }
        if granted("/dev/shm") {
            let quiet = QUIET | MountAttrFlags::MOUNT_ATTR_NODEV;
            let shm = private::mount_tmpfs(SHM_BYTES, 0o1777, quiet)?;
            attach_at(shm.as_fd(), child(&self.root, "shm")?.as_fd())?;
        }
        sys::mount::add_attributes_here(self.root.as_fd(), attributes & !HAS)
    }

    /// Nothing more is to be done with it.
    pub(super) fn leave(self, spare: &mut super::Spare) {
        spare.leave(self.root);
        for node in self.nodes {
            spare.leave(node.device);
            spare.leave(node.place);
        }
    }
}

fn child(root: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(
        root,
        name,
        OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW,
        Mode::empty(),
    )?)
}

/// A devpts of its own: terminals made in the run are seen by nobody else.
fn terminals(attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let context = rustix::mount::fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "ptmxmode", "0666")?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "mode", "0620")?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    Ok(rustix::mount::fsmount(
        context.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes,
    )?)
}
