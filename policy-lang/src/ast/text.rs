//! Leaves of the tree: names, strings with parameters in them, numbers with units.

use crate::source::Span;

/// Something, and where it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spanned<T> {
    /// It.
    pub value: T,
    /// Where.
    pub span: Span,
}

/// A bare word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A string. Escapes are undone, parameters are not filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// In order; none is empty.
    pub pieces: Vec<Piece>,
    /// With its quotes.
    pub span: Span,
}

/// Part of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Characters.
    Literal(String),
    /// `${name}`, with its braces.
    Parameter(Name),
}

impl Text {
    /// The characters, if no parameter is in it.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The span between the quotes.
    #[must_use]
    pub fn inner(&self) -> Span {
        Span::new(
            self.span.start + 1,
            self.span.end.saturating_sub(1).max(self.span.start + 1),
        )
    }
}

/// A number with an optional unit: `512MiB`, `200%`, `30m`, `0xff`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    /// Digits as written.
    pub number: String,
    /// Unit as written; may be empty.
    pub unit: String,
    /// Both.
    pub span: Span,
}

/// A place for a number: written out, or a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `512MiB`
    Quantity(Quantity),
    /// `${size}`
    Parameter(Name),
    /// `"…"`: only as a parameter's default.
    Text(Text),
}

impl Value {
    /// Where.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Quantity(quantity) => quantity.span,
            Self::Parameter(name) => name.span,
            Self::Text(text) => text.span,
        }
    }
}
