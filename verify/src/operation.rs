//! What a probe does, and what the model has to say about it.

use std::net::IpAddr;

use policy_lang::policy::{FileAccess, Protocol, Verb};
use policy_lang::reference::Access;
use policy_lang::syscall::{Architecture, table};
use serde::{Deserialize, Serialize};

/// The architecture of this machine, for the tables of calls.
pub const ARCHITECTURE: Architecture = if cfg!(target_arch = "aarch64") {
    Architecture::Aarch64
} else {
    Architecture::X86_64
};

/// One thing that a program can try.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum Operation {
    /// Open for reading.
    Read {
        /// Absolute.
        path: String,
    },
    /// Open for writing; a file that is not there, or one in a directory, is made and removed again.
    Write {
        /// Absolute.
        path: String,
    },
    /// Start a program, as far as the kernel lets it, without running an instruction of it.
    Execute {
        /// Absolute.
        path: String,
    },
    /// Connect, or send a datagram.
    Connect {
        /// `tcp` or `udp`.
        udp: bool,
        /// Where to.
        address: IpAddr,
        /// Where to.
        port: u16,
    },
    /// Bind.
    Bind {
        /// `tcp` or `udp`.
        udp: bool,
        /// To what.
        address: IpAddr,
        /// To what.
        port: u16,
    },
    /// Make a socket.
    Socket {
        /// `AF_*`
        family: u32,
        /// `SOCK_*`
        kind: u32,
        /// Protocol number.
        protocol: u32,
    },
    /// A bare system call.
    Call {
        /// For people.
        name: String,
        /// Number on this architecture.
        number: u32,
        /// Registers.
        arguments: [u64; 6],
    },
    /// getpid(2) under the number it has for x32 programs.
    X32,
    /// getpid(2) through the entry of 32-bit programs.
    I386,
    /// Look for a variable of the caller.
    Variable {
        /// Its name.
        name: String,
    },
    /// Use a descriptor of the caller.
    Descriptor {
        /// Its number.
        number: i32,
    },
    /// Ask whether a process can be signalled.
    Signal {
        /// Its number on the host.
        pid: i32,
    },
    /// Become another user: root, or from root another one.
    SetUser,
    /// Look for a privilege that could be used or gained.
    Privileges,
    /// Start a set-user-ID program and see whose it is.
    SetIdProgram {
        /// Absolute.
        path: String,
    },
    /// Leave a process behind that ignores requests to end.
    Daemon,
}

const AT_FDCWD: u64 = 0xffff_ff9c;
/// `O_CLOEXEC`, and `O_NONBLOCK`: a FIFO without another end must not stop a probe.
pub(crate) const OPEN_FLAGS: i32 = libc::O_CLOEXEC | libc::O_NONBLOCK;

impl Operation {
    /// That of a line of a `test` block. Nothing for what cannot be tried: calls of another architecture, hosts without an
    /// address.
    #[must_use]
    pub fn of(access: &Access) -> Option<Self> {
        Some(match access {
            Access::File { access, path } => match access {
                FileAccess::Read => Self::Read { path: path.clone() },
                FileAccess::Write => Self::Write { path: path.clone() },
                FileAccess::Execute => Self::Execute { path: path.clone() },
            },
            Access::Network {
                verb,
                protocol,
                address,
                port,
            } => Self::network(*verb, *protocol, *address, *port),
            Access::Host {
                verb,
                protocol,
                address: Some(address),
                port,
                ..
            } => Self::network(*verb, *protocol, *address, *port),
            Access::Host { address: None, .. } => return None,
            Access::Environment { name } => Self::Variable { name: name.clone() },
            Access::Syscall {
                architecture,
                number,
                arguments,
            } => Self::Call {
                name: table::name(*number, *architecture)?.to_owned(),
                number: (*architecture == ARCHITECTURE).then_some(*number)?,
                arguments: *arguments,
            },
        })
    }

    /// A call by name, its arguments zero. Nothing where this architecture does not have it.
    #[must_use]
    pub fn call(name: &str, arguments: [u64; 6]) -> Option<Self> {
        Some(Self::Call {
            name: name.to_owned(),
            number: table::number(name, ARCHITECTURE)?,
            arguments,
        })
    }

    const fn network(verb: Verb, protocol: Protocol, address: IpAddr, port: u16) -> Self {
        let udp = matches!(protocol, Protocol::Udp);
        match verb {
            Verb::Connect => Self::Connect { udp, address, port },
            Verb::Bind => Self::Bind { udp, address, port },
        }
    }

    /// What the policy has to allow for it, in the order in which the kernel asks.
    #[must_use]
    pub fn accesses(&self) -> Vec<Access> {
        let file = |access, path: &str| Access::File {
            access,
            path: path.to_owned(),
        };
        let mut accesses = Vec::new();
        let mut need = |name: &str, arguments: &[u64]| accesses.extend(syscall(name, arguments));
        match self {
            Self::Read { path } => {
                need("openat", &[AT_FDCWD, 0, word(libc::O_RDONLY | OPEN_FLAGS)]);
                accesses.push(file(FileAccess::Read, path));
            }
            Self::Write { path } => {
                need("openat", &[AT_FDCWD, 0, word(libc::O_WRONLY | OPEN_FLAGS)]);
                accesses.push(file(FileAccess::Write, path));
            }
            Self::Execute { path } => {
                need("execve", &[]);
                accesses.push(file(FileAccess::Execute, path));
                accesses.push(file(FileAccess::Read, path));
            }
            Self::SetIdProgram { path } => {
                need("execve", &[]);
                accesses.push(file(FileAccess::Execute, path));
                accesses.push(file(FileAccess::Read, path));
            }
            Self::Connect { udp, address, port } | Self::Bind { udp, address, port } => {
                let family = if address.is_ipv4() {
                    libc::AF_INET
                } else {
                    libc::AF_INET6
                };
                let kind = if *udp { libc::SOCK_DGRAM } else { libc::SOCK_STREAM };
                need("socket", &[word(family), word(kind | libc::SOCK_CLOEXEC), 0]);
                let bind = matches!(self, Self::Bind { .. });
                need(
                    match (bind, udp) {
                        (true, _) => "bind",
                        (false, true) => "sendto",
                        (false, false) => "connect",
                    },
                    &[],
                );
                accesses.push(Access::Network {
                    verb: if bind { Verb::Bind } else { Verb::Connect },
                    protocol: if *udp { Protocol::Udp } else { Protocol::Tcp },
                    address: *address,
                    port: *port,
                });
            }
            Self::Socket {
                family,
                kind,
                protocol,
            } => need(
                "socket",
                &[u64::from(*family), u64::from(*kind), u64::from(*protocol)],
            ),
            Self::Call {
                number, arguments, ..
            } => accesses.push(Access::Syscall {
                architecture: ARCHITECTURE,
                number: *number,
                arguments: *arguments,
            }),
            Self::Variable { name } => accesses.push(Access::Environment { name: name.clone() }),
            Self::SetUser => need("setuid", &[]),
            Self::Signal { .. } => need("kill", &[]),
            Self::Descriptor { .. } => need("fcntl", &[0, word(libc::F_GETFD)]),
            Self::Daemon => need("setsid", &[]),
            Self::Privileges | Self::X32 | Self::I386 => {}
        }
        accesses
    }
}

/// A call of this architecture.
pub(crate) fn syscall(name: &str, arguments: &[u64]) -> Option<Access> {
    let mut registers = [0; 6];
    for (register, argument) in registers.iter_mut().zip(arguments) {
        *register = *argument;
    }
    Some(Access::Syscall {
        architecture: ARCHITECTURE,
        number: table::number(name, ARCHITECTURE)?,
        arguments: registers,
    })
}

fn word(flags: i32) -> u64 {
    u64::from(flags.cast_unsigned())
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It could be done.
    Done,
    /// The kernel said no, or the thing is not there.
    Errno(i32),
    /// The process that tried was killed by this signal.
    Killed(i32),
    /// Nothing came back in time.
    Silent,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Errno(number) => f.write_str(&errno_name(*number)),
            Self::Killed(libc::SIGSYS) => f.write_str("SIGSYS"),
            Self::Killed(signal) => write!(f, "killed by signal {signal}"),
            Self::Silent => f.write_str("no answer"),
        }
    }
}

/// The kernel's name for an error.
#[must_use]
pub fn errno_name(number: i32) -> String {
    let name = match number {
        libc::EPERM => "EPERM",
        libc::ENOENT => "ENOENT",
        libc::ESRCH => "ESRCH",
        libc::EBADF => "EBADF",
        libc::EACCES => "EACCES",
        libc::EFAULT => "EFAULT",
        libc::EBUSY => "EBUSY",
        libc::EEXIST => "EEXIST",
        libc::ENODEV => "ENODEV",
        libc::EINVAL => "EINVAL",
        libc::EISDIR => "EISDIR",
        libc::ENOTDIR => "ENOTDIR",
        libc::ENXIO => "ENXIO",
        libc::EROFS => "EROFS",
        libc::ENOSYS => "ENOSYS",
        libc::ENODATA => "ENODATA",
        libc::ENOEXEC => "ENOEXEC",
        libc::ETXTBSY => "ETXTBSY",
        libc::EOPNOTSUPP => "EOPNOTSUPP",
        libc::EADDRINUSE => "EADDRINUSE",
        libc::EADDRNOTAVAIL => "EADDRNOTAVAIL",
        libc::EAFNOSUPPORT => "EAFNOSUPPORT",
        libc::EPROTONOSUPPORT => "EPROTONOSUPPORT",
        libc::ESOCKTNOSUPPORT => "ESOCKTNOSUPPORT",
        libc::ECONNREFUSED => "ECONNREFUSED",
        libc::ENETUNREACH => "ENETUNREACH",
        libc::ETIMEDOUT => "ETIMEDOUT",
        libc::EAGAIN => "EAGAIN",
        libc::ENOTTY => "ENOTTY",
        libc::ENOTSOCK => "ENOTSOCK",
        libc::ENOMEM => "ENOMEM",
        other => return format!("errno {other}"),
    };
    name.to_owned()
}
