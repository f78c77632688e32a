//! What no safe wrapper has: fork(2), bare system calls, execve(2) that stops before the first instruction. Used by the
//! prober, which is single-threaded.
#![allow(unsafe_code, reason = "the crate's one door to the kernel")]

use std::ffi::CString;
use std::io;

fn last() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Runs `work` in a child, which ends with what it returns: zero, or an error number. Returns the child.
pub(crate) fn fork(work: impl FnOnce() -> Result<(), i32>) -> io::Result<i32> {
    // SAFETY: this process has one thread, so the child may do whatever its parent could.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let code = work().err().unwrap_or(0);
            leave(code)
        }
        child => Ok(child),
    }
}

/// Ends this process at once.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: takes no pointer and does not return.
    unsafe { libc::_exit(code) }
}

/// A call with these registers. Pointers among them are null or small numbers, so that the kernel writes nowhere.
pub(crate) fn call(number: i64, arguments: [u64; 6]) -> Result<(), i32> {
    let before = std::process::id();
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the calling process is a child that was forked for this one call; whatever happens to it, it ends.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    let error = last();
    if std::process::id() != before {
        // The call made another process, which has no part in this.
        leave(0)
    }
    if result == -1 { Err(error) } else { Ok(()) }
}

/// getpid(2) by its x32 number.
pub(crate) fn x32() -> Result<(), i32> {
    call(libc::SYS_getpid | 0x4000_0000, [0; 6])
}

/// getpid(2) through the 32-bit entry.
pub(crate) fn i386() -> Result<(), i32> {
    #[cfg(target_arch = "x86_64")]
    {
        let result: i64;
        // SAFETY: `int 0x80` with a call that takes nothing. The 32-bit entry clears r8 to r11, which are named.
        unsafe {
            std::arch::asm!(
                "int 0x80",
                inlateout("rax") 20_i64 => result,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            );
        }
        if result < 0 {
            Err(i32::try_from(-result).unwrap_or(libc::ENOSYS))
        } else {
            Ok(())
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    Err(libc::ENOSYS)
}

/// Starts a program with so little address space that it ends before its first instruction: whoever may not start it
/// gets an error, whoever may is killed.
pub(crate) fn execute_nothing(path: &str) -> Result<(), i32> {
    let path = CString::new(path).map_err(|_| libc::EINVAL)?;
    let limit = libc::rlimit {
        rlim_cur: 4096,
        rlim_max: 4096,
    };
    // One byte: even a pipe for core dumps is left alone then.
    let core = libc::rlimit {
        rlim_cur: 1,
        rlim_max: 1,
    };
    let arguments = [path.as_ptr(), std::ptr::null()];
    let environment = [std::ptr::null()];
    // SAFETY: the limits outlive the calls; the arrays end with null and point to a string that lives on.
    unsafe {
        if libc::setrlimit(libc::RLIMIT_CORE, &raw const core) == -1 {
            return Err(libc::EIO);
        }
        if libc::setrlimit(libc::RLIMIT_AS, &raw const limit) == -1 {
            return Err(libc::EIO);
        }
        libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr());
    }
    Err(last())
}

/// Becomes a program with one argument.
pub(crate) fn execute(path: &str, argument: &str) -> i32 {
    let (Ok(path), Ok(argument)) = (CString::new(path), CString::new(argument)) else {
        return libc::EINVAL;
    };
    let arguments = [path.as_ptr(), argument.as_ptr(), std::ptr::null()];
    let environment = [std::ptr::null()];
    // SAFETY: the arrays end with null and point to strings that live on.
    unsafe {
        libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr());
    }
    last()
}

/// A socket, closed again.
pub(crate) fn socket(family: u32, kind: u32, protocol: u32) -> Result<(), i32> {
    let number = |value: u32| i32::try_from(value).unwrap_or(-1);
    // SAFETY: takes no pointer.
    match unsafe { libc::socket(number(family), number(kind), number(protocol)) } {
        -1 => Err(last()),
        _ => Ok(()),
    }
}

/// Whether a number is an open descriptor.
pub(crate) fn is_open(number: i32) -> Result<(), i32> {
    // SAFETY: asks for flags, takes no pointer.
    match unsafe { libc::fcntl(number, libc::F_GETFD) } {
        -1 => Err(last()),
        _ => Ok(()),
    }
}

/// `prctl` with one number.
pub(crate) fn prctl(option: i32, argument: u64) -> i32 {
    // SAFETY: the options that are asked for take numbers.
    unsafe { libc::prctl(option, argument, 0, 0, 0) }
}

/// Ignores a signal.
pub(crate) fn ignore(signal: i32) {
    // SAFETY: sets no handler.
    unsafe {
        libc::signal(signal, libc::SIG_IGN);
    }
}

/// A network namespace of this process's own.
pub(crate) fn new_network() -> io::Result<()> {
    // SAFETY: changes which namespace this process is in, and no memory.
    match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Becomes another user for good.
pub(crate) fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    let nobody: *const libc::gid_t = std::ptr::null();
    // SAFETY: the list of groups is empty, and the others take numbers.
    let failed = unsafe {
        libc::setgroups(0, nobody) == -1
            || libc::setresgid(gid, gid, gid) == -1
            || libc::setresuid(uid, uid, uid) == -1
    };
    if failed {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

static INTERRUPTED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

extern "C" fn interrupt(_: libc::c_int) {
    INTERRUPTED.store(true, std::sync::atomic::Ordering::Relaxed);
}

/// From now on a request to end is noted, so that everything can be taken off the host first.
pub(crate) fn note_interrupts() {
    let handler: extern "C" fn(libc::c_int) = interrupt;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler stores one flag, which is safe at any time.
        unsafe {
            libc::signal(signal, handler as libc::sighandler_t);
        }
    }
}

/// Whether there was one.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(std::sync::atomic::Ordering::Relaxed)
}
