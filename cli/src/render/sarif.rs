//! SARIF 2.1.0 (OASIS), which code-scanning services read: one run, with a rule for each code that was found.

use policy_lang::diagnostic::{Code, Severity, Suggestion};
use policy_lang::source::FileId;
use policy_lang::{Diagnostic, SourceFile, Span};
use serde::Serialize;
use serde_json::{Value, json};

use super::source;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What was found in one policy and the files it names.
pub(crate) struct Checked<'a> {
    pub(crate) files: &'a [SourceFile],
    pub(crate) diagnostics: &'a [Diagnostic],
}

/// The whole document.
pub(crate) fn document(checked: &[Checked<'_>]) -> impl Serialize {
    let mut codes: Vec<Code> = checked
        .iter()
        .flat_map(|checked| checked.diagnostics.iter().map(|found| found.code))
        .collect();
    codes.sort_unstable();
    codes.dedup();
    let results: Vec<Value> = checked
        .iter()
        .flat_map(|checked| checked.diagnostics.iter().map(|found| (checked.files, found)))
        .map(|(files, found)| result(&codes, files, found))
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "remit",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            // Columns count characters, as everywhere in Remit.
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": true }],
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Value {
    let page = code.page();
    json!({
        "id": code.as_str(),
        "name": format!("{code:?}"),
        "shortDescription": { "text": code.summary().trim() },
        "fullDescription": { "text": code.summary().trim() },
        "help": { "text": page.replace("**", ""), "markdown": page },
    })
}

fn result(codes: &[Code], files: &[SourceFile], found: &Diagnostic) -> Value {
    let index = codes.binary_search(&found.code).unwrap_or_default();
    let related: Vec<Value> = found
        .secondary
        .iter()
        .map(|other| {
            let place = location(files, other.file.unwrap_or(found.file), other.span);
            with(place, "message", json!({ "text": other.text }))
        })
        .collect();
    let mut result = json!({
        "ruleId": found.code.as_str(),
        "ruleIndex": index,
        "level": level(found.severity),
        "message": { "text": message(found) },
        "locations": [location(files, found.file, found.span)],
    });
    if !related.is_empty() {
        result = with(result, "relatedLocations", Value::Array(related));
    }
    if let Some(suggestion) = &found.suggestion {
        let fixes = json!([fix(files, found, suggestion)]);
        result = with(result, "fixes", fixes);
    }
    result
}

/// An object with one more property.
fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Some(properties) = object.as_object_mut() {
        properties.insert(name.to_owned(), value);
    }
    object
}

/// All there is to say, since viewers show this and little else.
fn message(found: &Diagnostic) -> String {
    let mut sentences = vec![found.message.clone()];
    if !found.label.is_empty() {
        sentences.push(found.label.clone());
    }
    sentences.extend(found.notes.iter().map(|note| format!("Note: {note}")));
    sentences.extend(found.help.iter().map(|help| format!("Help: {help}")));
    sentences.join(".\n")
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn location(files: &[SourceFile], file: FileId, span: Span) -> Value {
    let source = source(files, file);
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&source.name) },
        "region": region(source, span),
    }})
}

fn region(source: &SourceFile, span: Span) -> Value {
    let (start_line, start_column) = source.position(span.start);
    let (end_line, end_column) = source.position(span.end);
    json!({
        "startLine": start_line,
        "startColumn": start_column,
        "endLine": end_line,
        "endColumn": end_column,
    })
}

fn fix(files: &[SourceFile], found: &Diagnostic, suggestion: &Suggestion) -> Value {
    let source = source(files, found.file);
    json!({
        "description": { "text": found.help.as_deref().unwrap_or("as the message says") },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(&source.name) },
            "replacements": [{
                "deletedRegion": region(source, suggestion.span),
                "insertedContent": { "text": suggestion.replacement },
            }],
        }],
    })
}

/// A path as a URI reference (RFC 3986): relative stays relative, so that a service finds the file in its checkout.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uri_references() {
        assert_eq!(uri("policies/build.remit"), "policies/build.remit");
        assert_eq!(uri("/srv/a b.remit"), "file:///srv/a%20b.remit");
        assert_eq!(uri("é:#.remit"), "%C3%A9%3A%23.remit");
    }
}
