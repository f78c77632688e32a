//! Questions whose answers guardrails ask for, decided by the reference semantics.
//!
//! A rule alone does not say what is allowed: a narrower one may refuse it, a ceiling may. So the input has, beside the
//! rules, what is decided for accesses that every organisation cares about.

use std::net::IpAddr;

use policy_lang::floor;
use policy_lang::policy::{FileAccess, Policy, Protocol, Subject, Verb};
use policy_lang::reference::{Access, decide};
use serde::Serialize;

/// One question, answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Probe {
    /// What it is a sign of: `metadata`, `home`, `keys`, `system`, `sockets`, `internet`, `any-address`.
    pub(super) subject: &'static str,
    /// As a `test` block writes it.
    pub(super) access: String,
    /// `allow`, `ask`, `deny`, `forbid`.
    pub(super) effect: &'static str,
    /// The deciding rule.
    pub(super) rule: u32,
}

/// Files beneath the home directory that hold long-lived credentials.
const KEYS: &[&str] = &[
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".config/gcloud/credentials.db",
    ".azure/accessTokens.json",
    ".docker/config.json",
    ".kube/config",
    ".netrc",
    ".git-credentials",
    ".gnupg/private-keys-v1.d/key",
];

/// A name in the home directory that no policy mentions: granted only with the whole of it.
const ANYTHING: &str = ".remit-guardrails-probe";

/// Sockets that are as good as root.
const SOCKETS: &[&str] = &[
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
];

/// All of them.
pub(super) fn probes(policy: &Policy, home: &str) -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut ask = |subject, access: Access| {
        let decision = decide(policy, &access);
        probes.push(Probe {
            subject,
            access: access.to_string(),
            effect: decision.effect.word(),
            rule: decision.rule.0,
        });
    };
    for address in metadata() {
        ask("metadata", flow(Verb::Connect, address, 80));
    }
    let home = home.trim_end_matches('/');
    for access in [FileAccess::Read, FileAccess::Write] {
        ask("home", file(access, format!("{home}/{ANYTHING}")));
    }
    for key in KEYS {
        ask("keys", file(FileAccess::Read, format!("{home}/{key}")));
    }
    for (access, path) in [
        (FileAccess::Read, "/etc/shadow"),
        (FileAccess::Write, "/etc/passwd"),
        (FileAccess::Write, "/usr/bin/env"),
        (FileAccess::Write, "/"),
    ] {
        ask("system", file(access, path.to_owned()));
    }
    for socket in SOCKETS {
        ask("sockets", file(FileAccess::Write, (*socket).to_owned()));
    }
    // Documentation addresses (RFC 5737, RFC 3849): allowed only where about everything is.
    for address in [
        IpAddr::from([198, 51, 100, 1]),
        IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]),
    ] {
        ask("internet", flow(Verb::Connect, address, 443));
    }
    for address in [IpAddr::from([0, 0, 0, 0]), IpAddr::from([0_u16; 8])] {
        ask("any-address", flow(Verb::Bind, address, 8080));
    }
    probes
}

/// The addresses of the floor, whether or not the policy has opened it.
fn metadata() -> Vec<IpAddr> {
    let rules = floor::rules();
    let rule = rules
        .iter()
        .find(|rule| rule.label.as_deref() == Some("built-in:metadata"));
    match rule.map(|rule| &rule.subject) {
        Some(Subject::Network { targets, .. }) => targets.iter().map(|target| target.address).collect(),
        _ => Vec::new(),
    }
}

fn file(access: FileAccess, path: String) -> Access {
    Access::File { access, path }
}

fn flow(verb: Verb, address: IpAddr, port: u16) -> Access {
    Access::Network {
        verb,
        protocol: Protocol::Tcp,
        address,
        port,
    }
}
