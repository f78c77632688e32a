//! `/dev`: the harmless devices, a terminal multiplexer of its own, shared memory.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
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
/// Room for the directory itself; it holds no data.
const DIRECTORY_BYTES: u64 = 65_536;
/// What a run may keep in shared memory.
const SHM_BYTES: u64 = 64 << 20;

/// The host's device nodes, cloned before their mount is sealed against devices.
#[derive(Debug)]
pub(super) struct Devices {
    nodes: Vec<(&'static str, OwnedFd)>,
}

impl Devices {
    pub(super) fn open() -> io::Result<Self> {
        let nodes = HARMLESS
            .into_iter()
            .map(|name| {
                let clone = clone_of(open_exactly(&format!("/dev/{name}"))?.as_fd())?;
                sys::mount::add_attributes(clone.as_fd(), sys::mount::NOSUID | sys::mount::NOEXEC)?;
                Ok((name, clone))
            })
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self { nodes })
    }

    /// Puts the directory over `path` and fills it.
    pub(super) fn attach(&self, path: &str) -> io::Result<()> {
        let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let root = private::mount_tmpfs(DIRECTORY_BYTES, 0o755, quiet)?;
        for (target, link) in LINKS.map(|(link, target)| (target, link)) {
            rustix::fs::symlinkat(target, &root, link)?;
        }
        for (name, _) in &self.nodes {
            rustix::fs::openat(
                &root,
                *name,
                OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
        }
        for name in ["pts", "shm"] {
            rustix::fs::mkdirat(&root, name, Mode::from_raw_mode(0o755))?;
        }
        super::attach(root.as_fd(), path)?;
        for (name, clone) in &self.nodes {
            attach_at(clone.as_fd(), self::child(&root, name)?.as_fd())?;
        }
        attach_at(terminals(quiet)?.as_fd(), child(&root, "pts")?.as_fd())?;
        let shm = private::mount_tmpfs(SHM_BYTES, 0o1777, quiet | MountAttrFlags::MOUNT_ATTR_NODEV)?;
        attach_at(shm.as_fd(), child(&root, "shm")?.as_fd())?;
        sys::mount::add_attributes_here(root.as_fd(), sys::mount::RDONLY)
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
