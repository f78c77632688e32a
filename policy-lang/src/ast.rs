//! The syntax tree: what was written, with spans, before anything is known to make sense.

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ast {}
