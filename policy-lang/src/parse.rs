//! Text to [`Ast`].
//!
//! Three looks: `lexical` bounds the text, the grammar reads it, and where the grammar had to skip something
//! `expected` says what should have stood there. So one file gives several diagnostics, in bounded time.

use pest::Parser as _;

use crate::ast::Ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{SourceFile, Span};

mod build;
mod expected;
pub(crate) mod grammar;
mod lexical;

use grammar::{Grammar, Rule};

/// More than this many findings help nobody.
const MAX_DIAGNOSTICS: usize = 64;

/// Beyond this many, findings are not even made: a hostile file could have one for each of its bytes.
pub(crate) const MAX_GATHERED: usize = 1024;

/// What parsing gives.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The tree, as far as it could be read: [`Ast::complete`] says whether that is all of it.
    pub ast: Option<Ast>,
    /// In source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a file is read as, which says what may stand at its top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// One policy, and anything else.
    Policy,
    /// `group` and `include`, as a file that is included.
    Groups,
    /// `test` blocks alone.
    Tests,
    /// At most one policy, and anything else: for tools that look at files of every kind.
    Any,
}

/// What a text is, by what stands at its top level. What holds nothing, or nothing that can be read, is meant as a policy.
#[must_use]
pub fn kind_of(source: &SourceFile) -> FileKind {
    let Some(ast) = parse_as(source, FileKind::Any).ast else {
        return FileKind::Policy;
    };
    match ast.policy {
        Some(_) => FileKind::Policy,
        None if !ast.groups.is_empty() || !ast.includes.is_empty() => FileKind::Groups,
        None if !ast.tests.is_empty() => FileKind::Tests,
        None => FileKind::Policy,
    }
}

/// Parses a policy file. Never fails as a function: mistakes are diagnostics, several for each file.
#[must_use]
pub fn parse(source: &SourceFile) -> Parsed {
    parse_as(source, FileKind::Policy)
}

/// Parses a file of one kind.
#[must_use]
pub fn parse_as(source: &SourceFile, kind: FileKind) -> Parsed {
    if !source.defects().is_empty() {
        return Parsed {
            ast: None,
            diagnostics: source.defects().to_vec(),
        };
    }
    let scan = lexical::scan(source);
    if !scan.parsable {
        return Parsed {
            ast: None,
            diagnostics: scan.diagnostics,
        };
    }
    let errors = scan.diagnostics.iter().filter(|found| found.is_error());
    let misspelt: Vec<Span> = errors.map(|found| found.span).collect();
    let (mut ast, found) = match Grammar::parse(Rule::file, &source.text) {
        Ok(pairs) => build::build(pairs, source, &misspelt, kind),
        // The grammar accepts every text; if it ever did not, the file would still be refused.
        Err(_) => (
            None,
            vec![
                Diagnostic::error(
                    Code::UnexpectedToken,
                    Span::new(0, first_character(&source.text)),
                    "this file could not be read as a policy",
                )
                .help("this is a fault of Remit; please report it with the file"),
            ],
        ),
    };

    let mut diagnostics = scan.diagnostics;
    diagnostics.extend(found);
    diagnostics.sort_by_key(|found| (found.span, found.code));
    truncate(&mut diagnostics);

    if let Some(ast) = &mut ast {
        ast.complete &= !diagnostics.iter().any(Diagnostic::is_error);
    }
    Parsed { ast, diagnostics }
}

fn first_character(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Keeps the first findings, errors before warnings, and says that there are others.
pub(crate) fn truncate(diagnostics: &mut Vec<Diagnostic>) {
    if diagnostics.len() <= MAX_DIAGNOSTICS {
        return;
    }
    diagnostics.sort_by_key(|found| (!found.is_error(), found.span, found.code));
    let rest = diagnostics.split_off(MAX_DIAGNOSTICS);
    diagnostics.sort_by_key(|found| (found.span, found.code));
    let Some(next) = rest.first() else { return };
    let message = format!("there are more findings than the {MAX_DIAGNOSTICS} that are shown");
    let more = if next.is_error() {
        Diagnostic::error(Code::TooManyFindings, next.span, message)
    } else {
        Diagnostic::warning(Code::TooManyFindings, next.span, message)
    };
    diagnostics.push(
        more.label("the next one is here")
            .help("repair the ones above first"),
    );
}
