//! Workflow commands of GitHub Actions: each becomes an annotation at its place in the change.

use policy_lang::diagnostic::Severity;
use policy_lang::{Diagnostic, SourceFile};

use super::source;

/// One line for each finding.
pub(crate) fn draw(files: &[SourceFile], diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|found| line(files, found)).collect()
}

fn line(files: &[SourceFile], found: &Diagnostic) -> String {
    let source = source(files, found.file);
    let (line, column) = source.position(found.span.start);
    let (end_line, end_column) = source.position(found.span.end);
    let level = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    // Columns are understood within one line only.
    let columns = if line == end_line {
        format!(",col={column},endColumn={end_column}")
    } else {
        String::new()
    };
    let mut message = found.message.clone();
    if !found.label.is_empty() {
        message.push_str(&format!(": {}", found.label));
    }
    for note in &found.notes {
        message.push_str(&format!("\nnote: {note}"));
    }
    if let Some(help) = &found.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    format!(
        "::{level} file={},line={line},endLine={end_line}{columns},title={}::{}\n",
        property(&source.name),
        property(&format!("remit {}", found.code)),
        data(&message)
    )
}

/// A value behind `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value before it, where colons and commas mean something too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_lang::Span;
    use policy_lang::diagnostic::Code;

    #[test]
    fn nothing_in_a_finding_ends_its_command_or_begins_another() {
        let source = SourceFile::new("a,b:c%.remit", "deny\n");
        let found = Diagnostic::warning(Code::DeadRule, Span::new(0, 4), "100%\r\n::error::x")
            .label("here")
            .help("first\nsecond");
        assert_eq!(
            draw(&[source], &[found]),
            "::warning file=a%2Cb%3Ac%25.remit,line=1,endLine=1,col=1,endColumn=5,title=remit R0610\
             ::100%25%0D%0A::error::x: here%0Ahelp: first%0Asecond\n"
        );
    }
}
