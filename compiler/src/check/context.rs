//! What every family of findings looks at.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;

use artifact::filesystem::path;
use policy_lang::pattern::{PathPattern, variable};
use policy_lang::policy::{Effect, Endpoint, FileAccess, LayerId, Policy, Rule, RuleId, Subject, Verb};
use policy_lang::reference::{Access, Decision, decide, judged_as};

use super::Options;
use super::place::{Place, Places};

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
            _ => self
                .others
                .iter()
                .filter(|rule| may_match(rule, access))
                .copied()
                .collect(),
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

    /// A path in the home directory.
    pub(crate) fn at_home(&self, path: &str) -> String {
        format!("{}/{path}", self.options.home.trim_end_matches('/'))
    }

    /// The target that grants an access to a file, if the policy's own rules do.
    pub(crate) fn grant_of(&self, access: FileAccess, path: &str) -> Option<Grant<'a>> {
        let rule = self.granted_file(access, path)?;
        let Subject::File { accesses, targets } = &rule.subject else {
            return None;
        };
        let index = targets.iter().position(|target| target.covers(path))?;
        let own = rule.layer == Some(LayerId::INNERMOST);
        own.then(|| targets.get(index))?.map(|target| Grant {
            rule,
            accesses,
            target,
            index,
        })
    }

    /// A target as it was written, without its quotes; as resolved where that cannot be told.
    pub(crate) fn written_target(&self, grant: &Grant<'_>) -> String {
        let place = self.places.target(grant.rule, grant.index);
        let written = self.places.file(place.file).map(|file| file.slice(place.span));
        let inner = written.and_then(|text| text.strip_prefix('"')?.strip_suffix('"'));
        let (PathPattern::Literal(path) | PathPattern::Glob(path)) = grant.target;
        inner.unwrap_or(path).to_owned()
    }

    /// Where to point for a rule: at its statement, or at the `use` that brought it.
    pub(crate) fn place(&self, rule: &Rule) -> Place {
        self.import(rule).unwrap_or_else(|| self.places.rule(rule))
    }

    /// Where to point for one target of a rule.
    pub(crate) fn target(&self, rule: &Rule, index: usize) -> Place {
        self.import(rule)
            .unwrap_or_else(|| self.places.target(rule, index))
    }

    fn import(&self, rule: &Rule) -> Option<Place> {
        rule.via.as_deref().and_then(|group| self.places.import(group))
    }

    /// Targets of rules on files that grant something, also after an approval.
    pub(crate) fn grants(&self) -> impl Iterator<Item = Grant<'a>> {
        self.own()
            .filter(|rule| rule.effect <= Effect::Ask)
            .filter_map(|rule| match &rule.subject {
                Subject::File { accesses, targets } => Some((rule, accesses, targets)),
                _ => None,
            })
            .flat_map(|(rule, accesses, targets)| {
                targets.iter().enumerate().map(move |(index, target)| Grant {
                    rule,
                    accesses,
                    target,
                    index,
                })
            })
    }

    /// Rules that let the run connect or bind.
    pub(crate) fn grants_of_network(&self) -> impl Iterator<Item = &'a Rule> {
        let network = |rule: &&Rule| matches!(rule.subject, Subject::Network { .. });
        self.own()
            .filter(|rule| rule.effect <= Effect::Ask)
            .filter(network)
    }

    /// The same for a file.
    pub(crate) fn granted_file(&self, access: FileAccess, path: &str) -> Option<&'a Rule> {
        self.granted(&Access::File {
            access,
            path: path.to_owned(),
        })
    }
}

/// One target of a rule that grants accesses to files.
#[derive(Clone, Copy)]
pub(crate) struct Grant<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) accesses: &'a [FileAccess],
    pub(crate) target: &'a PathPattern,
    /// Which of the rule's targets.
    pub(crate) index: usize,
}

impl<'a> Grant<'a> {
    /// `read and write`
    pub(crate) fn words(&self) -> String {
        let words: Vec<&str> = self.accesses.iter().map(|access| access.word()).collect();
        words.join(" and ")
    }

    /// The path, where it is one.
    pub(crate) fn literal(&self) -> Option<&'a str> {
        match self.target {
            PathPattern::Literal(path) => Some(path),
            PathPattern::Glob(_) => None,
        }
    }

    /// A path in the tree that no other rule speaks of.
    pub(crate) fn inside(&self) -> Option<String> {
        match self.target {
            PathPattern::Literal(path) => Some(beneath(path)),
            PathPattern::Glob(_) => None,
        }
    }
}

/// Quick, and never wrongly no. Copying rules for [`decide`] costs more than looking at them.
fn may_match(rule: &Rule, access: &Access) -> bool {
    match (&rule.subject, access) {
        (Subject::Everything, _) | (Subject::Network { .. }, Access::Host { .. }) => true,
        (Subject::Network { targets, .. }, Access::Network { address, port, .. }) => targets
            .iter()
            .any(|target| (target.first_port..=target.last_port).contains(port) && shares(target, *address)),
        (Subject::Pass { names }, Access::Environment { name }) => {
            names.iter().any(|pattern| variable::covers(pattern, name))
        }
        (Subject::Set { name: own, .. }, Access::Environment { name }) => own == name,
        (Subject::Syscall { .. }, Access::Syscall { .. }) => true,
        _ => false,
    }
}

/// Whether the address has the bits of the prefix.
fn shares(target: &Endpoint, address: IpAddr) -> bool {
    let equal = |own: u128, other: u128, width: u32| {
        let dropped = width.saturating_sub(u32::from(target.prefix_len));
        own.checked_shr(dropped) == other.checked_shr(dropped) || dropped >= 128
    };
    match (target.address, judged_as(Verb::Connect, address)) {
        (IpAddr::V4(own), IpAddr::V4(other)) => equal(own.to_bits().into(), other.to_bits().into(), 32),
        (IpAddr::V6(own), IpAddr::V6(other)) => equal(own.to_bits(), other.to_bits(), 128),
        _ => false,
    }
}

/// A path beneath a directory that no rule names: what holds for it holds for the tree in general.
pub(crate) fn beneath(directory: &str) -> String {
    format!("{}/no-rule-names-this", directory.trim_end_matches('/'))
}

/// A few names and how many more there are: `a`, `b` and 3 more.
pub(crate) fn some_of(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(4).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(shown.len());
    match (shown.split_last(), more) {
        (None, _) => String::new(),
        (Some((last, [])), 0) => last.clone(),
        (Some((last, before)), 0) => format!("{} and {last}", before.join(", ")),
        (Some(_), more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The longest path above all that a pattern matches.
pub(super) fn fixed_prefix(pattern: &PathPattern) -> Cow<'_, str> {
    match pattern {
        PathPattern::Literal(path) => Cow::Borrowed(path.as_str()),
        PathPattern::Glob(_) => Cow::Owned(pattern.fixed_prefix()),
    }
}
