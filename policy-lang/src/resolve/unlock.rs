//! `unlock`: parts of the floor that a policy opens.

use std::collections::BTreeMap;

use super::{Place, Resolver};
use crate::ast::{Item, Name};
use crate::diagnostic::{Code, Diagnostic};
use crate::floor;
use crate::policy::{Effect, Origin};
use crate::suggest::nearest;

/// One name of an `unlock`.
#[derive(Debug, Clone)]
pub(super) struct Opened {
    pub(super) at: Place,
    pub(super) because: String,
    pub(super) origin: Origin,
}

impl Resolver<'_> {
    pub(super) fn unlocks(&mut self, items: &[Item]) -> BTreeMap<String, Opened> {
        let mut opened: BTreeMap<String, Opened> = BTreeMap::new();
        for item in items {
            let Item::Unlock(unlock) = item else { continue };
            let Some(because) = self.fixed(&unlock.because, "a reason") else {
                continue;
            };
            for name in &unlock.names {
                if let Some(first) = opened.get(&name.text) {
                    let first = first.at;
                    self.repeated(name.span, first, format!("`{}` is unlocked already", name.text));
                } else if self.can_be_opened(name) {
                    let found = Opened {
                        at: self.here(name.span),
                        because: because.clone(),
                        origin: self.origin(name.span),
                    };
                    opened.insert(name.text.clone(), found);
                }
            }
        }
        opened
    }

    fn can_be_opened(&mut self, name: &Name) -> bool {
        let names = floor::openable();
        if names.contains(&name.text) {
            return true;
        }
        let label = format!("built-in:{}", name.text);
        let rules = floor::rules();
        let rule = rules.iter().find(|rule| rule.label.as_ref() == Some(&label));
        let (message, help) = match rule.map(|rule| rule.effect) {
            Some(Effect::Forbid) => (
                format!("nothing opens `{}`", name.text),
                "it keeps a run from its own rules; remove it".to_owned(),
            ),
            Some(_) => (
                format!("`{}` is no `forbid`, and needs no key", name.text),
                "write a more specific rule that allows what is needed; `remit explain --all` shows what is denied"
                    .to_owned(),
            ),
            None => (
                format!("no rule of the floor is called `{}`", name.text),
                format!("what can be opened: {}", names.join(", ")),
            ),
        };
        let found = Diagnostic::error(Code::UnknownUnlock, name.span, message).help(help);
        let near = nearest(&name.text, names.iter().map(String::as_str)).filter(|_| rule.is_none());
        let found = match near {
            Some(near) => found
                .label(format!("did you mean `{near}`?"))
                .suggest(name.span, near),
            None => found.label("cannot be unlocked"),
        };
        self.report(found);
        false
    }
}
