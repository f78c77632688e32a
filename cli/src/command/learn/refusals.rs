//! From recorded events to what was refused.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;
use compiler::learn::Refusal;
use policy_lang::policy::{FileAccess, Protocol, Verb};
use policy_lang::reference::Access;
use policy_lang::syscall::{Architecture, table};
use serde_json::Value;

/// What a round was refused.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// What a rule could allow, each once.
    pub(super) learnable: BTreeSet<Refusal>,
    /// Those of them that a `forbid` refused.
    pub(super) forbidden: BTreeSet<Refusal>,
    /// What no rule speaks of, in words.
    pub(super) other: Vec<String>,
}

/// Reads the events of one run.
pub(super) fn read(events: &Path) -> anyhow::Result<Seen> {
    let mut seen = Seen::default();
    for event in lines(events)? {
        let effect = event.get("effect").and_then(Value::as_str);
        if !matches!(effect, Some("deny" | "ask" | "forbid")) {
            continue;
        }
        let refusals = of(&event);
        if refusals.is_empty() {
            let kind = event.get("kind").and_then(Value::as_str).unwrap_or("event");
            let what = format!("{kind}: {}", event.get("details").unwrap_or(&Value::Null));
            if !seen.other.contains(&what) {
                seen.other.push(what);
            }
        }
        for refusal in refusals {
            if effect == Some("forbid") {
                seen.forbidden.insert(refusal.clone());
            }
            seen.learnable.insert(refusal);
        }
    }
    Ok(seen)
}

/// Whether admission refused the run, or something failed before the command started.
pub(super) fn never_started(events: &Path) -> anyhow::Result<bool> {
    let started = |event: &Value| event.get("kind").and_then(Value::as_str) == Some("run-started");
    Ok(!events.exists() || !lines(events)?.iter().any(started))
}

fn lines(events: &Path) -> anyhow::Result<Vec<Value>> {
    let text = match std::fs::read_to_string(events) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).context("cannot read the events of a round"),
    };
    text.lines()
        .map(|line| serde_json::from_str(line).context("an event is no JSON"))
        .collect()
}

/// The accesses of one refusal. Empty: no rule of the language allows what was refused.
fn of(event: &Value) -> Vec<Refusal> {
    let detail = |name: &str| event.get("details").and_then(|details| details.get(name));
    let word = |name: &str| detail(name).and_then(Value::as_str);
    match event.get("kind").and_then(Value::as_str) {
        // A path that is not UTF-8 is shown with other characters than it has.
        Some("file") if detail("path_hex").is_none() => {
            let Some(path) = word("path").filter(|path| path.starts_with('/')) else {
                return Vec::new();
            };
            let accesses = detail("access").and_then(Value::as_array).into_iter().flatten();
            let accesses = accesses
                .filter_map(Value::as_str)
                .filter_map(|access| match access {
                    "read" => Some(FileAccess::Read),
                    "write" => Some(FileAccess::Write),
                    "execute" => Some(FileAccess::Execute),
                    _ => None,
                });
            accesses
                .map(|access| Refusal::File {
                    access,
                    path: path.to_owned(),
                })
                .collect()
        }
        Some("network") => {
            let verb = match word("verb") {
                Some("connect") => Verb::Connect,
                Some("bind") => Verb::Bind,
                _ => return Vec::new(),
            };
            let protocol = match word("protocol") {
                Some("tcp") => Protocol::Tcp,
                Some("udp") => Protocol::Udp,
                _ => return Vec::new(),
            };
            let address = word("address").and_then(|address| address.parse().ok());
            let port = detail("port")
                .and_then(Value::as_u64)
                .and_then(|port| u16::try_from(port).ok());
            let found = address.zip(port).map(|(address, port)| Refusal::Network {
                verb,
                protocol,
                address,
                port,
            });
            found.into_iter().collect()
        }
        Some("syscall") => {
            let found = word("name").map(|name| Refusal::Syscall {
                name: name.to_owned(),
            });
            found.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The access that was refused, for [`decide`](policy_lang::reference::decide). The arguments of a call are not recorded.
pub(super) fn access(refusal: &Refusal) -> Option<Access> {
    Some(match refusal {
        Refusal::File { access, path } => Access::File {
            access: *access,
            path: path.clone(),
        },
        Refusal::Network {
            verb,
            protocol,
            address,
            port,
        } => Access::Network {
            verb: *verb,
            protocol: *protocol,
            address: *address,
            port: *port,
        },
        Refusal::Syscall { name } => {
            let (architecture, number) = Architecture::ALL
                .into_iter()
                .find_map(|architecture| Some((architecture, table::number(name, architecture)?)))?;
            Access::Syscall {
                architecture,
                number,
                arguments: [0; 6],
            }
        }
    })
}

/// For a person.
pub(super) fn shown(refusal: &Refusal) -> String {
    match refusal {
        Refusal::File { access, path } => format!("{} {}", access.word(), path.escape_debug()),
        Refusal::Network {
            verb,
            protocol,
            address,
            port,
        } => {
            let to = std::net::SocketAddr::new(*address, *port);
            format!("{} {} {to}", verb.word(), protocol.word())
        }
        Refusal::Syscall { name } => format!("syscall {name}"),
    }
}
