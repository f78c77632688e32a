//! What `test` says, as a value: the text is drawn from it, and as JSON it is an interface.

use compiler::coverage::{Figures, Part};
use compiler::testing::{Judged, Line, Report as Judgement};
use policy_lang::policy::{Origin, Policy};
use serde::Serialize;

use crate::arguments::{CoverageOf, Test};
use crate::render::junit::{Case, Suite};
use crate::render::reasons::{self, LayerReport};
use crate::render::rule::RuleReference;

/// A policy's tests.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Every line holds, and enough rules are covered.
    pub(super) ok: bool,
    pub(super) file: String,
    pub(super) policy: String,
    pub(super) lines: usize,
    pub(super) failed: usize,
    pub(super) tests: Vec<TestReport>,
    /// Tests that the filter left out.
    pub(super) left_out: usize,
    pub(super) coverage: CoverageReport,
}

/// One `test` block.
#[derive(Debug, Serialize)]
pub(super) struct TestReport {
    pub(super) name: String,
    pub(super) ok: bool,
    pub(super) lines: Vec<LineReport>,
}

/// One line.
#[derive(Debug, Serialize)]
pub(super) struct LineReport {
    pub(super) ok: bool,
    pub(super) text: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    /// What was found instead of what was expected.
    pub(super) found: Option<String>,
    pub(super) effect: &'static str,
    pub(super) decided_by: Option<RuleReference>,
    /// What each policy of the chain says, innermost first.
    pub(super) layers: Vec<LayerReport>,
}

/// Which rules decide a tested access.
#[derive(Debug, Serialize)]
pub(super) struct CoverageReport {
    /// `own` or `all`: what `percent` and `uncovered` speak of.
    pub(super) of: CoverageOf,
    pub(super) percent: usize,
    pub(super) fail_under: Option<u8>,
    pub(super) own: FiguresReport,
    pub(super) groups: FiguresReport,
    pub(super) ceilings: FiguresReport,
    pub(super) uncovered: Vec<RuleReference>,
}

#[derive(Debug, Serialize)]
pub(super) struct FiguresReport {
    pub(super) covered: usize,
    pub(super) rules: usize,
}

impl From<Figures> for FiguresReport {
    fn from(figures: Figures) -> Self {
        Self {
            covered: figures.covered,
            rules: figures.rules,
        }
    }
}

impl Report {
    pub(super) fn new(policy: &Policy, file: &str, judged: &Judgement<'_>, arguments: &Test) -> Self {
        let failed = judged.failures().count();
        let coverage = CoverageReport::new(policy, judged, arguments);
        let enough = coverage
            .fail_under
            .is_none_or(|least| coverage.percent >= usize::from(least));
        Self {
            ok: failed == 0 && enough,
            file: file.to_owned(),
            policy: policy.name.clone(),
            lines: judged.lines(),
            failed,
            tests: judged
                .tests
                .iter()
                .map(|test| TestReport::new(policy, test))
                .collect(),
            left_out: judged.left_out,
            coverage,
        }
    }

    /// One case for each line; one more for the coverage, where that can fail.
    pub(super) fn suite(&self) -> Suite {
        let mut cases: Vec<Case> = self
            .tests
            .iter()
            .flat_map(|test| test.lines.iter().map(|line| line.case(&test.name)))
            .collect();
        if let Some(least) = self.coverage.fail_under {
            let CoverageReport { percent, .. } = self.coverage;
            let uncovered = self.coverage.uncovered.iter();
            cases.push(Case {
                class: "coverage".to_owned(),
                name: format!("at least {least}% of the rules decide a tested access"),
                file: Some(self.file.clone()),
                line: None,
                failure: (percent < usize::from(least)).then(|| {
                    let detail = uncovered.map(|rule| format!("{}\n", rule.line())).collect();
                    (format!("{percent}% do"), detail)
                }),
                output: None,
            });
        }
        Suite {
            name: self.file.clone(),
            cases,
        }
    }
}

impl TestReport {
    fn new(policy: &Policy, judged: &Judged<'_>) -> Self {
        let lines: Vec<LineReport> = judged
            .lines
            .iter()
            .map(|line| LineReport::new(policy, line))
            .collect();
        Self {
            name: judged.test.name.clone(),
            ok: lines.iter().all(|line| line.ok),
            lines,
        }
    }
}

impl LineReport {
    fn new(policy: &Policy, line: &Line<'_>) -> Self {
        let (file, at) = match &line.expectation.origin {
            Origin::BuiltIn => (None, None),
            Origin::Source { file, line, .. } => (Some(file.clone()), Some(*line)),
        };
        let reasons = &line.reasons;
        Self {
            ok: line.failure.is_none(),
            text: line.text(),
            file,
            line: at,
            found: line.failure.map(|_| line.found()),
            effect: reasons.decision.effect.word(),
            decided_by: RuleReference::of(policy, reasons.decision.rule),
            layers: reasons
                .layers
                .iter()
                .map(|layer| LayerReport::new(policy, layer))
                .collect(),
        }
    }

    /// `file:line`.
    pub(super) fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => String::new(),
        }
    }

    /// Which rule decided, and why the others did not: one line each.
    pub(super) fn detail(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(rule) = &self.decided_by {
            lines.push(format!("decided by {}", rule.line()));
            lines.extend(rule.because.as_ref().map(|because| format!("because {because}")));
        }
        lines.extend(reasons::lines(&self.layers));
        lines
    }

    fn case(&self, test: &str) -> Case {
        Case {
            class: test.to_owned(),
            name: self.text.clone(),
            file: self.file.clone(),
            line: self.line,
            failure: self.found.as_ref().map(|found| {
                let detail = format!("{}: but {found}\n{}", self.place(), self.detail().join("\n"));
                (found.clone(), detail)
            }),
            output: None,
        }
    }
}

impl CoverageReport {
    fn new(policy: &Policy, judged: &Judgement<'_>, arguments: &Test) -> Self {
        let parts: &[Part] = match arguments.coverage {
            CoverageOf::Own => &[Part::Own],
            CoverageOf::All => &[Part::Own, Part::Group, Part::Ceiling],
        };
        let coverage = &judged.coverage;
        let uncovered = coverage.uncovered(policy, parts);
        Self {
            of: arguments.coverage,
            percent: coverage.figures(policy, parts).percent(),
            fail_under: arguments.fail_under,
            own: coverage.figures(policy, &[Part::Own]).into(),
            groups: coverage.figures(policy, &[Part::Group]).into(),
            ceilings: coverage.figures(policy, &[Part::Ceiling]).into(),
            uncovered: uncovered
                .into_iter()
                .map(|rule| RuleReference::new(policy, rule))
                .collect(),
        }
    }
}
