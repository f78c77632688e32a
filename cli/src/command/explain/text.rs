//! The report for a person: one block for each domain, one row for each rule.

use enforcer::Status;

use super::report::{Report, Rule};
use crate::render::table::{self, Cell, Row, wrap};
use crate::render::{Style, Surface};

const HOW_TO_READ: &str = "enforced: every mechanism it needs is here and exact. partly: something it says is not \
covered, as `why` tells. unenforceable: this host lacks what it needs. A run starts only when every rule is enforced \
or says `permit degraded`. Where several mechanisms are listed they stand behind each other.";

/// In the order of the language's blocks.
const DOMAINS: [&str; 4] = ["filesystem", "network", "credentials", "process"];

pub(super) fn draw(report: &Report, surface: Surface) -> String {
    let mut text = format!(
        "policy {}",
        surface.paint(Style::Strong, &format!("\"{}\"", report.policy))
    );
    text.push_str(&format!(" on Linux {}\n", report.kernel));
    for line in report
        .summary
        .iter()
        .flat_map(|summary| wrap(summary, surface.width))
    {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(&surface.paint(Style::Faint, &format!("digest {}", report.digest)));
    text.push('\n');
    for ceiling in &report.ceilings {
        text.push_str(&format!("within \"{}\" ({})\n", ceiling.name, ceiling.file));
    }
    for unlock in &report.unlocks {
        text.push_str(&format!(
            "{}: the floor's \"{}\" is open ({}) because \"{}\"\n",
            surface.paint(Style::Bad, "unlocked"),
            unlock.name,
            unlock.place,
            unlock.because
        ));
    }
    for unmet in &report.unmet {
        text.push_str(&format!("{}: {unmet}\n", surface.paint(Style::Bad, "refused")));
    }
    for requirement in &report.requirements {
        let (style, word) = match requirement.missing {
            None => (Style::Good, "holds"),
            Some(_) => (Style::Bad, "does not hold"),
        };
        text.push_str(&format!(
            "require {}: {}",
            requirement.text,
            surface.paint(style, word)
        ));
        if let Some(missing) = &requirement.missing {
            text.push_str(&format!(" ({missing})"));
        }
        text.push('\n');
    }
    for domain in DOMAINS {
        let rows: Vec<Row> = report
            .rules
            .iter()
            .filter(|rule| rule.domain == domain)
            .map(row)
            .collect();
        if !rows.is_empty() {
            text.push_str(&format!(
                "\n{}\n{}",
                surface.paint(Style::Strong, domain),
                table::draw(&rows, surface)
            ));
        }
    }
    text.push('\n');
    text.push_str(&closing(report, surface));
    text
}

fn row(rule: &Rule) -> Row {
    let (style, word) = match &rule.status {
        Status::Enforced => (Style::Good, "enforced"),
        Status::Partly { .. } => (Style::Doubtful, "partly"),
        Status::Unenforceable { .. } => (Style::Bad, "unenforceable"),
    };
    let mut lines = vec![rule.text.clone()];
    if let Some(label) = &rule.label {
        lines.push(format!("label: {label}"));
    }
    if let Some(ceiling) = &rule.ceiling {
        lines.push(format!("ceiling: {ceiling}"));
    }
    if let Some(group) = &rule.group {
        lines.push(format!("group: {group}"));
    }
    if let Some(because) = &rule.because {
        lines.push(format!("because: {because}"));
    }
    lines.extend(
        rule.mechanisms
            .iter()
            .map(|report| format!("by {}", report.line())),
    );
    if let Status::Partly { why } | Status::Unenforceable { why } = &rule.status {
        let permitted = if rule.permit_degraded { " (permitted)" } else { "" };
        lines.push(format!("why: {why}{permitted}"));
    }
    Row {
        cells: vec![Cell::styled(style, word), Cell::plain(&rule.place)],
        text: lines.join("\n"),
    }
}

fn closing(report: &Report, surface: Surface) -> String {
    let counts = &report.counts;
    let verdict = if report.admitted {
        surface.paint(Style::Good, "A run is admitted here")
    } else {
        surface.paint(Style::Bad, "A run is refused here")
    };
    let mut text = format!(
        "{verdict}: {} enforced, {} partly, {} unenforceable.\n",
        counts.enforced, counts.partly, counts.unenforceable
    );
    if report.built_in_hidden > 0 {
        text.push_str(&format!(
            "{} built-in rules are enforced and not shown; `--all` shows them.\n",
            report.built_in_hidden
        ));
    }
    for line in wrap(HOW_TO_READ, surface.width) {
        text.push_str(&surface.paint(Style::Faint, &line));
        text.push('\n');
    }
    text
}
