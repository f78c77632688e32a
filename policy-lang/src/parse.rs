//! Text to [`Ast`].

use crate::ast::Ast;
use crate::diagnostic::Diagnostic;
use crate::source::SourceFile;

/// What parsing gives: with errors in it there may be no tree.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The tree, as far as it could be read. Absent only if nothing useful could.
    pub ast: Option<Ast>,
    /// In source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a file. Never fails as a function: mistakes are diagnostics, several for each file.
#[must_use]
pub fn parse(source: &SourceFile) -> Parsed {
    Parsed {
        ast: None,
        diagnostics: source.defects().to_vec(),
    }
}
