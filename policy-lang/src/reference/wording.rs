//! An access as the language writes it in a `test` block, so that what a tool reports can be pasted into a policy.

use std::fmt;
use std::net::IpAddr;

use super::Access;
use crate::policy::{Protocol, Verb};
use crate::resolve::{quoted, quoted_path};
use crate::syscall::{Architecture, table};

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { access, path } => {
                write!(formatter, "{} {}", access.word(), quoted_path(path))
            }
            Self::Network {
                verb,
                protocol,
                address,
                port,
            } => {
                let target = match address {
                    IpAddr::V4(address) => format!("{address}:{port}"),
                    IpAddr::V6(address) => format!("[{address}]:{port}"),
                };
                network(formatter, *verb, *protocol, &target)
            }
            Self::Host {
                verb,
                protocol,
                host,
                address,
                port,
            } => {
                network(formatter, *verb, *protocol, &format!("{host}:{port}"))?;
                address.map_or(Ok(()), |address| write!(formatter, " at {address}"))
            }
            Self::Environment { name } => write!(formatter, "env {}", quoted(name)),
            Self::Syscall {
                architecture,
                number,
                arguments,
            } => call(formatter, *architecture, *number, arguments),
        }
    }
}

fn network(formatter: &mut fmt::Formatter<'_>, verb: Verb, protocol: Protocol, target: &str) -> fmt::Result {
    write!(
        formatter,
        "{} {} {}",
        verb.word(),
        protocol.word(),
        quoted(target)
    )
}

/// Arguments that are zero are not written: that is what a test takes them for.
fn call(
    formatter: &mut fmt::Formatter<'_>,
    architecture: Architecture,
    number: u32,
    arguments: &[u64; 6],
) -> fmt::Result {
    let Some(name) = table::name(number, architecture) else {
        return write!(formatter, "syscall {number} of {}", architecture.name());
    };
    write!(formatter, "syscall {}", quoted(name))?;
    let given = arguments.iter().zip(0_u8..).filter(|(value, _)| **value != 0);
    for (position, (value, index)) in given.enumerate() {
        let joint = if position == 0 { "where" } else { "and" };
        write!(formatter, " {joint} {} == ", argument_name(name, index, *value))?;
        match value {
            0..=4095 => write!(formatter, "{value}")?,
            _ => write!(formatter, "{value:#x}")?,
        }
    }
    Ok(())
}

/// The name of the manual page if a comparison by it looks at every bit of the value, else that of the register.
fn argument_name(call: &str, index: u8, value: u64) -> String {
    table::argument_names(call)
        .find(|name| {
            table::argument(call, name)
                .is_some_and(|found| found.index == index && found.width.cut(value) == value)
        })
        .map_or_else(|| format!("arg{index}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FileAccess;

    fn syscall(name: &str, arguments: [u64; 6]) -> String {
        Access::Syscall {
            architecture: Architecture::X86_64,
            number: table::number(name, Architecture::X86_64).unwrap(),
            arguments,
        }
        .to_string()
    }

    #[test]
    fn a_path_is_written_so_that_it_means_itself() {
        let access = Access::File {
            access: FileAccess::Read,
            path: "/w/a*\n${x}".to_owned(),
        };
        assert_eq!(access.to_string(), r#"read "/w/a\\*\n$\\{x\\}""#);
    }

    #[test]
    fn addresses_and_names_have_their_port() {
        let network = |address: &str| Access::Network {
            verb: Verb::Connect,
            protocol: Protocol::Tcp,
            address: address.parse().unwrap(),
            port: 443,
        };
        assert_eq!(network("192.0.2.1").to_string(), r#"connect tcp "192.0.2.1:443""#);
        assert_eq!(
            network("2001:db8::1").to_string(),
            r#"connect tcp "[2001:db8::1]:443""#
        );
        let host = Access::Host {
            verb: Verb::Connect,
            protocol: Protocol::Udp,
            host: "example.com".to_owned(),
            address: Some("192.0.2.1".parse().unwrap()),
            port: 53,
        };
        assert_eq!(host.to_string(), r#"connect udp "example.com:53" at 192.0.2.1"#);
    }

    #[test]
    fn a_call_names_the_arguments_that_are_not_zero() {
        assert_eq!(syscall("ptrace", [0; 6]), r#"syscall "ptrace""#);
        assert_eq!(
            syscall("ioctl", [1, 0x5412, 0, 0, 0, 0]),
            r#"syscall "ioctl" where fd == 1 and request == 0x5412"#
        );
        assert_eq!(
            syscall("ioctl", [0, 0x1_0000_5412, 0, 0, 0, 0]),
            r#"syscall "ioctl" where arg1 == 0x100005412"#
        );
    }

    #[test]
    fn a_call_without_a_name_is_a_number() {
        let access = Access::Syscall {
            architecture: Architecture::Aarch64,
            number: 9999,
            arguments: [0; 6],
        };
        assert_eq!(access.to_string(), "syscall 9999 of aarch64");
    }
}
