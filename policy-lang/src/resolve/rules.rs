//! What all rules share: source order, ids, labels and reasons, and what is said only once.

use std::collections::BTreeMap;

use super::{Place, Resolver, process::Identified};
use crate::ast::{FileStatement, Item, Spanned, Suffix};
use crate::diagnostic::{Code, Diagnostic};
use crate::pattern::PathPattern;
use crate::policy::{Effect, Origin, Resource, Rule, RuleId, Subject};
use crate::source::Span;

/// What is said once in a layer, and where.
#[derive(Default)]
pub(super) struct Said {
    /// Variables of `pass` and `set`, by exact name or pattern.
    pub(super) variables: BTreeMap<String, Vec<SaidVariable>>,
    /// Names of brokered credentials.
    pub(super) brokers: BTreeMap<String, Place>,
    /// `scratch` paths.
    pub(super) scratches: BTreeMap<String, Place>,
    /// `identity`.
    pub(super) identity: Option<(Place, Identified)>,
    /// Limited resources.
    pub(super) limits: BTreeMap<Resource, (Place, u64)>,
}

/// A statement that gives a variable.
#[derive(Debug, Clone)]
pub(super) struct SaidVariable {
    pub(super) at: Place,
    /// The group that says it.
    pub(super) via: Option<String>,
    /// Of `set`.
    pub(super) value: Option<String>,
}

impl Resolver<'_> {
    /// Everything in blocks that becomes a rule, in source order.
    pub(super) fn blocks(&mut self, items: &[Item], said: &mut Said) {
        for item in items {
            match item {
                Item::Filesystem(_, statements) => {
                    statements.iter().for_each(|statement| self.file(statement, said));
                }
                Item::Network(_, rules) => rules.iter().for_each(|rule| self.network(rule)),
                Item::Credentials(_, statements) => {
                    statements
                        .iter()
                        .for_each(|statement| self.credential(statement, said));
                }
                Item::Process(_, statements) => {
                    statements
                        .iter()
                        .for_each(|statement| self.process(statement, said));
                }
                Item::Summary(..)
                | Item::Within(..)
                | Item::Use(..)
                | Item::Param(_)
                | Item::Workspace(..)
                | Item::Audit(..)
                | Item::Require(..)
                | Item::Unlock(_) => {}
            }
        }
    }

    /// Paths of `scratch` statements, before any other path is looked up. Their mistakes are reported later.
    pub(super) fn find_scratches(&mut self, items: &[Item]) {
        let (reported, failed) = (self.diagnostics.len(), self.failed);
        let (errors, warnings) = (self.errors, self.warnings);
        for item in items {
            let Item::Filesystem(_, statements) = item else {
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
        (self.errors, self.warnings) = (errors, warnings);
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
        let origin = self.origin(span);
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
            match self.labels.get(label).copied() {
                Some(first) => self.repeated(*at, first, format!("two rules have the label `{label}`")),
                None => {
                    self.labels.insert(label.clone(), self.here(*at));
                    self.every_label.insert(label.clone());
                }
            }
        }
        if let Some(present) = suffix.if_present
            && !matches!(subject, Subject::File { .. } | Subject::Hide { .. })
        {
            self.report(
                Diagnostic::error(
                    Code::PointlessSuffix,
                    present,
                    "`if present` is for rules on paths",
                )
                .label("nothing here can be absent")
                .help("remove it")
                .fix(present, ""),
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
            origin,
            layer: Some(self.layer),
            via: self.via.clone(),
            if_present: suffix.if_present.is_some(),
            permit_degraded: suffix.permit_degraded.is_some(),
        });
        id
    }

    /// Where something was written.
    pub(super) fn origin(&self, span: Span) -> Origin {
        self.origin_at(self.here(span))
    }

    /// The same, in any file.
    pub(super) fn origin_at(&self, place: Place) -> Origin {
        let source = self.source_of(place.file);
        let (line, column) = source.position(place.span.start);
        Origin::Source {
            file: source.name.clone(),
            line,
            column,
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
                    let first = self.here(first.span);
                    self.repeated(item.span, first, format!("`{}` is said twice", word(item.value)));
                }
                None => once.push(*item),
            }
        }
        once.into_iter().map(|item| item.value).collect()
    }
}
