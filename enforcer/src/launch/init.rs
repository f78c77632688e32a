//! Process 1 of the run: starts the command, passes signals on, reaps, and ends with the command's exit code.
//! When it ends, the kernel kills everything else in the PID namespace.

use std::convert::Infallible;
use std::io;
use std::os::fd::BorrowedFd;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::{Failure, LaunchSpec, Report, Step, exit_code};
use crate::sys;
use crate::sys::signal::{Received, SignalSet};

/// Runs `execute` in a child and returns the child's exit code.
pub(super) fn run(
    spec: &LaunchSpec,
    report: BorrowedFd<'_>,
    execute: impl FnOnce() -> Result<Infallible, Failure>,
) -> Result<u8, Failure> {
    let step = |error: io::Error| Failure::new(Step::Fork, "", &error);
    SignalSet::ALL.block().map_err(step)?;
    Report::Started.send(report);
    let child = sys::process::borrow(|| become_command(spec, report, execute)).map_err(step)?;
    supervise(child, report).map_err(step)
}

/// In the child. Rust ignores SIGPIPE for itself; a command expects the default.
fn become_command(
    spec: &LaunchSpec,
    report: BorrowedFd<'_>,
    execute: impl FnOnce() -> Result<Infallible, Failure>,
) -> Infallible {
    let ready = sys::signal::restore_default(libc::SIGPIPE).and_then(|()| spec.signal_mask.set());
    let failure = match ready
        .map_err(|error| Failure::new(Step::Execute, "", &error))
        .and_then(|()| execute())
    {
        Ok(never) => match never {},
        Err(failure) => failure,
    };
    let code = exit_code(&failure);
    Report::Failed(failure).send(report);
    sys::process::leave(i32::from(code))
}

fn supervise(child: Pid, report: BorrowedFd<'_>) -> io::Result<u8> {
    loop {
        let received = match SignalSet::ALL.wait() {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if received.signal == libc::SIGCHLD {
            if let Some(code) = reap(child, report)? {
                return Ok(code);
            }
        } else if is_from_supervisor(received)
            && let Some(signal) = Signal::from_named_raw(received.signal)
        {
            // The command may have ended just now; its end is on its way here.
            let _ = rustix::process::kill_process(child, signal);
        }
    }
}

/// A key on the terminal reaches the command by itself; a process of the run may signal the command itself.
const fn is_from_supervisor(received: Received) -> bool {
    !received.by_kernel && received.sender == 0
}

/// Collects every child that has changed state; returns the command's code when it has ended.
fn reap(command: Pid, report: BorrowedFd<'_>) -> io::Result<Option<u8>> {
    loop {
        let (pid, status) = match rustix::process::wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            Ok(Some(changed)) => changed,
            Ok(None) => return Ok(None),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        if pid != command {
            continue;
        }
        if let Some(signal) = status.stopping_signal() {
            Report::Stopped(signal).send(report);
        } else if let Some(code) = code_of(status) {
            return Ok(Some(code));
        }
    }
}

/// What a shell would call the exit code.
fn code_of(status: WaitStatus) -> Option<u8> {
    let code = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => return None,
    };
    Some(u8::try_from(code & 0xff).unwrap_or(u8::MAX))
}
