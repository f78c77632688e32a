//! `test` blocks.

use pest::iterators::Pair;

use super::super::expected::Context;
use super::super::grammar::Rule;
use super::leaves::child;
use super::rules::{conditions, file_access, protocol, verb};
use super::{Builder, span, spanned};
use crate::ast::{Expectation, ExpectedAccess, Outcome, TestBlock};
use crate::policy::Protocol;

impl Builder<'_> {
    pub(super) fn test(&mut self, pair: Pair<'_, Rule>) -> TestBlock {
        let at = span(&pair);
        let name = self.block_name(&pair, "test");
        let mut expectations = Vec::new();
        self.block(pair, Context::Test, |builder, statement| {
            builder
                .expectation(&statement)
                .map(|line| expectations.push(line))
        });
        TestBlock {
            span: at,
            name,
            expectations,
        }
    }

    fn expectation(&mut self, pair: &Pair<'_, Rule>) -> Option<Expectation> {
        let access = pair
            .clone()
            .into_inner()
            .find_map(|part| self.expected_access(&part))?;
        let word = child(pair, Rule::outcome)?;
        let outcome = match word.as_str() {
            "allowed" => Outcome::Allowed,
            "asked" => Outcome::Asked,
            "denied" => Outcome::Denied,
            "present" => Outcome::Present,
            "absent" => Outcome::Absent,
            _ => return None,
        };
        let by = match (child(pair, Rule::domain), child(pair, Rule::string)) {
            (Some(domain), _) => Some(spanned(domain.as_str().to_owned(), &domain)),
            (None, Some(label)) => {
                let text = self.text(&label);
                Some(spanned(text.literal().unwrap_or_default().to_owned(), &label))
            }
            (None, None) => None,
        };
        Some(Expectation {
            span: span(pair),
            access,
            outcome: spanned(outcome, &word),
            by,
        })
    }

    fn expected_access(&mut self, pair: &Pair<'_, Rule>) -> Option<ExpectedAccess> {
        let text = |builder: &mut Self| child(pair, Rule::string).map(|string| builder.text(&string));
        match pair.as_rule() {
            Rule::expect_file => {
                let access = file_access(&child(pair, Rule::file_access)?)?;
                Some(ExpectedAccess::File(access.value, text(self)?))
            }
            Rule::expect_network => {
                let verb = verb(&child(pair, Rule::verb)?)?;
                let protocol = match child(pair, Rule::protocol) {
                    Some(word) => protocol(&word)?.value,
                    None => Protocol::Tcp,
                };
                Some(ExpectedAccess::Network(verb.value, protocol, text(self)?))
            }
            Rule::expect_environment => Some(ExpectedAccess::Environment(text(self)?)),
            Rule::expect_syscall => Some(ExpectedAccess::Syscall(text(self)?, conditions(pair)?)),
            _ => None,
        }
    }
}
