//! mount_setattr(2); the other mount calls come from rustix.

use std::io;

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
    let attributes = MountAttr::default();
    // SAFETY: the path is a valid C string and the attributes outlive the call.
    let answer = super::check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            -1,
            c"remit".as_ptr(),
            0u32,
            std::ptr::from_ref(&attributes),
            size_of::<MountAttr>(),
        )
    });
    match answer {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EBADF | libc::EINVAL)) => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Ok(()),
    }
}
