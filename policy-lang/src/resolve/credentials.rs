//! Rules of `credentials`.

use super::Resolver;
use super::rules::Said;
use crate::ast::{CredentialStatement, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{Effect, Subject};

impl Resolver<'_> {
    pub(super) fn credential(&mut self, statement: &CredentialStatement, said: &mut Said) {
        match statement {
            CredentialStatement::Broker(span) => self.not_enforceable(
                Code::BrokerNotEnforceable,
                *span,
                "a brokered credential (`broker`)",
                "remove it; `pass` hands the variable to the run, which can then read it",
            ),
            CredentialStatement::Pass { span, names, suffix } => {
                let passed: Vec<String> = names
                    .iter()
                    .filter_map(|name| self.variable(name, said))
                    .collect();
                let text = format!("pass {}", self.shown_list(names));
                self.add(
                    *span,
                    Effect::Allow,
                    Subject::Pass { names: passed },
                    text,
                    suffix,
                );
            }
            CredentialStatement::Set {
                span,
                name,
                value,
                suffix,
            } => {
                let variable = self.variable(name, said);
                let content = self.value_text(value);
                let (Some(variable), Some(content)) = (variable, content) else {
                    return;
                };
                let text = format!("set {} = {}", self.shown(name), self.shown(value));
                let subject = Subject::Set {
                    name: variable,
                    value: content,
                };
                self.add(*span, Effect::Allow, subject, text, suffix);
            }
        }
    }

    /// The name of an environment variable, said for the first time.
    fn variable(&mut self, text: &Text, said: &mut Said) -> Option<String> {
        let name = self.variable_name(text)?;
        if let Some(first) = said.variables.get(&name) {
            self.repeated(
                text.span,
                *first,
                format!("the variable `{name}` is passed or set already"),
            );
            return None;
        }
        said.variables.insert(name.clone(), text.span);
        Some(name)
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
        let help = if name.contains(['*', '?', '[']) {
            "names are exact: write each variable out"
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
