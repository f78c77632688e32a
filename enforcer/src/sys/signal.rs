//! Signals as data: masks, signalfd(2), sigwaitinfo(2).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::check;

/// A set of signals, bit n-1 for signal n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct SignalSet(pub(crate) u64);

/// Size of the kernel's signal set.
const SET_BYTES: usize = 8;

impl SignalSet {
    pub(crate) const ALL: Self = Self(u64::MAX);

    pub(crate) fn of(signals: &[i32]) -> Self {
        Self(signals.iter().fold(0, |set, signal| {
            set | 1u64.wrapping_shl((*signal - 1).cast_unsigned())
        }))
    }

    fn change(how: libc::c_int, set: Self) -> io::Result<Self> {
        let mut old = 0u64;
        // SAFETY: both pointers are to eight-byte sets, which is the size the kernel is told.
        check(unsafe {
            libc::syscall(
                libc::SYS_rt_sigprocmask,
                how,
                std::ptr::from_ref(&set.0),
                std::ptr::from_mut(&mut old),
                SET_BYTES,
            )
        })?;
        Ok(Self(old))
    }

    /// Adds these to the blocked signals of this thread and returns what was blocked before.
    pub(crate) fn block(self) -> io::Result<Self> {
        Self::change(libc::SIG_BLOCK, self)
    }

    /// Makes these the blocked signals of this thread.
    pub(crate) fn set(self) -> io::Result<()> {
        Self::change(libc::SIG_SETMASK, self).map(|_| ())
    }

    /// A descriptor from which these can be read while they are blocked.
    pub(crate) fn descriptor(self) -> io::Result<OwnedFd> {
        // SAFETY: the set is eight bytes, as told.
        let raw = check(unsafe {
            libc::syscall(
                libc::SYS_signalfd4,
                -1,
                std::ptr::from_ref(&self.0),
                SET_BYTES,
                libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
            )
        })?;
        let raw = i32::try_from(raw).map_err(io::Error::other)?;
        // SAFETY: just returned by the kernel.
        Ok(unsafe { OwnedFd::from_raw_fd(raw) })
    }

    /// Waits for one of these; they must be blocked.
    pub(crate) fn wait(self) -> io::Result<Received> {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: the set is eight bytes, as told, and the kernel fills a siginfo_t.
        let signal = check(unsafe {
            libc::syscall(
                libc::SYS_rt_sigtimedwait,
                std::ptr::from_ref(&self.0),
                info.as_mut_ptr(),
                std::ptr::null::<libc::timespec>(),
                SET_BYTES,
            )
        })?;
        // SAFETY: zeroed memory is a valid siginfo_t, and the kernel has filled it in.
        let info = unsafe { info.assume_init() };
        // SAFETY: the field is valid for signals sent by kill(2) and zero for others.
        let sender = unsafe { info.si_pid() };
        Ok(Received {
            signal: i32::try_from(signal).map_err(io::Error::other)?,
            by_kernel: info.si_code > 0,
            sender,
        })
    }
}

/// One signal that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) signal: i32,
    /// The kernel made it (a terminal key, a child's end) rather than a process.
    pub(crate) by_kernel: bool,
    /// Sender, zero when outside this PID namespace.
    pub(crate) sender: i32,
}

/// Reads one signal from a [`SignalSet::descriptor`].
pub(crate) fn read(descriptor: BorrowedFd<'_>) -> io::Result<Received> {
    let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
    // SAFETY: the buffer has the size that is told.
    check(unsafe {
        libc::syscall(
            libc::SYS_read,
            descriptor.as_raw_fd(),
            info.as_mut_ptr(),
            size_of::<libc::signalfd_siginfo>(),
        )
    })?;
    // SAFETY: a signalfd read returns whole structs, and zeroed memory is valid too.
    let info = unsafe { info.assume_init() };
    Ok(Received {
        signal: info.ssi_signo.cast_signed(),
        by_kernel: info.ssi_code > 0,
        sender: info.ssi_pid.cast_signed(),
    })
}

/// Gives a signal its default action.
pub(crate) fn restore_default(signal: i32) -> io::Result<()> {
    // SAFETY: SIG_DFL runs no code of ours.
    if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
