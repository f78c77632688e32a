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
/// The child borrows this address space until it executes: copying the page tables of a process that has maps and
/// rings open costs more than everything else here. Unlike with vfork(2) this thread goes on meanwhile, so the
/// few words that the child needs are never freed, and it makes bare system calls: the C library's would write
/// this thread's errno.
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
        | libc::CLONE_VM;
    let mut pidfd: RawFd = -1;
    let args = CloneArgs {
        flags: u64::try_from(flags).map_err(io::Error::other)? | CLONE_INTO_CGROUP,
        pidfd: ptr::from_mut(&mut pidfd) as u64,
        exit_signal: u64::try_from(libc::SIGCHLD).map_err(io::Error::other)?,
        cgroup: u64::try_from(request.cgroup.as_raw_fd()).map_err(io::Error::other)?,
        ..CloneArgs::default()
    };
    let strings: &'static [CString] = request.arguments.to_vec().leak();
    let program: &'static Executing = Box::leak(Box::new(Executing {
        program: request.program.to_owned(),
        arguments: pointers(strings),
        environment: [ptr::null()],
        inherited: request.inherited.to_vec(),
        report: request.report.as_raw_fd(),
    }));
    let stack = Stack::new();
    // A handler must not run in the child, on the memory it shares. The launcher sets its own mask.
    let before = super::signal::SignalSet::ALL.block()?;
    // SAFETY: what the child reads and its stack are never freed or changed, and `execute_in_child` makes bare
    // system calls only. The kernel writes the pidfd into `pidfd` before the call returns.
    let pid = check(unsafe { stack.clone_onto(args, execute_in_child, ptr::from_ref(program).cast()) });
    std::mem::forget(stack);
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
struct Executing {
    program: CString,
    arguments: Vec<*const libc::c_char>,
    environment: [*const libc::c_char; 1],
    inherited: Vec<RawFd>,
    report: RawFd,
}

/// The child's part of [`spawn`].
unsafe extern "C" fn execute_in_child(argument: *const libc::c_void) -> ! {
    // SAFETY: `spawn` passes a pointer to an `Executing` that lives for ever and nobody changes. Its pointers are
    // NUL-terminated strings and null-terminated arrays.
    unsafe {
        let this = &*argument.cast::<Executing>();
        let word = |fd: RawFd| fd as usize;
        bare(
            libc::SYS_prctl,
            [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0],
        );
        for fd in &this.inherited {
            bare(libc::SYS_fcntl, [word(*fd), libc::F_SETFD as usize, 0]);
        }
        let arguments = this.arguments.as_ptr() as usize;
        let environment = this.environment.as_ptr() as usize;
        let refused = bare(
            libc::SYS_execve,
            [this.program.as_ptr() as usize, arguments, environment],
        );
        let [a, b, c, d] = i32::try_from(-refused).unwrap_or(libc::EINVAL).to_ne_bytes();
        let message = [0u8, a, b, c, d];
        bare(
            libc::SYS_write,
            [word(this.report), message.as_ptr() as usize, message.len()],
        );
        loop {
            bare(libc::SYS_exit_group, [125, 0, 0]);
        }
    }
}

/// A system call that touches nothing of the C library's. Returns what the kernel returned, an error as its
/// negative number.
///
/// # Safety
/// As for the call itself.
unsafe fn bare(number: libc::c_long, [a, b, c]: [usize; 3]) -> isize {
    let mut result: isize;
    // SAFETY: the registers that the kernel changes are named.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b,
            in("x2") c,
            options(nostack),
        );
    }
    result
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
        // Neither can fail for a child that exists and was not waited for.
        let _ = rustix::process::kill_process(self.pid, rustix::process::Signal::KILL);
        let _ = rustix::process::waitpid(Some(self.pid), rustix::process::WaitOptions::empty());
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
