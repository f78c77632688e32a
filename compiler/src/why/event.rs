//! A recorded event, read back: which accesses it was about, and what was said to them then.
//!
//! The format is docs/events.md. Only what is needed here is read; a line that was written by another version may
//! have more fields.

use std::net::{IpAddr, Ipv4Addr};

use policy_lang::policy::{FileAccess, Protocol, Verb};
use policy_lang::reference::Access;
use policy_lang::syscall::{Architecture, table};
use serde::Deserialize;
use thiserror::Error;

/// An event about an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The run.
    pub run: String,
    /// Its number in the run.
    pub seq: u64,
    /// The policy's name and digest then.
    pub policy: (String, String),
    /// What was decided.
    pub effect: String,
    /// The mechanism.
    pub mechanism: Option<String>,
    /// The rule that was named.
    pub rule: Option<RecordedRule>,
    /// What was tried. Never empty; all are about the same object.
    pub accesses: Vec<Access>,
    /// The arguments of the call were not recorded, and several rules could have been the reason.
    pub arguments_matter: bool,
}

/// A rule as an event names it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RecordedRule {
    /// Index in the artifact of then.
    pub id: u32,
    /// `file:line:column`, or `built-in`.
    pub location: String,
    /// On one line.
    pub text: String,
}

/// Why an event has no answer.
#[derive(Debug, Error)]
pub enum EventError {
    /// The line is no event.
    #[error("it is not an event as docs/events.md has it")]
    Format(#[from] serde_json::Error),
    /// Another schema.
    #[error("it has schema {0}, and this version reads 1")]
    Schema(u32),
    /// It records something that no access is about.
    #[error("it is `{0}`, and no rule decides that")]
    NoAccess(String),
    /// What it names cannot be named in a policy.
    #[error("{0}")]
    Unnameable(&'static str),
    /// No rule could allow it.
    #[error("{0}")]
    ClosedToAll(&'static str),
}

#[derive(Deserialize)]
struct Line {
    schema: u32,
    run: String,
    seq: u64,
    policy: Policy,
    effect: Option<String>,
    mechanism: Option<String>,
    rule: Option<RecordedRule>,
    kind: String,
    details: serde_json::Value,
}

#[derive(Deserialize)]
struct Policy {
    name: String,
    digest: String,
}

/// The run and the number of a line, without looking at the rest.
///
/// # Errors
/// When the line is no event.
pub fn position(line: &str) -> Result<(String, u64), EventError> {
    #[derive(Deserialize)]
    struct Position {
        run: String,
        seq: u64,
    }
    let Position { run, seq } = serde_json::from_str(line)?;
    Ok((run, seq))
}

/// Reads one line.
///
/// # Errors
/// When it is no event, or none about an access.
pub fn read(line: &str) -> Result<Recorded, EventError> {
    let line: Line = serde_json::from_str(line)?;
    if line.schema != 1 {
        return Err(EventError::Schema(line.schema));
    }
    let (accesses, arguments_matter) = match line.kind.as_str() {
        "file" => (file(serde_json::from_value(line.details)?)?, false),
        "network" => network(serde_json::from_value(line.details)?)?,
        "syscall" => call(serde_json::from_value(line.details)?)?,
        "scope" => {
            return Err(EventError::ClosedToAll(
                "signals, traces and abstract sockets that leave the run, and changes of mounts, are closed to every \
                 run; no rule opens them",
            ));
        }
        "device" => {
            return Err(EventError::ClosedToAll(
                "devices beyond those of the run's own /dev are closed to every run; no rule opens them",
            ));
        }
        "sysctl" => {
            return Err(EventError::ClosedToAll(
                "kernel settings are closed to every run; no rule opens them",
            ));
        }
        _ => return Err(EventError::NoAccess(line.kind)),
    };
    let Some(effect) = line.effect else {
        return Err(EventError::NoAccess(line.kind));
    };
    Ok(Recorded {
        run: line.run,
        seq: line.seq,
        policy: (line.policy.name, line.policy.digest),
        effect,
        mechanism: line.mechanism,
        rule: line.rule,
        accesses,
        arguments_matter,
    })
}

#[derive(Deserialize)]
struct File {
    access: Vec<String>,
    path: String,
    path_hex: Option<String>,
}

fn file(details: File) -> Result<Vec<Access>, EventError> {
    if details.path_hex.is_some() {
        return Err(EventError::Unnameable(
            "its path is not UTF-8, and a policy is text: no rule can name that path alone",
        ));
    }
    let accesses = details.access.iter().filter_map(|word| {
        let access = match word.as_str() {
            "read" => FileAccess::Read,
            "write" => FileAccess::Write,
            "execute" => FileAccess::Execute,
            _ => return None,
        };
        Some(Access::File {
            access,
            path: details.path.clone(),
        })
    });
    let accesses: Vec<Access> = accesses.collect();
    if accesses.is_empty() {
        return Err(EventError::Unnameable("it names no access to a file"));
    }
    Ok(accesses)
}

#[derive(Deserialize)]
struct Network {
    verb: String,
    protocol: String,
    family: String,
    address: Option<IpAddr>,
    port: Option<u16>,
    socket_type: Option<u64>,
}

fn network(details: Network) -> Result<(Vec<Access>, bool), EventError> {
    if details.verb == "socket" {
        return socket(&details).map(|access| (vec![access], false));
    }
    let verb = match details.verb.as_str() {
        "connect" => Verb::Connect,
        "bind" => Verb::Bind,
        _ => return Err(EventError::NoAccess(details.verb)),
    };
    let protocol = match details.protocol.as_str() {
        "tcp" => Protocol::Tcp,
        "udp" => Protocol::Udp,
        _ => {
            return Err(EventError::ClosedToAll(
                "protocols other than TCP and UDP are closed to every run; no rule opens them",
            ));
        }
    };
    let port = details.port.ok_or(EventError::Unnameable("it names no port"))?;
    let access = Access::Network {
        verb,
        protocol,
        // Landlock's record of the unspecified address has none.
        address: details.address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        port,
    };
    Ok((vec![access], false))
}

/// The creation of a socket is a system call with three numbers.
fn socket(details: &Network) -> Result<Access, EventError> {
    const UNKNOWN: EventError = EventError::Unnameable("it names a socket that this version does not know");
    let family = match details.family.as_str() {
        "ipv4" => 2,
        "ipv6" => 10,
        number => number.parse().map_err(|_| UNKNOWN)?,
    };
    let protocol = match details.protocol.as_str() {
        "tcp" => 6,
        "udp" => 17,
        number => number.parse().map_err(|_| UNKNOWN)?,
    };
    let architecture = Architecture::X86_64;
    Ok(Access::Syscall {
        architecture,
        number: table::number("socket", architecture).ok_or(UNKNOWN)?,
        arguments: [family, details.socket_type.unwrap_or(0), protocol, 0, 0, 0],
    })
}

#[derive(Deserialize)]
struct Call {
    number: u32,
    architecture: String,
    #[serde(default)]
    candidates: Vec<u32>,
}

fn call(details: Call) -> Result<(Vec<Access>, bool), EventError> {
    let architecture = Architecture::ALL
        .into_iter()
        .find(|architecture| architecture.name() == details.architecture)
        .ok_or(EventError::ClosedToAll(
            "calls of another architecture are closed to every run, since no table speaks of their numbers",
        ))?;
    if table::name(details.number, architecture).is_none() {
        return Err(EventError::ClosedToAll(
            "the language does not know a call of that number, so no rule can name it",
        ));
    }
    let access = Access::Syscall {
        architecture,
        number: details.number,
        arguments: [0; 6],
    };
    Ok((vec![access], details.candidates.len() > 1))
}

#[cfg(test)]
mod tests;
