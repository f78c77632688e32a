//! The `test` blocks of a policy, as findings: `remit test` says more about each.

use compiler::testing::{Line, judge as judged};
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Origin, Policy, Test};
use policy_lang::{Diagnostic, SourceFile};

use crate::input::place;

/// A finding for each line that does not hold, and how many lines there are.
pub(super) fn judge(policy: &Policy, files: &[SourceFile]) -> (usize, Vec<Diagnostic>) {
    let report = judged(policy, &policy.tests, |_| true);
    let findings = report
        .failures()
        .map(|(test, line)| finding(policy, files, test, line));
    (report.lines(), findings.collect())
}

fn finding(policy: &Policy, files: &[SourceFile], test: &Test, line: &Line<'_>) -> Diagnostic {
    let (file, span) = place(&line.expectation.origin, files);
    let message = format!("test \"{}\" does not hold", test.name);
    let finding = Diagnostic::error(Code::TestFails, span, message)
        .in_file(file)
        .label(line.found());
    match policy.rule(line.reasons.decision.rule) {
        Some(rule) => match &rule.origin {
            Origin::Source { .. } => {
                let (file, span) = place(&rule.origin, files);
                finding.also_in(file, span, "decided here")
            }
            Origin::BuiltIn => finding.note(format!("decided by the built-in rule: {}", rule.text)),
        },
        None => finding,
    }
}
