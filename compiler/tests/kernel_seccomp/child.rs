//! A child process under a filter, that makes calls and leaves their errnos in shared memory.
#![allow(unsafe_code)]

use artifact::seccomp::Instruction;

/// A call by number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) number: u32,
    pub(crate) arguments: [u64; 6],
}

/// How the child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// It made all its calls. Errnos, 0 for success.
    Errnos(Vec<i32>),
    /// A signal ended it.
    Signal(i32),
    /// The kernel refused the filter.
    NotLoaded(i32),
}

/// What stands in shared memory before the child writes there.
const UNTOUCHED: i32 = -1;

/// Makes the calls in a child under the filter. The filter has to allow `exit_group`.
pub(crate) fn make_calls(program: &[Instruction], calls: &[Call]) -> End {
    in_child(program, calls.len(), |errnos| {
        for (call, errno) in calls.iter().zip(errnos) {
            *errno = raw_call(call);
        }
    })
}

/// Makes a 32-bit `getpid`, as 32-bit code would.
#[cfg(target_arch = "x86_64")]
pub(crate) fn make_i386_call(program: &[Instruction]) -> End {
    in_child(program, 1, |errnos| {
        let mut eax = 20_u64;
        // SAFETY: getpid of the i386 table takes no argument and touches no memory; int 0x80 clobbers r8 to r11.
        unsafe {
            std::arch::asm!(
                "int 0x80", inout("rax") eax, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            );
        }
        if let Some(errno) = errnos.first_mut() {
            *errno = i32::try_from(eax).map_or(0, |_| 0);
        }
    })
}

fn in_child(program: &[Instruction], results: usize, work: impl FnOnce(&mut [i32])) -> End {
    let mut filter: Vec<libc::sock_filter> = program
        .iter()
        .map(|Instruction(code, jt, jf, k)| libc::sock_filter {
            code: *code,
            jt: *jt,
            jf: *jf,
            k: *k,
        })
        .collect();
    let fprog = libc::sock_fprog {
        len: u16::try_from(filter.len()).expect("at most 4,096 instructions"),
        filter: filter.as_mut_ptr(),
    };
    // One slot more, for the errno of loading.
    let slots = results + 1;
    let len_bytes = slots * size_of::<i32>();
    // SAFETY: a fresh anonymous mapping, aligned to a page and as long as asked for.
    let memory = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len_bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(
        memory,
        libc::MAP_FAILED,
        "mmap: {}",
        std::io::Error::last_os_error()
    );
    // SAFETY: the mapping holds `slots` integers, and nobody else knows it. The child has its own reference after
    // the fork; this process looks only after the child has ended.
    let shared = unsafe { std::slice::from_raw_parts_mut(memory.cast::<i32>(), slots) };
    shared.fill(UNTOUCHED);

    // SAFETY: between fork and _exit the child makes system calls and writes to its slots; it takes no lock and
    // allocates nothing, so the locks that other threads held do not matter.
    let child = unsafe { libc::fork() };
    if child == 0 {
        if let Some((loaded, errnos)) = shared.split_last_mut() {
            *loaded = load(&fprog);
            if *loaded == 0 {
                work(errnos);
            }
        }
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(0) };
    }
    assert!(child > 0, "fork: {}", std::io::Error::last_os_error());
    let mut status = 0;
    // SAFETY: `status` is valid for the write, and the child is ours.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 {
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EINTR));
    }
    let results = shared.to_vec();
    // SAFETY: the mapping from above, to which no reference is used any more.
    unsafe { libc::munmap(memory, len_bytes) };

    let (loaded, errnos) = results.split_last().expect("there is one slot at least");
    match (*loaded, libc::WIFSIGNALED(status)) {
        (0, false) => {
            assert!(!errnos.contains(&UNTOUCHED), "a call did not return: {errnos:?}");
            End::Errnos(errnos.to_vec())
        }
        (0, true) => End::Signal(libc::WTERMSIG(status)),
        (errno, _) => End::NotLoaded(errno),
    }
}

/// Loads the filter for this thread, the only one of the child. 0 or an errno.
fn load(fprog: &libc::sock_fprog) -> i32 {
    // SAFETY: takes no pointer.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return errno();
    }
    // SAFETY: `fprog` and the instructions it points to outlive the call, and the kernel copies them.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, fprog) };
    if result == 0 { 0 } else { errno() }
}

fn raw_call(call: &Call) -> i32 {
    let [a, b, c, d, e, f] = call.arguments;
    // SAFETY: callers pass no pointer the kernel could write to: arguments are small numbers or invalid addresses.
    let result = unsafe { libc::syscall(i64::from(call.number), a, b, c, d, e, f) };
    if result == -1 { errno() } else { 0 }
}

fn errno() -> i32 {
    // SAFETY: points to this thread's errno.
    unsafe { *libc::__errno_location() }
}
