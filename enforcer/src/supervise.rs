//! The supervisor's part while a run lives: signals in, masks answered, evidence out, the clock kept.
//!
//! The command shares the caller's terminal, session and process group, so keys reach it by themselves and a
//! shell's job control sees one job. What was sent to the supervisor alone is passed on. When the command is
//! stopped from the terminal, the whole run is frozen and the supervisor stops too, so nothing runs unwatched.

mod terminal;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};
use tokio::time::{Instant, sleep_until};

use crate::cgroup::RunCgroups;
use crate::launch::{Child, Failure, Report};
use crate::mask::{MaskTree, serve};
use crate::observe::{ObserveError, Observer};
use crate::sys;
use crate::sys::signal::{self, SignalSet};
use terminal::Terminal;

/// Signals that are passed on to the command.
const FORWARDED: [i32; 9] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTERM,
    libc::SIGCONT,
    libc::SIGTSTP,
    libc::SIGWINCH,
];

/// Signals that end a run which has not started its command yet.
const ENDING: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// Requests that are answered before other things get their turn.
const BATCH: usize = 64;

/// How long records may gather before they are taken: each wake-up costs the run more than a record does.
const GATHER: Duration = Duration::from_millis(3);

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The launcher's exit code: the command's own, or 128+n.
    pub(crate) code: u8,
    /// A launch step that failed.
    pub(crate) failure: Option<Failure>,
    /// The wall-clock limit ended it.
    pub(crate) wall: bool,
}

/// Why the supervisor gave up; it has killed the run or is about to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SuperviseError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Observe(#[from] ObserveError),
}

/// Signals blocked for this thread while a run lives; the old mask comes back at the end.
#[derive(Debug)]
pub(crate) struct BlockedSignals {
    old: SignalSet,
}

impl BlockedSignals {
    pub(crate) fn block() -> io::Result<Self> {
        Ok(Self {
            old: SignalSet::of(&FORWARDED).block()?,
        })
    }

    /// What was blocked before: the command starts with that.
    pub(crate) const fn before(&self) -> SignalSet {
        self.old
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // Failing would need an invalid set, and there is nothing to do about it here.
        let _ = self.old.set();
    }
}

/// A running run.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) child: Child,
    pub(crate) report: OwnedFd,
    pub(crate) masks: Option<(OwnedFd, MaskTree)>,
    pub(crate) cgroups: RunCgroups,
    pub(crate) wall: Option<Duration>,
}

/// Stays with the run until its process 1 has ended, and with it everything else in its PID namespace.
///
/// # Errors
/// When something of the run cannot be recorded or done; the caller ends it.
pub(crate) async fn supervise(live: Live, observer: &mut Observer) -> Result<Ended, SuperviseError> {
    let terminal = Terminal::of_caller();
    let deadline = live.wall.map(|wall| Instant::now() + wall);
    let mut child = live.child;
    let pidfd = sys::watch(child.pidfd.try_clone()?)?;
    let report = sys::watch(nonblocking(live.report)?)?;
    let signals = sys::watch(SignalSet::of(&FORWARDED).descriptor()?)?;
    let masks = live
        .masks
        .map(|(device, tree)| Ok::<_, io::Error>((sys::watch(nonblocking(device)?)?, tree)));
    let masks = masks.transpose()?;
    let sources = observer
        .sources()?
        .into_iter()
        .map(sys::watch)
        .collect::<io::Result<Vec<_>>>()?;
    let mut state = State {
        started: false,
        failure: None,
        buffer: Vec::new(),
        ended_early: None,
    };
    let mut wall = false;
    let mut pump_at = None;

    loop {
        tokio::select! {
            biased;
            ready = readable(masks.as_ref().map(|(device, _)| device)) => {
                let mut ready = ready?;
                if answer(&masks, observer)? {
                    ready.clear_ready();
                }
            }
            ready = report.readable() => {
                let mut ready = ready?;
                let open = state.read(report.get_ref().as_fd())?;
                ready.clear_ready();
                for stopped in state.take() {
                    terminal.stop_with(stopped, &live.cgroups, pidfd.get_ref().as_fd())?;
                }
                if !open {
                    break;
                }
            }
            ready = signals.readable() => {
                let mut ready = ready?;
                state.forward(signals.get_ref().as_fd(), pidfd.get_ref().as_fd(), &live.cgroups)?;
                ready.clear_ready();
            }
            ready = any_readable(&sources), if pump_at.is_none() => {
                ready?.clear_ready();
                pump_at = Some(Instant::now() + GATHER);
            }
            () = until(pump_at) => {
                pump_at = None;
                observer.pump()?;
            }
            () = until(deadline), if !wall => {
                wall = true;
                live.cgroups.kill()?;
            }
        }
    }
    // The launcher's end of the pipe closes when process 1 ends; its status follows when its namespaces are taken down.
    // Most of what it did is on record already.
    observer.pump()?;
    let code = loop {
        tokio::select! {
            biased;
            ready = pidfd.readable() => {
                ready?.clear_ready();
                break child.reap()?;
            }
            ready = readable(masks.as_ref().map(|(device, _)| device)) => {
                let mut ready = ready?;
                if answer(&masks, observer)? {
                    ready.clear_ready();
                }
            }
        }
    };
    terminal.take_back();
    let code = state
        .ended_early
        .map_or(code, |signal| u8::try_from(128 + signal).unwrap_or(u8::MAX));
    Ok(Ended {
        code,
        failure: state.failure,
        wall,
    })
}

/// What has been heard from the launcher.
struct State {
    started: bool,
    failure: Option<Failure>,
    buffer: Vec<u8>,
    /// A signal that arrived before there was a command to pass it to.
    ended_early: Option<i32>,
}

impl State {
    /// Reads what is there; returns whether there may be more later.
    fn read(&mut self, report: BorrowedFd<'_>) -> io::Result<bool> {
        let mut bytes = [0u8; 4096];
        loop {
            match rustix::io::read(report, &mut bytes) {
                Ok(0) => return Ok(false),
                Ok(len) => self.buffer.extend(bytes.iter().take(len)),
                Err(rustix::io::Errno::AGAIN) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes messages; returns the signals that stopped the command.
    fn take(&mut self) -> Vec<i32> {
        let mut stopped = Vec::new();
        while let Some(report) = Report::take(&mut self.buffer) {
            match report {
                Report::Started => {
                    self.started = true;
                }
                Report::Failed(failure) => {
                    self.failure.get_or_insert(failure);
                }
                Report::Stopped(signal) => stopped.push(signal),
            }
        }
        stopped
    }

    fn forward(
        &mut self,
        signals: BorrowedFd<'_>,
        process: BorrowedFd<'_>,
        cgroups: &RunCgroups,
    ) -> io::Result<()> {
        loop {
            let received = match signal::read(signals) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if !self.started && ENDING.contains(&received.signal) {
                self.ended_early = Some(received.signal);
                cgroups.kill()?;
            } else if !received.by_kernel
                && let Some(signal) = Signal::from_named_raw(received.signal)
            {
                send(process, signal)?;
            }
        }
    }
}

/// Answers some requests; returns whether there was nothing more to answer.
fn answer(
    masks: &Option<(AsyncFd<OwnedFd>, MaskTree)>,
    observer: &mut Observer,
) -> Result<bool, SuperviseError> {
    let Some((device, tree)) = masks else {
        return Ok(true);
    };
    let mut request = vec![0u8; 65_536];
    for _ in 0..BATCH {
        let len = match rustix::io::read(device, &mut request) {
            Ok(len) => len,
            // Nothing there, not mounted yet, or the file system is gone.
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::PERM | rustix::io::Errno::NODEV) => {
                return Ok(true);
            }
            // Interrupted, or the request was taken back.
            Err(rustix::io::Errno::INTR | rustix::io::Errno::NOENT) => continue,
            Err(error) => return Err(io::Error::from(error).into()),
        };
        let served = serve(tree, request.get(..len).unwrap_or_default());
        if let Some(reply) = served.reply {
            match rustix::io::write(device, &reply) {
                // The one who asked was killed meanwhile.
                Ok(_) | Err(rustix::io::Errno::NOENT | rustix::io::Errno::NODEV) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
        if let Some(refused) = served.refused {
            observer.refused(&refused)?;
        }
    }
    Ok(false)
}

fn nonblocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    rustix::fs::fcntl_setfl(&fd, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(fd)
}

async fn readable(fd: Option<&AsyncFd<OwnedFd>>) -> io::Result<AsyncFdReadyGuard<'_, OwnedFd>> {
    match fd {
        Some(fd) => fd.readable().await,
        None => std::future::pending().await,
    }
}

async fn any_readable(fds: &[AsyncFd<OwnedFd>]) -> io::Result<AsyncFdReadyGuard<'_, OwnedFd>> {
    std::future::poll_fn(|context| {
        for fd in fds {
            if let std::task::Poll::Ready(ready) = fd.poll_read_ready(context) {
                return std::task::Poll::Ready(ready);
            }
        }
        std::task::Poll::Pending
    })
    .await
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn send(process: BorrowedFd<'_>, signal: Signal) -> io::Result<()> {
    match rustix::process::pidfd_send_signal(process, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
