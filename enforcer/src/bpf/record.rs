//! Typed records out of a run's ring.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ebpf::layout::{EventKind, NetworkHook};

use super::CgroupId;

/// Who did it, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStamp {
    /// Nanoseconds on `CLOCK_BOOTTIME`.
    pub time_ns: u64,
    /// The run.
    pub cgroup: CgroupId,
    /// Thread group id in the initial PID namespace; zero when the kernel does not know the process.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Real user id.
    pub uid: u32,
    /// The thread's name. The process chose it; nothing may depend on it.
    pub comm: String,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A program was started.
    Exec {
        /// By whom: the process after the exec.
        process: ProcessStamp,
        /// Its parent.
        parent: u32,
        /// The path that was executed, as the process gave it, whole.
        path: Vec<u8>,
    },
    /// A process was created.
    Fork {
        /// The parent.
        process: ProcessStamp,
        /// The child's thread group id.
        child: u32,
    },
    /// A process ended.
    Exit {
        /// Its last thread.
        process: ProcessStamp,
        /// As wait(2) encodes it.
        status: u32,
    },
    /// A network decision.
    Network {
        /// Who asked.
        process: ProcessStamp,
        /// What was decided.
        decision: NetworkRecord,
    },
    /// A device was refused.
    Device {
        /// Who asked.
        process: ProcessStamp,
        /// Whether it is a block device, not a character device.
        block: bool,
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
        /// `BPF_DEVCG_ACC_*`: 1 mknod, 2 read, 4 write.
        access: u32,
    },
    /// A write to a kernel setting was refused.
    Sysctl {
        /// Who asked.
        process: ProcessStamp,
        /// Name, as under /proc/sys.
        name: String,
    },
}

/// What the programs decided about a network access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRecord {
    /// The deciding rule.
    pub rule: u32,
    /// Whether it was let through.
    pub allowed: bool,
    /// Where.
    pub hook: NetworkHook,
    /// IP protocol number.
    pub protocol: u8,
    /// 4 or 6; at socket creation the address family as asked for.
    pub family: u8,
    /// Destination, or for bind and incoming connections the local address. `None` at socket creation.
    pub address: Option<IpAddr>,
    /// Port, zero at socket creation.
    pub port: u16,
    /// `SOCK_*` at socket creation, else zero.
    pub socket_type: u16,
    /// Protocol asked for at socket creation, else zero.
    pub socket_protocol: u16,
}

/// Why a record cannot be read. The programs and this code come from one build, so this is a defect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Shorter than its kind needs.
    #[error("a {len}-byte record is too short")]
    Short {
        /// Its length.
        len: usize,
    },
    /// A kind, hook or family that does not exist.
    #[error("unknown {what} {value}")]
    Unknown {
        /// Of what.
        what: &'static str,
        /// The number.
        value: u32,
    },
}

/// Reads numbers and arrays off the front of a record.
struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
}

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(DecodeError::Short { len: self.len })?;
        self.rest = rest;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(u8::from_ne_bytes(self.take()?))
    }

    fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_ne_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_ne_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_ne_bytes(self.take()?))
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(DecodeError::Short { len: self.len })?;
        self.rest = rest;
        Ok(head)
    }
}

impl Record {
    /// Reads one record.
    ///
    /// # Errors
    /// When it is shorter than its kind says, or of an unknown kind.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader {
            rest: bytes,
            len: bytes.len(),
        };
        let time_ns = reader.u64()?;
        let cgroup = CgroupId(reader.u64()?);
        let kind = reader.u32()?;
        let process = ProcessStamp {
            time_ns,
            cgroup,
            pid: reader.u32()?,
            tid: reader.u32()?,
            uid: reader.u32()?,
            comm: text(&reader.take::<16>()?),
        };
        match kind {
            kind if kind == EventKind::Exec as u32 => {
                let parent = reader.u32()?;
                let len = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
                let path = reader.bytes(len)?.to_vec();
                Ok(Self::Exec {
                    process,
                    parent,
                    path,
                })
            }
            kind if kind == EventKind::Fork as u32 => Ok(Self::Fork {
                process,
                child: reader.u32()?,
            }),
            kind if kind == EventKind::Exit as u32 => Ok(Self::Exit {
                process,
                status: reader.u32()?,
            }),
            kind if kind == EventKind::Network as u32 => Ok(Self::Network {
                process,
                decision: network(&mut reader)?,
            }),
            kind if kind == EventKind::Device as u32 => Ok(Self::Device {
                process,
                block: reader.u32()? == 1,
                major: reader.u32()?,
                minor: reader.u32()?,
                access: reader.u32()?,
            }),
            kind if kind == EventKind::Sysctl as u32 => Ok(Self::Sysctl {
                process,
                name: text(&reader.take::<64>()?),
            }),
            value => Err(DecodeError::Unknown { what: "kind", value }),
        }
    }

    /// Who and when.
    #[must_use]
    pub fn process(&self) -> &ProcessStamp {
        match self {
            Self::Exec { process, .. }
            | Self::Fork { process, .. }
            | Self::Exit { process, .. }
            | Self::Network { process, .. }
            | Self::Device { process, .. }
            | Self::Sysctl { process, .. } => process,
        }
    }
}

fn network(reader: &mut Reader<'_>) -> Result<NetworkRecord, DecodeError> {
    let rule = reader.u32()?;
    let allowed = reader.u8()? == 1;
    let hook = match reader.u8()? {
        1 => NetworkHook::Connect,
        2 => NetworkHook::Send,
        3 => NetworkHook::Bind,
        4 => NetworkHook::Create,
        5 => NetworkHook::Egress,
        6 => NetworkHook::Ingress,
        value => {
            return Err(DecodeError::Unknown {
                what: "hook",
                value: value.into(),
            });
        }
    };
    let protocol = reader.u8()?;
    let family = reader.u8()?;
    let port = reader.u16()?;
    let socket_type = reader.u16()?;
    let socket_protocol = reader.u16()?;
    let _reserved = reader.u16()?;
    let address = reader.take::<16>()?;
    let address = match (hook, family) {
        (NetworkHook::Create, _) => None,
        (_, 4) => {
            let [a, b, c, d, ..] = address;
            Some(IpAddr::V4(Ipv4Addr::new(a, b, c, d)))
        }
        (_, 6) => Some(IpAddr::V6(Ipv6Addr::from(address))),
        (_, value) => {
            return Err(DecodeError::Unknown {
                what: "family",
                value: value.into(),
            });
        }
    };
    Ok(NetworkRecord {
        rule,
        allowed,
        hook,
        protocol,
        family,
        address,
        port,
        socket_type,
        socket_protocol,
    })
}

/// The text before the first NUL.
fn text(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}
