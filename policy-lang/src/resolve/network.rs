//! Rules of `network`.

use super::Resolver;
use super::endpoint::Target;
use crate::ast::{NetworkRule, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{Protocol, Subject, Verb};

impl Resolver<'_> {
    pub(super) fn network(&mut self, rule: &NetworkRule) {
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
        let (mut targets, mut hosts) = (Vec::new(), Vec::new());
        for text in &rule.targets {
            match self.target(text) {
                Some(Target::Boxes(boxes)) => targets.extend(boxes),
                Some(Target::Host(host)) => {
                    self.place_of_host(rule, text);
                    hosts.push(host);
                }
                None => {}
            }
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
            hosts,
        };
        self.add(rule.span, rule.effect.value, subject, text, &rule.suffix);
    }

    /// A name is somebody to connect to. Rules without a verb speak of binding too, which no name matches.
    fn place_of_host(&mut self, rule: &NetworkRule, text: &Text) {
        let Some(bind) = rule.verbs.iter().find(|verb| verb.value == Verb::Bind) else {
            return;
        };
        self.report(
            Diagnostic::error(
                Code::HostPlace,
                text.span,
                "a port is bound on an address, not on a name",
            )
            .label("a host name")
            .also(bind.span, "this rule is about binding")
            .help("write the address, as in `127.0.0.1:3000`"),
        );
    }
}
