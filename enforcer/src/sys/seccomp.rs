//! seccomp(2).

use std::io;

use super::check;

const SECCOMP_SET_MODE_FILTER: libc::c_uint = 1;
const SECCOMP_GET_ACTION_AVAIL: libc::c_uint = 2;
const SECCOMP_FILTER_FLAG_LOG: libc::c_uint = 2;
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

/// Puts this thread and its children behind a filter whose refusals are logged. `no_new_privs` must be set.
pub(crate) fn install(program: &[artifact::seccomp::Instruction]) -> io::Result<()> {
    let code: Vec<libc::sock_filter> = program
        .iter()
        .map(|instruction| libc::sock_filter {
            code: instruction.0,
            jt: instruction.1,
            jf: instruction.2,
            k: instruction.3,
        })
        .collect();
    let program = libc::sock_fprog {
        len: u16::try_from(code.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?,
        filter: code.as_ptr().cast_mut(),
    };
    // SAFETY: the program points to `len` instructions in `code`; the kernel copies them during the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SECCOMP_SET_MODE_FILTER,
            SECCOMP_FILTER_FLAG_LOG,
            std::ptr::from_ref(&program),
        )
    })?;
    Ok(())
}
