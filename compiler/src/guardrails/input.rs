//! A policy as guardrails read it. The fields are an interface: docs/guardrails.md has every one, and a test compares.

use std::collections::BTreeMap;
use std::net::IpAddr;

use policy_lang::policy::{
    self, Destination, Effect, Identity, Keep, Origin, Policy, Resource, Rule, Scheme, SecretSource, Subject,
    WorkspaceMode,
};
use policy_lang::syscall::{Comparison, Condition, SyscallSet};
use serde::Serialize;

use crate::difference::Difference;

use super::changes::{Changes, changes};
use super::exception::Date;
use super::probes::{Probe, probes};

/// Changes when a field changes its meaning or goes away.
const SCHEMA: u32 = 1;

/// The document.
#[derive(Debug, Clone, Serialize)]
pub struct Input {
    schema: u32,
    today: String,
    policy: Header,
    layers: Vec<Layer>,
    parameters: BTreeMap<String, String>,
    home: String,
    identity: IdentityInput,
    limits: BTreeMap<&'static str, Limit>,
    record: Vec<&'static str>,
    requirements: Vec<String>,
    unlocks: Vec<Unlock>,
    workspace: Option<Workspace>,
    brokers: Vec<Broker>,
    rules: Vec<RuleInput>,
    probes: Vec<Probe>,
    /// In a comparison: what the new policy allows and the old one does not, and the other way round.
    difference: Option<Changes>,
}

#[derive(Debug, Clone, Serialize)]
struct Header {
    name: String,
    summary: Option<String>,
    file: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Layer {
    index: usize,
    name: String,
    file: String,
}

#[derive(Debug, Clone, Serialize)]
struct IdentityInput {
    kind: &'static str,
    uid: Option<u32>,
    gid: Option<u32>,
    rule: u32,
}

/// The lowest over all layers.
#[derive(Debug, Clone, Serialize)]
struct Limit {
    value: u64,
    rule: u32,
}

#[derive(Debug, Clone, Serialize)]
struct Unlock {
    name: String,
    because: String,
    place: String,
}

#[derive(Debug, Clone, Serialize)]
struct Workspace {
    from: Option<String>,
    mode: &'static str,
    keep: &'static str,
    globs: Vec<String>,
    place: String,
}

#[derive(Debug, Clone, Serialize)]
struct Broker {
    name: String,
    rule: u32,
    host: Option<String>,
    address: Option<IpAddr>,
    prefix_len: Option<u8>,
    first_port: u16,
    last_port: u16,
    scheme: &'static str,
    header: Option<String>,
    source: &'static str,
    from: String,
    ttl_seconds: Option<u64>,
}

#[derive(Debug, Clone, Serialize)]
struct RuleInput {
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

/// Lays a policy out.
#[must_use]
pub fn input(policy: &Policy, home: &str, today: &Date) -> Input {
    Input {
        schema: SCHEMA,
        today: today.as_str().to_owned(),
        policy: Header {
            name: policy.name.clone(),
            summary: policy.summary.clone(),
            file: policy.layers.first().map(|layer| layer.file.clone()),
        },
        layers: policy
            .layers
            .iter()
            .enumerate()
            .map(|(index, layer)| Layer {
                index,
                name: layer.name.clone(),
                file: layer.file.clone(),
            })
            .collect(),
        parameters: policy.parameters.clone(),
        home: home.to_owned(),
        identity: identity(policy.identity),
        limits: limits(policy),
        record: record(&policy.record),
        requirements: policy
            .requirements
            .iter()
            .map(|requirement| requirement.text.clone())
            .collect(),
        unlocks: policy
            .unlocks
            .iter()
            .map(|unlock| Unlock {
                name: unlock.name.clone(),
                because: unlock.because.clone(),
                place: place(&unlock.origin),
            })
            .collect(),
        workspace: policy.workspace.as_ref().map(workspace),
        brokers: policy.rules.iter().filter_map(broker).collect(),
        rules: policy.rules.iter().map(rule).collect(),
        probes: probes(policy, home),
        difference: None,
    }
}

impl Input {
    /// The same, with what the policy changes of an older one.
    #[must_use]
    pub fn with_difference(mut self, difference: &Difference, old: &Policy, new: &Policy) -> Self {
        self.difference = Some(changes(difference, old, new));
        self
    }

    /// As Rego reads it.
    ///
    /// # Errors
    /// When a text in it is none that JSON has.
    pub fn to_json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}

fn place(origin: &Origin) -> String {
    match origin {
        Origin::BuiltIn => "built-in".to_owned(),
        Origin::Source { file, line, .. } => format!("{file}:{line}"),
    }
}

fn identity((identity, rule): (Identity, policy::RuleId)) -> IdentityInput {
    let (kind, ids) = match identity {
        Identity::Dynamic => ("dynamic", None),
        Identity::User => ("user", None),
        Identity::Ids { uid, gid } => ("ids", Some((uid, gid))),
    };
    IdentityInput {
        kind,
        uid: ids.map(|ids| ids.0),
        gid: ids.map(|ids| ids.1),
        rule: rule.0,
    }
}

fn limits(policy: &Policy) -> BTreeMap<&'static str, Limit> {
    let mut limits: BTreeMap<&'static str, Limit> = BTreeMap::new();
    for rule in &policy.rules {
        let Subject::Limit { resource, value } = &rule.subject else {
            continue;
        };
        let this = Limit {
            value: *value,
            rule: rule.id.0,
        };
        let lowest = limits.entry(word(*resource)).or_insert_with(|| this.clone());
        if this.value < lowest.value {
            *lowest = this;
        }
    }
    limits
}

/// With the unit, which a number alone does not have.
const fn word(resource: Resource) -> &'static str {
    match resource {
        Resource::Memory => "memory_bytes",
        Resource::Processes => "processes",
        Resource::Cpu => "cpu_percent",
        Resource::OpenFiles => "open_files",
        Resource::Wall => "wall_seconds",
    }
}

fn record(record: &policy::Record) -> Vec<&'static str> {
    let words = [
        (record.exec, "exec"),
        (record.connect, "connect"),
        (record.bind, "bind"),
        (record.read, "read"),
        (record.write, "write"),
    ];
    words
        .iter()
        .filter(|(said, _)| *said)
        .map(|(_, word)| *word)
        .collect()
}

fn workspace(workspace: &policy::Workspace) -> Workspace {
    let (keep, globs) = match &workspace.keep {
        Keep::None => ("none", Vec::new()),
        Keep::Review => ("review", Vec::new()),
        Keep::All => ("all", Vec::new()),
        Keep::Matching(globs) => ("matching", globs.clone()),
    };
    Workspace {
        from: workspace.from.clone(),
        mode: match workspace.mode {
            WorkspaceMode::InPlace => "in-place",
            WorkspaceMode::Ephemeral => "ephemeral",
        },
        keep,
        globs,
        place: place(&workspace.origin),
    }
}

fn broker(rule: &Rule) -> Option<Broker> {
    let Subject::Broker(broker) = &rule.subject else {
        return None;
    };
    let (host, address, ports) = match &broker.destination {
        Destination::Host(host) => (
            Some(host.pattern.to_string()),
            None,
            (host.first_port, host.last_port),
        ),
        Destination::Address(to) => (
            None,
            Some((to.address, to.prefix_len)),
            (to.first_port, to.last_port),
        ),
    };
    let (scheme, header) = match &broker.scheme {
        Scheme::Bearer => ("bearer", None),
        Scheme::Basic => ("basic", None),
        Scheme::Header(name) => ("header", Some(name.clone())),
    };
    let (source, from) = match &broker.source {
        SecretSource::Env(name) => ("env", name.clone()),
        SecretSource::File(path) => ("file", path.clone()),
    };
    Some(Broker {
        name: broker.name.clone(),
        rule: rule.id.0,
        host,
        address: address.map(|address| address.0),
        prefix_len: address.map(|address| address.1),
        first_port: ports.0,
        last_port: ports.1,
        scheme,
        header,
        source,
        from,
        ttl_seconds: broker.ttl_seconds,
    })
}

fn rule(rule: &Rule) -> RuleInput {
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

fn path(pattern: &policy_lang::pattern::PathPattern) -> PathInput {
    match pattern {
        policy_lang::pattern::PathPattern::Literal(path) => PathInput {
            path: path.clone(),
            glob: false,
        },
        policy_lang::pattern::PathPattern::Glob(path) => PathInput {
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
