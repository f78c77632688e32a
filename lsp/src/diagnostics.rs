//! Findings as the protocol has them.

use std::collections::BTreeMap;

use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, NumberOrString};
use policy_lang::Diagnostic;
use policy_lang::diagnostic::Severity;

use crate::server::state::Place;

/// The findings of a buffer by the address of the file that they are in. The buffer itself is always there.
pub(crate) fn by_file(place: &Place<'_>) -> BTreeMap<String, Vec<lsp_types::Diagnostic>> {
    let mut files: BTreeMap<String, Vec<lsp_types::Diagnostic>> = BTreeMap::new();
    files.insert(place.document.uri.as_str().to_owned(), Vec::new());
    for found in &place.analysis.diagnostics {
        // A file of the language has no address; what is wrong in one is a fault that its own tests find.
        let Some(location) = place.location(found.file, found.span) else {
            continue;
        };
        let key = location.uri.as_str().to_owned();
        files
            .entry(key)
            .or_default()
            .push(converted(place, found, location.range));
    }
    files
}

/// One finding.
pub(crate) fn converted(
    place: &Place<'_>,
    found: &Diagnostic,
    range: lsp_types::Range,
) -> lsp_types::Diagnostic {
    let related = found.secondary.iter().filter_map(|label| {
        Some(DiagnosticRelatedInformation {
            location: place.location(label.file.unwrap_or(found.file), label.span)?,
            message: label.text.clone(),
        })
    });
    let related: Vec<_> = related.collect();
    lsp_types::Diagnostic {
        range,
        severity: Some(match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(found.code.to_string())),
        source: Some("remit".to_owned()),
        message: message(found),
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}

/// Everything that a terminal would show, since editors show nothing else.
fn message(found: &Diagnostic) -> String {
    let mut lines = vec![found.message.clone()];
    if !found.label.is_empty() {
        lines.push(found.label.clone());
    }
    lines.extend(found.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(found.help.iter().map(|help| format!("help: {help}")));
    lines.join("\n")
}
