//! Findings for a person, and one line that sums up each file.

use policy_lang::FileKind;
use policy_lang::diagnostic::Severity;

use super::Checked;
use crate::render::{Style, Surface, diagnostic};

pub(super) fn draw(checked: &[Checked], surface: Surface) -> String {
    let mut text = String::new();
    for one in checked {
        text.push_str(&diagnostic::draw(
            &one.front.files,
            &one.front.diagnostics,
            surface,
        ));
        text.push_str(&summary(one, surface));
    }
    text
}

fn summary(checked: &Checked, surface: Surface) -> String {
    let errors = checked.count(Severity::Error);
    let name = checked.front.policy.as_ref().map(|policy| policy.name.as_str());
    let (style, verdict) = match (errors, name) {
        (0, Some(name)) if checked.expectations > 0 => (
            Style::Good,
            format!("policy \"{name}\", {} expectations hold", checked.expectations),
        ),
        (0, Some(name)) => (Style::Good, format!("policy \"{name}\"")),
        (0, None) if checked.kind == FileKind::Groups => (Style::Good, "groups for others".to_owned()),
        (0, None) if checked.kind == FileKind::Tests => (Style::Good, "tests of another policy".to_owned()),
        _ => (Style::Bad, count(errors, "error")),
    };
    let mut line = format!(
        "{}: {}",
        checked.front.source().name,
        surface.paint(style, &verdict)
    );
    for (severity, noun) in [(Severity::Warning, "warning"), (Severity::Note, "note")] {
        let number = checked.count(severity);
        if number > 0 {
            line.push_str(&format!(", {}", count(number, noun)));
        }
    }
    if let Some((taken, refused)) = &checked.fixed {
        if *taken > 0 {
            line.push_str(&format!(", {} taken", count(*taken, "proposal")));
        }
        if let Some(why) = refused {
            line.push_str(&format!("\n  further proposals were not taken: {why}"));
        }
    }
    line.push('\n');
    line
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
