//! What all rules share: source order, ids, labels and reasons, and what is said only once.

use std::collections::BTreeMap;

use super::{Resolver, process::Identified};
use crate::ast::{FileStatement, Item, Spanned, Suffix};
use crate::diagnostic::{Code, Diagnostic};
use crate::pattern::PathPattern;
use crate::policy::{Effect, LayerId, Origin, Resource, Rule, RuleId, Subject};
use crate::source::Span;

/// What is said once in a policy, and where.
#[derive(Default)]
pub(super) struct Said {
    /// Variables of `pass` and `set`.
    pub(super) variables: BTreeMap<String, Span>,
    /// `scratch` paths.
    pub(super) scratches: BTreeMap<String, Span>,
    /// `identity`.
    pub(super) identity: Option<(Span, Identified)>,
    /// Limited resources.
    pub(super) limits: BTreeMap<Resource, Span>,
}

impl Resolver<'_> {
    /// Everything that becomes a rule, in source order. Gives the identity.
    pub(super) fn blocks(&mut self, items: &[Item]) -> Option<Identified> {
        let mut said = Said::default();
        for item in items {
            match item {
                Item::Filesystem(statements) => statements
                    .iter()
                    .for_each(|statement| self.file(statement, &mut said)),
                Item::Network(rules) => rules.iter().for_each(|rule| self.network(rule)),
                Item::Credentials(statements) => {
                    statements
                        .iter()
                        .for_each(|statement| self.credential(statement, &mut said));
                }
                Item::Process(statements) => {
                    statements
                        .iter()
                        .for_each(|statement| self.process(statement, &mut said));
                }
                Item::Summary(..)
                | Item::Within(..)
                | Item::Use(..)
                | Item::Param(_)
                | Item::Workspace(_)
                | Item::Audit(_)
                | Item::Require(_)
                | Item::Unlock(_) => {}
            }
        }
        said.identity.map(|(_, identity)| identity)
    }

    /// Paths of `scratch` statements, before any other path is looked up. Their mistakes are reported later.
    pub(super) fn find_scratches(&mut self, items: &[Item]) {
        let (reported, failed) = (self.diagnostics.len(), self.failed);
        for item in items {
            let Item::Filesystem(statements) = item else {
                continue;
            };
            for statement in statements {
                if let FileStatement::Scratch { path, .. } = statement
                    && let Some(found) = self.path(path)
                    && let PathPattern::Literal(path) = found.pattern
                {
                    self.scratches.push(path);
                }
            }
        }
        self.diagnostics.truncate(reported);
        self.failed = failed;
    }

    /// Adds a rule, with what may follow any rule.
    pub(super) fn add(
        &mut self,
        span: Span,
        effect: Effect,
        subject: Subject,
        text: String,
        suffix: &Suffix,
    ) -> RuleId {
        let id = RuleId(u32::try_from(self.rules.len()).unwrap_or(u32::MAX));
        let (line, column) = self.source.position(span.start);
        let because = suffix
            .because
            .as_ref()
            .and_then(|because| self.fixed(because, "a reason"));
        let label = suffix
            .label
            .as_ref()
            .and_then(|label| self.fixed(label, "a label").map(|text| (text, label.span)));
        if let Some((label, at)) = &label {
            if label.starts_with("built-in:") {
                self.report(
                    Diagnostic::error(Code::BadText, *at, "this label looks like one of a built-in rule")
                        .label("`built-in:` is kept for those")
                        .help("choose another beginning, so that events cannot be misread"),
                );
            }
            match self.labels.get(label) {
                Some(first) => self.repeated(*at, *first, format!("two rules have the label `{label}`")),
                None => {
                    self.labels.insert(label.clone(), *at);
                }
            }
        }
        if let Some(present) = suffix.if_present
            && !matches!(subject, Subject::File { .. })
        {
            self.report(
                Diagnostic::error(
                    Code::PointlessSuffix,
                    present,
                    "`if present` is for rules on paths",
                )
                .label("nothing here can be absent")
                .help("remove it")
                .suggest(present, ""),
            );
        }
        let text = if suffix.if_present.is_some() {
            format!("{text} if present")
        } else {
            text
        };
        self.rules.push(Rule {
            id,
            effect,
            subject,
            text,
            label: label.map(|(label, _)| label),
            because,
            origin: Origin::Source {
                file: self.source.name.clone(),
                line,
                column,
            },
            layer: Some(LayerId::INNERMOST),
            via: None,
            if_present: suffix.if_present.is_some(),
            permit_degraded: suffix.permit_degraded.is_some(),
        });
        id
    }

    /// `ask` is understood and refused.
    pub(super) fn effect(&mut self, effect: Spanned<Effect>) {
        if effect.value == Effect::Ask {
            self.not_enforceable(
                Code::AskNotEnforceable,
                effect.span,
                "`ask`",
                "write `allow` to grant it or `deny` to refuse it",
            );
        }
    }

    /// The words of a list, each once.
    pub(super) fn each_once<T: Copy + PartialEq>(
        &mut self,
        words: &[Spanned<T>],
        word: impl Fn(T) -> &'static str,
    ) -> Vec<T> {
        let mut once: Vec<Spanned<T>> = Vec::new();
        for item in words {
            match once.iter().find(|other| other.value == item.value) {
                Some(first) => {
                    self.repeated(
                        item.span,
                        first.span,
                        format!("`{}` is said twice", word(item.value)),
                    );
                }
                None => once.push(*item),
            }
        }
        once.into_iter().map(|item| item.value).collect()
    }
}
