//! Strings, names, numbers: the leaves of the tree, and the suffixes of rules.

use pest::iterators::Pair;

use super::super::grammar::Rule;
use super::{Builder, span, spanned};
use crate::ast::{Name, Piece, Quantity, Spanned, Suffix, Text, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::Effect;
use crate::source::Span;

impl Builder<'_> {
    pub(super) fn text(&mut self, pair: &Pair<'_, Rule>) -> Text {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        for piece in pair.clone().into_inner() {
            let at = span_exact(&piece);
            match piece.as_rule() {
                Rule::escape => match unescape(piece.as_str()) {
                    Ok(character) => literal.push(character),
                    Err(mistake) => self.report(mistake.diagnostic(at, piece.as_str())),
                },
                Rule::interpolation => {
                    if let Some(name) = self.interpolation(&piece) {
                        if !literal.is_empty() {
                            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                        }
                        pieces.push(Piece::Parameter(name));
                    }
                }
                _ => literal.push_str(piece.as_str()),
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Text {
            pieces,
            span: span(pair),
        }
    }

    fn interpolation(&mut self, pair: &Pair<'_, Rule>) -> Option<Name> {
        let at = span_exact(pair);
        let written = pair.as_str();
        let closed = written.ends_with('}');
        let inside = written.trim_start_matches("${").trim_end_matches('}');
        let is_word = inside.starts_with(|first: char| first.is_ascii_alphabetic())
            && inside
                .chars()
                .all(|next| next.is_ascii_alphanumeric() || next == '_' || next == '-');
        if closed && is_word {
            return Some(Name {
                text: inside.to_owned(),
                span: at,
            });
        }
        let found = if closed {
            Diagnostic::error(
                Code::BadInterpolation,
                at,
                if inside.is_empty() {
                    "`${}` names no parameter".to_owned()
                } else {
                    format!("`{}` is not the name of a parameter", inside.escape_debug())
                },
            )
            .label("between the braces stands one name")
            .help("write `${name}` with a declared `param name`; for the characters themselves write `\\${`")
        } else {
            Diagnostic::error(Code::BadInterpolation, at, "this `${` is not closed")
                .label("a `}` is missing")
                .help("write `${name}`; for the characters themselves write `\\${`")
        };
        self.report(found);
        None
    }

    pub(super) fn value(&mut self, pair: &Pair<'_, Rule>) -> Option<Value> {
        match pair.as_rule() {
            Rule::quantity => Some(Value::Quantity(quantity(pair))),
            Rule::interpolation => self.interpolation(pair).map(Value::Parameter),
            Rule::string => Some(Value::Text(self.text(pair))),
            _ => None,
        }
    }

    pub(super) fn suffix(&mut self, pair: &Pair<'_, Rule>) -> Suffix {
        let mut suffix = Suffix::default();
        for child in pair.clone().into_inner() {
            let at = span(&child);
            let earlier = match child.as_rule() {
                Rule::because => {
                    let text = self.inner_text(&child);
                    replace(&mut suffix.because, text).map(|text| text.span)
                }
                Rule::label => {
                    let text = self.inner_text(&child);
                    replace(&mut suffix.label, text).map(|text| text.span)
                }
                Rule::if_present => replace(&mut suffix.if_present, Some(at)),
                Rule::permit_degraded => replace(&mut suffix.permit_degraded, Some(at)),
                _ => None,
            };
            if let Some(earlier) = earlier {
                let word = child.as_str().split_whitespace().next().unwrap_or_default();
                self.report(
                    Diagnostic::error(Code::Repeated, at, format!("this rule has a second `{word}`"))
                        .label("one is enough")
                        .also(earlier, "the first")
                        .help("keep the one that is meant"),
                );
            }
        }
        suffix
    }

    pub(super) fn inner_text(&mut self, pair: &Pair<'_, Rule>) -> Option<Text> {
        pair.clone()
            .into_inner()
            .find(|child| child.as_rule() == Rule::string)
            .map(|child| self.text(&child))
    }

    pub(super) fn texts(&mut self, pair: &Pair<'_, Rule>) -> Vec<Text> {
        children(pair, Rule::string)
            .map(|child| self.text(&child))
            .collect()
    }
}

/// The children of one kind.
pub(super) fn children<'i>(pair: &Pair<'i, Rule>, rule: Rule) -> impl Iterator<Item = Pair<'i, Rule>> {
    pair.clone()
        .into_inner()
        .filter(move |child| child.as_rule() == rule)
}

/// The first child of a kind.
pub(super) fn child<'i>(pair: &Pair<'i, Rule>, rule: Rule) -> Option<Pair<'i, Rule>> {
    children(pair, rule).next()
}

pub(super) fn name(pair: &Pair<'_, Rule>) -> Name {
    Name {
        text: pair.as_str().to_owned(),
        span: span(pair),
    }
}

pub(super) fn quantity(pair: &Pair<'_, Rule>) -> Quantity {
    let part = |rule| {
        child(pair, rule)
            .map(|part| part.as_str().to_owned())
            .unwrap_or_default()
    };
    Quantity {
        number: part(Rule::number),
        unit: part(Rule::unit),
        span: span(pair),
    }
}

pub(super) fn effect(pair: &Pair<'_, Rule>) -> Option<Spanned<Effect>> {
    let found = child(pair, Rule::effect)?;
    let effect = match found.as_str() {
        "allow" => Effect::Allow,
        "ask" => Effect::Ask,
        "deny" => Effect::Deny,
        "forbid" => Effect::Forbid,
        _ => return None,
    };
    Some(spanned(effect, &found))
}

fn span_exact(pair: &Pair<'_, Rule>) -> Span {
    let span = pair.as_span();
    Span::new(span.start(), span.end())
}

/// Sets what is not set yet; gives back what was, and keeps it.
fn replace<T: Clone>(slot: &mut Option<T>, value: Option<T>) -> Option<T> {
    if slot.is_none() {
        *slot = value;
        return None;
    }
    slot.clone()
}

enum BadEscape {
    Unknown,
    GlobEscape,
    BareU,
    NotHex,
    Surrogate,
    NoCharacter,
    Nul,
}

fn unescape(written: &str) -> Result<char, BadEscape> {
    let mut characters = written.chars();
    characters.next();
    match characters.next() {
        Some(same @ ('"' | '\\' | '$')) => Ok(same),
        Some('n') => Ok('\n'),
        Some('t') => Ok('\t'),
        Some('u') => {
            let digits = characters
                .as_str()
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'))
                .ok_or(BadEscape::BareU)?;
            if digits.is_empty() || digits.len() > 6 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit())
            {
                return Err(BadEscape::NotHex);
            }
            let code = u32::from_str_radix(digits, 16).map_err(|_| BadEscape::NotHex)?;
            match code {
                0 => Err(BadEscape::Nul),
                0xd800..=0xdfff => Err(BadEscape::Surrogate),
                code => char::from_u32(code).ok_or(BadEscape::NoCharacter),
            }
        }
        Some('*' | '?' | '[' | ']' | '{' | '}' | '!') => Err(BadEscape::GlobEscape),
        _ => Err(BadEscape::Unknown),
    }
}

impl BadEscape {
    fn diagnostic(&self, at: Span, written: &str) -> Diagnostic {
        let shown = written.escape_debug().to_string().replace("\\\\", "\\");
        let (message, help) = match self {
            Self::Unknown => (
                format!("`{shown}` is not an escape"),
                "the escapes are `\\\"`, `\\\\`, `\\$`, `\\n`, `\\t` and `\\u{…}`; a backslash itself is written `\\\\`",
            ),
            Self::GlobEscape => (
                format!("`{shown}` is not an escape"),
                "in a path the glob reads a backslash too: a literal `*` is written `\\\\*`",
            ),
            Self::BareU => (
                format!("`{shown}` needs braces"),
                "write `\\u{…}` with one to six hexadecimal digits, as in `\\u{e9}`",
            ),
            Self::NotHex => (
                format!("`{shown}` has no hexadecimal number between its braces"),
                "write one to six hexadecimal digits, as in `\\u{e9}`",
            ),
            Self::Surrogate => (
                format!("`{shown}` is half of a surrogate pair, and no character"),
                "write the character's own number, as in `\\u{1f512}`; policy text is UTF-8, not UTF-16",
            ),
            Self::NoCharacter => (
                format!("`{shown}` is beyond the last character, `\\u{{10ffff}}`"),
                "write the number of a character",
            ),
            Self::Nul => (
                format!("`{shown}` is a NUL, which no path, address or name can contain"),
                "remove it",
            ),
        };
        let diagnostic = Diagnostic::error(Code::BadEscape, at, message)
            .label("in this string")
            .help(help);
        match self {
            Self::Unknown | Self::GlobEscape => diagnostic.suggest(at, format!("\\{written}")),
            Self::Nul => diagnostic.suggest(at, ""),
            _ => diagnostic,
        }
    }
}
