//! Which rules the accesses of tests are decided by, and which none is.
//!
//! A rule counts as covered when it decides an access in its own layer. Were only the rule that is named in the end
//! counted, the grants of a ceiling could never be covered: the policy's own grant is named before them.

use std::collections::BTreeSet;

use policy_lang::policy::{LayerId, Policy, Rule, RuleId, Subject};
use policy_lang::reference::{Access, decide_in};

/// What a policy's rules come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The policy's own text.
    Own,
    /// A group that `use` named.
    Group,
    /// A ceiling, with its groups.
    Ceiling,
}

/// The rules that can decide an access, and those that did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    deciding: BTreeSet<RuleId>,
    covered: BTreeSet<RuleId>,
}

impl Coverage {
    /// Nothing tested yet.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        let deciding = policy
            .rules
            .iter()
            .filter(|rule| rule.layer.is_some() && speaks_of_accesses(&rule.subject));
        Self {
            deciding: deciding.map(|rule| rule.id).collect(),
            covered: BTreeSet::new(),
        }
    }

    /// Counts what decides an access.
    pub fn add(&mut self, policy: &Policy, access: &Access) {
        for layer in (0..).map(LayerId).take(policy.layers.len()) {
            let rule = decide_in(layer, policy, access).rule;
            if self.deciding.contains(&rule) {
                self.covered.insert(rule);
            }
        }
    }

    /// How many rules of some parts are covered, and how many there are.
    #[must_use]
    pub fn figures(&self, policy: &Policy, parts: &[Part]) -> Figures {
        let count = |rules: &BTreeSet<RuleId>| {
            let rules = rules.iter().filter_map(|rule| policy.rule(*rule));
            rules.filter(|rule| parts.contains(&part(rule))).count()
        };
        Figures {
            covered: count(&self.covered),
            rules: count(&self.deciding),
        }
    }

    /// Rules of some parts that decide no tested access, in source order.
    #[must_use]
    pub fn uncovered<'p>(&self, policy: &'p Policy, parts: &[Part]) -> Vec<&'p Rule> {
        self.deciding
            .difference(&self.covered)
            .filter_map(|rule| policy.rule(*rule))
            .filter(|rule| parts.contains(&part(rule)))
            .collect()
    }
}

/// Covered rules among rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Rules that decide at least one tested access.
    pub covered: usize,
    /// All of them.
    pub rules: usize,
}

impl Figures {
    /// Rounded down, so that 100 means all. Of no rules, all are covered.
    #[must_use]
    pub fn percent(self) -> usize {
        (self.covered * 100).checked_div(self.rules).unwrap_or(100)
    }
}

/// What part a rule belongs to.
#[must_use]
pub fn part(rule: &Rule) -> Part {
    match rule.layer {
        Some(LayerId::INNERMOST) | None if rule.via.is_some() => Part::Group,
        Some(LayerId::INNERMOST) | None => Part::Own,
        Some(_) => Part::Ceiling,
    }
}

/// Limits, identities and brokered credentials decide no access that a test could make.
fn speaks_of_accesses(subject: &Subject) -> bool {
    match subject {
        Subject::File { .. }
        | Subject::Hide { .. }
        | Subject::Scratch { .. }
        | Subject::Network { .. }
        | Subject::Pass { .. }
        | Subject::Set { .. }
        | Subject::Syscall { .. } => true,
        Subject::Everything | Subject::Identity(_) | Subject::Limit { .. } | Subject::Broker(_) => false,
    }
}
