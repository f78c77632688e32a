//! `remit check`: everything that is wrong with each policy, and whether its `test` blocks hold.

mod expectations;

use std::io::Write as _;
use std::process::ExitCode;

use policy_lang::Diagnostic;
use serde::Serialize;

use crate::arguments::{Check, ColorChoice, Format};
use crate::exit;
use crate::input::{Front, compiled};
use crate::render::json::Finding;
use crate::render::{Style, Surface, diagnostic, json};

pub(super) fn run(arguments: &Check, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let mut checked = Vec::new();
    for path in &arguments.policies {
        let (front, _) = compiled(path, &arguments.bindings)?;
        checked.push(judged(front));
    }
    match arguments.format {
        Format::Text => print_text(&checked, color)?,
        Format::Json => json::print(&document(&checked))?,
    }
    let sound = checked.iter().all(|checked| checked.front.policy.is_some());
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::FAILED)
    })
}

/// A policy with the findings of its tests.
struct Checked {
    front: Front,
    expectations: usize,
}

fn judged(mut front: Front) -> Checked {
    let Some(policy) = &front.policy else {
        return Checked {
            front,
            expectations: 0,
        };
    };
    let lints = compiler::check::lints(policy, &front.options());
    let (expectations, findings) = expectations::judge(policy, &front.files);
    front.add(lints.into_iter().chain(findings));
    Checked { front, expectations }
}

fn print_text(checked: &[Checked], color: ColorChoice) -> anyhow::Result<()> {
    let surface = Surface::stdout(color);
    let mut text = String::new();
    for Checked { front, expectations } in checked {
        text.push_str(&diagnostic::draw(&front.files, &front.diagnostics, surface));
        let errors = front.diagnostics.iter().filter(|found| found.is_error()).count();
        let warnings = front.diagnostics.len() - errors;
        let verdict = match &front.policy {
            Some(policy) if *expectations > 0 => {
                format!("policy \"{}\", {expectations} expectations hold", policy.name)
            }
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
            &front.source().name,
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
    expectations: usize,
    findings: Vec<Finding<'a>>,
}

fn document(checked: &[Checked]) -> Document<'_> {
    let files: Vec<File<'_>> = checked.iter().map(file).collect();
    Document {
        ok: files.iter().all(|file| file.ok),
        files,
    }
}

fn file(checked: &Checked) -> File<'_> {
    let front = &checked.front;
    let errors = front.diagnostics.iter().filter(|found| found.is_error()).count();
    File {
        file: &front.source().name,
        ok: front.policy.is_some(),
        policy: front.policy.as_ref().map(|policy| policy.name.as_str()),
        errors,
        warnings: front.diagnostics.len() - errors,
        expectations: checked.expectations,
        findings: front
            .diagnostics
            .iter()
            .map(|found: &Diagnostic| Finding::new(&front.files, found))
            .collect(),
    }
}
