//! The supervisor's side of a launch: the launcher is started first, and told what to do when that is known.
//!
//! Starting a program takes as long as preparing a run does, so both happen at once. The launcher makes
//! only what every run needs before it has been told, and attaches none of it; when the supervisor gives up or dies instead, it ends.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::process::{Signal, WaitId, WaitIdOptions};

use super::{ARGV0, EXIT_FAILURE, LaunchSpec, spec};
use crate::sys;

/// A launcher that waits for its spec.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) child: Child,
    /// What it reports, see [`super::Report`].
    pub(crate) report: OwnedFd,
    spec: OwnedFd,
    go: OwnedFd,
}

impl Waiting {
    /// Starts `program` as a launcher inside a cgroup.
    pub(crate) fn start(program: &CStr, cgroup: BorrowedFd<'_>) -> io::Result<Self> {
        let (report, launcher_report) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let (go, launcher_go) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        let spec = spec::memfd()?;
        let inherited = [&launcher_report, &spec, &launcher_go].map(AsRawFd::as_raw_fd);
        let mut arguments = vec![CString::new(ARGV0)?];
        for number in inherited {
            arguments.push(CString::new(number.to_string())?);
        }
        let spawned = sys::process::spawn(&sys::process::Spawn {
            program,
            arguments: &arguments,
            cgroup,
            inherited: &inherited,
            report: launcher_report.as_fd(),
        })?;
        let child = Child {
            pid: spawned.pid,
            pidfd: spawned.pidfd,
            reaped: false,
        };
        Ok(Self {
            child,
            report,
            spec,
            go,
        })
    }

    /// Tells it what to do. `masks` is the detached mount of the mask file system.
    pub(crate) fn go(self, spec: &LaunchSpec, masks: Option<&OwnedFd>) -> io::Result<(Child, OwnedFd)> {
        spec.write(self.spec)?;
        match send(self.go.as_fd(), masks) {
            // It has ended already, and its report says why.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            other => other?,
        }
        Ok((self.child, self.report))
    }
}

/// Process 1 of a run, as its parent holds it. Dropped before it was reaped, it is killed and reaped.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) pid: u32,
    pub(crate) pidfd: OwnedFd,
    reaped: bool,
}

impl Child {
    /// Waits for its end; returns its exit code, or 128+n when signal n ended it.
    pub(crate) fn reap(&mut self) -> io::Result<u8> {
        let status = loop {
            match rustix::process::waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other?.ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD))?,
            }
        };
        self.reaped = true;
        let code = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => code,
            (None, Some(signal)) => 128 + signal,
            (None, None) => i32::from(EXIT_FAILURE),
        };
        Ok(u8::try_from(code & 0xff).unwrap_or(u8::MAX))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            // Both succeed for a child that was not waited for.
            let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
            let _ = self.reap();
        }
    }
}

fn send(socket: BorrowedFd<'_>, masks: Option<&OwnedFd>) -> io::Result<()> {
    let fds: Vec<BorrowedFd<'_>> = masks.iter().map(|fd| fd.as_fd()).collect();
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = rustix::net::SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        control.push(rustix::net::SendAncillaryMessage::ScmRights(&fds));
    }
    rustix::net::sendmsg(
        socket,
        &[io::IoSlice::new(&[1])],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// In the launcher: waits to be told. Nothing when the supervisor gave up; else the mount of the masks, if any.
pub(super) fn wait(socket: BorrowedFd<'_>) -> io::Result<Option<Option<OwnedFd>>> {
    let mut byte = [0u8; 1];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = rustix::net::RecvAncillaryBuffer::new(&mut space);
    let received = rustix::net::recvmsg(
        socket,
        &mut [io::IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut masks = None;
    for message in control.drain() {
        if let rustix::net::RecvAncillaryMessage::ScmRights(mut fds) = message {
            masks = fds.next();
        }
    }
    Ok(Some(masks))
}
