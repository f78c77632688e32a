//! No import is wider than its source: for small random sources, whatever the policy allows the source allows.
//!
//! What a source allows is worked out here from its format's documentation, by code that shares nothing with the
//! importers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "support/policy.rs"]
mod support;

#[path = "never_wider/codex.rs"]
mod codex;
#[path = "never_wider/nono.rs"]
mod nono;
#[path = "never_wider/oci.rs"]
mod oci;
#[path = "never_wider/srt.rs"]
mod srt;

use policy_lang::policy::{Effect, FileAccess, Policy, Protocol, Verb};
use policy_lang::reference::{Access, decide};
use support::{HERE, HOME};

/// Paths that sources name, as they are written.
pub(crate) const WRITTEN: &[&str] = &[
    "/", ".", "src", "src/.env", "~", "~/.ssh", "~/.cache", "/tmp", "/opt", "/opt/a", "/opt/a/b", "build",
    "*.log", "**/.env", "/opt/*/b",
];

/// Where things are, as the kernel sees them.
pub(crate) fn places() -> Vec<String> {
    let mut places = Vec::new();
    for root in ["", HERE, HOME, "/opt", "/opt/a", "/opt/x"] {
        for rest in [
            "",
            "/.env",
            "/src",
            "/src/.env",
            "/src/a/.env",
            "/.ssh/id",
            "/.cache/x",
            "/.bashrc",
            "/src/.bashrc",
            "/.git/config",
            "/.git/hooks/x",
            "/.codex/x",
            "/tmp/x",
            "/b",
            "/a/b/c",
            "/x.log",
            "/build/x",
            "/usr/bin/x",
            "/etc/ssl/x",
            "/etc/shadow",
            "/.npmrc",
            "/src/.vscode/x",
        ] {
            places.push(format!("{root}{rest}"));
        }
    }
    places.retain(|place| !place.is_empty());
    places
}

/// Absolute form of a written path.
pub(crate) fn absolute(written: &str) -> String {
    let written = written.trim_end_matches('/');
    match written {
        "" => "/".to_owned(),
        "." => HERE.to_owned(),
        "~" => HOME.to_owned(),
        _ => match written.strip_prefix("~/") {
            Some(rest) => format!("{HOME}/{rest}"),
            None if written.starts_with('/') => written.to_owned(),
            None => format!("{HERE}/{}", written.trim_start_matches("./")),
        },
    }
}

/// Whether a place is what is written, or beneath it; `*` and `**` as in gitignore.
pub(crate) fn covers(written: &str, place: &str) -> bool {
    let pattern = absolute(written);
    let pattern: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let place: Vec<&str> = place.split('/').filter(|part| !part.is_empty()).collect();
    fn matches(pattern: &[&str], place: &[&str]) -> bool {
        match (pattern.split_first(), place.split_first()) {
            (None, _) => true,
            (Some((&"**", rest)), _) => {
                matches(rest, place)
                    || place
                        .split_first()
                        .is_some_and(|(_, below)| matches(pattern, below))
            }
            (Some((part, rest)), Some((name, below))) => {
                let fits = match part.split_once('*') {
                    Some((before, after)) => {
                        name.len() >= before.len() + after.len()
                            && name.starts_with(before)
                            && name.ends_with(after)
                    }
                    None => part == name,
                };
                fits && matches(rest, below)
            }
            (Some(_), None) => false,
        }
    }
    matches(&pattern, &place)
}

pub(crate) fn allows_file(policy: &Policy, access: FileAccess, path: &str) -> bool {
    let access = Access::File {
        access,
        path: path.to_owned(),
    };
    decide(policy, &access).effect == Effect::Allow
}

pub(crate) fn allows_host(policy: &Policy, host: &str, port: u16) -> bool {
    let access = Access::Host {
        verb: Verb::Connect,
        protocol: Protocol::Tcp,
        host: host.to_owned(),
        address: None,
        port,
    };
    decide(policy, &access).effect == Effect::Allow
}

pub(crate) const HOSTS: &[&str] = &[
    "a.example",
    "x.a.example",
    "y.x.a.example",
    "b.example",
    "example",
    "evila.example",
];
pub(crate) const DOMAINS: &[&str] = &[
    "a.example",
    "*.a.example",
    "x.a.example",
    "b.example",
    "*.x.a.example",
];

/// Whether a domain pattern, where `*.` stands for one or more labels, covers a host.
pub(crate) fn domain_covers(domain: &str, host: &str) -> bool {
    match domain.strip_prefix("*.") {
        Some(parent) => host.ends_with(&format!(".{parent}")),
        None => domain == host,
    }
}
