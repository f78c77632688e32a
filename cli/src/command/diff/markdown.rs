//! A comparison as a comment of a pull request: a verdict, what is wider in the open, what is narrower folded away.

use super::report::{
    ChangeReport, Entries, JudgedReport, Report, SettingReport, Verdict, heading, outcome, topic,
};
use super::text::{because, is_default, more};

/// A comment has room for so many rows of each kind; the rest is counted.
const ROWS: usize = 50;

pub(super) fn draw(report: &Report) -> String {
    let mark = match report.verdict {
        _ if report.is_refused() => "❌",
        Verdict::Same | Verdict::AtLeastAsStrict => "✅",
        Verdict::Wider => "❌",
        Verdict::Undecided => "❓",
    };
    let mut text = format!("### {mark} {}\n", plain(&report.sentence()));
    for unlock in report.wider.unlocks() {
        text.push_str(&format!(
            "\n> [!CAUTION]\n> **The built-in floor is opened: {}**\n> because \"{}\"\n",
            code(unlock.after.as_deref().unwrap_or_default()),
            plain(unlock.because.as_deref().unwrap_or_default())
        ));
    }
    if !report.undecided.is_empty() {
        text.push_str("\n> [!WARNING]\n");
        for undecided in &report.undecided {
            text.push_str(&format!(
                "> {}: {}\n",
                heading(undecided.domain),
                plain(&undecided.reason)
            ));
        }
    }
    if report.wider.len() > 0 {
        let way = if report.ceiling {
            "Beyond the ceiling"
        } else {
            "Wider"
        };
        text.push_str(&format!("\n#### {way}: {}\n\n", report.wider.len()));
        text.push_str(&table(&report.wider));
    }
    if report.narrower.len() > 0 {
        text.push_str(&format!(
            "\n<details><summary>Narrower: {}</summary>\n\n",
            report.narrower.len()
        ));
        text.push_str(&table(&report.narrower));
        text.push_str("\n</details>\n");
    }
    text.push_str(&guardrails(report));
    text
}

fn guardrails(report: &Report) -> String {
    if report.guardrails.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n#### Guardrails\n\n| | finding | guardrail |\n| --- | --- | --- |\n");
    for finding in report.guardrails.iter().take(ROWS) {
        let (mark, more) = match (finding.refuses(), &finding.excepted) {
            (true, _) => ("❌", String::new()),
            (false, Some(exception)) => (
                "➖",
                format!(
                    " (excepted until {} by {}: {})",
                    exception.expires.as_str(),
                    exception.owner,
                    exception.reason
                ),
            ),
            (false, None) => ("⚠️", String::new()),
        };
        text.push_str(&format!(
            "| {mark} | {} | {} {} |\n",
            plain(&format!("{}{more}", finding.message)),
            code(&finding.id),
            plain(&finding.place()),
        ));
    }
    text.push_str(&left_out(report.guardrails.len()));
    text
}

fn table(entries: &Entries) -> String {
    let mut text = String::new();
    if !entries.accesses.is_empty() {
        text.push_str("| access | before | after |\n| --- | --- | --- |\n");
        for change in entries.accesses.iter().take(ROWS) {
            text.push_str(&row(change));
        }
        text.push_str(&left_out(entries.accesses.len()));
    }
    if !entries.settings.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str("| setting | before | after |\n| --- | --- | --- |\n");
        for setting in entries.settings.iter().take(ROWS) {
            text.push_str(&setting_row(setting));
        }
        text.push_str(&left_out(entries.settings.len()));
    }
    text
}

fn left_out(rows: usize) -> String {
    match rows.saturating_sub(ROWS) {
        0 => String::new(),
        more => format!("\n{more} more are not shown here; `remit diff` lists all of them.\n"),
    }
}

fn row(change: &ChangeReport) -> String {
    let more = more(change).map(|more| format!("<br><sub>and {}</sub>", plain(&more)));
    format!(
        "| {}{} | {} | {} |\n",
        code(&change.witness),
        more.unwrap_or_default(),
        judged(&change.before),
        judged(&change.after)
    )
}

fn judged(judged: &JudgedReport) -> String {
    let Some(rule) = &judged.decided_by else {
        return outcome(judged.outcome).to_owned();
    };
    let because = because(judged).map(|because| format!("<br><sub>because \"{}\"</sub>", plain(because)));
    let text = (!is_default(rule)).then(|| format!("<br>{}", code(&rule.text)));
    format!(
        "**{}** by {}{}{}",
        outcome(judged.outcome),
        plain(&rule.place),
        text.unwrap_or_default(),
        because.unwrap_or_default()
    )
}

fn setting_row(setting: &SettingReport) -> String {
    let side = |text: &Option<String>| text.as_deref().map_or_else(|| "nothing".to_owned(), code);
    let note = if setting.incomparable {
        "<br><sub>neither is stricter, so it counts as wider</sub>"
    } else {
        ""
    };
    let place = setting.after_rule.as_ref().or(setting.before_rule.as_ref());
    let place = place.map(|rule| format!("<br><sub>{}</sub>", plain(&rule.place)));
    format!(
        "| {}{}{note} | {} | {} |\n",
        topic(setting.topic),
        place.unwrap_or_default(),
        side(&setting.before),
        side(&setting.after)
    )
}

/// A piece of a policy. HTML and not backticks, which end where the text has one.
fn code(text: &str) -> String {
    format!("<code>{}</code>", plain(text))
}

/// Text that means itself in a table cell: a policy is not to draw anything in a comment about it.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for next in text.chars() {
        match next {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\n' | '\r' => escaped.push(' '),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '#' | '@' | '!' | '$' => {
                escaped.push_str(&format!("&#{};", u32::from(next)));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_policy_says_draws_nothing_in_a_comment() {
        let hostile = "a|b` <img src=x> [x](y) @team\n# x";
        let shown = code(hostile);
        for special in ["|", "`", "<img", "[", "@", "\n", "# "] {
            assert!(
                !shown.replace("&#", "").contains(special),
                "{special:?} in {shown}"
            );
        }
    }
}
