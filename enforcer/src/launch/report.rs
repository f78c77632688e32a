//! What the launcher tells the supervisor, over a pipe.
//!
//! Each message is one write of at most `PIPE_BUF` bytes, a tag first, so messages never mix.

use std::io;
use std::os::fd::BorrowedFd;

use serde::{Deserialize, Serialize};

/// The steps of a launch, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// Starting the launcher itself.
    Start,
    /// Reading the spec.
    Spec,
    /// Joining version 1 cgroups.
    Cgroups,
    /// The cgroup namespace.
    Namespaces,
    /// The mount tree.
    Mounts,
    /// Entering the working directory.
    WorkingDirectory,
    /// Finding the program.
    Program,
    /// Closing descriptors.
    Descriptors,
    /// Resource limits.
    Limits,
    /// Landlock rules, opened while that still needs no right.
    LandlockRules,
    /// Groups and user.
    Identity,
    /// Capability sets, bounding set, securebits.
    Capabilities,
    /// `no_new_privs`.
    NoNewPrivileges,
    /// Entering the Landlock domain.
    Landlock,
    /// Starting the command's process.
    Fork,
    /// The seccomp filter.
    Seccomp,
    /// Executing the command.
    Execute,
}

impl Step {
    /// For people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "starting the launcher",
            Self::Spec => "reading the launch spec",
            Self::Cgroups => "joining the run's cgroups",
            Self::Namespaces => "entering namespaces",
            Self::Mounts => "building the mount tree",
            Self::WorkingDirectory => "entering the working directory",
            Self::Program => "finding the program",
            Self::Descriptors => "closing descriptors",
            Self::Limits => "setting resource limits",
            Self::LandlockRules => "opening Landlock rules",
            Self::Identity => "changing user and group",
            Self::Capabilities => "dropping capabilities",
            Self::NoNewPrivileges => "setting no_new_privs",
            Self::Landlock => "entering the Landlock domain",
            Self::Fork => "starting the command's process",
            Self::Seccomp => "installing the seccomp filter",
            Self::Execute => "executing the command",
        }
    }
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {subject}: {}", step.name(), io::Error::from_raw_os_error(*errno))]
pub struct Failure {
    /// Which.
    pub step: Step,
    /// What it was about: a path, a call.
    pub subject: String,
    /// What the kernel said.
    pub errno: i32,
}

impl Failure {
    pub(crate) fn new(step: Step, subject: impl Into<String>, error: &io::Error) -> Self {
        Self {
            step,
            subject: subject.into(),
            errno: error.raw_os_error().unwrap_or(5),
        }
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// A step failed; the launcher ends.
    Failed(Failure),
    /// The command has a process, which is about to execute it.
    Started,
    /// The command was stopped by this signal.
    Stopped(i32),
}

/// What a pipe takes in one piece.
const PIPE_BUF: usize = 4096;

const FAILED_TO_EXECUTE: u8 = 0;
const FAILED: u8 = 1;
const STARTED: u8 = 2;
const STOPPED: u8 = 3;

impl Report {
    /// Writes it. When the supervisor is gone there is nobody to tell, and the run is being killed anyway.
    pub(crate) fn send(&self, pipe: BorrowedFd<'_>) {
        let message = match self {
            Self::Failed(failure) => {
                let mut failure = failure.clone();
                let mut cut = failure.subject.len().min(PIPE_BUF / 2);
                while !failure.subject.is_char_boundary(cut) {
                    cut -= 1;
                }
                failure.subject.truncate(cut);
                framed(FAILED, &postcard::to_stdvec(&failure).unwrap_or_default())
            }
            Self::Started => framed(STARTED, &[]),
            Self::Stopped(signal) => framed(STOPPED, &signal.to_ne_bytes()),
        };
        let _ = rustix::io::write(pipe, &message);
    }

    /// Takes the first whole message off `buffer`.
    pub(crate) fn take(buffer: &mut Vec<u8>) -> Option<Self> {
        let (tag, rest) = buffer.split_first()?;
        if *tag == FAILED_TO_EXECUTE {
            let errno = i32::from_ne_bytes(*rest.first_chunk()?);
            buffer.drain(..5);
            let subject = "the launcher program".to_owned();
            return Some(Self::Failed(Failure {
                step: Step::Start,
                subject,
                errno,
            }));
        }
        let len = usize::from(u16::from_ne_bytes(*rest.first_chunk()?));
        let body = rest.get(2..2 + len)?;
        let report = match *tag {
            FAILED => postcard::from_bytes(body).ok().map(Self::Failed),
            STARTED => Some(Self::Started),
            STOPPED => body
                .first_chunk()
                .map(|bytes| Self::Stopped(i32::from_ne_bytes(*bytes))),
            _ => None,
        };
        buffer.drain(..3 + len);
        report
    }
}

fn framed(tag: u8, body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(body.len()).unwrap_or(0);
    let mut message = vec![tag];
    message.extend(len.to_ne_bytes());
    message.extend(body);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_whole_and_in_order() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        let failure = Failure {
            step: Step::Mounts,
            subject: "é".repeat(5_000),
            errno: 13,
        };
        for report in [Report::Started, Report::Stopped(20), Report::Failed(failure)] {
            report.send(std::os::fd::AsFd::as_fd(&write));
        }
        drop(write);
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::fs::File::from(read), &mut bytes).unwrap();
        assert_eq!(Report::take(&mut bytes), Some(Report::Started));
        assert_eq!(Report::take(&mut bytes), Some(Report::Stopped(20)));
        let Some(Report::Failed(failure)) = Report::take(&mut bytes) else {
            unreachable!()
        };
        assert_eq!(
            (failure.step, failure.errno, failure.subject.len()),
            (Step::Mounts, 13, 2048)
        );
        assert!(bytes.is_empty());
    }

    #[test]
    fn half_a_message_waits_for_the_rest() {
        let mut bytes = framed(STOPPED, &20i32.to_ne_bytes());
        let last = bytes.pop().unwrap();
        assert_eq!(Report::take(&mut bytes), None);
        bytes.push(last);
        assert_eq!(Report::take(&mut bytes), Some(Report::Stopped(20)));
    }
}
