//! `remit check`: everything that is wrong with each policy.

use std::io::Write as _;
use std::process::ExitCode;

use policy_lang::Diagnostic;
use serde::Serialize;

use crate::arguments::{Check, ColorChoice, Format};
use crate::exit;
use crate::input::{Front, front};
use crate::render::json::Finding;
use crate::render::{Style, Surface, diagnostic, json};

pub(super) fn run(arguments: &Check, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let mut fronts = Vec::new();
    for path in &arguments.policies {
        fronts.push(front(path, &arguments.bindings)?);
    }
    match arguments.format {
        Format::Text => print_text(&fronts, color)?,
        Format::Json => json::print(&document(&fronts))?,
    }
    let sound = fronts.iter().all(|front| front.policy.is_some());
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::FAILED)
    })
}

fn print_text(fronts: &[Front], color: ColorChoice) -> anyhow::Result<()> {
    let surface = Surface::stdout(color);
    let mut text = String::new();
    for front in fronts {
        text.push_str(&diagnostic::draw(&front.source, &front.diagnostics, surface));
        let errors = front.diagnostics.iter().filter(|found| found.is_error()).count();
        let warnings = front.diagnostics.len() - errors;
        let verdict = match &front.policy {
            Some(policy) => format!("policy \"{}\"", policy.name),
            None => count(errors, "error"),
        };
        let style = if front.policy.is_some() {
            Style::Good
        } else {
            Style::Bad
        };
        let also = if warnings > 0 {
            format!(", {}", count(warnings, "warning"))
        } else {
            String::new()
        };
        text.push_str(&format!(
            "{}: {}{also}\n",
            front.source.name,
            surface.paint(style, &verdict)
        ));
    }
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    ok: bool,
    files: Vec<File<'a>>,
}

#[derive(Debug, Serialize)]
struct File<'a> {
    file: &'a str,
    ok: bool,
    policy: Option<&'a str>,
    errors: usize,
    warnings: usize,
    findings: Vec<Finding<'a>>,
}

fn document(fronts: &[Front]) -> Document<'_> {
    let files: Vec<File<'_>> = fronts.iter().map(file).collect();
    Document {
        ok: files.iter().all(|file| file.ok),
        files,
    }
}

fn file(front: &Front) -> File<'_> {
    let errors = front.diagnostics.iter().filter(|found| found.is_error()).count();
    File {
        file: &front.source.name,
        ok: front.policy.is_some(),
        policy: front.policy.as_ref().map(|policy| policy.name.as_str()),
        errors,
        warnings: front.diagnostics.len() - errors,
        findings: front
            .diagnostics
            .iter()
            .map(|found: &Diagnostic| Finding::new(&front.source, found))
            .collect(),
    }
}
