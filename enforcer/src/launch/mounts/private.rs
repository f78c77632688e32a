//! File systems of the run's own: procfs, tmpfs.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use artifact::filesystem::{Node, NodeKind};
use rustix::fs::{Mode, OFlags};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};

use crate::sys;

/// What [`proc`] is mounted with.
pub(super) const PROC_HAS: u64 = sys::mount::NOSUID | sys::mount::NODEV | sys::mount::NOEXEC;
/// What [`tmpfs`] is mounted with.
pub(super) const TMPFS_HAS: u64 = sys::mount::NOSUID | sys::mount::NODEV;

/// procfs of this PID namespace, detached.
pub(super) fn proc() -> io::Result<OwnedFd> {
    let context = rustix::mount::fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(rustix::mount::fsmount(
        context.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes,
    )?)
}

/// Makes files that live in memory alone not executable in this PID namespace. No mount and no Landlock rule covers
/// them, so without this they would start what no rule lets the run start.
///
/// False where the kernel cannot; then the run must not have such files at all. Linux 6.3, see `Documentation/admin-guide/sysctl/vm.rst` on `memfd_noexec`: 2 also refuses those that ask to be
/// executable.
pub(super) fn forbid_memory_programs(proc: BorrowedFd<'_>) -> io::Result<bool> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    match rustix::fs::openat(proc, "sys/vm/memfd_noexec", flags, Mode::empty()) {
        Ok(setting) => {
            rustix::io::write(&setting, b"2")?;
            Ok(true)
        }
        Err(rustix::io::Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A tmpfs, detached.
pub(super) fn tmpfs(size_bytes: u64, mode: u32) -> io::Result<OwnedFd> {
    mount_tmpfs(
        size_bytes,
        mode,
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV,
    )
}

pub(super) fn mount_tmpfs(size_bytes: u64, mode: u32, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let context = rustix::mount::fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "size", size_bytes.to_string())?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "mode", format!("{mode:o}"))?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    Ok(rustix::mount::fsmount(
        context.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes,
    )?)
}

/// Makes directories and mount points in a new tmpfs that is to stand at `path`.
pub(super) fn furnish(root: BorrowedFd<'_>, path: &str, skeleton: &[Node], mode: u32) -> io::Result<()> {
    for node in skeleton {
        let relative = node
            .path
            .strip_prefix(path)
            .map(|rest| rest.trim_start_matches('/'))
            .unwrap_or_default();
        match node.kind {
            NodeKind::Directory => {
                rustix::fs::mkdirat(root, relative, Mode::from_raw_mode(mode))?;
                rustix::fs::chmodat(
                    root,
                    relative,
                    Mode::from_raw_mode(mode),
                    rustix::fs::AtFlags::empty(),
                )?;
            }
            NodeKind::File | NodeKind::Special => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                rustix::fs::openat(root, relative, flags, Mode::empty())?;
            }
        }
    }
    Ok(())
}

/// A closed directory with nothing but ways through, or a file that nobody may open.
pub(super) fn empty(path: &str, kind: NodeKind, skeleton: &[Node]) -> io::Result<OwnedFd> {
    const BYTES: u64 = 65_536;
    if kind == NodeKind::Directory {
        // A way through has to be searched, and can then not be listed.
        let mode = if skeleton.is_empty() { 0 } else { 0o711 };
        let root = tmpfs(BYTES, mode)?;
        furnish(root.as_fd(), path, skeleton, 0o711)?;
        return Ok(root);
    }
    let root = tmpfs(BYTES, 0)?;
    rustix::fs::openat(
        &root,
        "empty",
        OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    // As for masks: before Linux 6.15 only what is attached can be cloned.
    super::attach(root.as_fd(), "/proc")?;
    let file = rustix::fs::openat(&root, "empty", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let clone = super::clone_of(file.as_fd());
    rustix::mount::unmount("/proc", rustix::mount::UnmountFlags::DETACH)?;
    clone
}
