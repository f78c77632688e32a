//! A rule of a policy as commands refer to it: the same fields wherever one appears in JSON.

use policy_lang::policy::{Origin, Policy, Rule, RuleId, Subject};
use serde::Serialize;

/// A rule, and where it comes from.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RuleReference {
    /// Its index in the policy.
    pub(crate) rule: u32,
    pub(crate) domain: Option<&'static str>,
    pub(crate) effect: &'static str,
    pub(crate) text: String,
    pub(crate) label: Option<String>,
    pub(crate) because: Option<String>,
    /// `file:line`, or what it is where it is built in.
    pub(crate) place: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    /// The policy of the chain that it stands in; absent where it is built in.
    pub(crate) layer: Option<String>,
    /// The group it came from.
    pub(crate) via: Option<String>,
}

impl RuleReference {
    pub(crate) fn new(policy: &Policy, rule: &Rule) -> Self {
        let (file, line, column) = match &rule.origin {
            Origin::BuiltIn => (None, None, None),
            Origin::Source { file, line, column } => (Some(file.clone()), Some(*line), Some(*column)),
        };
        let layer = rule
            .layer
            .and_then(|layer| policy.layers.get(usize::from(layer.0)));
        Self {
            rule: rule.id.0,
            domain: domain(&rule.subject),
            effect: rule.effect.word(),
            text: rule.text.clone(),
            label: rule.label.clone(),
            because: rule.because.clone(),
            place: compiler::why::place(rule),
            file,
            line,
            column,
            layer: layer.map(|layer| layer.name.clone()),
            via: rule.via.clone(),
        }
    }

    /// Of a rule by its id. Every id that a decision names is one of the policy's.
    pub(crate) fn of(policy: &Policy, id: RuleId) -> Option<Self> {
        policy.rule(id).map(|rule| Self::new(policy, rule))
    }

    /// Place, text, and where it came from.
    pub(crate) fn line(&self) -> String {
        let via = self.via.as_ref().map(|group| format!(" (from {group})"));
        format!("{} `{}`{}", self.place, self.text, via.unwrap_or_default())
    }

    /// The same where the rule is not what is asked about: one that is built in is known by its label.
    pub(crate) fn short(&self) -> String {
        if self.file.is_some() {
            self.line()
        } else {
            self.place.clone()
        }
    }
}

/// The block a rule stands in; the default stands in none.
fn domain(subject: &Subject) -> Option<&'static str> {
    match subject {
        Subject::Everything => None,
        Subject::File { .. } | Subject::Hide { .. } | Subject::Scratch { .. } => Some("filesystem"),
        Subject::Network { .. } => Some("network"),
        Subject::Pass { .. } | Subject::Set { .. } | Subject::Broker(_) => Some("credentials"),
        Subject::Syscall { .. } | Subject::Identity(_) | Subject::Limit { .. } => Some("process"),
    }
}
