//! Rules on system calls. There are only so many groups; single calls are looked up by name.

use std::collections::HashMap;

use policy_lang::policy::{Effect, LayerId, Policy, Rule, RuleId, Subject};
use policy_lang::syscall::SyscallSet;

use super::{Part, Standing, among_twins};
use crate::check::Context;

/// How many sets a call is compared with. Beyond that it counts as alive.
const SETS_MAX: usize = 64;

/// A set, and every rule that has it.
struct Shared<'a> {
    set: &'a SyscallSet,
    rules: Vec<(Effect, RuleId)>,
}

#[derive(Default)]
struct Index<'a> {
    groups: Vec<Shared<'a>>,
    calls: HashMap<&'a str, Vec<Shared<'a>>>,
}

pub(super) fn judge(context: &Context<'_>) -> Vec<Part> {
    let near = |rule: &&Rule| rule.layer.is_none_or(|layer| layer == LayerId::INNERMOST);
    let mut index = Index::default();
    for rule in context.policy.rules.iter().filter(near) {
        let Subject::Syscall { targets } = &rule.subject else {
            continue;
        };
        for set in targets {
            let there = match single(set) {
                Some(name) => index.calls.entry(name).or_default(),
                None => &mut index.groups,
            };
            let full = there.len() > SETS_MAX;
            match there.iter_mut().find(|shared| shared.set == set) {
                Some(shared) => shared.rules.push((rule.effect, rule.id)),
                None if full => {}
                None => there.push(Shared {
                    set,
                    rules: vec![(rule.effect, rule.id)],
                }),
            }
        }
    }
    let mut parts = Vec::new();
    for rule in context.own() {
        let Subject::Syscall { targets } = &rule.subject else {
            continue;
        };
        for (string, set) in targets.iter().enumerate() {
            parts.push(Part {
                rule: rule.id,
                string,
                standing: index.standing(context.policy, rule, set),
            });
        }
    }
    parts
}

fn single(set: &SyscallSet) -> Option<&str> {
    match (set.names.first(), set.names.len()) {
        (Some(name), 1) => Some(name),
        _ => None,
    }
}

impl Index<'_> {
    fn standing(&self, policy: &Policy, rule: &Rule, set: &SyscallSet) -> Standing {
        let singles = single(set).and_then(|name| self.calls.get(name));
        let near: Vec<&Shared<'_>> = self.groups.iter().chain(singles.into_iter().flatten()).collect();
        if self.groups.len() > SETS_MAX || singles.is_some_and(|singles| singles.len() > SETS_MAX) {
            return Standing::Alive;
        }
        let others = |shared: &&Shared<'_>| -> Vec<(Effect, RuleId)> {
            let others = shared.rules.iter().filter(|(_, id)| *id != rule.id);
            others.copied().collect()
        };
        let (mut twins, mut above) = (Vec::new(), Vec::new());
        for shared in &near {
            if shared.set == set {
                twins.extend(others(shared));
            } else if shared.set.includes(set).holds() {
                above.extend(others(shared));
            }
        }
        if rule.effect != Effect::Forbid
            && let Some((_, by)) = above
                .iter()
                .chain(&twins)
                .find(|(effect, _)| *effect == Effect::Forbid)
        {
            return Standing::Dead(*by);
        }
        if let Some(standing) = among_twins(policy, rule, twins.iter().copied()) {
            return standing;
        }
        let same = above.iter().all(|(effect, _)| *effect == rule.effect);
        match above.first() {
            Some((_, by)) if same && matches!(rule.effect, Effect::Allow | Effect::Forbid) => {
                Standing::Redundant(*by)
            }
            _ => Standing::Alive,
        }
    }
}
