//! The answer for a person: the decision first, then its reasons, then what can be done.

use super::report::{Answer, Enforcement, EventReport, ProposalReport, Report};
use crate::render::table::{self, Cell, Row};
use crate::render::{Style, Surface, reasons};

pub(super) fn draw(report: &Report, surface: Surface) -> String {
    let mut text = String::new();
    if let Some(event) = &report.event {
        text.push_str(&draw_event(event, surface));
    }
    for answer in &report.answers {
        text.push_str(&draw_answer(answer, report, surface));
    }
    let notes = report.notes.iter().map(|note| row("note", note));
    text.push_str(&table::draw(&notes.collect::<Vec<_>>(), surface));
    if let Some(proposal) = &report.proposal {
        text.push_str(&draw_proposal(proposal, surface));
    }
    text
}

fn row(word: &str, text: impl Into<String>) -> Row {
    Row {
        cells: vec![Cell::plain(" "), Cell::plain(format!("{word:<11}"))],
        text: text.into(),
    }
}

fn draw_event(event: &EventReport, surface: Surface) -> String {
    let mut text = format!(
        "{} {} of run {}\n",
        surface.paint(Style::Strong, "event"),
        event.seq,
        event.run
    );
    let by = event.rule.as_deref().unwrap_or("no rule");
    let with = event.mechanism.as_deref().unwrap_or("no mechanism");
    let mut rows = vec![row("recorded", format!("{} by {by}, with {with}", event.effect))];
    if !event.same_policy {
        rows.push(row(
            "note",
            format!(
                "it was recorded under another version of the policy ({}); below is what this one says",
                event.digest
            ),
        ));
    }
    text.push_str(&table::draw(&rows, surface));
    text
}

fn draw_answer(answer: &Answer, report: &Report, surface: Surface) -> String {
    let style = match answer.effect {
        "allow" => Style::Good,
        "ask" => Style::Doubtful,
        _ => Style::Bad,
    };
    let mut text = format!(
        "{} is {}\n",
        surface.paint(Style::Strong, &answer.access),
        surface.paint(style, answer.outcome)
    );
    let mut rows = Vec::new();
    if let Some(rule) = &answer.decided_by {
        rows.push(row("decided by", rule.line()));
        rows.extend(
            rule.layer
                .iter()
                .filter(|_| answer.layers.len() > 1)
                .map(|layer| row("in", format!("\"{layer}\""))),
        );
        // A built-in rule's place is its label.
        let label = rule.label.iter().filter(|_| rule.file.is_some());
        rows.extend(label.map(|label| row("label", label)));
        rows.extend(rule.because.iter().map(|because| row("because", because)));
    }
    let candidates = answer.candidates.iter();
    rows.extend(candidates.map(|rule| row("perhaps by", rule.line())));
    rows.extend(
        reasons::lines(&answer.layers)
            .into_iter()
            .map(|line| row("", line)),
    );
    rows.extend(enforcement(&answer.enforcement, answer.effect, &report.kernel));
    if let Some(artifact) = &answer.artifact {
        let agrees = if artifact.agrees {
            ""
        } else {
            ", unlike the policy"
        };
        let by = artifact.rules.join("; ");
        rows.push(row("artifact", format!("{} {by}{agrees}", artifact.effect)));
    }
    text.push_str(&table::draw(&rows, surface));
    text
}

fn enforcement(enforcement: &Enforcement, effect: &str, kernel: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let by: Vec<String> = enforcement
        .mechanisms
        .iter()
        .map(|mechanism| format!(" by {}", mechanism.line()))
        .collect();
    rows.push(row(
        "here",
        format!("{} on Linux {kernel}{}", enforcement.status, by.join(",")),
    ));
    rows.extend(enforcement.why.iter().map(|why| row("why", why)));
    rows.extend(enforcement.stricter.iter().map(|note| row("kernel", note)));
    let what = if effect == "allow" {
        "recorded"
    } else {
        "on record"
    };
    rows.push(row(what, &enforcement.recorded));
    rows
}

fn draw_proposal(proposal: &ProposalReport, surface: Surface) -> String {
    let mut text = String::new();
    let mut rows = Vec::new();
    match &proposal.rule {
        Some(rule) => {
            text.push_str(&format!(
                "{} {}\n",
                surface.paint(Style::Strong, "the narrowest rule that allows it:"),
                surface.paint(Style::Good, rule)
            ));
            let file = proposal.file.as_deref().unwrap_or_default();
            let line = proposal.line.unwrap_or_default();
            rows.push(row("goes to", format!("{file}:{line}")));
            rows.extend(proposal.covers.iter().map(|covers| row("covers", covers)));
            rows.push(row(
                "checked",
                "with it the policy allows this, and nothing outside that rule's own set",
            ));
        }
        None if proposal.obstacles.is_empty() => text.push_str("no rule is needed\n"),
        None => {
            text.push_str(&surface.paint(Style::Bad, "no rule of this policy can allow it"));
            text.push('\n');
            for obstacle in &proposal.obstacles {
                rows.push(row("refused", &obstacle.access));
                rows.extend(obstacle.rule.iter().map(|rule| row("by", rule.short())));
                rows.push(row("ask", &obstacle.ask));
            }
        }
    }
    rows.extend(proposal.notes.iter().map(|note| row("note", note)));
    text.push_str(&table::draw(&rows, surface));
    text
}
