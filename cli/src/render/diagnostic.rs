//! Diagnostics for a terminal, drawn by miette.

use std::fmt;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, ThemeCharacters, ThemeStyles,
};
use policy_lang::diagnostic::{Label, Severity};
use policy_lang::source::FileId;
use policy_lang::{Diagnostic, SourceFile, Span};

use super::{Surface, source};

/// Draws diagnostics, each in its own file, in the order given, with an empty line after each.
pub(crate) fn draw(files: &[SourceFile], diagnostics: &[Diagnostic], surface: Surface) -> String {
    let handler = GraphicalReportHandler::new_themed(theme(surface))
        .with_width(surface.width)
        .with_links(false)
        .with_context_lines(1)
        .without_cause_chain();
    let mut text = String::new();
    // Findings come file by file, so each text is copied once.
    let mut named: Option<(FileId, NamedSource<String>)> = None;
    for diagnostic in diagnostics {
        let source = source(files, diagnostic.file);
        let (_, named) = match named.take().filter(|(file, _)| *file == diagnostic.file) {
            Some(same) => named.insert(same),
            None => {
                let new = NamedSource::new(&source.name, source.text.clone());
                named.insert((diagnostic.file, new))
            }
        };
        let report = Report {
            diagnostic,
            source: named,
            help: help(files, source, diagnostic),
        };
        let drawn = handler.render_report(&mut text, &report);
        // A place that cannot be drawn must not hide what is wrong there.
        if drawn.is_err() {
            let (line, column) = source.position(diagnostic.span.start);
            text.push_str(&format!(
                "{}:{line}:{column}: {}",
                source.name, diagnostic.message
            ));
        }
        text.push('\n');
    }
    text
}

fn theme(surface: Surface) -> GraphicalTheme {
    GraphicalTheme {
        characters: ThemeCharacters::unicode(),
        styles: if surface.colour {
            ThemeStyles::ansi()
        } else {
            ThemeStyles::none()
        },
    }
}

/// Places in other files, help, notes and the suggestion, as one block under the picture.
fn help(files: &[SourceFile], source: &SourceFile, diagnostic: &Diagnostic) -> Option<String> {
    let mut lines: Vec<String> = diagnostic
        .secondary
        .iter()
        .filter_map(|label| elsewhere(files, label, diagnostic.file))
        .collect();
    lines.extend(diagnostic.help.clone());
    if let Some(suggestion) = &diagnostic.suggestion {
        let there = source.slice(suggestion.span).trim();
        // Line breaks and indentation matter to the tool that applies it, not to who reads it.
        let replacement = suggestion.replacement.trim();
        lines.push(match (there.is_empty(), replacement.is_empty()) {
            (true, _) => format!("insert `{replacement}`"),
            (false, true) => format!("remove `{there}`"),
            (false, false) => format!("write `{replacement}` instead of `{there}`"),
        });
    }
    lines.extend(diagnostic.notes.iter().map(|note| format!("note: {note}")));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A place in another file, which the picture cannot show.
fn elsewhere(files: &[SourceFile], label: &Label, own: FileId) -> Option<String> {
    let source = source(files, label.file.filter(|file| *file != own)?);
    let (line, column) = source.position(label.span.start);
    let there = source.slice(label.span).lines().next().unwrap_or_default();
    Some(format!(
        "{}:{line}:{column}: {}: `{there}`",
        source.name, label.text
    ))
}

#[derive(Debug)]
struct Report<'a> {
    diagnostic: &'a Diagnostic,
    source: &'a NamedSource<String>,
    help: Option<String>,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = (!self.diagnostic.label.is_empty()).then(|| self.diagnostic.label.clone());
        let primary = LabeledSpan::new_primary_with_span(label, range(self.diagnostic.span));
        let secondary = self
            .diagnostic
            .secondary
            .iter()
            .filter(|other| other.file.is_none_or(|file| file == self.diagnostic.file));
        let secondary =
            secondary.map(|other| LabeledSpan::new_with_span(Some(other.text.clone()), range(other.span)));
        Some(Box::new(std::iter::once(primary).chain(secondary)))
    }
}

fn range(span: Span) -> miette::SourceSpan {
    (span.start, span.end.saturating_sub(span.start)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_lang::diagnostic::Code;

    const NARROW: Surface = Surface {
        colour: false,
        width: 60,
    };

    fn finding(source: &SourceFile) -> Diagnostic {
        let start = source.text.find("alow").unwrap();
        Diagnostic::error(
            Code::UnexpectedToken,
            Span::new(start, start + 4),
            "`alow` is no effect",
        )
        .label("an effect was expected here")
        .help("effects are allow, deny and forbid")
        .suggest(Span::new(start, start + 4), "allow")
    }

    #[test]
    fn a_finding_shows_code_place_label_help_and_suggestion() {
        let source = SourceFile::new("build.remit", "filesystem {\n    alow read \"/usr\"\n}\n");
        insta::assert_snapshot!(draw(std::slice::from_ref(&source), &[finding(&source)], NARROW));
    }

    #[test]
    fn no_line_is_wider_than_the_surface_where_it_can_be_wrapped() {
        let source = SourceFile::new("build.remit", "filesystem {\n    alow read \"/usr\"\n}\n");
        let finding = finding(&source).help("many words ".repeat(30));
        for line in draw(&[source], &[finding], NARROW).lines() {
            assert!(line.chars().count() <= 60, "{line}");
        }
    }

    #[test]
    fn colour_is_used_only_where_it_is_wanted() {
        let source = SourceFile::new("build.remit", "alow\n");
        let colourful = Surface {
            colour: true,
            width: 60,
        };
        assert!(draw(std::slice::from_ref(&source), &[finding(&source)], colourful).contains('\x1b'));
        assert!(!draw(std::slice::from_ref(&source), &[finding(&source)], NARROW).contains('\x1b'));
    }

    #[test]
    fn a_span_outside_the_text_still_says_what_is_wrong() {
        let source = SourceFile::new("build.remit", "x");
        let finding = Diagnostic::error(Code::UnexpectedToken, Span::new(90, 95), "far out");
        assert!(draw(&[source], &[finding], NARROW).contains("far out"));
    }
}
