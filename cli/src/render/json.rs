//! JSON for programs: field names here are an interface, so they are spelled out and not derived from inner types.

use std::io::Write as _;

use super::source;
use policy_lang::{Diagnostic, SourceFile, Span};
use serde::Serialize;

/// Writes one document and a newline to stdout.
pub(crate) fn print(document: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// A diagnostic with positions a person's editor understands.
#[derive(Debug, Serialize)]
pub(crate) struct Finding<'a> {
    code: String,
    severity: policy_lang::diagnostic::Severity,
    message: &'a str,
    /// As rules and events name it.
    file: &'a str,
    place: Place,
    label: &'a str,
    other_places: Vec<OtherPlace<'a>>,
    help: Option<&'a str>,
    notes: &'a [String],
    suggestion: Option<Replacement<'a>>,
}

/// Lines and columns count from 1, columns in characters; offsets are bytes from the start of the file.
#[derive(Debug, Serialize)]
struct Place {
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    offset: usize,
    end_offset: usize,
}

#[derive(Debug, Serialize)]
struct OtherPlace<'a> {
    file: &'a str,
    place: Place,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct Replacement<'a> {
    place: Place,
    replacement: &'a str,
    /// `safe`: `remit check --fix` takes it. `review`: a person should look.
    applicability: policy_lang::diagnostic::Applicability,
}

impl<'a> Finding<'a> {
    /// Of one diagnostic of `files`.
    pub(crate) fn new(files: &'a [SourceFile], diagnostic: &'a Diagnostic) -> Self {
        let source = source(files, diagnostic.file);
        Self {
            code: diagnostic.code.to_string(),
            severity: diagnostic.severity,
            message: &diagnostic.message,
            file: &source.name,
            place: Place::new(source, diagnostic.span),
            label: &diagnostic.label,
            other_places: diagnostic
                .secondary
                .iter()
                .map(|other| {
                    let source = self::source(files, other.file.unwrap_or(diagnostic.file));
                    OtherPlace {
                        file: &source.name,
                        place: Place::new(source, other.span),
                        text: &other.text,
                    }
                })
                .collect(),
            help: diagnostic.help.as_deref(),
            notes: &diagnostic.notes,
            suggestion: diagnostic.suggestion.as_ref().map(|suggestion| Replacement {
                place: Place::new(source, suggestion.span),
                replacement: &suggestion.replacement,
                applicability: suggestion.applicability,
            }),
        }
    }
}

impl Place {
    fn new(source: &SourceFile, span: Span) -> Self {
        let (line, column) = source.position(span.start);
        let (end_line, end_column) = source.position(span.end);
        Self {
            line,
            column,
            end_line,
            end_column,
            offset: span.start,
            end_offset: span.end,
        }
    }
}
