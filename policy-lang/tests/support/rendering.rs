//! Diagnostics as plain text: what is said, what is underlined, what is proposed.

use std::fmt::Write;

use policy_lang::diagnostic::Severity;
use policy_lang::source::FileId;
use policy_lang::{Diagnostic, SourceFile, Span};

pub(crate) fn render(files: &[SourceFile], diagnostics: &[Diagnostic]) -> String {
    let of = |file: FileId| &files[usize::from(file.0)];
    let mut text = String::new();
    for found in diagnostics {
        let source = of(found.file);
        let severity = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        writeln!(text, "{severity}[{}]: {}", found.code, found.message).unwrap();
        place(&mut text, source, found.span, found.file.0 > 0);
        underline(&mut text, source, found.span, &found.label);
        for label in &found.secondary {
            let other = label.file.unwrap_or(found.file);
            place(&mut text, of(other), label.span, other.0 > 0);
            underline(&mut text, of(other), label.span, &label.text);
        }
        for note in &found.notes {
            writeln!(text, "  note: {note}").unwrap();
        }
        if let Some(help) = &found.help {
            writeln!(text, "  help: {help}").unwrap();
        }
        if let Some(suggestion) = &found.suggestion {
            let replaced = source.slice(suggestion.span).escape_debug().to_string();
            let by = suggestion.replacement.escape_debug().to_string();
            let action = match (replaced.is_empty(), by.is_empty()) {
                (true, _) => format!("insert {by}"),
                (_, true) => format!("remove {replaced}"),
                _ => format!("replace {replaced} by {by}"),
            };
            let (line, column) = source.position(suggestion.span.start);
            writeln!(text, "  suggestion: {line}:{column}: {action}").unwrap();
        }
        text.push('\n');
    }
    if diagnostics.is_empty() {
        text.push_str("nothing to say\n");
    }
    text
}

/// Line and column; the file too, where it is not the policy's own.
fn place(text: &mut String, source: &SourceFile, span: Span, named: bool) {
    let (line, column) = source.position(span.start);
    let name = if named {
        format!("{}:", source.name)
    } else {
        String::new()
    };
    writeln!(text, "  {name}{line}:{column}").unwrap();
}

/// The line, and a line of carets. Columns count characters; long lines are cut around what is underlined.
fn underline(text: &mut String, source: &SourceFile, span: Span, label: &str) {
    let start = source.text[..span.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let end = source.text[span.start..]
        .find('\n')
        .map_or(source.text.len(), |newline| span.start + newline);
    let visible = |part: &str| {
        part.chars()
            .map(|next| if next.is_control() { '␀' } else { next })
            .collect::<String>()
    };
    let before = visible(&source.text[start..span.start]);
    let marked = visible(&source.text[span.start..span.end.min(end)]);
    let after = visible(&source.text[span.end.min(end)..end]);
    let short = |part: &str| part.chars().take(100).collect::<String>();
    writeln!(text, "  | {}{}{}", short(&before), short(&marked), short(&after)).unwrap();
    let pad = " ".repeat(short(&before).chars().count());
    let carets = "^".repeat(short(&marked).chars().count().max(1));
    writeln!(text, "  | {pad}{carets} {label}").unwrap();
}
