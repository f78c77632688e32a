//! Rules of `filesystem`, `network` and `credentials`.

use std::collections::BTreeMap;

use super::path::Found;
use super::quantity::Measure;
use super::{Resolver, process::Identified};
use crate::ast::{
    CredentialStatement, FileRule, FileStatement, Item, NetworkRule, Spanned, Suffix, Text, Value,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::pattern::PathPattern;
use crate::policy::{Effect, FileAccess, Origin, Protocol, Resource, Rule, RuleId, Subject, Verb};
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

    fn file(&mut self, statement: &FileStatement, said: &mut Said) {
        match statement {
            FileStatement::Rule(rule) => self.file_rule(rule),
            FileStatement::Hide(span) => self.not_enforceable(
                Code::HideNotEnforceable,
                *span,
                "`hide`",
                "write `deny read, write, execute`: what is denied can be named, and cannot be opened or listed",
            ),
            FileStatement::Scratch {
                span,
                path,
                size,
                suffix,
            } => self.scratch(*span, path, size, suffix, said),
        }
    }

    fn file_rule(&mut self, rule: &FileRule) {
        self.effect(rule.effect);
        let accesses = if rule.accesses.is_empty() {
            vec![FileAccess::Read, FileAccess::Write, FileAccess::Execute]
        } else {
            self.each_once(&rule.accesses, FileAccess::word)
        };
        let mut targets = Vec::new();
        for text in &rule.targets {
            let Some(found) = self.path(text) else { continue };
            self.remark(rule, text, &found);
            targets.push(found.pattern);
        }
        let words: Vec<&str> = rule.accesses.iter().map(|access| access.value.word()).collect();
        let head = [rule.effect.value.word(), &words.join(", ")].join(" ");
        let text = format!("{} {}", head.trim_end(), self.shown_list(&rule.targets));
        self.add(
            rule.span,
            rule.effect.value,
            Subject::File { accesses, targets },
            text,
            &rule.suffix,
        );
    }

    /// Warnings about a path that is not there, or not where it seems.
    fn remark(&mut self, rule: &FileRule, text: &Text, found: &Found) {
        if let (Some(absent), None) = (&found.absent, rule.suffix.if_present) {
            self.report(
                Diagnostic::warning(
                    Code::AbsentPath,
                    text.span,
                    format!("`{}` does not exist on this host", absent.escape_debug()),
                )
                .label("a run is refused while it is absent")
                .help(
                    "create it, correct the path, or write `if present` to skip the rule where it is absent",
                )
                .suggest(Span::new(rule.span.end, rule.span.end), " if present"),
            );
        }
        if let Some(target) = &found.link
            && rule.effect.value > Effect::Ask
        {
            self.report(
                Diagnostic::warning(Code::LinkedPath, text.span, "this path is a symbolic link")
                    .label(format!("leads to `{}`", target.escape_debug()))
                    .help("the rule holds for what it leads to; to keep the link itself from being replaced, deny writing its directory"),
            );
        }
    }

    fn scratch(&mut self, span: Span, path: &Text, size: &Value, suffix: &Suffix, said: &mut Said) {
        let place = self.literal_path(path, "a scratch directory");
        let size_bytes = self.amount(size, Measure::Size);
        let (Some(place), Some(size_bytes)) = (place, size_bytes) else {
            return;
        };
        if place == "/" {
            self.report(
                Diagnostic::error(Code::BadPath, path.span, "the root cannot be a scratch directory")
                    .label("everything would be hidden beneath it")
                    .help("name a directory, as in `scratch \"/tmp\" 512MiB`"),
            );
            return;
        }
        if let Some(first) = said.scratches.get(&place) {
            self.repeated(
                path.span,
                *first,
                format!("`{}` is a scratch directory already", place.escape_debug()),
            );
            return;
        }
        said.scratches.insert(place.clone(), path.span);
        let text = format!("scratch {} {}", self.shown(path), self.shown_value(size));
        self.add(
            span,
            Effect::Allow,
            Subject::Scratch {
                path: place,
                size_bytes,
            },
            text,
            suffix,
        );
    }

    fn network(&mut self, rule: &NetworkRule) {
        self.effect(rule.effect);
        let verbs = if rule.verbs.is_empty() {
            vec![Verb::Connect, Verb::Bind]
        } else {
            self.each_once(&rule.verbs, Verb::word)
        };
        let protocols = if rule.protocols.is_empty() {
            vec![Protocol::Tcp, Protocol::Udp]
        } else {
            self.each_once(&rule.protocols, Protocol::word)
        };
        let mut targets = Vec::new();
        for text in &rule.targets {
            targets.extend(self.endpoint(text).unwrap_or_default());
        }
        let words = |words: Vec<&str>| {
            if words.is_empty() {
                String::new()
            } else {
                format!(" {}", words.join(", "))
            }
        };
        let text = format!(
            "{}{}{} {}",
            rule.effect.value.word(),
            words(rule.verbs.iter().map(|verb| verb.value.word()).collect()),
            words(
                rule.protocols
                    .iter()
                    .map(|protocol| protocol.value.word())
                    .collect()
            ),
            rule.targets
                .iter()
                .map(|target| self.shown_endpoint(target))
                .collect::<Vec<_>>()
                .join(", ")
        );
        let subject = Subject::Network {
            verbs,
            protocols,
            targets,
        };
        self.add(rule.span, rule.effect.value, subject, text, &rule.suffix);
    }

    fn credential(&mut self, statement: &CredentialStatement, said: &mut Said) {
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

    /// The words of a list, each once.
    fn each_once<T: Copy + PartialEq>(
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
