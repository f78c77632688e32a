//! Rules of `credentials`.

use super::rules::{Said, SaidVariable};
use super::{Place, Resolver};
use crate::ast::{CredentialStatement, Spanned, Suffix, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{Effect, Subject};
use crate::source::Span;

/// Names of variables are short; comparing patterns is quadratic.
const MAX_PATTERN_BYTES: usize = 128;

impl Resolver<'_> {
    pub(super) fn credential(&mut self, statement: &CredentialStatement, said: &mut Said) {
        match statement {
            CredentialStatement::Broker(statement) => self.broker(statement, said),
            CredentialStatement::Pass {
                span,
                effect,
                names,
                suffix,
            } => self.pass(*span, *effect, names, suffix, said),
            CredentialStatement::Set {
                span,
                name,
                value,
                suffix,
            } => {
                let variable = self.variable_name(name);
                let content = self.value_text(value);
                let (Some(variable), Some(content)) = (variable, content) else {
                    return;
                };
                if !self.given_once(&variable, name.span, Some(&content), said) {
                    return;
                }
                let text = format!("set {} = {}", self.shown(name), self.shown(value));
                let subject = Subject::Set {
                    name: variable,
                    value: content,
                };
                self.add(*span, Effect::Allow, subject, text, suffix);
            }
        }
    }

    fn pass(
        &mut self,
        span: Span,
        effect: Option<Spanned<Effect>>,
        names: &[Text],
        suffix: &Suffix,
        said: &mut Said,
    ) {
        if let Some(ask) = effect.filter(|effect| effect.value == Effect::Ask) {
            self.report(
                Diagnostic::error(
                    Code::AskPlace,
                    ask.span,
                    "a variable is passed before the run starts, when nothing can ask for it",
                )
                .label("nobody can be asked here")
                .help("write `pass` alone to pass it, or `deny pass` to keep it back")
                .suggest(ask.span, "deny"),
            );
            return;
        }
        let given = effect.map_or(Effect::Allow, |effect| effect.value);
        let mut patterns = Vec::new();
        for text in names {
            let Some(pattern) = self.variable_pattern(text) else {
                continue;
            };
            if given != Effect::Allow || self.given_once(&pattern, text.span, None, said) {
                patterns.push(pattern);
            }
        }
        let head = match effect {
            Some(effect) => format!("{} pass", effect.value.word()),
            None => "pass".to_owned(),
        };
        let text = format!("{head} {}", self.shown_list(names));
        self.add(span, given, Subject::Pass { names: patterns }, text, suffix);
    }

    /// Whether a variable may be given again. Where a policy and its groups pass it, or give it the same value, they mean
    /// the same; a value of one of them stands before what another passes.
    fn given_once(&mut self, name: &str, span: Span, value: Option<&String>, said: &mut Said) -> bool {
        let earlier = said.variables.entry(name.to_owned()).or_default();
        let conflict = earlier.iter().find(|other| {
            let both_set = value.is_some() && other.value.is_some();
            other.via == self.via || (both_set && other.value.as_ref() != value)
        });
        let conflict = conflict.map(|other| (other.at, other.via == self.via));
        earlier.push(SaidVariable {
            at: Place {
                file: self.file,
                span,
            },
            via: self.via.clone(),
            value: value.cloned(),
        });
        let Some((first, same_body)) = conflict else {
            return true;
        };
        let message = if same_body {
            format!("the variable `{name}` is passed or set already")
        } else {
            format!("the variable `{name}` is set to another value already")
        };
        self.repeated(span, first, message);
        false
    }

    /// A name in which `*` stands for any characters.
    fn variable_pattern(&mut self, text: &Text) -> Option<String> {
        let literal = text.literal().unwrap_or_default();
        let wild = literal.contains('*');
        let fits = literal
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'*'));
        let digit = literal.starts_with(|first: char| first.is_ascii_digit());
        if wild && fits && !digit && literal.len() <= MAX_PATTERN_BYTES {
            // Two stars mean what one does.
            let mut pattern = literal.to_owned();
            while pattern.contains("**") {
                pattern = pattern.replace("**", "*");
            }
            return Some(pattern);
        }
        self.variable_name(text)
    }

    pub(super) fn variable_name(&mut self, text: &Text) -> Option<String> {
        let name = self.fixed(text, "a variable's name")?;
        let first = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if first
            && name
                .chars()
                .all(|next| next.is_ascii_alphanumeric() || next == '_')
        {
            return Some(name);
        }
        let help = if name.contains('*') {
            "only `pass` takes `*`, among letters, digits and `_`"
        } else if name.contains(['?', '[']) {
            "in `pass`, `*` stands for any characters; there is no other wildcard"
        } else if name.starts_with('$') {
            "write the name without `$`"
        } else if name.contains('=') {
            "write `set \"NAME\" = \"value\"` to give a value"
        } else {
            "a name has letters, digits and `_`, and does not begin with a digit"
        };
        self.report(
            Diagnostic::error(
                Code::BadVariable,
                text.span,
                format!(
                    "`{}` is not the name of an environment variable",
                    name.escape_debug()
                ),
            )
            .label("here")
            .help(help),
        );
        None
    }
}
