//! The compiled form of a policy: what the compiler emits and the enforcer admits.
//!
//! Both sides share these types and nothing else. The privileged side never sees policy text; it decodes an
//! [`Artifact`] within fixed bounds, verifies its digest, and matches it against the kernel it runs on.

pub mod bounds;
pub mod codec;
pub mod environment;
pub mod filesystem;
pub mod network;
mod precedence;
pub mod process;
pub mod rule;
pub mod seccomp;
pub mod validate;

mod declared;
mod digest;

use serde::{Deserialize, Serialize};

pub use declared::{
    Broker, Destination, Keep, Layer, Scheme, SecretSource, Unlock, Workspace, WorkspaceMode,
};
pub use digest::{Digest, NotADigest};
pub use rule::{Effect, LayerId, RuleId, RuleRecord};

/// The only format this crate writes and reads.
pub const FORMAT: u32 = 2;

/// A compiled policy. `rules[0]` is always the built-in default: *nothing is allowed that no rule allows*.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Name and summary from the policy header.
    pub policy: PolicyIdentity,
    /// Parameters as they were bound when this was compiled, as text, by name.
    pub parameters: std::collections::BTreeMap<String, String>,
    /// The policy, then its ceiling, then that one's. An access is allowed when every one of them allows it.
    pub layers: Vec<Layer>,
    /// What of the floor is open. Every layer says so.
    pub unlocks: Vec<Unlock>,
    /// Every rule, built-in ones first; a [`RuleId`] is an index into this list.
    pub rules: Vec<RuleRecord>,
    /// What the policy's `require` statements ask of the host.
    pub requirements: Vec<process::Requirement>,
    /// The files domain.
    pub filesystem: filesystem::FilesystemPlan,
    /// The network domain.
    pub network: network::NetworkTables,
    /// The environment the run starts with.
    pub environment: environment::EnvironmentPlan,
    /// Credentials that the run uses and never holds.
    pub brokers: Vec<Broker>,
    /// Where the run works, if the policy says so.
    pub workspace: Option<Workspace>,
    /// Identity and limits.
    pub process: process::ProcessPlan,
    /// One filter for each architecture the compiler has a table for.
    pub seccomp: Vec<seccomp::SeccompFilter>,
    /// Which *allowed* accesses are recorded. Refusals always are.
    pub record: process::RecordOptions,
}

impl Artifact {
    /// The digest that identifies this artifact. It costs a serialization and a hash; keep it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self)
    }
}

/// Which policy an artifact was compiled from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyIdentity {
    /// The quoted name after `policy`.
    pub name: String,
    /// The `summary` statement.
    pub summary: Option<String>,
}
