//! The kernel's audit records: where Landlock and seccomp say what they refused.
//!
//! The records are read from the multicast group `AUDIT_NLGRP_READLOG`, beside any audit daemon. On a host
//! without one, audit is switched on (`audit/settings.rs`) in a way that costs other processes nothing. Everything
//! that can be lost on the way is counted: the kernel's queue by the audit status, the socket's buffer by the
//! socket itself.
//!
//! Minimum kernel version: 3.16 for the group, 6.15 for Landlock's records. Needs `CAP_AUDIT_READ`,
//! `CAP_AUDIT_CONTROL` and `CAP_AUDIT_WRITE` in the first user namespace.

mod fields;
mod netlink;
pub mod record;
mod settings;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::event::LossStage;
use crate::instance::Instance;
use netlink::{Message, Socket};
use record::{Body, Record};
pub use settings::{Status, restore, status};

/// Why there is no audit stream. Without one no run starts.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The socket cannot be made, bound or read.
    #[error(
        "cannot {step} the audit socket: remit needs CAP_AUDIT_READ, CAP_AUDIT_CONTROL and CAP_AUDIT_WRITE on the host itself (not in a container's user namespace)"
    )]
    Socket {
        /// What was tried.
        step: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The kernel did not take a request.
    #[error("the kernel refused to {step}")]
    Request {
        /// What was asked.
        step: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// An audit daemon is there and keeps audit off.
    #[error("audit is switched off by the audit daemon (process {pid}): switch it on with `auditctl -e 1`")]
    Off {
        /// The daemon.
        pid: u32,
    },
    /// This process is in a network namespace that hears nothing.
    #[error(
        "remit is in a network namespace of its own (`unshare -n`, `ip netns exec`): the kernel sends its audit records to the first one only. Start it there"
    )]
    Namespace,
    /// `kernel.seccomp.actions_logged` leaves out what a policy needs.
    #[error(
        "kernel.seccomp.actions_logged is {logged:?}: add \"errno\", \"kill_process\" and \"kill_thread\", or refused system calls leave no record"
    )]
    ActionsNotLogged {
        /// What it is.
        logged: String,
    },
    /// The previous settings cannot be saved or read back.
    #[error("cannot keep the previous audit settings in {path}")]
    State {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The kernel did not send a record back in time.
    #[error("no audit record came back within {0:?}: records of this run may be missing")]
    Silent(Duration),
}

/// What one read brought.
#[derive(Debug, Default)]
pub struct Batch {
    /// In the kernel's order.
    pub records: Vec<Record>,
    /// Losses noticed since the last read.
    pub losses: Vec<(LossStage, u64)>,
    /// The last barrier came back.
    barrier: bool,
    /// The status asked for came back.
    status: Option<Status>,
}

impl Batch {
    fn clear(&mut self) {
        self.records.clear();
        self.losses.clear();
        self.barrier = false;
        self.status = None;
    }

    fn lose(&mut self, stage: LossStage, count: u64) {
        if count > 0 {
            self.losses.push((stage, count));
        }
    }
}

/// The socket, and how much was lost before it was looked at.
#[derive(Debug)]
pub struct AuditStream {
    socket: Socket,
    /// The kernel's count when the stream was opened, or last looked at.
    queue_lost: u32,
    /// The socket's own count when last looked at.
    socket_lost: u32,
    /// Messages read so far.
    received: u64,
    /// Fewer messages than this cannot have filled the kernel's queue; zero where it also drops for other reasons.
    harmless: u64,
    /// The barrier that is on its way.
    token: Option<Vec<u8>>,
}

/// A stream that is being opened.
#[derive(Debug)]
pub struct Opening {
    socket: Socket,
    asked: u32,
}

impl Opening {
    /// Takes the answer, and switches audit on where that is needed (remembering how it was).
    ///
    /// # Errors
    /// As for [`AuditStream::open`].
    pub fn complete(mut self, instance: &Instance) -> Result<AuditStream, AuditError> {
        let status = settings::ensure(&mut self.socket, self.asked, instance)?;
        Ok(AuditStream {
            socket: self.socket,
            queue_lost: status.lost,
            socket_lost: 0,
            received: 0,
            harmless: if status.rate_limit == 0 {
                u64::from(status.backlog_limit)
            } else {
                0
            },
            token: None,
        })
    }
}

impl AuditStream {
    /// Most records that one [`AuditStream::read`] brings, so that other work gets its turn.
    pub const BATCH_MAX: usize = 1024;

    /// Listens, and switches audit on where that is needed (remembering how it was).
    ///
    /// # Errors
    /// When records would not arrive; then the run must not start.
    pub fn open(instance: &Instance) -> Result<Self, AuditError> {
        Self::begin()?.complete(instance)
    }

    /// Listens, and asks how audit is set up; the answer comes while the caller does something else.
    ///
    /// # Errors
    /// As for [`AuditStream::open`].
    pub fn begin() -> Result<Opening, AuditError> {
        settings::check_seccomp_logging()?;
        settings::check_network_namespace()?;
        let mut socket = Socket::open()?;
        let asked = settings::ask_status(&mut socket)?;
        Ok(Opening { socket, asked })
    }

    /// Takes what has arrived into `batch` (which is cleared first), without waiting. Returns whether there may
    /// be more.
    ///
    /// Drain the run's ring after this and before the batch is handed to evidence: then every process that a
    /// record can name is already known from the ring.
    ///
    /// # Errors
    /// When the socket fails. A full socket is no error but a loss.
    pub fn read(&mut self, batch: &mut Batch) -> Result<bool, AuditError> {
        batch.clear();
        self.read_more(batch)
    }

    fn read_more(&mut self, batch: &mut Batch) -> Result<bool, AuditError> {
        for _ in 0..Self::BATCH_MAX {
            match self.socket.receive() {
                Ok(Some(message)) => {
                    self.received += 1;
                    take(message, self.token.as_deref(), batch);
                }
                Ok(None) => return Ok(false),
                Err(source) if source.raw_os_error() == Some(libc::ENOBUFS) => self.count_drops(batch),
                Err(source) => return Err(AuditError::Socket { step: "read", source }),
            }
        }
        Ok(true)
    }

    /// `ENOBUFS` says that something was dropped; the socket knows how much.
    fn count_drops(&mut self, batch: &mut Batch) {
        let dropped = self.socket.dropped().unwrap_or(self.socket_lost.wrapping_add(1));
        batch.lose(
            LossStage::AuditSocket,
            u64::from(dropped.wrapping_sub(self.socket_lost)),
        );
        self.socket_lost = dropped;
    }

    /// Sends the barrier that [`AuditStream::finish`] waits for.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn send_barrier(&mut self) -> Result<(), AuditError> {
        let token = settings::token()?;
        // The kernel replaces the last byte by a terminator.
        let text = [token.as_slice(), &[0]].concat();
        self.socket.send(record::TRUSTED_APP, &text)?;
        self.token = Some(token);
        Ok(())
    }

    /// Waits until everything that the kernel had recorded when the barrier was sent (which is now, if it was not) has arrived,
    /// and learns what its queue lost. `each` gets every batch on the way.
    ///
    /// The barrier is a message of our own that goes through the same queue behind the records.
    ///
    /// # Errors
    /// When it does not come back within `limit`, or the socket fails.
    pub fn finish(&mut self, limit: Duration, mut each: impl FnMut(&Batch)) -> Result<(), AuditError> {
        let deadline = Instant::now() + limit;
        if self.token.is_none() {
            self.send_barrier()?;
        }
        self.read_until(deadline, limit, |batch| batch.barrier, &mut each)?;
        self.token = None;
        let mut batch = Batch::default();
        self.count_drops(&mut batch);
        if self.may_have_overflowed() {
            self.socket.send(settings::GET, &[])?;
            let mut lost = None;
            let told = |batch: &mut Batch| {
                lost = lost.or(batch.status.take().map(|status| status.lost));
                lost.is_some()
            };
            self.read_until(deadline, limit, told, &mut each)?;
            let lost = lost.unwrap_or(self.queue_lost);
            batch.lose(
                LossStage::AuditQueue,
                u64::from(lost.wrapping_sub(self.queue_lost)),
            );
            self.queue_lost = lost;
        }
        each(&batch);
        Ok(())
    }

    /// Whether the kernel's queue can have been full since the stream was opened. Whatever stood in it has arrived
    /// here by the time a barrier has, so too few messages prove that it was not. Asking the kernel instead makes it
    /// start a thread for the answer, which while namespaces are torn down takes longer than `/bin/true`.
    const fn may_have_overflowed(&self) -> bool {
        self.received >= self.harmless || self.socket_lost != 0
    }

    /// Reads until a batch satisfies `done`. `each` gets every batch.
    fn read_until(
        &mut self,
        deadline: Instant,
        limit: Duration,
        mut done: impl FnMut(&mut Batch) -> bool,
        each: &mut impl FnMut(&Batch),
    ) -> Result<(), AuditError> {
        let mut batch = Batch::default();
        loop {
            let more = self.read(&mut batch)?;
            let enough = done(&mut batch);
            each(&batch);
            if enough {
                return Ok(());
            }
            if !(more || self.socket.wait(deadline)?) {
                return Err(AuditError::Silent(limit));
            }
        }
    }

    /// Waits until a record of interest may have arrived, or `deadline` passes; says whether one has.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn wait(&self, deadline: Instant) -> Result<bool, AuditError> {
        self.socket.wait(deadline)
    }
}

fn take(message: Message<'_>, token: Option<&[u8]>, batch: &mut Batch) {
    if message.kind == settings::GET {
        batch.status = Status::parse(message.payload);
        return;
    }
    match record::parse(message.kind, message.payload) {
        Ok(Some(Record {
            body: Body::Message(text),
            ..
        })) => {
            batch.barrier |=
                token.is_some_and(|token| text.windows(token.len()).any(|window| window == token));
        }
        Ok(Some(record)) => batch.records.push(record),
        Ok(None) => {}
        Err(_) => batch.lose(LossStage::Record, 1),
    }
}

impl AsFd for AuditStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for AuditStream {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_fd().as_raw_fd()
    }
}
