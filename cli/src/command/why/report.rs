//! What `why` says, as a value: the text is drawn from it, and as JSON it is an interface.

use serde::Serialize;

use crate::render::mechanism::MechanismReport;
use crate::render::reasons::LayerReport;
use crate::render::rule::RuleReference;

/// Everything that was found out.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) policy: String,
    /// The policy's file; absent when an artifact was asked.
    pub(super) file: Option<String>,
    /// Of the artifact that was asked, or of what the policy compiles to.
    pub(super) digest: Option<String>,
    pub(super) kernel: String,
    /// The artifact given by `--artifact` decides as the policy does. True without one.
    pub(super) agree: bool,
    pub(super) event: Option<EventReport>,
    pub(super) answers: Vec<Answer>,
    pub(super) notes: Vec<String>,
    pub(super) proposal: Option<ProposalReport>,
}

/// One access.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    /// As a `test` block writes it.
    pub(super) access: String,
    /// `allowed`, `asked`, `denied`; for variables `present` and `absent`.
    pub(super) outcome: &'static str,
    pub(super) effect: &'static str,
    pub(super) decided_by: Option<RuleReference>,
    /// Rules of an artifact that can be the reason, where it does not tell which.
    pub(super) candidates: Vec<RuleReference>,
    /// What each policy of the chain says, innermost first. Empty for an artifact, which holds decisions only.
    pub(super) layers: Vec<LayerReport>,
    pub(super) enforcement: Enforcement,
    /// What the artifact of `--artifact` decides.
    pub(super) artifact: Option<ArtifactAnswer>,
}

/// What makes a decision hold on this host.
#[derive(Debug, Serialize)]
pub(super) struct Enforcement {
    /// `enforced`, `partly`, `unenforceable`.
    pub(super) status: &'static str,
    /// Why not fully.
    pub(super) why: Option<String>,
    pub(super) mechanisms: Vec<MechanismReport>,
    /// Whether the access would be an event: `yes`, `no`, or how it depends.
    pub(super) recorded: String,
    /// What the kernel is told where that is stricter than the rules.
    pub(super) stricter: Option<String>,
}

/// What another artifact decides.
#[derive(Debug, Serialize)]
pub(super) struct ArtifactAnswer {
    pub(super) digest: String,
    pub(super) effect: &'static str,
    pub(super) rules: Vec<String>,
    pub(super) agrees: bool,
}

/// What was recorded.
#[derive(Debug, Serialize)]
pub(super) struct EventReport {
    pub(super) run: String,
    pub(super) seq: u64,
    pub(super) policy: String,
    pub(super) digest: String,
    pub(super) effect: String,
    pub(super) mechanism: Option<String>,
    /// Where the rule that was named then stands, and its text.
    pub(super) rule: Option<String>,
    /// Whether the policy compiles to what was enforced then.
    pub(super) same_policy: bool,
}

/// What would allow it, or what stands in the way.
#[derive(Debug, Serialize)]
pub(super) struct ProposalReport {
    /// `rule`, `none-needed` or `refused`.
    pub(super) outcome: &'static str,
    pub(super) rule: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<usize>,
    /// Everything the rule allows, in words.
    pub(super) covers: Option<String>,
    /// The policy's file with the rule in it.
    pub(super) text: Option<String>,
    pub(super) notes: Vec<String>,
    pub(super) obstacles: Vec<ObstacleReport>,
}

/// Who refuses, and what to ask for.
#[derive(Debug, Serialize)]
pub(super) struct ObstacleReport {
    pub(super) access: String,
    pub(super) rule: Option<RuleReference>,
    pub(super) ask: String,
}
