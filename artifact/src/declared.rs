//! What a policy declares beside rules: its layers, what it opens of the floor, its workspace, its credentials.
//!
//! No secret is in here, only where the enforcer finds one.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::rule::{Origin, RuleId};

/// One policy of a chain of ceilings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// The quoted name after `policy`.
    pub name: String,
    /// The file, relative to the policy root.
    pub file: String,
}

/// A part of the floor that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unlock {
    /// The label of the built-in rule, without `built-in:`.
    pub name: String,
    /// Why.
    pub because: String,
    /// Where the policy itself says so.
    pub origin: Origin,
}

/// Where a run works, and what becomes of its changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// The directory it is made from: absolute, resolved.
    pub from: Option<String>,
    /// How it relates to its source.
    pub mode: WorkspaceMode,
    /// What is kept of its changes.
    pub keep: Keep,
    /// Where this is written.
    pub origin: Origin,
}

/// How a workspace relates to its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkspaceMode {
    /// The run changes the files themselves.
    InPlace,
    /// The run changes a copy that is gone at its end.
    Ephemeral,
}

/// What is kept of a workspace's changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keep {
    /// Nothing.
    None,
    /// What a person chooses.
    Review,
    /// Everything that may be kept.
    All,
    /// What these globs match, relative to the workspace.
    Matching(Vec<String>),
}

/// A credential that is added to requests outside the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broker {
    /// The rule that says so.
    pub rule: RuleId,
    /// What it is called.
    pub name: String,
    /// Whom it is for.
    pub destination: Destination,
    /// First port.
    pub first_port: u16,
    /// Last port, not below `first_port`.
    pub last_port: u16,
    /// How it is presented.
    pub scheme: Scheme,
    /// Where the enforcer finds it.
    pub source: SecretSource,
    /// For how long a run may use it.
    pub ttl_seconds: Option<u64>,
}

/// Whom a credential is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Destination {
    /// A name, or `*.` and a name.
    Host(String),
    /// A network address and its prefix length.
    Address(IpAddr, u8),
}

/// How a credential is presented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scheme {
    /// `Authorization: Bearer …`
    Bearer,
    /// `Authorization: Basic …`
    Basic,
    /// A header of this name.
    Header(String),
}

/// Where a credential comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SecretSource {
    /// A variable of the caller.
    Env(String),
    /// A file: absolute.
    File(String),
}
