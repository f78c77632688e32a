//! What a difference in accesses looks like from outside.

use std::collections::BTreeSet;

use policy_lang::policy::RuleId;
use policy_lang::reference::Access;
use serde::Serialize;

/// What a rule speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// `filesystem`
    Files,
    /// `network`
    Network,
    /// `credentials`
    Environment,
    /// `process`
    Syscalls,
}

impl Domain {
    /// Every domain, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Files, Self::Network, Self::Environment, Self::Syscalls];
}

/// What becomes of an access, from lax to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Allowed.
    Allowed,
    /// Allowed in memory of the run's own (`scratch`); the host's file is out of reach.
    Private,
    /// Allowed once somebody approves.
    Asked,
    /// Refused by a rule with `permit degraded`, which a host may leave out.
    RefusedIfPossible,
    /// Refused.
    Refused,
}

/// What one policy says of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Judged {
    /// What becomes of it.
    pub outcome: Outcome,
    /// The rule that the reference names.
    pub rule: RuleId,
}

/// Accesses that one rule decided before, and that the same or another one decides otherwise now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Of what kind they are.
    pub domain: Domain,
    /// What is done in them, as the language has it: `read`, `connect tcp`, …
    pub verbs: BTreeSet<String>,
    /// What the old policy says.
    pub before: Judged,
    /// What the new policy says.
    pub after: Judged,
    /// One of them. The reference decides it as said on both sides.
    pub witness: Access,
    /// A few others that rules tell apart from it.
    pub examples: Vec<Access>,
    /// In how many classes, which some rule tells apart, they were found.
    pub places: usize,
}

impl Change {
    /// Whether the new policy is the laxer one.
    #[must_use]
    pub fn is_wider(&self) -> bool {
        self.after.outcome < self.before.outcome
    }
}
