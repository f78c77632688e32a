//! Open-file-description locks on single bytes, see fcntl(2).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Locks one byte exclusively, if nobody else has. The lock ends with the file description.
pub(crate) fn try_lock_byte(file: &File, offset: u32) -> io::Result<bool> {
    // SAFETY: all-zero is a valid struct flock.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = i16::try_from(libc::F_WRLCK).map_err(io::Error::other)?;
    lock.l_whence = i16::try_from(libc::SEEK_SET).map_err(io::Error::other)?;
    lock.l_start = i64::from(offset);
    lock.l_len = 1;
    // SAFETY: the pointer is to a struct flock that outlives the call.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, std::ptr::from_ref(&lock)) };
    match super::check(libc::c_long::from(answer)) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}
