//! mount_setattr(2); the other mount calls come from rustix.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `MOUNT_ATTR_RDONLY`.
pub(crate) const RDONLY: u64 = 0x1;
/// `MOUNT_ATTR_NOSUID`.
pub(crate) const NOSUID: u64 = 0x2;
/// `MOUNT_ATTR_NODEV`.
pub(crate) const NODEV: u64 = 0x4;
/// `MOUNT_ATTR_NOEXEC`.
pub(crate) const NOEXEC: u64 = 0x8;
/// `MOUNT_ATTR_IDMAP`.
const IDMAP: u64 = 0x0010_0000;

const AT_RECURSIVE: libc::c_int = 0x8000;

/// `struct mount_attr`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct MountAttr {
    attr_set: u64,
    attr_clr: u64,
    propagation: u64,
    userns_fd: u64,
}

/// Whether the call exists and this process may use it: asked with a descriptor that is not one.
pub(crate) fn setattr_available() -> io::Result<()> {
    match set(-1, c"remit", 0, &MountAttr::default()) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EBADF | libc::EINVAL)) => Ok(()),
        other => other,
    }
}

/// Cuts every mount of this namespace off from its peers and adds attributes to all of them.
pub(crate) fn seal_all(attributes: u64) -> io::Result<()> {
    let attr = MountAttr {
        attr_set: attributes,
        propagation: libc::MS_PRIVATE,
        ..MountAttr::default()
    };
    set(libc::AT_FDCWD, c"/", AT_RECURSIVE, &attr)
}

/// Adds attributes to a mount (a descriptor from open_tree(2) or fsmount(2)) and all below it. Never takes one
/// away: what the host mounted read-only stays so.
pub(crate) fn add_attributes(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    if attributes == 0 {
        return Ok(());
    }
    let attr = MountAttr {
        attr_set: attributes,
        ..MountAttr::default()
    };
    set(mount.as_raw_fd(), c"", AT_RECURSIVE | libc::AT_EMPTY_PATH, &attr)
}

/// Adds attributes to one mount and none below it.
pub(crate) fn add_attributes_here(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    if attributes == 0 {
        return Ok(());
    }
    let attr = MountAttr {
        attr_set: attributes,
        ..MountAttr::default()
    };
    set(mount.as_raw_fd(), c"", libc::AT_EMPTY_PATH, &attr)
}

/// Shows a detached mount with owners mapped through a user namespace (Linux 5.12, more file systems later).
pub(crate) fn map_owners(mount: BorrowedFd<'_>, user_namespace: BorrowedFd<'_>) -> io::Result<()> {
    let attr = MountAttr {
        attr_set: IDMAP,
        userns_fd: u64::try_from(user_namespace.as_raw_fd()).map_err(io::Error::other)?,
        ..MountAttr::default()
    };
    set(mount.as_raw_fd(), c"", libc::AT_EMPTY_PATH, &attr)
}

fn set(dirfd: libc::c_int, path: &CStr, flags: libc::c_int, attr: &MountAttr) -> io::Result<()> {
    // SAFETY: the path is a C string and the struct has the size that is told; both outlive the call.
    super::check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            dirfd,
            path.as_ptr(),
            flags,
            std::ptr::from_ref(attr),
            size_of::<MountAttr>(),
        )
    })?;
    Ok(())
}
