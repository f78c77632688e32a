//! What the compiler refuses, as a finding.

use compiler::LowerError;
use policy_lang::diagnostic::Code;
use policy_lang::policy::Origin;
use policy_lang::source::FileId;
use policy_lang::{Diagnostic, SourceFile, Span};

/// From where the rule begins to the end of that line. What is written nowhere stands for the whole policy.
pub(super) fn diagnostic(error: &LowerError, files: &[SourceFile]) -> Diagnostic {
    let (file, span) = place(&error.origin, files);
    Diagnostic::error(Code::NotLowered, span, error.reason.to_string()).in_file(file)
}

fn place(origin: &Origin, files: &[SourceFile]) -> (FileId, Span) {
    let found = match origin {
        Origin::Source { file, line, column } => files
            .iter()
            .position(|source| source.name == *file)
            .zip(Some((*line, *column))),
        Origin::BuiltIn => None,
    };
    let (index, start) = match found {
        Some((index, (line, column))) => {
            let start = files.get(index).and_then(|source| source.offset(line, column));
            (index, start.unwrap_or_default())
        }
        None => (0, 0),
    };
    let text = files.get(index).map_or("", |source| source.text.as_str());
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default().trim_end();
    (
        FileId(u16::try_from(index).unwrap_or_default()),
        Span::new(start, start + line.len()),
    )
}
