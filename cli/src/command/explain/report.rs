//! What `explain` says, as a value: the text is drawn from it, and as JSON it is an interface.

use artifact::Artifact;
use artifact::rule::{Origin, RuleRecord};
use enforcer::event::{RuleReference, effect_word};
use enforcer::{Capabilities, RuleStatus, Status};
use serde::Serialize;

use crate::render::mechanism::MechanismReport;
use crate::render::words;

/// A policy on a host.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) policy: String,
    pub(super) summary: Option<String>,
    pub(super) digest: String,
    pub(super) kernel: String,
    /// Whether a run of this policy would be admitted here, as far as its rules go.
    pub(super) admitted: bool,
    pub(super) counts: Counts,
    pub(super) requirements: Vec<Requirement>,
    /// Statements that are no rules and cannot be carried out here, with the reason.
    pub(super) unmet: Vec<String>,
    /// The ceilings, the nearest first.
    pub(super) ceilings: Vec<Ceiling>,
    /// What is open of the floor.
    pub(super) unlocks: Vec<Unlock>,
    pub(super) rules: Vec<Rule>,
    /// Built-in rules that are not listed because `--all` was not given.
    pub(super) built_in_hidden: usize,
}

/// How many rules, built-in ones included, have which standing.
#[derive(Debug, Default, Serialize)]
pub(super) struct Counts {
    pub(super) enforced: usize,
    pub(super) partly: usize,
    pub(super) unenforceable: usize,
}

/// One `require` clause.
#[derive(Debug, Serialize)]
pub(super) struct Requirement {
    pub(super) text: String,
    pub(super) missing: Option<String>,
}

/// A policy that this one is held to.
#[derive(Debug, Serialize)]
pub(super) struct Ceiling {
    pub(super) name: String,
    pub(super) file: String,
}

/// A part of the floor that is open.
#[derive(Debug, Serialize)]
pub(super) struct Unlock {
    pub(super) name: String,
    pub(super) because: String,
    pub(super) place: String,
}

/// One rule.
#[derive(Debug, Serialize)]
pub(super) struct Rule {
    pub(super) rule: u32,
    pub(super) domain: &'static str,
    pub(super) effect: &'static str,
    pub(super) text: String,
    pub(super) label: Option<String>,
    pub(super) because: Option<String>,
    pub(super) place: String,
    /// The ceiling it is a rule of.
    pub(super) ceiling: Option<String>,
    /// The group it came from.
    pub(super) group: Option<String>,
    #[serde(flatten)]
    pub(super) status: Status,
    pub(super) permit_degraded: bool,
    pub(super) mechanisms: Vec<MechanismReport>,
}

impl Report {
    pub(super) fn new(artifact: &Artifact, capabilities: &Capabilities, all: bool) -> Self {
        let statuses = enforcer::assess(artifact, capabilities);
        let mut counts = Counts::default();
        for status in &statuses {
            match status.status {
                Status::Enforced => counts.enforced += 1,
                Status::Partly { .. } => counts.partly += 1,
                Status::Unenforceable { .. } => counts.unenforceable += 1,
            }
        }
        let requirements: Vec<Requirement> = artifact
            .requirements
            .iter()
            .map(|requirement| Requirement {
                text: requirement.text.clone(),
                missing: capabilities.satisfies(requirement.need).err(),
            })
            .collect();
        let met = requirements
            .iter()
            .all(|requirement| requirement.missing.is_none());
        let pairs = || artifact.rules.iter().zip(&statuses);
        let stands = |(rule, status): (&RuleRecord, &RuleStatus)| {
            rule.permit_degraded || status.status == Status::Enforced
        };
        // A built-in rule that is not enforced is never hidden: it is why a run is refused.
        let shown = |(rule, status): &(&RuleRecord, &RuleStatus)| {
            all || rule.origin != Origin::BuiltIn || status.status != Status::Enforced
        };
        let rules: Vec<Rule> = pairs()
            .filter(shown)
            .map(|(rule, status)| Rule::new(artifact, rule, status.status.clone(), capabilities))
            .collect();
        let unmet: Vec<String> = enforcer::admission::unmet_statements(artifact, capabilities)
            .iter()
            .map(ToString::to_string)
            .collect();
        Self {
            policy: artifact.policy.name.clone(),
            summary: artifact.policy.summary.clone(),
            digest: artifact.digest().to_string(),
            kernel: capabilities.kernel.clone(),
            admitted: met && unmet.is_empty() && pairs().all(stands),
            counts,
            requirements,
            unmet,
            ceilings: artifact
                .layers
                .iter()
                .skip(1)
                .map(|layer| Ceiling {
                    name: layer.name.clone(),
                    file: layer.file.clone(),
                })
                .collect(),
            unlocks: artifact
                .unlocks
                .iter()
                .map(|unlock| Unlock {
                    name: unlock.name.clone(),
                    because: unlock.because.clone(),
                    place: words::origin(&unlock.origin),
                })
                .collect(),
            built_in_hidden: artifact.rules.len() - rules.len(),
            rules,
        }
    }
}

impl Rule {
    fn new(artifact: &Artifact, rule: &RuleRecord, status: Status, capabilities: &Capabilities) -> Self {
        let reference = RuleReference::new(artifact, rule);
        Self {
            rule: rule.id.0,
            domain: words::domain(rule.domain),
            effect: effect_word(rule.effect),
            text: rule.text.clone(),
            label: rule.label.clone(),
            because: rule.because.clone(),
            place: words::origin(&rule.origin),
            ceiling: reference.ceiling,
            group: reference.group,
            status,
            permit_degraded: rule.permit_degraded,
            mechanisms: rule
                .lowering
                .iter()
                .map(|lowering| MechanismReport::new(lowering, capabilities))
                .collect(),
        }
    }
}
