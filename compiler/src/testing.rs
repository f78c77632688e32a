//! `test` blocks, judged by the reference semantics: the decision, and the rule that decides.

use policy_lang::policy::{Effect, Expectation, ExpectedOutcome, Policy, Rule, Test};
use policy_lang::reference::Access;

use crate::coverage::Coverage;
use crate::why::{Reasons, reasons};

/// What became of a selection of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report<'t> {
    /// Those that were selected, in source order.
    pub tests: Vec<Judged<'t>>,
    /// How many were not.
    pub left_out: usize,
    /// What decided their accesses.
    pub coverage: Coverage,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged<'t> {
    /// As written.
    pub test: &'t Test,
    /// Its lines.
    pub lines: Vec<Line<'t>>,
}

/// One line of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'t> {
    /// As written.
    pub expectation: &'t Expectation,
    /// What was decided, and why.
    pub reasons: Reasons,
    /// What does not hold.
    pub failure: Option<Failure>,
}

/// What does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Another decision than the expected one.
    Decision,
    /// The expected decision, by a rule that `by` does not name.
    Rule,
}

/// Judges the tests whose name is wanted.
pub fn judge<'t>(
    policy: &Policy,
    tests: impl IntoIterator<Item = &'t Test>,
    wanted: impl Fn(&str) -> bool,
) -> Report<'t> {
    let mut report = Report {
        tests: Vec::new(),
        left_out: 0,
        coverage: Coverage::of(policy),
    };
    for test in tests {
        if !wanted(&test.name) {
            report.left_out += 1;
            continue;
        }
        let lines = test.expectations.iter().map(|line| judge_line(policy, line));
        let lines: Vec<Line<'t>> = lines.collect();
        for line in &lines {
            report.coverage.add(policy, &line.expectation.access);
        }
        report.tests.push(Judged { test, lines });
    }
    report
}

fn judge_line<'t>(policy: &Policy, expectation: &'t Expectation) -> Line<'t> {
    let reasons = reasons(policy, &expectation.access);
    let named = policy.rule(reasons.decision.rule);
    let by_whom = match (&expectation.by, named) {
        (Some(by), Some(rule)) => is_by(by, rule, &expectation.access),
        (Some(_), None) => false,
        (None, _) => true,
    };
    let failure = if outcome(reasons.decision.effect) != expectation.outcome {
        Some(Failure::Decision)
    } else if !by_whom {
        Some(Failure::Rule)
    } else {
        None
    };
    Line {
        expectation,
        reasons,
        failure,
    }
}

impl Report<'_> {
    /// Lines that do not hold.
    pub fn failures(&self) -> impl Iterator<Item = (&Test, &Line<'_>)> {
        self.tests.iter().flat_map(|judged| {
            let failed = judged.lines.iter().filter(|line| line.failure.is_some());
            failed.map(|line| (judged.test, line))
        })
    }

    /// How many lines there are.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.tests.iter().map(|judged| judged.lines.len()).sum()
    }
}

impl Line<'_> {
    /// The line as a test would write it.
    #[must_use]
    pub fn text(&self) -> String {
        let Expectation {
            access, outcome, by, ..
        } = self.expectation;
        let mut text = format!("{access} is {}", word(*outcome, access));
        if let Some(by) = by {
            let by = if DOMAINS.contains(&by.as_str()) {
                by.clone()
            } else {
                policy_lang::resolve::quoted(by)
            };
            text.push_str(&format!(" by {by}"));
        }
        text
    }

    /// What was found instead, for a line that does not hold.
    #[must_use]
    pub fn found(&self) -> String {
        let found = word(outcome(self.reasons.decision.effect), &self.expectation.access);
        match (self.failure, &self.expectation.by) {
            (Some(Failure::Rule), Some(by)) => format!("it is {found}, but not by {by}"),
            _ => format!("it is {found}"),
        }
    }
}

const DOMAINS: [&str; 4] = ["filesystem", "network", "credentials", "process"];

/// The block of the language an access belongs to.
#[must_use]
pub const fn domain(access: &Access) -> &'static str {
    match access {
        Access::File { .. } => "filesystem",
        Access::Network { .. } | Access::Host { .. } => "network",
        Access::Environment { .. } => "credentials",
        Access::Syscall { .. } => "process",
    }
}

/// What a test calls an effect.
#[must_use]
pub const fn outcome(effect: Effect) -> ExpectedOutcome {
    match effect {
        Effect::Allow => ExpectedOutcome::Allowed,
        Effect::Ask => ExpectedOutcome::Asked,
        Effect::Deny | Effect::Forbid => ExpectedOutcome::Denied,
    }
}

/// The word after `is`: variables are present or absent.
#[must_use]
pub const fn word(outcome: ExpectedOutcome, access: &Access) -> &'static str {
    match (access, outcome) {
        (Access::Environment { .. }, ExpectedOutcome::Allowed) => "present",
        (Access::Environment { .. }, ExpectedOutcome::Denied) => "absent",
        (_, ExpectedOutcome::Allowed) => "allowed",
        (_, ExpectedOutcome::Asked) => "asked",
        (_, ExpectedOutcome::Denied) => "denied",
    }
}

/// `by` names the block the access belongs to, or the label of the rule that decides.
fn is_by(by: &str, rule: &Rule, access: &Access) -> bool {
    by == domain(access) || rule.label.as_deref() == Some(by)
}

#[cfg(test)]
mod tests;
