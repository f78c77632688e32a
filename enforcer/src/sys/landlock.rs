//! landlock(7): what the `landlock` crate does not tell, the ABI and the errata as numbers.

use std::io;

use super::check;

const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;
const LANDLOCK_CREATE_RULESET_ERRATA: u32 = 2;

/// The ABI this kernel speaks.
pub(crate) fn abi() -> io::Result<u32> {
    ask(LANDLOCK_CREATE_RULESET_VERSION)
}

/// Bit set of fixed issues. Kernels before 6.15 refuse the question.
pub(crate) fn errata() -> io::Result<u32> {
    ask(LANDLOCK_CREATE_RULESET_ERRATA)
}

fn ask(flags: u32) -> io::Result<u32> {
    // SAFETY: with these flags the kernel requires a null attribute and size zero, and reads no memory.
    let answer = check(unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0usize,
            flags,
        )
    })?;
    u32::try_from(answer).map_err(io::Error::other)
}
