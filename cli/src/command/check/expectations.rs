//! The `test` blocks of a policy, judged by the reference semantics.

use policy_lang::diagnostic::Code;
use policy_lang::policy::{Effect, Expectation, ExpectedOutcome, Origin, Policy, Rule};
use policy_lang::reference::{Access, decide};
use policy_lang::{Diagnostic, SourceFile};

use crate::input::rest_of_line;

/// A finding for each line that does not hold, and how many lines there are.
pub(super) fn judge(policy: &Policy, source: &SourceFile) -> (usize, Vec<Diagnostic>) {
    let lines = policy
        .tests
        .iter()
        .flat_map(|test| test.expectations.iter().map(move |line| (test, line)));
    let mut count = 0;
    let mut findings = Vec::new();
    for (test, line) in lines {
        count += 1;
        if let Some(finding) = fails(policy, source, &test.name, line) {
            findings.push(finding);
        }
    }
    (count, findings)
}

fn fails(policy: &Policy, source: &SourceFile, test: &str, line: &Expectation) -> Option<Diagnostic> {
    let decision = decide(policy, &line.access);
    let rule = usize::try_from(decision.rule.0)
        .ok()
        .and_then(|index| policy.rules.get(index));
    let found = match decision.effect {
        Effect::Allow => ExpectedOutcome::Allowed,
        Effect::Ask => ExpectedOutcome::Asked,
        Effect::Deny | Effect::Forbid => ExpectedOutcome::Denied,
    };
    let by_whom = rule.is_none_or(|rule| line.by.as_ref().is_none_or(|by| is_by(by, rule, &line.access)));
    if found == line.outcome && by_whom {
        return None;
    }
    let word = match (&line.access, found) {
        (Access::Environment { .. }, ExpectedOutcome::Allowed) => "present",
        (Access::Environment { .. }, ExpectedOutcome::Denied) => "absent",
        (_, ExpectedOutcome::Allowed) => "allowed",
        (_, ExpectedOutcome::Asked) => "asked",
        (_, ExpectedOutcome::Denied) => "denied",
    };
    let found = if by_whom {
        format!("it is {word}")
    } else {
        format!(
            "it is {word}, but not by {}",
            line.by.as_deref().unwrap_or_default()
        )
    };
    let mut finding = Diagnostic::error(
        Code::TestFails,
        rest_of_line(&line.origin, source),
        format!("test \"{test}\" does not hold"),
    )
    .label(found);
    if let Some(rule) = rule {
        finding = match &rule.origin {
            Origin::Source { .. } => finding.also(rest_of_line(&rule.origin, source), "decided here"),
            Origin::BuiltIn => finding.note(format!("decided by the built-in rule: {}", rule.text)),
        };
    }
    Some(finding)
}

/// `by` names the block the access belongs to, or the label of the rule that decides.
fn is_by(by: &str, rule: &Rule, access: &Access) -> bool {
    let domain = match access {
        Access::File { .. } => "filesystem",
        Access::Network { .. } | Access::Host { .. } => "network",
        Access::Environment { .. } => "credentials",
        Access::Syscall { .. } => "process",
    };
    by == domain || rule.label.as_deref() == Some(by)
}
