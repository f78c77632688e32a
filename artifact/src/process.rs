//! Identity, limits, requirements and what is recorded.

use serde::{Deserialize, Serialize};

use crate::rule::{Need, RuleId};

/// Who the run is and how much it may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessPlan {
    /// Under which ids the run executes.
    pub identity: Identity,
    /// The rule (`identity` statement) that says so, or the default.
    pub identity_rule: RuleId,
    /// Limits, each at most once.
    pub limits: Vec<Limit>,
}

/// The run's ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Identity {
    /// The caller's real user and group.
    User,
    /// These ids, no supplementary groups.
    Ids {
        /// User id.
        uid: u32,
        /// Group id.
        gid: u32,
    },
    /// A user and group id that no other run and no account has, allocated for this run.
    Dynamic,
}

/// One limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What is limited.
    pub resource: Resource,
    /// The most of it, in the unit of [`Resource`].
    pub value: u64,
    /// The rule that says so.
    pub rule: RuleId,
}

/// Limited resources and their units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Resource {
    /// Memory of the whole run, in bytes.
    Memory,
    /// Processes and threads of the whole run.
    Processes,
    /// CPU time of the whole run, in hundredths of one CPU (200 = two CPUs).
    Cpu,
    /// Open descriptors of each process.
    OpenFiles,
    /// Wall-clock time of the run, in seconds.
    Wall,
}

/// One `require` clause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// What the host must offer.
    pub need: Need,
    /// The clause as written.
    pub text: String,
}

/// Which allowed accesses become events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordOptions {
    /// Program starts, forks and exits.
    pub exec: bool,
    /// Allowed connects and sends to a new destination.
    pub connect: bool,
    /// Allowed binds.
    pub bind: bool,
    /// Allowed reads of files.
    pub read: bool,
    /// Allowed changes of files.
    pub write: bool,
}
