//! Path patterns: literals and globs, their matching, and their exact inclusion.
//!
//! A glob is read component by component. `*` stands for any run of characters of a name, `?` for one of them,
//! `[a-z]` and `[!a-z]` for one inside or outside a class, and a component `**` for any number of directories, also
//! none. `\` takes the next character as it is. A leading dot is a character like any other.
//!
//! Whatever a pattern matches, everything beneath it is matched too, as it is for a Landlock rule or a mount.

use serde::Serialize;

use crate::inclusion::Proof;

mod automaton;
mod glob;
pub mod host;
mod plain;
mod search;
pub mod variable;

use automaton::Automaton;
pub use glob::{COMPONENTS_MAX, CharacterSet, Component, Malformed, PatternError, Token};
pub use host::HostPattern;

/// A set of absolute paths, closed under going down: a match and everything beneath it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum PathPattern {
    /// One path. Normalised: absolute, no `.`, `..`, `//` or trailing `/` (except `/` itself).
    Literal(String),
    /// A glob with at least one active `*`, `?`, `[` or `**`. `\` escapes. [`PathPattern::parse`] makes only well-formed
    /// ones; one that is not matches nothing.
    Glob(String),
}

impl PathPattern {
    /// Reads an absolute, normalised pattern. What has no active wildcard becomes a literal, without its escapes.
    ///
    /// # Errors
    ///
    /// Whatever cannot be matched exactly is refused, see [`Malformed`].
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let components = glob::components(text)?;
        if components.iter().any(|component| component.fixed().is_none()) {
            if components.len() > COMPONENTS_MAX {
                return Err(PatternError {
                    malformed: Malformed::TooDeep,
                    offset: 0,
                });
            }
            return Ok(Self::Glob(text.to_owned()));
        }
        Ok(Self::Literal(glob::path_of(&components)))
    }

    /// Whether the pattern covers an absolute, normalised path: it or a directory above it matches.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        match self {
            Self::Literal(literal) => is_beneath(path, literal),
            Self::Glob(text) if !path.starts_with(plain_prefix(text)) => false,
            Self::Glob(text) if plain::is_plain(text) => plain::covers(text, path),
            Self::Glob(_) => Automaton::of(self).is_ok_and(|automaton| automaton.covers(path)),
        }
    }

    /// Whether this pattern covers every path that `inner` covers.
    #[must_use]
    pub fn includes(&self, inner: &Self) -> Proof {
        match (self, inner) {
            (Self::Literal(outer), Self::Literal(inner)) => is_beneath(inner, outer).into(),
            // Both sides are closed under going down, so the top of the tree decides for all of it.
            (Self::Glob(_), Self::Literal(inner)) => self.covers(inner).into(),
            (Self::Literal(outer), Self::Glob(_)) if is_beneath(&inner.fixed_prefix(), outer) => Proof::Holds,
            (Self::Literal(_) | Self::Glob(_), Self::Glob(_)) if self == inner => Proof::Holds,
            (Self::Literal(_) | Self::Glob(_), Self::Glob(_)) => {
                // Most pairs have nothing to do with each other, which one path shows.
                if inner.example().is_some_and(|path| !self.covers(&path)) {
                    return Proof::Fails;
                }
                match (Automaton::of(self), Automaton::of(inner)) {
                    (_, Err(_)) => Proof::Holds,
                    (Err(_), Ok(_)) => Proof::Fails,
                    (Ok(outer), Ok(inner)) => search::includes(&outer, &inner),
                }
            }
        }
    }

    /// Whether some path is covered by both.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> Proof {
        match (self, other) {
            (Self::Literal(one), Self::Literal(two)) => (is_beneath(one, two) || is_beneath(two, one)).into(),
            (Self::Glob(_), _) | (_, Self::Glob(_)) => match (Automaton::of(self), Automaton::of(other)) {
                (Ok(one), Ok(two)) => search::intersects(&one, &two),
                _ => Proof::Fails,
            },
        }
    }

    /// A path that the pattern covers, if one is quickly found.
    #[must_use]
    pub fn example(&self) -> Option<String> {
        match self {
            Self::Literal(path) => Some(path.clone()),
            Self::Glob(text) if plain::is_plain(text) => plain::sample(text),
            Self::Glob(text) => glob::sample(&glob::components(text).ok()?),
        }
    }

    /// The components one by one; none for `/`. A glob that is not well-formed has none to give and matches nothing.
    #[must_use]
    pub fn components(&self) -> Option<Vec<Component>> {
        let exact = |name: &str| {
            Component::Name(
                name.chars()
                    .map(|next| Token::One(CharacterSet::Just(next)))
                    .collect(),
            )
        };
        match self {
            Self::Literal(path) => Some(
                path.split('/')
                    .filter(|name| !name.is_empty())
                    .map(exact)
                    .collect(),
            ),
            Self::Glob(text) => glob::components(text).ok(),
        }
    }

    /// The longest path above every match: the components before the first one with a wildcard.
    #[must_use]
    pub fn fixed_prefix(&self) -> String {
        match self {
            Self::Literal(path) => path.clone(),
            Self::Glob(text) => {
                let components = glob::components(text).unwrap_or_default();
                let fixed = components
                    .iter()
                    .take_while(|component| component.fixed().is_some())
                    .count();
                glob::path_of(components.get(..fixed).unwrap_or_default())
            }
        }
    }
}

/// Text that matches exactly `path` inside a pattern, so that a parameter's value cannot add a wildcard.
#[must_use]
pub fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for character in path.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Text that every match of a glob starts with. Not past a slash, since `**` behind it may stand for nothing.
fn plain_prefix(glob: &str) -> &str {
    let plain = glob
        .find(['*', '?', '[', '\\'])
        .and_then(|end| glob.get(..end))
        .unwrap_or(glob);
    plain.trim_end_matches('/')
}

/// Whether `path` is `top` or lies beneath it.
fn is_beneath(path: &str, top: &str) -> bool {
    top == "/"
        || path
            .strip_prefix(top)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
