//! What a netlink socket dropped, see `SO_MEMINFO` in socket(7) and `netlink_overrun` in the kernel's
//! `net/netlink/af_netlink.c`. Minimum kernel version: 4.12.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `SK_MEMINFO_DROPS` of `include/uapi/linux/sock_diag.h`: messages that found the receive buffer full.
const SK_MEMINFO_DROPS: usize = 8;
/// `SK_MEMINFO_VARS`, with room for what later kernels add.
const VALUES: usize = 16;

/// Counts the messages that this socket dropped since it was made.
pub(crate) fn dropped(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut values = [0u32; VALUES];
    let mut len = libc::socklen_t::try_from(size_of_val(&values)).map_err(io::Error::other)?;
    // SAFETY: the pointer is to `len` writable bytes that outlive the call; the kernel writes at most `len` of
    // them and stores how many it wrote in `len`, which is valid for the call too.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            values.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    super::check(libc::c_long::from(result))?;
    values
        .get(SK_MEMINFO_DROPS)
        .copied()
        .filter(|_| usize::try_from(len).is_ok_and(|len| len > SK_MEMINFO_DROPS * size_of::<u32>()))
        .ok_or_else(|| io::Error::other("the kernel does not count dropped messages"))
}
