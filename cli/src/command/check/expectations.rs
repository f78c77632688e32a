//! The `test` blocks of a policy, as findings: `remit test` says more about each.

use compiler::testing::{Line, judge as judged};
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Origin, Policy, Test};
use policy_lang::{Diagnostic, SourceFile};

use crate::input::rest_of_line;

/// A finding for each line that does not hold, and how many lines there are.
pub(super) fn judge(policy: &Policy, source: &SourceFile) -> (usize, Vec<Diagnostic>) {
    let report = judged(policy, &policy.tests, |_| true);
    let findings = report
        .failures()
        .map(|(test, line)| finding(policy, source, test, line));
    (report.lines(), findings.collect())
}

fn finding(policy: &Policy, source: &SourceFile, test: &Test, line: &Line<'_>) -> Diagnostic {
    let finding = Diagnostic::error(
        Code::TestFails,
        rest_of_line(&line.expectation.origin, source),
        format!("test \"{}\" does not hold", test.name),
    )
    .label(line.found());
    match policy.rule(line.reasons.decision.rule) {
        Some(rule) => match &rule.origin {
            Origin::Source { .. } => finding.also(rest_of_line(&rule.origin, source), "decided here"),
            Origin::BuiltIn => finding.note(format!("decided by the built-in rule: {}", rule.text)),
        },
        None => finding,
    }
}
