//! One rule of the input, with every set that it stands for laid out.

use std::net::IpAddr;

use policy_lang::pattern::PathPattern;
use policy_lang::policy::{Effect, Origin, Rule, Subject};
use policy_lang::syscall::{Comparison, Condition, SyscallSet};
use serde::Serialize;

use super::place;

#[derive(Debug, Clone, Serialize)]
pub(super) struct RuleInput {
    rule: u32,
    effect: &'static str,
    domain: Option<&'static str>,
    kind: &'static str,
    text: String,
    label: Option<String>,
    because: Option<String>,
    built_in: bool,
    place: String,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    layer: Option<u8>,
    via: Option<String>,
    if_present: bool,
    permit_degraded: bool,
    /// `read`, `write`, `execute`; `connect`, `bind`.
    accesses: Vec<&'static str>,
    protocols: Vec<&'static str>,
    paths: Vec<PathInput>,
    addresses: Vec<Address>,
    hosts: Vec<Host>,
    variables: Vec<String>,
    value: Option<String>,
    calls: Vec<Calls>,
    size_bytes: Option<u64>,
}

#[derive(Debug, Clone, Serialize)]
struct PathInput {
    path: String,
    glob: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Address {
    address: IpAddr,
    prefix_len: u8,
    /// As `net.cidr_contains` takes it.
    cidr: String,
    first_port: u16,
    last_port: u16,
}

#[derive(Debug, Clone, Serialize)]
struct Host {
    pattern: String,
    first_port: u16,
    last_port: u16,
}

#[derive(Debug, Clone, Serialize)]
struct Calls {
    names: Vec<String>,
    conditions: Vec<ConditionInput>,
}

#[derive(Debug, Clone, Serialize)]
struct ConditionInput {
    argument: u8,
    bits: u32,
    comparison: &'static str,
    mask: Option<u64>,
    value: u64,
}

/// Lays a rule out.
pub(super) fn rule(rule: &Rule) -> RuleInput {
    let (file, line, column) = match &rule.origin {
        Origin::BuiltIn => (None, None, None),
        Origin::Source { file, line, column } => (Some(file.clone()), Some(*line), Some(*column)),
    };
    let (kind, domain) = kind(&rule.subject);
    let mut laid_out = RuleInput {
        rule: rule.id.0,
        effect: Effect::word(rule.effect),
        domain,
        kind,
        text: rule.text.clone(),
        label: rule.label.clone(),
        because: rule.because.clone(),
        built_in: rule.origin == Origin::BuiltIn,
        place: place(&rule.origin),
        file,
        line,
        column,
        layer: rule.layer.map(|layer| layer.0),
        via: rule.via.clone(),
        if_present: rule.if_present,
        permit_degraded: rule.permit_degraded,
        accesses: Vec::new(),
        protocols: Vec::new(),
        paths: Vec::new(),
        addresses: Vec::new(),
        hosts: Vec::new(),
        variables: Vec::new(),
        value: None,
        calls: Vec::new(),
        size_bytes: None,
    };
    fill(&mut laid_out, &rule.subject);
    laid_out
}

const fn kind(subject: &Subject) -> (&'static str, Option<&'static str>) {
    match subject {
        Subject::Everything => ("default", None),
        Subject::File { .. } => ("file", Some("filesystem")),
        Subject::Hide { .. } => ("hide", Some("filesystem")),
        Subject::Scratch { .. } => ("scratch", Some("filesystem")),
        Subject::Network { .. } => ("network", Some("network")),
        Subject::Pass { .. } => ("pass", Some("credentials")),
        Subject::Set { .. } => ("set", Some("credentials")),
        Subject::Broker(_) => ("broker", Some("credentials")),
        Subject::Syscall { .. } => ("syscall", Some("process")),
        Subject::Identity(_) => ("identity", Some("process")),
        Subject::Limit { .. } => ("limit", Some("process")),
    }
}

fn fill(rule: &mut RuleInput, subject: &Subject) {
    match subject {
        Subject::File { accesses, targets } => {
            rule.accesses = accesses.iter().map(|access| access.word()).collect();
            rule.paths = targets.iter().map(path).collect();
        }
        Subject::Hide { targets } => {
            rule.accesses = vec!["read", "write", "execute"];
            rule.paths = targets.iter().map(path).collect();
        }
        Subject::Scratch { path, size_bytes } => {
            rule.accesses = vec!["read", "write"];
            rule.paths = vec![PathInput {
                path: path.clone(),
                glob: false,
            }];
            rule.size_bytes = Some(*size_bytes);
        }
        Subject::Network {
            verbs,
            protocols,
            targets,
            hosts,
        } => {
            rule.accesses = verbs.iter().map(|verb| verb.word()).collect();
            rule.protocols = protocols.iter().map(|protocol| protocol.word()).collect();
            rule.addresses = targets
                .iter()
                .map(|to| Address {
                    address: to.address,
                    prefix_len: to.prefix_len,
                    cidr: format!("{}/{}", to.address, to.prefix_len),
                    first_port: to.first_port,
                    last_port: to.last_port,
                })
                .collect();
            rule.hosts = hosts
                .iter()
                .map(|to| Host {
                    pattern: to.pattern.to_string(),
                    first_port: to.first_port,
                    last_port: to.last_port,
                })
                .collect();
        }
        Subject::Pass { names } => rule.variables.clone_from(names),
        Subject::Set { name, value } => {
            rule.variables = vec![name.clone()];
            rule.value = Some(value.clone());
        }
        Subject::Syscall { targets } => rule.calls = targets.iter().map(calls).collect(),
        Subject::Everything | Subject::Broker(_) | Subject::Identity(_) | Subject::Limit { .. } => {}
    }
}

fn path(pattern: &PathPattern) -> PathInput {
    match pattern {
        PathPattern::Literal(path) => PathInput {
            path: path.clone(),
            glob: false,
        },
        PathPattern::Glob(path) => PathInput {
            path: path.clone(),
            glob: true,
        },
    }
}

fn calls(set: &SyscallSet) -> Calls {
    Calls {
        names: set.names.iter().cloned().collect(),
        conditions: set.conditions.iter().map(condition).collect(),
    }
}

fn condition(condition: &Condition) -> ConditionInput {
    let (comparison, mask, value) = match condition.comparison {
        Comparison::Equal(value) => ("==", None, value),
        Comparison::NotEqual(value) => ("!=", None, value),
        Comparison::Less(value) => ("<", None, value),
        Comparison::LessOrEqual(value) => ("<=", None, value),
        Comparison::Greater(value) => (">", None, value),
        Comparison::GreaterOrEqual(value) => (">=", None, value),
        Comparison::MaskedEqual { mask, value } => ("==", Some(mask), value),
        Comparison::MaskedNotEqual { mask, value } => ("!=", Some(mask), value),
    };
    ConditionInput {
        argument: condition.argument,
        bits: condition.width.bits(),
        comparison,
        mask,
        value,
    }
}
