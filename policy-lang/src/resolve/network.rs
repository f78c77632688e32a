//! Rules of `network`.

use super::Resolver;
use crate::ast::NetworkRule;
use crate::policy::{Protocol, Subject, Verb};

impl Resolver<'_> {
    pub(super) fn network(&mut self, rule: &NetworkRule) {
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
            hosts: Vec::new(),
        };
        self.add(rule.span, rule.effect.value, subject, text, &rule.suffix);
    }
}
