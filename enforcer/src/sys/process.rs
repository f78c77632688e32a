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
/// The child borrows this address space until it executes, as with vfork(2): copying the page tables of a
/// process that has maps and rings open costs more than everything else here.
///
/// # Minimum kernel version
/// 5.7, `CLONE_INTO_CGROUP`.
pub(crate) fn spawn(request: &Spawn<'_>) -> io::Result<Spawned> {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    let flags = libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_PIDFD
        | libc::CLONE_VM
        | libc::CLONE_VFORK;
    let arguments = pointers(request.arguments);
    let mut pidfd: RawFd = -1;
    let args = CloneArgs {
        flags: u64::try_from(flags).map_err(io::Error::other)? | CLONE_INTO_CGROUP,
        pidfd: ptr::from_mut(&mut pidfd) as u64,
        exit_signal: u64::try_from(libc::SIGCHLD).map_err(io::Error::other)?,
        cgroup: u64::try_from(request.cgroup.as_raw_fd()).map_err(io::Error::other)?,
        ..CloneArgs::default()
    };
    let program = Executing {
        program: request.program.as_ptr(),
        arguments: arguments.as_ptr(),
        inherited: request.inherited,
        report: request.report.as_raw_fd(),
    };
    let stack = Stack::new();
    // A handler must not run in the child, on the memory it shares. The launcher sets its own mask.
    let before = super::signal::SignalSet::ALL.block()?;
    // SAFETY: this thread sleeps until the child has executed or exited, so everything the child reads outlives
    // it, and `execute_in_child` makes system calls only. The kernel writes the pidfd into `pidfd`.
    let pid = check(unsafe { stack.clone_onto(args, execute_in_child, ptr::from_ref(&program).cast()) });
    before.set()?;
    let pid = pid?;
    // SAFETY: the kernel stored a new descriptor there because of CLONE_PIDFD.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Spawned {
        pid: u32::try_from(pid).map_err(io::Error::other)?,
        pidfd,
    })
}

/// What the child of [`spawn`] needs.
struct Executing<'a> {
    program: *const libc::c_char,
    arguments: *const *const libc::c_char,
    inherited: &'a [RawFd],
    report: RawFd,
}

/// The child's part of [`spawn`].
unsafe extern "C" fn execute_in_child(argument: *const libc::c_void) -> ! {
    // SAFETY: `spawn` passes a pointer to an `Executing`, whose pointers are NUL-terminated strings and
    // null-terminated arrays; all of it outlives the call, because the parent sleeps.
    unsafe {
        let this = &*argument.cast::<Executing<'_>>();
        let environment: [*const libc::c_char; 1] = [ptr::null()];
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        for fd in this.inherited {
            libc::fcntl(*fd, libc::F_SETFD, 0);
        }
        libc::execve(this.program, this.arguments, environment.as_ptr());
        let [a, b, c, d] = (*libc::__errno_location()).to_ne_bytes();
        let message = [0u8, a, b, c, d];
        libc::write(this.report, message.as_ptr().cast(), message.len());
        libc::_exit(125);
    }
}

/// Memory for a child's calls.
#[derive(Debug)]
struct Stack(Vec<u128>);

impl Stack {
    /// In 16-byte units, which is also the alignment a stack needs.
    const LEN: usize = 4096;

    fn new() -> Self {
        Self(Vec::with_capacity(Self::LEN))
    }

    /// clone3(2) with this stack: the child calls `child(argument)` on it and never comes back here.
    ///
    /// # Safety
    /// With `CLONE_VM` the child must touch only what outlives it, and the stack must too. `child` must not
    /// return or unwind.
    unsafe fn clone_onto(
        &self,
        mut args: CloneArgs,
        child: unsafe extern "C" fn(*const libc::c_void) -> !,
        argument: *const libc::c_void,
    ) -> libc::c_long {
        args.stack = self.0.as_ptr() as u64;
        args.stack_size = (Self::LEN * size_of::<u128>()) as u64;
        let mut result: libc::c_long;
        // SAFETY: clone3 reads `args`, whose size is told. In the parent only the result and the registers that a
        // system call clobbers change. The child starts behind the system call with its own stack pointer, and
        // leaves for `child` without using this frame.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(
                "syscall",
                "test rax, rax",
                "jnz 2f",
                "xor ebp, ebp",
                "mov rdi, r12",
                "call r13",
                "ud2",
                "2:",
                inlateout("rax") libc::SYS_clone3 => result,
                in("rdi") ptr::from_ref(&args),
                in("rsi") size_of::<CloneArgs>(),
                in("r12") argument,
                in("r13") child,
                lateout("rcx") _,
                lateout("r11") _,
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!(
                "svc 0",
                "cbnz x0, 2f",
                "mov x29, xzr",
                "mov x0, x20",
                "blr x21",
                "brk 1",
                "2:",
                inlateout("x0") ptr::from_ref(&args) => result,
                in("x1") size_of::<CloneArgs>(),
                in("x8") libc::SYS_clone3,
                in("x20") argument,
                in("x21") child,
            );
        }
        if result < 0 {
            // SAFETY: the C library's own thread-local variable.
            unsafe { *libc::__errno_location() = i32::try_from(-result).unwrap_or(libc::EINVAL) };
            result = -1;
        }
        result
    }
}

/// Starts a child that borrows this address space, as with vfork(2), and runs `begin` in it: this thread sleeps until
/// that has executed a program or exited, which it must.
///
/// The caller must be single-threaded, as the launcher is: then the child may do anything the parent may.
pub(crate) fn borrow<F: FnOnce() -> std::convert::Infallible>(begin: F) -> io::Result<rustix::process::Pid> {
    let args = CloneArgs {
        flags: u64::try_from(libc::CLONE_VM | libc::CLONE_VFORK).map_err(io::Error::other)?,
        exit_signal: u64::try_from(libc::SIGCHLD).map_err(io::Error::other)?,
        ..CloneArgs::default()
    };
    let mut begin = Some(begin);
    let stack = Stack::new();
    // SAFETY: `begin` outlives the child's use of it, because this thread sleeps until the child has left this
    // address space; no other thread exists that could see what the child changes.
    let pid = check(unsafe { stack.clone_onto(args, run_in_child::<F>, ptr::from_mut(&mut begin).cast()) })?;
    // What the child took is gone; nothing is left to drop here.
    std::mem::forget(begin);
    rustix::process::Pid::from_raw(i32::try_from(pid).map_err(io::Error::other)?)
        .ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD))
}

/// The child's part of [`borrow`].
unsafe extern "C" fn run_in_child<F: FnOnce() -> std::convert::Infallible>(
    argument: *const libc::c_void,
) -> ! {
    // SAFETY: `borrow` passes a pointer to an `Option<F>` that nobody else uses meanwhile.
    let begin = unsafe { &mut *argument.cast::<Option<F>>().cast_mut() };
    if let Some(begin) = begin.take() {
        match begin() {}
    }
    leave(libc::EXIT_FAILURE)
}

/// Ends a child that borrows its parent's address space: nothing of the parent's is flushed or dropped.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: takes no pointer.
    unsafe { libc::_exit(code) }
}

/// A child in a new user namespace that does nothing; its `/proc/PID/ns/user` can be mapped and opened.
#[derive(Debug)]
pub(crate) struct NamespaceHolder {
    pid: rustix::process::Pid,
}

impl NamespaceHolder {
    pub(crate) fn new() -> io::Result<Self> {
        let args = CloneArgs {
            flags: u64::try_from(libc::CLONE_NEWUSER | libc::CLONE_VM).map_err(io::Error::other)?,
            exit_signal: u64::try_from(libc::SIGCHLD).map_err(io::Error::other)?,
            ..CloneArgs::default()
        };
        let stack = Stack::new();
        // SAFETY: the child only sleeps on its stack, which is never freed. It shares no signal handler but those of
        // the Rust runtime, for faults that it cannot make.
        let pid = check(unsafe { stack.clone_onto(args, sleep_in_child, ptr::null()) })?;
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).map_err(io::Error::other)?);
        let pid = pid.ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD))?;
        std::mem::forget(stack);
        Ok(Self { pid })
    }

    pub(crate) const fn pid(&self) -> rustix::process::Pid {
        self.pid
    }
}

impl Drop for NamespaceHolder {
    fn drop(&mut self) {
        // Cannot fail for a child that exists and was not waited for. Process 1 reaps it later, with all others.
        let _ = rustix::process::kill_process(self.pid, rustix::process::Signal::KILL);
    }
}

/// The child's part of [`NamespaceHolder`].
unsafe extern "C" fn sleep_in_child(_: *const libc::c_void) -> ! {
    loop {
        // SAFETY: takes no argument.
        unsafe { libc::pause() };
    }
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
