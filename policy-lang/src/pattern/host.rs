//! Host patterns: a name, or every name beneath one.
//!
//! Names are compared as DNS does it (RFC 4343): letters without case, and a dot at the end means nothing. What is not
//! written as a host name (RFC 1123, with `_` as names in use have it; RFC 5890 A-labels for other scripts) is no name.

use serde::Serialize;

/// The longest host name, in bytes, without a final dot (RFC 1035).
pub const NAME_BYTES: usize = 253;
/// The longest label, in bytes.
pub const LABEL_BYTES: usize = 63;

/// A set of host names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum HostPattern {
    /// One name, in lower case, without a final dot.
    Name(String),
    /// `*.` before a name: one or more labels stand before it. The name itself is not in the set.
    Beneath(String),
}

/// Why a text is no host name or pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    /// Nothing is written.
    #[error("it is empty")]
    Empty,
    /// A label without a character.
    #[error("two dots stand together, or one at the beginning")]
    EmptyLabel,
    /// A name that DNS cannot carry.
    #[error("it is longer than {NAME_BYTES} bytes, or a part of it than {LABEL_BYTES}")]
    TooLong,
    /// A character that no host name has.
    #[error("`{}` stands in no host name", .0.escape_debug())]
    Character(char),
    /// A letter of another script.
    #[error("names in other scripts are written as DNS carries them (`xn--…`)")]
    Unicode,
    /// A `*` somewhere else.
    #[error("`*` stands only for whole labels at the beginning, as in `*.example.com`")]
    Wildcard,
    /// A label may not begin or end like this.
    #[error("a part of a name begins and ends with a letter or a digit")]
    Hyphen,
    /// It reads like an IPv4 address.
    #[error("a name whose last part is a number is an address, and not a whole one")]
    Numeric,
}

impl HostPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`BadHost`] says what is wrong.
    pub fn parse(text: &str) -> Result<Self, BadHost> {
        match text.strip_prefix("*.") {
            Some(rest) => name(rest).map(Self::Beneath),
            None if text == "*" => Err(BadHost::Wildcard),
            None => name(text).map(Self::Name),
        }
    }

    /// Whether a name, as [`name`] gives it, is in the set.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        match self {
            Self::Name(own) => own == host,
            Self::Beneath(parent) => host
                .strip_suffix(parent.as_str())
                .and_then(|front| front.strip_suffix('.'))
                .is_some_and(|front| !front.is_empty()),
        }
    }

    /// Whether every name of `inner` is in the set.
    #[must_use]
    pub fn includes(&self, inner: &Self) -> bool {
        match inner {
            Self::Name(host) => self.covers(host),
            Self::Beneath(parent) => match self {
                Self::Name(_) => false,
                Self::Beneath(own) => own == parent || self.covers(parent),
            },
        }
    }

    /// A name of the set.
    #[must_use]
    pub fn example(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Beneath(parent) => format!("a.{parent}"),
        }
    }
}

impl std::fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Beneath(parent) => write!(formatter, "*.{parent}"),
        }
    }
}

/// The one way to write a host name: lower case, no final dot.
///
/// # Errors
/// [`BadHost`] says what is wrong.
pub fn name(text: &str) -> Result<String, BadHost> {
    let text = text.strip_suffix('.').unwrap_or(text);
    if text.is_empty() {
        return Err(BadHost::Empty);
    }
    if let Some(character) = text
        .chars()
        .find(|next| !matches!(next, 'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.'))
    {
        return Err(match character {
            '*' => BadHost::Wildcard,
            other if other.is_alphanumeric() => BadHost::Unicode,
            other => BadHost::Character(other),
        });
    }
    if text.len() > NAME_BYTES || text.split('.').any(|label| label.len() > LABEL_BYTES) {
        return Err(BadHost::TooLong);
    }
    if text.split('.').any(str::is_empty) {
        return Err(BadHost::EmptyLabel);
    }
    if text
        .split('.')
        .any(|label| label.starts_with('-') || label.ends_with('-'))
    {
        return Err(BadHost::Hyphen);
    }
    let last = text.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(BadHost::Numeric);
    }
    Ok(text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> HostPattern {
        HostPattern::parse(text).unwrap()
    }

    #[test]
    fn a_wildcard_stands_for_whole_labels_only() {
        let wild = pattern("*.Example.com");
        for inside in ["a.example.com", "a.b.example.com"] {
            assert!(wild.covers(&name(inside).unwrap()), "{inside}");
        }
        for outside in [
            "example.com",
            "evilexample.com",
            "example.com.evil.net",
            "example.org",
        ] {
            assert!(!wild.covers(&name(outside).unwrap()), "{outside}");
        }
    }

    #[test]
    fn names_are_compared_without_case_and_final_dot() {
        assert_eq!(name("Registry.NPMJS.org.").unwrap(), "registry.npmjs.org");
        assert!(pattern("registry.npmjs.org").covers(&name("REGISTRY.npmjs.ORG.").unwrap()));
    }

    #[test]
    fn what_no_resolver_takes_for_a_name_is_refused() {
        assert_eq!(name(""), Err(BadHost::Empty));
        assert_eq!(name("."), Err(BadHost::Empty));
        assert_eq!(name("a..b"), Err(BadHost::EmptyLabel));
        assert_eq!(name(".a"), Err(BadHost::EmptyLabel));
        assert_eq!(name("a\0.example.com"), Err(BadHost::Character('\0')));
        assert_eq!(name("a b"), Err(BadHost::Character(' ')));
        assert_eq!(name("bücher.example"), Err(BadHost::Unicode));
        assert_eq!(name("a.*.example"), Err(BadHost::Wildcard));
        assert_eq!(HostPattern::parse("*"), Err(BadHost::Wildcard));
        assert_eq!(HostPattern::parse("*a.example"), Err(BadHost::Wildcard));
        assert_eq!(name("-a.example"), Err(BadHost::Hyphen));
        assert_eq!(name("a.1.2"), Err(BadHost::Numeric));
        assert_eq!(name(&"a".repeat(64)), Err(BadHost::TooLong));
        assert_eq!(
            name(&"a.".repeat(127)),
            Ok("a.".repeat(127).trim_end_matches('.').to_owned())
        );
        assert_eq!(name(&format!("{}b", "a.".repeat(127))), Err(BadHost::TooLong));
    }

    #[test]
    fn inclusion_agrees_with_membership() {
        let patterns = [
            "example.com",
            "*.example.com",
            "a.example.com",
            "*.a.example.com",
            "*.com",
        ]
        .map(pattern);
        let names = [
            "com",
            "example.com",
            "a.example.com",
            "b.a.example.com",
            "c.b.a.example.com",
            "x.com",
        ];
        for outer in &patterns {
            for inner in &patterns {
                let included = names.iter().all(|name| !inner.covers(name) || outer.covers(name));
                assert_eq!(outer.includes(inner), included, "{inner} in {outer}");
                assert!(!outer.includes(inner) || outer.covers(&inner.example()));
            }
        }
    }
}
