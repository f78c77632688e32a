//! The results for a person: failures with their reasons, then what no test tried.

use super::report::{CoverageReport, FiguresReport, LineReport, Report, TestReport};
use crate::render::table::{self, Cell, Row};
use crate::render::{Style, Surface};

pub(super) fn draw(report: &Report, surface: Surface) -> String {
    let mut text = String::new();
    for test in &report.tests {
        text.push_str(&draw_test(test, surface));
    }
    text.push_str(&coverage(&report.coverage, surface));
    text.push_str(&closing(report, surface));
    text
}

fn draw_test(test: &TestReport, surface: Surface) -> String {
    let (style, word) = verdict(test.ok);
    let mut text = format!("{} \"{}\"\n", surface.paint(style, word), test.name);
    for line in test.lines.iter().filter(|line| !line.ok) {
        text.push_str(&draw_line(line, surface));
    }
    text
}

fn draw_line(line: &LineReport, surface: Surface) -> String {
    let found = line.found.as_deref().unwrap_or_default();
    let mut text = format!(
        "  {}: {}, but {}\n",
        line.place(),
        line.text,
        surface.paint(Style::Bad, found)
    );
    let rows: Vec<Row> = line
        .detail()
        .into_iter()
        .map(|detail| Row {
            cells: vec![Cell::plain("   ")],
            text: detail,
        })
        .collect();
    text.push_str(&table::draw(&rows, surface));
    text
}

fn coverage(coverage: &CoverageReport, surface: Surface) -> String {
    let mut text = String::new();
    if !coverage.uncovered.is_empty() {
        text.push_str(&surface.paint(Style::Strong, "Rules that decide no tested access"));
        text.push('\n');
        let rows = coverage.uncovered.iter().map(|rule| Row {
            cells: vec![Cell::plain("  "), Cell::plain(&rule.place)],
            text: match &rule.via {
                Some(group) => format!("{} (from {group})", rule.text),
                None => rule.text.clone(),
            },
        });
        text.push_str(&table::draw(&rows.collect::<Vec<_>>(), surface));
    }
    text
}

fn closing(report: &Report, surface: Surface) -> String {
    let coverage = &report.coverage;
    let part = |figures: &FiguresReport, of: &str| {
        (figures.rules > 0).then(|| format!("{} of {} {of}", figures.covered, figures.rules))
    };
    let parts = [
        part(&coverage.own, "own rules"),
        part(&coverage.groups, "rules of groups"),
        part(&coverage.ceilings, "rules of ceilings"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let (style, word) = verdict(report.ok);
    let mut text = format!(
        "{}: {} of {} lines hold; {} decide a tested access ({}%)",
        surface.paint(style, word.trim_end()),
        report.lines - report.failed,
        report.lines,
        parts.join(", "),
        coverage.percent
    );
    if let Some(least) = coverage.fail_under
        && coverage.percent < usize::from(least)
    {
        text.push_str(&format!(", fewer than the {least}% asked for"));
    }
    if report.left_out > 0 {
        text.push_str(&format!("; {} tests were left out", report.left_out));
    }
    text.push('\n');
    text
}

fn verdict(ok: bool) -> (Style, &'static str) {
    if ok {
        (Style::Good, "holds ")
    } else {
        (Style::Bad, "failed")
    }
}
