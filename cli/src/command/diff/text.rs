//! A comparison for a person at a terminal: what is wider first, each with its witness and both rules.

use compiler::difference::{Domain, Topic};
use compiler::guardrails::Finding;

use super::report::{ChangeReport, Entries, JudgedReport, Report, SettingReport, Verdict, heading, outcome};
use crate::render::rule::RuleReference;
use crate::render::table::{self, Cell, Row};
use crate::render::{Style, Surface};

pub(super) fn draw(report: &Report, surface: Surface) -> String {
    let mut text = String::new();
    for unlock in report.wider.unlocks() {
        let what = unlock.after.as_deref().unwrap_or_default();
        text.push_str(&surface.paint(Style::Bad, &format!("!! FLOOR OPENED: {what}")));
        text.push_str(&format!(
            "\n   because \"{}\"\n\n",
            unlock.because.as_deref().unwrap_or_default()
        ));
    }
    let wider = if report.ceiling {
        "beyond the ceiling"
    } else {
        "wider"
    };
    text.push_str(&entries(&report.wider, wider, ("+", Style::Bad), surface));
    text.push_str(&entries(
        &report.narrower,
        "narrower",
        ("-", Style::Good),
        surface,
    ));
    for undecided in &report.undecided {
        let place = format!("? {}", heading(undecided.domain));
        text.push_str(&format!(
            "{}: {}\n",
            surface.paint(Style::Doubtful, &place),
            undecided.reason
        ));
    }
    if !report.guardrails.is_empty() {
        text.push_str(&title("guardrails", surface));
        let rows: Vec<Row> = report.guardrails.iter().map(guardrail).collect();
        text.push_str(&table::draw(&rows, surface));
        text.push('\n');
    }
    text.push_str(&closing(report, surface));
    text
}

fn guardrail(finding: &Finding) -> Row {
    let (style, word, more) = match (finding.refuses(), &finding.excepted) {
        (true, _) => (Style::Bad, "denied", String::new()),
        (false, Some(exception)) => (
            Style::Doubtful,
            "excepted",
            format!(
                "\nexcepted until {} by {}: {}",
                exception.expires.as_str(),
                exception.owner,
                exception.reason
            ),
        ),
        (false, None) => (Style::Doubtful, "warning", String::new()),
    };
    Row {
        cells: vec![Cell::styled(style, word)],
        text: format!("{} ({}, {}){more}", finding.message, finding.id, finding.place()),
    }
}

fn entries(entries: &Entries, way: &str, mark: (&str, Style), surface: Surface) -> String {
    let mut text = String::new();
    let settings = entries
        .settings
        .iter()
        .filter(|setting| setting.topic != Topic::Unlock || mark.0 == "-");
    let rows: Vec<Row> = settings.map(|setting| setting_row(setting, mark)).collect();
    if !rows.is_empty() {
        text.push_str(&title(&format!("settings, {way}"), surface));
        text.push_str(&table::draw(&rows, surface));
        text.push('\n');
    }
    for domain in Domain::ALL {
        let own: Vec<&ChangeReport> = entries
            .accesses
            .iter()
            .filter(|change| change.domain == domain)
            .collect();
        if own.is_empty() {
            continue;
        }
        text.push_str(&title(&format!("{}, {way}", heading(domain)), surface));
        for change in own {
            text.push_str(&draw_change(change, mark, surface));
        }
        text.push('\n');
    }
    text
}

fn title(text: &str, surface: Surface) -> String {
    format!("{}\n", surface.paint(Style::Strong, text))
}

fn draw_change(change: &ChangeReport, (mark, style): (&str, Style), surface: Surface) -> String {
    let mut rows = vec![judged("was", &change.before), judged("is", &change.after)];
    if let Some(more) = more(change) {
        rows.push(Row {
            cells: vec![Cell::plain("   "), Cell::styled(Style::Faint, "and")],
            text: more,
        });
    }
    format!(
        "{} {}\n{}",
        surface.paint(style, mark),
        surface.paint(style, &change.witness),
        table::draw(&rows, surface)
    )
}

/// What else the same two rules decide.
pub(super) fn more(change: &ChangeReport) -> Option<String> {
    let others = change.places.saturating_sub(1);
    let (number, noun) = match others {
        0 => return None,
        1 => ("1".to_owned(), "other kind of access"),
        others => (others.to_string(), "other kinds of access"),
    };
    let verbs = change.verbs.join(", ");
    let example = change.examples.first().map(|example| format!(", as {example}"));
    Some(format!(
        "{number} {noun} ({verbs}){}",
        example.unwrap_or_default()
    ))
}

fn judged(word: &str, judged: &JudgedReport) -> Row {
    let by = judged.decided_by.as_ref();
    let because = because(judged).map(|because| format!("\nbecause \"{because}\""));
    let line = by.map_or_else(|| "no rule".to_owned(), RuleReference::line);
    Row {
        cells: vec![Cell::plain("   "), Cell::styled(Style::Faint, word)],
        text: format!(
            "{} by {line}{}",
            outcome(judged.outcome),
            because.unwrap_or_default()
        ),
    }
}

/// The reason a rule gives. That of the default says nothing about an access.
pub(super) fn because(judged: &JudgedReport) -> Option<&str> {
    let by = judged.decided_by.as_ref()?;
    by.because.as_deref().filter(|_| !is_default(by))
}

pub(super) const fn is_default(rule: &RuleReference) -> bool {
    rule.rule == 0
}

fn setting_row(setting: &SettingReport, (mark, style): (&str, Style)) -> Row {
    let place = setting.after_rule.as_ref().or(setting.before_rule.as_ref());
    let place = place.map(|rule| format!(" ({})", rule.place));
    Row {
        cells: vec![Cell::styled(style, mark)],
        text: format!("{}{}", sentence(setting), place.unwrap_or_default()),
    }
}

/// What became of a setting.
fn sentence(setting: &SettingReport) -> String {
    match (&setting.before, &setting.after) {
        (Some(before), Some(after)) => format!("`{before}` became `{after}`"),
        (None, Some(after)) => format!("`{after}` was added"),
        (Some(before), None) => format!("`{before}` was removed"),
        (None, None) => String::new(),
    }
}

fn closing(report: &Report, surface: Surface) -> String {
    let style = match report.verdict {
        Verdict::Same | Verdict::AtLeastAsStrict => Style::Good,
        Verdict::Undecided => Style::Doubtful,
        Verdict::Wider => Style::Bad,
    };
    let mut text = surface.paint(style, &report.sentence());
    let count =
        |entries: &Entries, way: &str| (entries.len() > 0).then(|| format!("{} {way}", entries.len()));
    let counts: Vec<String> = [count(&report.wider, "wider"), count(&report.narrower, "narrower")]
        .into_iter()
        .flatten()
        .collect();
    if !counts.is_empty() {
        text.push_str(&format!(" ({})", counts.join(", ")));
    }
    if report.is_refused() {
        text.push_str(&surface.paint(Style::Bad, "; guardrails refuse it"));
    }
    text.push('\n');
    text
}
