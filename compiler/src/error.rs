//! Why a policy that resolves still cannot be compiled.

use policy_lang::policy::{Origin, RuleId};

/// One reason, with the rule it is about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", place(.origin))]
pub struct LowerError {
    /// The rule; the default rule where it is about the policy as a whole.
    pub rule: RuleId,
    /// Where that was written.
    pub origin: Origin,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A pattern that the enforcer would not match as the policy means it.
    #[error("the pattern \"{pattern}\" cannot be enforced: {why}")]
    Pattern {
        /// As resolved.
        pattern: String,
        /// In words.
        why: String,
    },
    /// A rule that nothing enforces.
    #[error("the rule becomes nothing: {why}")]
    Nothing {
        /// In words.
        why: String,
    },
    /// Two `set` of one variable with different values.
    #[error("the variable {name} is already set to another value, at {}", place(.other))]
    SetTwice {
        /// Variable.
        name: String,
        /// The other rule.
        other: Origin,
    },
    /// The system call rules do not fit into a filter.
    #[error(transparent)]
    Seccomp(#[from] crate::seccomp::GenerateError),
    /// Something is larger than an artifact may be.
    #[error("{0}")]
    Bound(#[from] artifact::validate::Invalid),
}

fn place(origin: &Origin) -> String {
    match origin {
        Origin::BuiltIn => "built-in".to_owned(),
        Origin::Source { file, line, column } => format!("{file}:{line}:{column}"),
    }
}
