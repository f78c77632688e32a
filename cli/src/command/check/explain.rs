//! `remit check --explain CODE`: the section of the documentation.

use std::io::Write as _;
use std::process::ExitCode;

use policy_lang::diagnostic::Code;
use serde::Serialize;

use crate::arguments::{CheckFormat, ColorChoice};
use crate::render::{Style, Surface, json};

#[derive(Debug, Serialize)]
struct Document {
    code: &'static str,
    summary: &'static str,
    /// Markdown.
    page: &'static str,
}

pub(super) fn run(code: Code, format: CheckFormat, color: ColorChoice) -> anyhow::Result<ExitCode> {
    if format == CheckFormat::Json {
        json::print(&Document {
            code: code.as_str(),
            summary: code.summary().trim(),
            page: code.page(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let surface = Surface::stdout(color);
    let mut text = format!("{}\n\n", surface.paint(Style::Strong, code.as_str()));
    let mut in_example = false;
    for line in code.page().lines() {
        if line.starts_with("```") {
            in_example = !in_example;
            continue;
        }
        if in_example {
            text.push_str(&format!("    {line}\n"));
        } else {
            text.push_str(&format!("{}\n", plain(line)));
        }
    }
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// A line of Markdown as people read it in a terminal: links by their text.
fn plain(line: &str) -> String {
    let mut text = line.replace("**", "");
    while let Some((before, rest)) = text.split_once('[')
        && let Some((name, rest)) = rest.split_once("](")
        && let Some((_, after)) = rest.split_once(')')
    {
        text = format!("{before}{name}{after}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_plain_text() {
        assert_eq!(
            plain("**A rule.** See [R0662](#r0662) and [x](y.md)."),
            "A rule. See R0662 and x."
        );
        assert_eq!(plain("a set is closed by `]`"), "a set is closed by `]`");
    }
}
