//! `test` blocks: each line becomes one concrete access and what is expected of it.

use std::collections::BTreeMap;

use super::Resolver;
use super::address::HostText;
use crate::ast::{Expectation as Line, ExpectedAccess, Outcome, TestBlock};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{Expectation, ExpectedOutcome, Test};
use crate::reference::Access;
use crate::source::Span;
use crate::suggest::nearest;
use crate::syscall::{Architecture, table};

/// Bare words after `by`.
const DOMAINS: &[&str] = &["filesystem", "network", "credentials", "process"];

impl Resolver<'_> {
    pub(super) fn tests(&mut self, blocks: &[TestBlock]) -> Vec<Test> {
        let mut names: BTreeMap<String, Span> = BTreeMap::new();
        let mut tests = Vec::new();
        for block in blocks {
            let Some(name) = self.fixed(&block.name, "the name of a test") else {
                continue;
            };
            if let Some(first) = names.get(&name) {
                let first = self.here(*first);
                self.repeated(block.name.span, first, format!("two tests are called `{name}`"));
            }
            names.insert(name.clone(), block.name.span);
            let expectations = block
                .expectations
                .iter()
                .filter_map(|line| self.expectation(line))
                .collect();
            tests.push(Test { name, expectations });
        }
        tests
    }

    fn expectation(&mut self, line: &Line) -> Option<Expectation> {
        let fits = self.outcome(line);
        let by = self.by(line);
        let access = self.access(&line.access)?;
        Some(Expectation {
            access,
            outcome: fits?,
            by: by?,
            origin: self.origin(line.span),
        })
    }

    /// Variables are present or absent, everything else is allowed or denied.
    fn outcome(&mut self, line: &Line) -> Option<ExpectedOutcome> {
        let variable = matches!(line.access, ExpectedAccess::Environment(_));
        let (outcome, word, instead) = match line.outcome.value {
            Outcome::Allowed => (ExpectedOutcome::Allowed, !variable, "present"),
            Outcome::Asked => (ExpectedOutcome::Asked, !variable, "present"),
            Outcome::Denied => (ExpectedOutcome::Denied, !variable, "absent"),
            Outcome::Present => (ExpectedOutcome::Allowed, variable, "allowed"),
            Outcome::Absent => (ExpectedOutcome::Denied, variable, "denied"),
        };
        if word {
            return Some(outcome);
        }
        let message = if variable {
            "a variable is present or absent"
        } else {
            "an access is allowed, asked or denied"
        };
        self.report(
            Diagnostic::error(Code::BadPredicate, line.outcome.span, message)
                .label(format!("did you mean `{instead}`?"))
                .help(format!("write `is {instead}`"))
                .suggest(line.outcome.span, instead),
        );
        None
    }

    fn by(&mut self, line: &Line) -> Option<Option<String>> {
        let Some(by) = &line.by else { return Some(None) };
        let quoted = self.source().slice(by.span).starts_with('"');
        if !quoted && DOMAINS.contains(&by.value.as_str())
            || self.every_label.contains(&by.value)
            || !self.complete
        {
            return Some(Some(by.value.clone()));
        }
        let near =
            nearest(&by.value, self.every_label.iter().map(String::as_str)).map(|near| format!("\"{near}\""));
        let mut found = Diagnostic::error(
            Code::BadText,
            by.span,
            format!("no rule of this policy has the label `{}`", by.value.escape_debug()),
        )
        .help("after `by` stands a block's name (`filesystem`, `network`, `credentials`, `process`) or a rule's label in quotes");
        found = match near {
            Some(near) => found
                .label(format!("did you mean `{near}`?"))
                .suggest(by.span, near),
            None => found.label("not a label"),
        };
        self.report(found);
        None
    }

    fn access(&mut self, access: &ExpectedAccess) -> Option<Access> {
        match access {
            ExpectedAccess::File(access, text) => Some(Access::File {
                access: *access,
                path: self.literal_path(text, "the path of a test")?,
            }),
            ExpectedAccess::Network(verb, protocol, text) => {
                let (host, port) = self.socket_address(text)?;
                Some(match host {
                    HostText::Address(address) => Access::Network {
                        verb: *verb,
                        protocol: *protocol,
                        address,
                        port,
                    },
                    HostText::Name(host) => Access::Host {
                        verb: *verb,
                        protocol: *protocol,
                        host,
                        address: None,
                        port,
                    },
                })
            }
            ExpectedAccess::Environment(text) => Some(Access::Environment {
                name: self.variable_name(text)?,
            }),
            ExpectedAccess::Syscall(text, conditions) => {
                let call = self.call(text)?;
                let arguments = self.registers(&call, conditions)?;
                let (architecture, number) = Architecture::ALL
                    .into_iter()
                    .find_map(|architecture| Some((architecture, table::number(&call, architecture)?)))?;
                Some(Access::Syscall {
                    architecture,
                    number,
                    arguments,
                })
            }
        }
    }
}
