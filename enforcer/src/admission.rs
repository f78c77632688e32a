//! Admission: an artifact is matched against what this host really enforces, rule by rule.
//!
//! A rule lowers to one or more mechanisms. It is *enforced* when one of them is exact and everything that one
//! needs is here; *partly enforced* when only inexact ones are available; *unenforceable* when none is. A run
//! whose rules are not all enforced is refused, unless the rule itself says `permit degraded`.

mod unmet;

use std::fmt;
use std::sync::Arc;

use artifact::rule::{Lowering, Mechanism, Origin, RuleId, RuleRecord};
use artifact::seccomp::{Architecture, SeccompFilter};
use artifact::{Artifact, Effect};

use crate::capabilities::{Capabilities, Capability};

/// How far one rule is enforced on one host.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RuleStatus {
    /// The rule.
    pub rule: RuleId,
    /// How far.
    pub status: Status,
}

/// How far, and what stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Status {
    /// Exactly.
    Enforced,
    /// Something is not covered.
    Partly {
        /// What.
        why: String,
    },
    /// Not at all.
    Unenforceable {
        /// What is missing.
        why: String,
    },
}

/// An artifact that this host enforces, with the degradations its rules permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    artifact: Arc<Artifact>,
    capabilities: Capabilities,
    degraded: Vec<RuleStatus>,
}

impl Admitted {
    /// The artifact.
    #[must_use]
    pub fn artifact(&self) -> &Arc<Artifact> {
        &self.artifact
    }

    /// What it was matched against.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Rules that are not fully enforced and permit that. Each becomes an event.
    #[must_use]
    pub fn degraded(&self) -> &[RuleStatus] {
        &self.degraded
    }

    /// The filter for the architecture this process was built for.
    #[must_use]
    pub fn seccomp(&self) -> Option<&SeccompFilter> {
        filter(&self.artifact)
    }
}

/// Why an artifact was not admitted: every reason, not just the first.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// At least one.
    pub reasons: Vec<Reason>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this host cannot enforce the policy")?;
        self.reasons
            .iter()
            .try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A `require` clause does not hold.
    #[error("`require {clause}` does not hold: {missing}")]
    Requirement {
        /// The clause as written.
        clause: String,
        /// What is missing.
        missing: String,
    },
    /// A rule is not, or not fully, enforced.
    #[error("{place}: `{text}` is {how}: {why}; {help}")]
    Rule {
        /// The rule.
        rule: RuleId,
        /// file:line, or "built-in"; with the ceiling or the group it belongs to.
        place: String,
        /// The rule's text.
        text: String,
        /// "unenforceable" or "partly enforced".
        how: &'static str,
        /// What is missing or not covered.
        why: String,
        /// What to write.
        help: &'static str,
    },
    /// A statement that is no rule cannot be carried out.
    #[error("{place}`{statement}` cannot be carried out: {missing}; {help}")]
    Statement {
        /// file:line and a colon, or nothing where it is not known.
        place: String,
        /// The statement.
        statement: String,
        /// What is missing.
        missing: String,
        /// What to write.
        help: &'static str,
    },
    /// Something every run needs.
    #[error("every run needs it: {missing}")]
    Base {
        /// What is missing.
        missing: String,
    },
    /// The artifact does not hold together.
    #[error("the artifact is not usable: {0}")]
    Artifact(String),
}

/// What no run can do without, whatever its policy says.
const BASE: [Capability; 8] = [
    Capability::Privileges,
    Capability::Landlock,
    Capability::SeccompLog,
    Capability::CgroupBpf,
    Capability::KernelBtf,
    Capability::MountSetattr,
    Capability::PidNamespace,
    Capability::Audit,
];

/// What stands in the way of every run on this host, whatever its policy says. Empty when nothing does.
#[must_use]
pub fn obstacles(capabilities: &Capabilities) -> Vec<String> {
    BASE.iter()
        .filter_map(|capability| capabilities.require(*capability).err())
        .collect()
}

/// How far each rule is enforced here, in the order of the artifact's rules.
#[must_use]
pub fn assess(artifact: &Artifact, capabilities: &Capabilities) -> Vec<RuleStatus> {
    let has_filter = filter(artifact).is_some();
    artifact
        .rules
        .iter()
        .map(|rule| RuleStatus {
            rule: rule.id,
            status: assess_rule(rule, capabilities, has_filter),
        })
        .collect()
}

/// Matches an artifact against a host.
///
/// # Errors
/// Every requirement, rule and base capability that is missing.
pub fn admit(artifact: Artifact, capabilities: &Capabilities) -> Result<Admitted, Refusal> {
    let mut reasons: Vec<Reason> = obstacles(capabilities)
        .into_iter()
        .map(|missing| Reason::Base { missing })
        .collect();
    reasons.extend(defects(&artifact).map(Reason::Artifact));
    reasons.extend(artifact.requirements.iter().filter_map(|requirement| {
        let missing = capabilities.satisfies(requirement.need).err()?;
        Some(Reason::Requirement {
            clause: requirement.text.clone(),
            missing,
        })
    }));
    reasons.extend(unmet::statements(&artifact, capabilities));
    let mut degraded = Vec::new();
    for (rule, status) in artifact.rules.iter().zip(assess(&artifact, capabilities)) {
        let (how, why) = match &status.status {
            Status::Enforced => continue,
            Status::Partly { why } => ("partly enforced", why.clone()),
            Status::Unenforceable { why } => ("unenforceable", why.clone()),
        };
        if rule.permit_degraded {
            degraded.push(status);
        } else {
            reasons.push(Reason::Rule {
                rule: rule.id,
                place: place(&artifact, rule),
                text: rule.text.clone(),
                how,
                why,
                help: unmet::help(rule, capabilities),
            });
        }
    }
    if reasons.is_empty() {
        Ok(Admitted {
            artifact: Arc::new(artifact),
            capabilities: capabilities.clone(),
            degraded,
        })
    } else {
        Err(Refusal { reasons })
    }
}

/// Why each statement of the policy that is no rule cannot be carried out here: a workspace that is a copy, records of
/// allowed accesses to files. Empty when all can.
#[must_use]
pub fn unmet_statements(artifact: &Artifact, capabilities: &Capabilities) -> Vec<Reason> {
    unmet::statements(artifact, capabilities)
}

fn assess_rule(rule: &RuleRecord, capabilities: &Capabilities, has_filter: bool) -> Status {
    if rule.id == RuleId::DEFAULT {
        return assess_default(rule, capabilities, has_filter);
    }
    let mut shortfalls = Vec::new();
    let mut available = false;
    for lowering in &rule.lowering {
        match missing(lowering, capabilities, has_filter) {
            Some(missing) => shortfalls.push(missing),
            None => {
                available = true;
                match &lowering.gap {
                    None => return Status::Enforced,
                    Some(gap) => shortfalls.push(gap.clone()),
                }
            }
        }
    }
    shortfalls.dedup();
    let why = if shortfalls.is_empty() {
        "it lowers to no mechanism".to_owned()
    } else {
        shortfalls.join("; ")
    };
    if available {
        Status::Partly { why }
    } else {
        Status::Unenforceable { why }
    }
}

/// The mechanisms of the default do not stand behind each other: each shuts what no other does. Scopes are the
/// exception, as a second line behind the PID namespace and the filter's closed UNIX sockets.
fn assess_default(rule: &RuleRecord, capabilities: &Capabilities, has_filter: bool) -> Status {
    let needed = rule
        .lowering
        .iter()
        .filter(|lowering| lowering.mechanism != Mechanism::LandlockScope);
    let mut shortfalls: Vec<String> = needed
        .filter_map(|lowering| missing(lowering, capabilities, has_filter).or_else(|| lowering.gap.clone()))
        .collect();
    shortfalls.dedup();
    if shortfalls.is_empty() {
        return Status::Enforced;
    }
    Status::Partly {
        why: shortfalls.join("; "),
    }
}

fn missing(lowering: &Lowering, capabilities: &Capabilities, has_filter: bool) -> Option<String> {
    if lowering.mechanism == Mechanism::Seccomp && !has_filter {
        return Some("the artifact has no filter for this architecture".to_owned());
    }
    if lowering.mechanism == Mechanism::MountMask
        && let Err(missing) = capabilities.require(Capability::Fuse)
    {
        return Some(format!(
            "{missing}; without it the path is hidden, but no look at it is recorded"
        ));
    }
    let all: Vec<String> = lowering
        .needs
        .iter()
        .filter_map(|need| capabilities.satisfies(*need).err())
        .collect();
    if all.is_empty() {
        return None;
    }
    let mut why = all.join(", ");
    if let Some(instead) = unmet::instead(lowering, capabilities) {
        why = format!("{why}, so {instead}");
    }
    Some(why)
}

/// Things the decoder cannot see but the enforcer relies on.
fn defects(artifact: &Artifact) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    let default_first = artifact
        .rules
        .first()
        .is_some_and(|rule| rule.effect >= Effect::Deny);
    if !default_first {
        found.push("rule 0 is not the refusing default".to_owned());
    }
    match filter(artifact) {
        None => found.push("there is no seccomp filter for this architecture".to_owned()),
        Some(filter) if filter.program.is_empty() => found.push("the seccomp filter is empty".to_owned()),
        Some(filter) if filter.program.len() > 4096 => {
            found.push("the seccomp filter is longer than 4,096 instructions".to_owned());
        }
        Some(_) => {}
    }
    if artifact
        .rules
        .iter()
        .zip(0u32..)
        .any(|(rule, index)| rule.id != RuleId(index))
    {
        found.push("rule ids are not their positions".to_owned());
    }
    found.into_iter()
}

fn filter(artifact: &Artifact) -> Option<&SeccompFilter> {
    let architecture = if cfg!(target_arch = "x86_64") {
        Architecture::X86_64
    } else if cfg!(target_arch = "aarch64") {
        Architecture::Aarch64
    } else {
        return None;
    };
    artifact
        .seccomp
        .iter()
        .find(|filter| filter.architecture == architecture)
}

/// Where a rule is written, and where that is not in the policy itself, whose it is.
fn place(artifact: &Artifact, rule: &RuleRecord) -> String {
    let mut place = match &rule.origin {
        Origin::BuiltIn => "built-in".to_owned(),
        Origin::Policy { file, line, .. } => format!("{file}:{line}"),
    };
    let reference = crate::event::RuleReference::new(artifact, rule);
    for (what, name) in [("ceiling", reference.ceiling), ("group", reference.group)] {
        if let Some(name) = name {
            place.push_str(&format!(" ({what} \"{name}\")"));
        }
    }
    place
}
