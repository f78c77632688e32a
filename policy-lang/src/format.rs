//! The one layout of a policy file.
//!
//! Only white space changes. `tree` reads the file into blocks, rows and comments by the grammar's own parse, `columns`
//! aligns the rows that stand together, `layout` writes them. `verify` then reads the result again: if it is not the
//! same syntax tree with the same comments, the answer is a fault and not a text.
//!
//! A statement's kind says which of its parts stand in columns; a statement that this module knows nothing about still
//! gets a keyword column. So a new statement in the grammar needs no change here.

use pest::Parser as _;

use crate::diagnostic::{Code, Diagnostic};
use crate::parse::FileKind;
use crate::parse::grammar::{Grammar, Rule};
use crate::source::SourceFile;

mod columns;
mod layout;
mod rows;
mod tree;
mod verify;

/// Lines end before this column where they can.
pub const MAX_WIDTH: usize = 110;

/// One level of a block.
const INDENT: usize = 4;

/// Why a file has no layout.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The file has mistakes. What cannot be read cannot be laid out.
    #[error("the file has mistakes, so it is left as it is")]
    Mistakes(Vec<Diagnostic>),
    /// The layout would have meant something else.
    #[error("internal fault: the formatted text would not mean the same ({0}), so the file is left as it is")]
    Fault(String),
}

/// Lays a file out. The result has LF line ends, ends with one, and formats to itself.
///
/// # Errors
/// When the file has mistakes, and when the result is not the same policy with the same comments: a fault of this
/// module, which must not reach a file.
pub fn format(source: &SourceFile) -> Result<String, FormatError> {
    let errors: Vec<Diagnostic> = crate::parse_as(source, FileKind::Any)
        .diagnostics
        .into_iter()
        // How many policies a file has is not a matter of layout.
        .filter(|found| found.is_error() && found.code != Code::PolicyCount)
        .collect();
    if !errors.is_empty() {
        return Err(FormatError::Mistakes(errors));
    }
    let fault = |error: pest::error::Error<Rule>| FormatError::Fault(error.variant.message().into_owned());
    let before = Grammar::parse(Rule::file, &source.text).map_err(fault)?;
    let text = layout::write(&tree::read(&source.text, before.clone()));
    let after = Grammar::parse(Rule::file, &text).map_err(fault)?;
    verify::same(&source.text, before, &text, after).map_err(FormatError::Fault)?;
    Ok(text)
}
