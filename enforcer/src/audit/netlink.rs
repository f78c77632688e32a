//! One netlink socket for requests to the audit subsystem and for the records it multicasts.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, sendto, socket_with, sockopt,
};
use rustix::time::Timespec;

use super::{AuditError, record};

/// Membership of `AUDIT_NLGRP_READLOG` as a bit.
const READLOG: u32 = 1;
/// About 20,000 refusals while the reader is not scheduled.
const RECEIVE_BUFFER: usize = 32 << 20;
const HEADER_LEN: usize = 16;
/// `NLMSG_ERROR`: the answer to a request with [`ACK`].
pub(super) const ERROR: u16 = 2;
/// `NLMSG_DONE`: the end of a list.
pub(super) const DONE: u16 = 3;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
/// `NLM_F_ACK`.
const ACK: u16 = 4;

/// A message as it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    /// Its type.
    pub(super) kind: u16,
    /// Which request it answers.
    pub(super) sequence: u32,
    /// What follows the header.
    pub(super) payload: &'a [u8],
}

#[derive(Debug)]
pub(super) struct Socket {
    fd: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Socket {
    pub(super) fn open() -> Result<Self, AuditError> {
        let step = |step| {
            move |error: rustix::io::Errno| AuditError::Socket {
                step,
                source: error.into(),
            }
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            flags,
            Some(netlink::AUDIT),
        )
        .map_err(step("open"))?;
        sockopt::set_socket_recv_buffer_size_force(&fd, RECEIVE_BUFFER).map_err(step("size"))?;
        bind(&fd, &SocketAddrNetlink::new(0, READLOG)).map_err(step("bind"))?;
        Ok(Self {
            fd,
            sequence: 0,
            buffer: vec![0; record::RECORD_MAX + HEADER_LEN],
        })
    }

    /// Sends a request that wants no acknowledgement.
    pub(super) fn send(&mut self, kind: u16, payload: &[u8]) -> Result<u32, AuditError> {
        self.transmit(kind, REQUEST, payload)
            .map_err(|source| AuditError::Socket {
                step: "write to",
                source,
            })
    }

    fn transmit(&mut self, kind: u16, flags: u16, payload: &[u8]) -> io::Result<u32> {
        self.sequence = self.sequence.wrapping_add(1);
        let len = u32::try_from(HEADER_LEN + payload.len()).map_err(io::Error::other)?;
        let mut message = Vec::with_capacity(HEADER_LEN + payload.len());
        message.extend_from_slice(&len.to_ne_bytes());
        message.extend_from_slice(&kind.to_ne_bytes());
        message.extend_from_slice(&flags.to_ne_bytes());
        message.extend_from_slice(&self.sequence.to_ne_bytes());
        message.extend_from_slice(&0u32.to_ne_bytes());
        message.extend_from_slice(payload);
        sendto(
            &self.fd,
            &message,
            SendFlags::empty(),
            &SocketAddrNetlink::new(0, 0),
        )?;
        Ok(self.sequence)
    }

    /// The next message, if there is one. The length is the datagram's: a multicast record's own header counts
    /// without itself on older kernels.
    pub(super) fn receive(&mut self) -> io::Result<Option<Message<'_>>> {
        loop {
            let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
            let len = match recv(&self.fd, self.buffer.as_mut_slice(), flags) {
                Ok((_, len)) => len,
                Err(rustix::io::Errno::AGAIN) => return Ok(None),
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let Some(header) = self.buffer.first_chunk::<HEADER_LEN>() else {
                return Ok(None);
            };
            if len < HEADER_LEN {
                continue;
            }
            let [_, _, _, _, k0, k1, _, _, s0, s1, s2, s3, ..] = *header;
            return Ok(Some(Message {
                kind: u16::from_ne_bytes([k0, k1]),
                sequence: u32::from_ne_bytes([s0, s1, s2, s3]),
                // A longer datagram than the buffer was cut; the parser then refuses it as too long.
                payload: self
                    .buffer
                    .get(HEADER_LEN..len.min(self.buffer.len()))
                    .unwrap_or_default(),
            }));
        }
    }

    /// Sends a request and hands every answer to `each` until the acknowledgement came and `each` has what it
    /// wants. Records that arrive meanwhile are not of a run that exists yet.
    pub(super) fn request(
        &mut self,
        step: &'static str,
        kind: u16,
        payload: &[u8],
        deadline: Instant,
        each: impl FnMut(Message<'_>) -> bool,
    ) -> Result<(), AuditError> {
        let sequence = self.ask(step, kind, payload)?;
        self.answers(step, sequence, deadline, each)
    }

    /// The first half of a request: its number, for [`Socket::answers`].
    pub(super) fn ask(&mut self, step: &'static str, kind: u16, payload: &[u8]) -> Result<u32, AuditError> {
        self.transmit(kind, REQUEST | ACK, payload)
            .map_err(|source| AuditError::Request { step, source })
    }

    /// The second half.
    pub(super) fn answers(
        &mut self,
        step: &'static str,
        sequence: u32,
        deadline: Instant,
        mut each: impl FnMut(Message<'_>) -> bool,
    ) -> Result<(), AuditError> {
        let failed = |source| AuditError::Request { step, source };
        let (mut acknowledged, mut satisfied) = (false, false);
        while !(acknowledged && satisfied) {
            match self.receive() {
                Ok(Some(message)) if message.sequence == sequence && message.kind == ERROR => {
                    let code = message
                        .payload
                        .first_chunk()
                        .map_or(0, |code| i32::from_ne_bytes(*code));
                    if code != 0 {
                        return Err(failed(io::Error::from_raw_os_error(code.saturating_neg())));
                    }
                    acknowledged = true;
                    satisfied |= each(message);
                }
                Ok(Some(message)) if message.sequence == sequence => satisfied |= each(message),
                Ok(Some(_)) => {}
                Ok(None) => {
                    if !self.wait(deadline)? {
                        return Err(failed(io::ErrorKind::TimedOut.into()));
                    }
                }
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {}
                Err(source) => return Err(AuditError::Socket { step: "read", source }),
            }
        }
        Ok(())
    }

    /// Waits until there is something to read; false at the deadline.
    pub(super) fn wait(&self, deadline: Instant) -> Result<bool, AuditError> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    return Err(AuditError::Socket {
                        step: "wait on",
                        source: error.into(),
                    });
                }
            }
        }
    }

    /// Messages that found the receive buffer full, since the socket was made.
    pub(super) fn dropped(&self) -> io::Result<u32> {
        crate::sys::netlink::dropped(self.fd.as_fd())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
