//! Rules that would allow an access, as text and as the set they must turn out to be.

use std::net::IpAddr;

use policy_lang::pattern::{HostPattern, PathPattern};
use policy_lang::policy::{Endpoint, FileAccess, HostEndpoint, Policy, Subject};
use policy_lang::reference::{Access, judged_as};
use policy_lang::resolve::{quoted, quoted_path};
use policy_lang::syscall::{Comparison, Condition, SyscallSet, table};

/// A rule to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    /// The block it belongs into.
    pub(super) block: &'static str,
    /// As the language writes it.
    pub(super) rule: String,
    /// What it must resolve to.
    pub(super) subject: Subject,
    /// What it allows besides, in words.
    pub(super) covers: Option<String>,
}

/// Rules that allow accesses to one object, best written first.
pub(super) fn wishes(accesses: &[Access], policy: &Policy, generalise: bool) -> Vec<Wish> {
    match accesses.first() {
        Some(Access::File { path, .. }) => files(accesses, path, policy, generalise),
        Some(Access::Network {
            verb,
            protocol,
            address,
            port,
        }) => {
            let judged = judged_as(*verb, *address);
            let (address, prefix_len) = if generalise {
                neighbours(judged)
            } else {
                (judged, if judged.is_ipv4() { 32 } else { 128 })
            };
            let whole = prefix_len == 32 && address.is_ipv4() || prefix_len == 128;
            let target = match (address, whole) {
                (IpAddr::V4(address), true) => format!("{address}:{port}"),
                (IpAddr::V6(address), true) => format!("[{address}]:{port}"),
                (IpAddr::V4(address), false) => format!("{address}/{prefix_len}:{port}"),
                (IpAddr::V6(address), false) => format!("[{address}]/{prefix_len}:{port}"),
            };
            vec![Wish {
                block: "network",
                rule: format!("allow {} {} {}", verb.word(), protocol.word(), quoted(&target)),
                subject: Subject::Network {
                    verbs: vec![*verb],
                    protocols: vec![*protocol],
                    targets: vec![Endpoint {
                        address,
                        prefix_len,
                        first_port: *port,
                        last_port: *port,
                    }],
                    hosts: Vec::new(),
                },
                covers: (!whole).then(|| format!("port {port} of every address in {address}/{prefix_len}")),
            }]
        }
        Some(Access::Host {
            verb,
            protocol,
            host,
            port,
            ..
        }) => {
            let parent = host.split_once('.').map(|(_, parent)| parent);
            // Names of one label beneath a registry are everybody's.
            let parent = parent.filter(|parent| generalise && parent.contains('.'));
            let written = parent.map_or_else(|| host.clone(), |parent| format!("*.{parent}"));
            let Ok(pattern) = HostPattern::parse(&written) else {
                return Vec::new();
            };
            vec![Wish {
                block: "network",
                rule: format!(
                    "allow {} {} {}",
                    verb.word(),
                    protocol.word(),
                    quoted(&format!("{written}:{port}"))
                ),
                subject: Subject::Network {
                    verbs: vec![*verb],
                    protocols: vec![*protocol],
                    targets: Vec::new(),
                    hosts: vec![HostEndpoint {
                        pattern,
                        first_port: *port,
                        last_port: *port,
                    }],
                },
                covers: parent.map(|parent| format!("port {port} of every host beneath {parent}")),
            }]
        }
        Some(Access::Environment { name }) => vec![Wish {
            block: "credentials",
            rule: format!("pass {}", quoted(name)),
            subject: Subject::Pass {
                names: vec![name.clone()],
            },
            covers: None,
        }],
        Some(
            access @ Access::Syscall {
                architecture,
                number,
                arguments,
            },
        ) => {
            let name = table::name(*number, *architecture);
            name.and_then(|name| call(access, name, arguments, generalise))
                .into_iter()
                .collect()
        }
        None => Vec::new(),
    }
}

fn files(accesses: &[Access], path: &str, policy: &Policy, generalise: bool) -> Vec<Wish> {
    let mut verbs: Vec<FileAccess> = accesses
        .iter()
        .filter_map(|access| match access {
            Access::File { access, .. } => Some(*access),
            _ => None,
        })
        .collect();
    verbs.sort_unstable();
    verbs.dedup();
    let target = if generalise { directory(path) } else { path };
    let words: Vec<&str> = verbs.iter().map(|verb| verb.word()).collect();
    let wish = |written: String| Wish {
        block: "filesystem",
        rule: format!("allow {} {written}", words.join(", ")),
        subject: Subject::File {
            accesses: verbs.clone(),
            targets: vec![PathPattern::Literal(target.to_owned())],
        },
        covers: Some(if target == path {
            format!("{target} and, if it is a directory, everything beneath it")
        } else {
            format!("everything beneath {target}")
        }),
    };
    let mut written: Vec<(usize, String)> = policy
        .parameters
        .iter()
        .filter(|(_, value)| value.starts_with('/') && value.len() > 1)
        .filter_map(|(name, value)| {
            let rest = target.strip_prefix(value.as_str())?;
            let below = rest.is_empty() || rest.starts_with('/');
            let rest = quoted_path(rest);
            below.then(|| {
                (
                    value.len(),
                    format!("\"${{{name}}}{}", rest.get(1..).unwrap_or("\"")),
                )
            })
        })
        .collect();
    // The nearest parameter first; without any, the path itself.
    written.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    written
        .into_iter()
        .map(|(_, text)| text)
        .chain([quoted_path(target)])
        .map(wish)
        .collect()
}

/// The directory a path is in. Directly beneath the root nothing is generalised.
fn directory(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((parent, _)) if !parent.is_empty() => parent,
        _ => path,
    }
}

/// The usual size of one network.
fn neighbours(address: IpAddr) -> (IpAddr, u8) {
    let len = if address.is_ipv4() { 24 } else { 64 };
    (artifact::network::network(address, len), len)
}

/// Arguments that are zero are taken as not asked about.
fn call(access: &Access, name: &str, arguments: &[u64; 6], generalise: bool) -> Option<Wish> {
    let mut set = SyscallSet::call(name)?;
    let given = arguments.iter().zip(0_u8..).filter(|(value, _)| **value != 0);
    for (value, index) in given.filter(|_| !generalise) {
        let argument = table::argument_names(name)
            .filter_map(|argument| table::argument(name, argument))
            .find(|argument| argument.index == index && argument.width.cut(*value) == *value)?;
        set = set.with(Condition {
            argument: index,
            width: argument.width,
            comparison: Comparison::Equal(*value),
        });
    }
    let exact = !set.conditions.is_empty();
    Some(Wish {
        block: "process",
        rule: if exact {
            format!("allow {access}")
        } else {
            format!("allow syscall {}", quoted(name))
        },
        subject: Subject::Syscall { targets: vec![set] },
        covers: Some(if exact {
            "that call with those arguments, whatever the others are".to_owned()
        } else {
            "that call with any arguments".to_owned()
        }),
    })
}
