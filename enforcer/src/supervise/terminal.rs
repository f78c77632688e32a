//! Job control: the run and its supervisor are one job of the caller's shell.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::process::Signal;

use super::send;
use crate::cgroup::RunCgroups;
use crate::sys::signal::SignalSet;

/// The caller's terminal, when this process is in its foreground.
pub(super) struct Terminal {
    tty: Option<OwnedFd>,
}

impl Terminal {
    pub(super) fn of_caller() -> Self {
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC | rustix::fs::OFlags::NOCTTY;
        let tty = rustix::fs::open("/dev/tty", flags, rustix::fs::Mode::empty()).ok();
        let tty = tty.filter(|tty| rustix::termios::tcgetpgrp(tty) == Ok(rustix::process::getpgrp()));
        Self { tty }
    }

    /// The command was stopped: stops the run and this process, as one job; when continued, goes on.
    pub(super) fn stop_with(
        &self,
        stopped: i32,
        cgroups: &RunCgroups,
        process: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let from_terminal = [libc::SIGTSTP, libc::SIGSTOP, libc::SIGTTIN, libc::SIGTTOU].contains(&stopped);
        if self.tty.is_none() || !from_terminal {
            return Ok(());
        }
        let freezer: PathBuf = cgroups.unified.join("cgroup.freeze");
        std::fs::write(&freezer, "1")?;
        rustix::process::kill_process(rustix::process::getpid(), Signal::STOP)?;
        std::fs::write(&freezer, "0")?;
        send(process, Signal::CONT)
    }

    /// A command that made itself the terminal's foreground has ended.
    pub(super) fn take_back(&self) {
        let Some(tty) = &self.tty else { return };
        let own = rustix::process::getpgrp();
        if rustix::termios::tcgetpgrp(tty) != Ok(own)
            && let Ok(old) = SignalSet::of(&[libc::SIGTTOU]).block()
        {
            // Cosmetic: a shell takes its terminal back by itself.
            let _ = rustix::termios::tcsetpgrp(tty, own);
            let _ = old.set();
        }
    }
}
