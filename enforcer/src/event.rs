//! The event: the one thing the enforcer tells about a run, whatever noticed it.
//!
//! Ring records, audit records, refused looks at a mask and the enforcer's own steps all become an [`Event`]. Sinks
//! print it; nothing below this type knows about output and nothing above it about the kernel. The fields are
//! documented in `docs/events.md`, which a test compares with what this module writes.
//!
//! Secrets never enter an event: it has no place for an environment, an argument vector, file contents or a
//! payload, only for names of programs, paths and addresses.

mod chain;
mod details;
mod time;
mod words;

use std::sync::Arc;

use artifact::Artifact;
use artifact::rule::{Effect, LayerId, Mechanism, Origin, RuleRecord};
use serde::Serialize;

pub(crate) use chain::hex;
pub use chain::{Chain, ChainError, RunChain, Verified, verify_chain};
pub use details::{
    AdmissionRefused, Degraded, Details, DeviceDetails, ExecDetails, ExitDetails, FileDetails, ForkDetails,
    Loss, LossStage, NetworkDetails, NetworkVerb, Receipt, RunEnded, RunStarted, ScopeDetails,
    SyscallDetails, SysctlDetails, Text,
};
pub use time::Time;
pub use words::{access_word, effect_word, mechanism_word};

/// Version of the schema in docs/events.md. A field may be added without changing it; one that changes its
/// meaning or goes away changes it.
pub const SCHEMA: u32 = 1;

/// One event. The order of the fields is the order in the line.
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    /// Always [`SCHEMA`].
    pub schema: u32,
    /// When it happened: the kernel's own clock where the record carries one.
    pub time: Time,
    /// Host name.
    pub host: Arc<str>,
    /// The run.
    pub run: RunId,
    /// Counts from 1 in each run, without gaps.
    pub seq: u64,
    /// The policy the run is held to.
    pub policy: Arc<PolicyReference>,
    /// What was decided; nothing for happenings that no rule decides.
    #[serde(serialize_with = "words::effect")]
    pub effect: Option<Effect>,
    /// What decided and enforced it.
    #[serde(serialize_with = "words::mechanism")]
    pub mechanism: Option<Mechanism>,
    /// The deciding rule.
    pub rule: Option<Arc<RuleReference>>,
    /// The rule's reason.
    pub because: Option<Arc<str>>,
    /// Who did it.
    pub process: Option<Arc<Process>>,
    /// What happened, by kind.
    #[serde(flatten)]
    pub details: Details,
}

impl Event {
    /// Whether this records something that the run was refused.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self.effect, Some(Effect::Deny | Effect::Forbid | Effect::Ask))
    }
}

/// Name of a run, unique on its host and across restarts of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RunId(Arc<str>);

impl RunId {
    /// Takes a name made elsewhere.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RunId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Which policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyReference {
    /// Its name.
    pub name: String,
    /// SHA-256 of its artifact, in hexadecimal.
    pub digest: String,
}

/// Which rule, with enough of it to be read without the policy at hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleReference {
    /// Index in the artifact; 0 is the built-in default.
    pub id: u32,
    /// What the rule says.
    #[serde(serialize_with = "words::plain_effect")]
    pub effect: Effect,
    /// The rule's label.
    pub label: Option<String>,
    /// `file:line:column`, or `built-in`.
    pub location: String,
    /// The ceiling it belongs to, by name; nothing for a rule of the policy itself.
    pub ceiling: Option<String>,
    /// The group that the policy or the ceiling took it from.
    pub group: Option<String>,
    /// The rule on one line.
    pub text: String,
}

impl RuleReference {
    /// A rule of an artifact.
    #[must_use]
    pub fn new(artifact: &Artifact, rule: &RuleRecord) -> Self {
        let ceiling = rule.layer.filter(|layer| *layer != LayerId::INNERMOST);
        let ceiling = ceiling.and_then(|layer| artifact.layers.get(usize::from(layer.0)));
        Self {
            id: rule.id.0,
            effect: rule.effect,
            label: rule.label.clone(),
            location: match &rule.origin {
                Origin::BuiltIn => "built-in".to_owned(),
                Origin::Policy { file, line, column } => format!("{file}:{line}:{column}"),
            },
            ceiling: ceiling.map(|layer| layer.name.clone()),
            group: rule.via.clone(),
            text: rule.text.clone(),
        }
    }
}

/// A process of the run, with its parents up to the run's first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Thread group id in the host's PID namespace.
    pub pid: u32,
    /// User id.
    pub uid: u32,
    /// Command name as the kernel shows it.
    pub comm: Text,
    /// Program, as the kernel resolved it; nothing when the process never started one that was seen.
    pub exe: Option<Text>,
    /// The kernel's record names this very process. Otherwise it says only which run it was, and this is the
    /// process of the run nearest to the refusal that is certain: a common ancestor.
    pub exact: bool,
    /// Parents, the nearest first; the last is the run's first process.
    pub ancestry: Vec<Ancestor>,
}

/// One of the parents of a [`Process`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ancestor {
    /// Thread group id in the host's PID namespace.
    pub pid: u32,
    /// Command name.
    pub comm: Text,
    /// Program.
    pub exe: Option<Text>,
}
