//! A policy as guardrails read it. The fields are an interface: docs/guardrails.md has every one, and a test compares.

mod rules;

use std::collections::BTreeMap;
use std::net::IpAddr;

use policy_lang::policy::{
    self, Destination, Identity, Keep, Origin, Policy, Resource, Rule, Scheme, SecretSource, Subject,
    WorkspaceMode,
};
use serde::Serialize;

use crate::difference::Difference;

use super::changes::{Changes, changes};
use super::exception::Date;
use super::probes::{Probe, probes};
use rules::{RuleInput, rule};

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
