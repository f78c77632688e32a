//! seccomp(2).

use std::io;

use super::check;

const SECCOMP_GET_ACTION_AVAIL: libc::c_uint = 2;
const SECCOMP_RET_LOG: u32 = 0x7ffc_0000;

/// Whether this kernel can log refusals; the action and `SECCOMP_FILTER_FLAG_LOG` came together in 4.14.
pub(crate) fn log_available() -> io::Result<()> {
    let action = SECCOMP_RET_LOG;
    // SAFETY: the operation reads one u32 behind the pointer, which outlives the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SECCOMP_GET_ACTION_AVAIL,
            0u32,
            std::ptr::from_ref(&action),
        )
    })?;
    Ok(())
}
