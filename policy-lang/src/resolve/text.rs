//! Strings in their places: fixed texts, texts that take parameters, and how rules are shown.

use super::Resolver;
use super::parameters::Bound;
use crate::ast::{Name, Piece, Text, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::misleads;
use crate::suggest::nearest;

/// Names, labels and reasons are for people and records: longer ones are a mistake.
const MAX_TEXT_BYTES: usize = 512;

/// A piece of a string with its parameter looked up.
pub(super) enum Filled<'t> {
    /// As written.
    Written(&'t str),
    /// From a parameter.
    Parameter(&'t Name, Bound),
}

impl Resolver<'_> {
    /// A text for people: no parameters, not empty, on one line.
    pub(super) fn fixed(&mut self, text: &Text, what: &str) -> Option<String> {
        let Some(literal) = text.literal() else {
            if let Some(Piece::Parameter(name)) = text
                .pieces
                .iter()
                .find(|piece| matches!(piece, Piece::Parameter(_)))
            {
                self.report(
                    Diagnostic::error(Code::ParameterPlace, name.span, format!("{what} is a fixed text"))
                        .label("a parameter cannot stand here")
                        .help("write the text out; for the characters themselves write `\\${`"),
                );
            }
            return None;
        };
        let mistake = if literal.trim().is_empty() {
            Some((format!("{what} is empty"), "write what a reader should see"))
        } else if literal.len() > MAX_TEXT_BYTES {
            Some((
                format!("{what} is longer than {MAX_TEXT_BYTES} bytes"),
                "say it in a sentence, and the rest in a comment",
            ))
        } else if literal.chars().any(|next| next.is_control() || misleads(next)) {
            Some((
                format!("{what} contains a control character or an invisible one"),
                "remove the line break or the character: the text is shown on one line, in events too",
            ))
        } else {
            None
        };
        if let Some((message, help)) = mistake {
            // A name that is not there at all was reported by the parser.
            if self.complete {
                self.report(
                    Diagnostic::error(Code::BadText, text.span, message)
                        .label("here")
                        .help(help),
                );
            }
            return None;
        }
        Some(literal.to_owned())
    }

    /// The pieces of a string with parameters looked up. Absent if one is unknown or has no good value.
    pub(super) fn filled<'t>(&mut self, text: &'t Text) -> Option<Vec<Filled<'t>>> {
        let mut pieces = Vec::new();
        let mut sound = true;
        for piece in &text.pieces {
            match piece {
                Piece::Literal(written) => pieces.push(Filled::Written(written)),
                Piece::Parameter(name) => match self.parameter(name) {
                    Some(bound) => pieces.push(Filled::Parameter(name, bound)),
                    None => sound = false,
                },
            }
        }
        sound.then_some(pieces)
    }

    /// The value of a parameter. Says so if there is no such parameter; says nothing if its value was refused before.
    pub(super) fn parameter(&mut self, name: &Name) -> Option<Bound> {
        match self.parameters.get(&name.text) {
            Some(Bound::Refused) => None,
            Some(bound) => Some(bound.clone()),
            None => {
                // The declaration may stand in a part that could not be read.
                if self.complete {
                    self.unknown_parameter(name);
                }
                None
            }
        }
    }

    fn unknown_parameter(&mut self, name: &Name) {
        let known = self.parameters.keys().map(String::as_str);
        let mut found = Diagnostic::error(
            Code::UnknownParameter,
            name.span,
            format!("no parameter is called `{}`", name.text),
        );
        found = match nearest(&name.text, known) {
            Some(near) => found
                .label(format!("did you mean `{near}`?"))
                .help(format!("write `${{{near}}}`"))
                .suggest(name.span, format!("${{{near}}}")),
            None => found.label("not declared in this policy").help(format!(
                "declare it: `param {}: path`; environment variables are not read",
                name.text
            )),
        };
        self.report(found);
    }

    /// A string as a rule's text shows it: quoted, parameters filled in.
    pub(super) fn shown(&self, text: &Text) -> String {
        let mut whole = String::new();
        for piece in &text.pieces {
            match piece {
                Piece::Literal(written) => whole.push_str(written),
                Piece::Parameter(name) => match self.parameters.get(&name.text) {
                    Some(bound) => whole.push_str(&bound.text()),
                    None => whole.push_str(&format!("${{{}}}", name.text)),
                },
            }
        }
        quoted(&whole)
    }

    /// The target of a network rule: an IPv6 address from a parameter gets the brackets that it needs there.
    pub(super) fn shown_endpoint(&self, text: &Text) -> String {
        if let Some((Piece::Parameter(name), rest)) = text.pieces.split_first() {
            let first = match self.parameters.get(&name.text) {
                Some(Bound::Address(address)) if address.is_ipv6() => format!("[{address}]"),
                Some(Bound::Cidr(address, len)) if address.is_ipv6() => format!("[{address}]/{len}"),
                Some(bound) => bound.text(),
                None => String::new(),
            };
            let mut pieces = vec![Piece::Literal(first)];
            pieces.extend_from_slice(rest);
            return self.shown(&Text {
                pieces,
                span: text.span,
            });
        }
        self.shown(text)
    }

    /// Several of them, with commas.
    pub(super) fn shown_list(&self, texts: &[Text]) -> String {
        texts
            .iter()
            .map(|text| self.shown(text))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// A number as a rule's text shows it.
    pub(super) fn shown_value(&self, value: &Value) -> String {
        match value {
            Value::Quantity(quantity) => format!("{}{}", quantity.number, quantity.unit),
            Value::Parameter(name) => self
                .parameters
                .get(&name.text)
                .map(Bound::text)
                .unwrap_or_default(),
            Value::Text(text) => self.shown(text),
        }
    }
}

/// A string of the language that means this path and no pattern.
#[must_use]
pub fn quoted_path(path: &str) -> String {
    quoted(&super::glob::escaped(path))
}

/// A string of the language that means these characters, on one line.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '$' if characters.peek() == Some(&'{') => quoted.push_str("\\$"),
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            hidden if hidden.is_control() || misleads(hidden) => {
                quoted.push_str(&format!("\\u{{{:x}}}", u32::from(hidden)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
