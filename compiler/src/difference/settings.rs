//! What differs beside accesses: limits, the identity, brokers, unlocks, and whatever else a run is started with.
//!
//! Each has an order of strictness. Two values of which neither is stricter count as wider: nobody has said that the new one
//! is as good.

use std::collections::BTreeMap;

use policy_lang::policy::Effect;
use policy_lang::policy::{Identity, Policy, Resource, Rule, RuleId, Subject};
use policy_lang::reference::{Access, decide};
use serde::Serialize;

mod credentials;
mod run;

/// What a setting is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// A part of the floor that is opened.
    Unlock,
    /// Who the run is.
    Identity,
    /// `limit`
    Limit,
    /// The size of a `scratch`.
    Scratch,
    /// The value of a variable.
    Value,
    /// `broker`
    Broker,
    /// `hide`
    Hide,
    /// `workspace`
    Workspace,
    /// `require`
    Requirement,
    /// `audit`
    Record,
}

/// Which way a setting went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The new policy is laxer.
    Wider,
    /// Neither is stricter. Counts as wider.
    Other,
    /// The new policy is stricter.
    Narrower,
}

/// A setting that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// What it is about.
    pub topic: Topic,
    /// What the old policy says, as the language has it. Absent: nothing.
    pub before: Option<String>,
    /// What the new policy says.
    pub after: Option<String>,
    /// Which way it went.
    pub direction: Direction,
    /// The rule of the old policy.
    pub before_rule: Option<RuleId>,
    /// The rule of the new policy.
    pub after_rule: Option<RuleId>,
    /// The reason that the policy gives for what it has now.
    pub because: Option<String>,
}

impl Setting {
    /// Whether the new policy is not at least as strict.
    #[must_use]
    pub fn is_wider(&self) -> bool {
        self.direction != Direction::Narrower
    }

    /// A setting that no rule stands for.
    fn plain(topic: Topic, before: Option<String>, after: Option<String>, direction: Direction) -> Self {
        Self {
            topic,
            before,
            after,
            direction,
            before_rule: None,
            after_rule: None,
            because: None,
        }
    }

    /// A setting that a rule stands for on each side that has it.
    fn of_rules(topic: Topic, before: Option<&Rule>, after: Option<&Rule>, direction: Direction) -> Self {
        Self {
            topic,
            before: before.map(|rule| rule.text.clone()),
            after: after.map(|rule| rule.text.clone()),
            direction,
            before_rule: before.map(|rule| rule.id),
            after_rule: after.map(|rule| rule.id),
            because: after.and_then(|rule| rule.because.clone()),
        }
    }
}

pub(super) fn compare(old: &Policy, new: &Policy) -> Vec<Setting> {
    let mut found = Vec::new();
    limits(old, new, &mut found);
    scratches(old, new, &mut found);
    identity(old, new, &mut found);
    values(old, new, &mut found);
    credentials::brokers(old, new, &mut found);
    run::hides(old, new, &mut found);
    run::unlocks(old, new, &mut found);
    run::requirements(old, new, &mut found);
    run::records(old, new, &mut found);
    run::workspace(old, new, &mut found);
    found
}

/// The lowest of each resource holds over all layers; no rule is no limit.
fn limits(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let lowest = |policy| {
        lowest(policy, |subject| match subject {
            Subject::Limit { resource, value } => Some((*resource, *value)),
            _ => None,
        })
    };
    let (before, after): (BTreeMap<Resource, _>, BTreeMap<Resource, _>) = (lowest(old), lowest(new));
    bounds(Topic::Limit, &before, &after, true, found);
}

/// Where both have one, its size. Where one has none, the accesses show what that means.
fn scratches(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let lowest = |policy| {
        lowest(policy, |subject| match subject {
            Subject::Scratch { path, size_bytes } => Some((path.clone(), *size_bytes)),
            _ => None,
        })
    };
    let (before, after): (BTreeMap<String, _>, BTreeMap<String, _>) = (lowest(old), lowest(new));
    bounds(Topic::Scratch, &before, &after, false, found);
}

fn lowest<K: Ord>(policy: &Policy, of: impl Fn(&Subject) -> Option<(K, u64)>) -> BTreeMap<K, (u64, &Rule)> {
    let mut lowest: BTreeMap<K, (u64, &Rule)> = BTreeMap::new();
    for rule in &policy.rules {
        if let Some((key, value)) = of(&rule.subject) {
            let known = lowest.entry(key).or_insert((value, rule));
            if value < known.0 {
                *known = (value, rule);
            }
        }
    }
    lowest
}

fn bounds<K: Ord>(
    topic: Topic,
    before: &BTreeMap<K, (u64, &Rule)>,
    after: &BTreeMap<K, (u64, &Rule)>,
    none_is_wider: bool,
    found: &mut Vec<Setting>,
) {
    for (key, &(old, rule)) in before {
        match after.get(key) {
            Some(&(new, other)) if new != old => {
                let direction = if new > old {
                    Direction::Wider
                } else {
                    Direction::Narrower
                };
                found.push(Setting::of_rules(topic, Some(rule), Some(other), direction));
            }
            None if none_is_wider => {
                found.push(Setting::of_rules(topic, Some(rule), None, Direction::Wider));
            }
            _ => {}
        }
    }
    for (key, (_, rule)) in after {
        if none_is_wider && !before.contains_key(key) {
            found.push(Setting::of_rules(topic, None, Some(rule), Direction::Narrower));
        }
    }
}

/// An id of the run's own is the strictest. The caller's may be any.
fn identity(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let (before, after) = (old.identity, new.identity);
    let direction = match (before.0, after.0) {
        (one, two) if one == two => return,
        (Identity::User, _) | (_, Identity::Dynamic) => Direction::Narrower,
        (Identity::Dynamic, _) => Direction::Wider,
        _ => Direction::Other,
    };
    let written = |policy: &Policy, (identity, rule): (Identity, RuleId)| {
        let rule = policy
            .rule(rule)
            .filter(|rule| matches!(rule.subject, Subject::Identity(_)));
        let text = match identity {
            Identity::Dynamic => "identity dynamic".to_owned(),
            Identity::User => "identity user".to_owned(),
            Identity::Ids { uid, gid } => format!("identity {uid}:{gid}"),
        };
        (text, rule.map(|rule| rule.id))
    };
    let ((before, before_rule), (after, after_rule)) = (written(old, before), written(new, after));
    found.push(Setting {
        before_rule,
        after_rule,
        ..Setting::plain(Topic::Identity, Some(before), Some(after), direction)
    });
}

/// A variable that is visible on both sides and has another value. Nobody can say that one value is as good as another.
fn values(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let (before, after) = (values_of(old), values_of(new));
    let names = before
        .keys()
        .chain(after.keys().filter(|name| !before.contains_key(*name)));
    for name in names {
        let (one, two) = (before.get(name), after.get(name));
        if one.map(|(value, _)| value) == two.map(|(value, _)| value) {
            continue;
        }
        let access = Access::Environment {
            name: (*name).to_owned(),
        };
        let is_visible = |policy| decide(policy, &access).effect < Effect::Deny;
        if is_visible(old) && is_visible(new) {
            let mut setting = Setting::of_rules(
                Topic::Value,
                one.map(|own| own.1),
                two.map(|own| own.1),
                Direction::Other,
            );
            let passed = || Some(format!("pass {}", policy_lang::resolve::quoted(name)));
            setting.before = setting.before.or_else(passed);
            setting.after = setting.after.or_else(passed);
            found.push(setting);
        }
    }
}

/// What each variable is set to, by the innermost layer that sets it.
fn values_of(policy: &Policy) -> BTreeMap<&str, (&str, &Rule)> {
    let mut values: BTreeMap<&str, (&str, &Rule)> = BTreeMap::new();
    for rule in &policy.rules {
        if let Subject::Set { name, value } = &rule.subject {
            let known = values.entry(name).or_insert((value, rule));
            if rule.layer < known.1.layer {
                *known = (value, rule);
            }
        }
    }
    values
}
