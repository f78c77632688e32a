//! What every family of findings looks at.

use std::borrow::Cow;
use std::collections::HashMap;

use artifact::filesystem::path;
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{Effect, FileAccess, LayerId, Policy, Rule, RuleId, Subject};
use policy_lang::reference::{Access, Decision, decide};

use super::Options;
use super::place::Places;

/// A policy, its text, and what is known of where it will run.
pub(crate) struct Context<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) options: &'a Options<'a>,
    pub(crate) places: Places<'a>,
    /// Rules on files by the fixed part of a pattern.
    files: HashMap<Cow<'a, str>, Vec<&'a Rule>>,
    /// Every other rule that decides accesses.
    others: Vec<&'a Rule>,
    /// The layers of the policy, and no rule.
    layers: Policy,
}

impl<'a> Context<'a> {
    pub(super) fn new(policy: &'a Policy, options: &'a Options<'a>) -> Self {
        let mut files: HashMap<Cow<'a, str>, Vec<&Rule>> = HashMap::new();
        let mut others = Vec::new();
        for rule in &policy.rules {
            let mut add = |above| files.entry(above).or_default().push(rule);
            match &rule.subject {
                Subject::File { targets, .. } | Subject::Hide { targets } => {
                    targets.iter().map(fixed_prefix).for_each(add);
                }
                Subject::Scratch { path, .. } => add(Cow::Borrowed(path.as_str())),
                Subject::Limit { .. } | Subject::Identity(_) | Subject::Broker(_) => {}
                _ => others.push(rule),
            }
        }
        let mut layers = Policy::built_in(policy.name.clone());
        layers.rules = Vec::new();
        layers.layers.clone_from(&policy.layers);
        Self {
            policy,
            options,
            places: Places::new(options.files),
            files,
            others,
            layers,
        }
    }

    /// The rules that this policy's author answers for: not those built in, nor a ceiling's.
    pub(crate) fn own(&self) -> impl Iterator<Item = &'a Rule> {
        let own = |rule: &&Rule| rule.layer == Some(LayerId::INNERMOST);
        self.policy.rules.iter().filter(own)
    }

    /// The rules that are written in the policy itself, not in a group.
    pub(crate) fn written(&self) -> impl Iterator<Item = &'a Rule> {
        self.own().filter(|rule| rule.via.is_none())
    }

    /// What the policy as a whole decides: the same as [`decide`], asked only of the rules that may match.
    pub(crate) fn decide(&self, access: &Access) -> Decision {
        let mut near: Vec<&Rule> = match access {
            Access::File { path, .. } => path::ancestors(path)
                .filter_map(|above| self.files.get(above))
                .flatten()
                .copied()
                .chain(self.policy.rule(RuleId::DEFAULT))
                .collect(),
            _ => self.others.clone(),
        };
        near.sort_unstable_by_key(|rule| rule.id);
        near.dedup_by_key(|rule| rule.id);
        let mut policy = self.layers.clone();
        policy.rules = near.into_iter().cloned().collect();
        decide(&policy, access)
    }

    /// The rule that grants an access, or grants it once somebody approves.
    pub(crate) fn granted(&self, access: &Access) -> Option<&'a Rule> {
        let decision = self.decide(access);
        let rule = self.policy.rule(decision.rule)?;
        (decision.effect <= Effect::Ask).then_some(rule)
    }

    /// The same for a file.
    pub(crate) fn granted_file(&self, access: FileAccess, path: &str) -> Option<&'a Rule> {
        self.granted(&Access::File {
            access,
            path: path.to_owned(),
        })
    }
}

/// The longest path above all that a pattern matches.
pub(super) fn fixed_prefix(pattern: &PathPattern) -> Cow<'_, str> {
    match pattern {
        PathPattern::Literal(path) => Cow::Borrowed(path.as_str()),
        PathPattern::Glob(_) => Cow::Owned(pattern.fixed_prefix()),
    }
}
