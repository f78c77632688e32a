//! Path patterns: literals and globs, their matching and their exact inclusion.

use serde::Serialize;

/// A set of absolute paths, closed under going down: a match and everything beneath it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum PathPattern {
    /// One path. Normalised: absolute, no `.`, `..`, `//` or trailing `/` (except `/` itself).
    Literal(String),
    /// A glob with at least one active `*`, `?`, `[` or `**`. `\` escapes.
    Glob(String),
}
