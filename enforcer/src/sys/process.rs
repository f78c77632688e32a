//! Processes: clone3(2) into a cgroup and namespaces, fork(2), execve(2), close_range(2).

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use super::check;

/// `struct clone_args` as of Linux 5.7, which added the cgroup.
#[repr(C)]
#[derive(Debug, Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// A child in its own namespaces and cgroup.
#[derive(Debug)]
pub(crate) struct Spawned {
    /// Its process id here.
    pub(crate) pid: u32,
    /// Readable when it has ended.
    pub(crate) pidfd: OwnedFd,
}

/// What to start, and where.
#[derive(Debug)]
pub(crate) struct Spawn<'a> {
    pub(crate) program: &'a CStr,
    pub(crate) arguments: &'a [CString],
    /// The cgroup it is born in.
    pub(crate) cgroup: BorrowedFd<'a>,
    /// Descriptors that stay open in it, under the same numbers.
    pub(crate) inherited: &'a [RawFd],
    /// Where to write the errno (four bytes, native order, after a zero byte) when the program does not start.
    pub(crate) report: BorrowedFd<'a>,
}

/// Starts a program in new mount, PID, IPC and UTS namespaces, inside a cgroup, with an empty environment, and
/// to be killed when this thread ends.
///
/// # Minimum kernel version
/// 5.7, `CLONE_INTO_CGROUP`.
pub(crate) fn spawn(request: &Spawn<'_>) -> io::Result<Spawned> {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    let namespaces = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
    let arguments = pointers(request.arguments);
    let environment: [*const libc::c_char; 1] = [ptr::null()];
    let mut pidfd: RawFd = -1;
    let args = CloneArgs {
        flags: u64::try_from(namespaces | libc::CLONE_PIDFD).map_err(io::Error::other)? | CLONE_INTO_CGROUP,
        pidfd: ptr::from_mut(&mut pidfd) as u64,
        exit_signal: u64::try_from(libc::SIGCHLD).map_err(io::Error::other)?,
        cgroup: u64::try_from(request.cgroup.as_raw_fd()).map_err(io::Error::other)?,
        ..CloneArgs::default()
    };
    // SAFETY: without CLONE_VM the child has its own copy of this address space; until it executes or exits it
    // makes only the system calls below, on memory that was prepared before the call. The kernel writes the
    // pidfd into `pidfd` in the parent, which outlives the call.
    let pid =
        check(unsafe { libc::syscall(libc::SYS_clone3, ptr::from_ref(&args), size_of::<CloneArgs>()) })?;
    if pid == 0 {
        // SAFETY: in the child; see above. The pointers are NUL-terminated strings and null-terminated arrays.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            for fd in request.inherited {
                libc::fcntl(*fd, libc::F_SETFD, 0);
            }
            libc::execve(request.program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
            let errno = *libc::__errno_location();
            let [a, b, c, d] = errno.to_ne_bytes();
            let message = [0u8, a, b, c, d];
            libc::write(request.report.as_raw_fd(), message.as_ptr().cast(), message.len());
            libc::_exit(125);
        }
    }
    // SAFETY: the kernel stored a new descriptor there because of CLONE_PIDFD.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Spawned {
        pid: u32::try_from(pid).map_err(io::Error::other)?,
        pidfd,
    })
}

/// fork(2). Returns the child's id in the parent and nothing in the child.
///
/// The caller must be single-threaded, as the launcher is: then the child may do anything the parent may.
pub(crate) fn fork() -> io::Result<Option<rustix::process::Pid>> {
    // SAFETY: the launcher never starts a thread, so no lock can be held by a thread that the child lacks.
    let pid = check(libc::c_long::from(unsafe { libc::fork() }))?;
    Ok(rustix::process::Pid::from_raw(
        i32::try_from(pid).map_err(io::Error::other)?,
    ))
}

/// A child in a new user namespace that waits to be killed; its `/proc/PID/ns/user` can be mapped and opened.
pub(crate) fn fork_into_user_namespace() -> io::Result<rustix::process::Pid> {
    let args = CloneArgs {
        flags: u64::try_from(libc::CLONE_NEWUSER).map_err(io::Error::other)?,
        exit_signal: u64::try_from(libc::SIGCHLD).map_err(io::Error::other)?,
        ..CloneArgs::default()
    };
    // SAFETY: as in `spawn`; the child only waits.
    let pid =
        check(unsafe { libc::syscall(libc::SYS_clone3, ptr::from_ref(&args), size_of::<CloneArgs>()) })?;
    if pid == 0 {
        loop {
            // SAFETY: takes no argument.
            unsafe { libc::pause() };
        }
    }
    rustix::process::Pid::from_raw(i32::try_from(pid).map_err(io::Error::other)?)
        .ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD))
}

/// Makes this process's cgroup the root of its cgroup namespace.
pub(crate) fn unshare_cgroup() -> io::Result<()> {
    // SAFETY: takes no pointer, and a cgroup namespace is not shared memory or descriptors with anything.
    check(libc::c_long::from(unsafe {
        libc::unshare(libc::CLONE_NEWCGROUP)
    }))?;
    Ok(())
}

/// execve(2); returns only on failure.
pub(crate) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let arguments = pointers(arguments);
    let environment = pointers(environment);
    // SAFETY: all strings are NUL-terminated and both arrays end with a null pointer.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// Closes every descriptor from `first` to `last`.
pub(crate) fn close_range(first: RawFd, last: RawFd) -> io::Result<()> {
    if first > last {
        return Ok(());
    }
    // SAFETY: the launcher calls this when it owns none of these descriptors in Rust values any more, or ends
    // without dropping those values.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) })?;
    Ok(())
}

/// Takes over a descriptor that was inherited from the parent process.
pub(crate) fn inherit(raw: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_GETFD on any number is harmless.
    check(libc::c_long::from(unsafe {
        libc::fcntl(raw, libc::F_SETFD, libc::FD_CLOEXEC)
    }))?;
    // SAFETY: it is open, and the protocol between supervisor and launcher says it is ours alone.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings
        .iter()
        .map(|string| string.as_ptr())
        .chain(std::iter::once(ptr::null()))
        .collect()
}
