//! What was found, in the shapes that programs and services read.

use policy_lang::diagnostic::Severity;
use serde::Serialize;

use super::Checked;
use crate::render::json::Finding;
use crate::render::{junit, sarif, source};

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
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
    notes: usize,
    expectations: usize,
    /// How many proposals `--fix` took.
    fixed: Option<usize>,
    findings: Vec<Finding<'a>>,
}

pub(super) fn document(checked: &[Checked]) -> Document<'_> {
    let files: Vec<File<'_>> = checked.iter().map(file).collect();
    Document {
        ok: files.iter().all(|file| file.ok),
        files,
    }
}

fn file(checked: &Checked) -> File<'_> {
    let front = &checked.front;
    File {
        file: &front.source().name,
        ok: checked.is_sound(),
        policy: front.policy.as_ref().map(|policy| policy.name.as_str()),
        errors: checked.count(Severity::Error),
        warnings: checked.count(Severity::Warning),
        notes: checked.count(Severity::Note),
        expectations: checked.expectations,
        fixed: checked.fixed.as_ref().map(|(taken, _)| *taken),
        findings: front
            .diagnostics
            .iter()
            .map(|found| Finding::new(&front.files, found))
            .collect(),
    }
}

pub(super) fn for_services(checked: &[Checked]) -> Vec<sarif::Checked<'_>> {
    checked
        .iter()
        .map(|checked| sarif::Checked {
            files: &checked.front.files,
            diagnostics: &checked.front.diagnostics,
        })
        .collect()
}

/// A suite for each policy, with a case for each error, or one that passes. What is no error fails nothing, and stands
/// in the output of the case that passes.
pub(super) fn suites(checked: &[Checked]) -> Vec<junit::Suite> {
    checked.iter().map(suite).collect()
}

fn suite(checked: &Checked) -> junit::Suite {
    let front = &checked.front;
    let line = |found: &policy_lang::Diagnostic| {
        let source = source(&front.files, found.file);
        let (line, column) = source.position(found.span.start);
        let label = if found.label.is_empty() { "" } else { ": " };
        let help = found
            .help
            .as_deref()
            .map(|help| format!("\nhelp: {help}"))
            .unwrap_or_default();
        let text = format!(
            "{}:{line}:{column}: {} {}{label}{}{help}",
            source.name, found.code, found.message, found.label
        );
        (source.name.clone(), line, text)
    };
    let mut cases: Vec<junit::Case> = front
        .diagnostics
        .iter()
        .filter(|found| found.is_error())
        .map(|found| {
            let (file, at, text) = line(found);
            junit::Case {
                class: front.source().name.clone(),
                name: format!("{} in line {at}", found.code),
                file: Some(file),
                line: Some(at),
                failure: Some((found.message.clone(), text)),
                output: None,
            }
        })
        .collect();
    if cases.is_empty() {
        let said: Vec<String> = front.diagnostics.iter().map(|found| line(found).2).collect();
        cases.push(junit::Case {
            class: front.source().name.clone(),
            name: "the policy has no errors".to_owned(),
            file: Some(front.source().name.clone()),
            line: None,
            failure: None,
            output: (!said.is_empty()).then(|| said.join("\n")),
        });
    }
    junit::Suite {
        name: front.source().name.clone(),
        cases,
    }
}
