//! Rules on variables. Few have a `*`, so those are compared one by one and the others looked up.

use std::collections::HashMap;

use policy_lang::pattern::variable;
use policy_lang::policy::{Effect, LayerId, Policy, Rule, RuleId, Subject};

use super::{Part, Standing, among_twins};
use crate::check::Context;

/// How many patterns a name is compared with. Beyond that it counts as alive.
const PATTERNS_MAX: usize = 64;

pub(super) fn judge(context: &Context<'_>) -> Vec<Part> {
    let near = |rule: &&Rule| rule.layer.is_none_or(|layer| layer == LayerId::INNERMOST);
    let mut by_name: HashMap<&str, Vec<(Effect, RuleId)>> = HashMap::new();
    let mut patterns: Vec<(&str, Effect, RuleId)> = Vec::new();
    for rule in context.policy.rules.iter().filter(near) {
        let Subject::Pass { names } = &rule.subject else {
            continue;
        };
        for name in names {
            by_name.entry(name).or_default().push((rule.effect, rule.id));
            if name.contains('*') {
                patterns.push((name, rule.effect, rule.id));
            }
        }
    }
    let mut parts = Vec::new();
    for rule in context.own() {
        let Subject::Pass { names } = &rule.subject else {
            continue;
        };
        for (string, name) in names.iter().enumerate() {
            let standing = if patterns.len() > PATTERNS_MAX {
                Standing::Alive
            } else {
                standing(context.policy, rule, name, &by_name, &patterns)
            };
            parts.push(Part {
                rule: rule.id,
                string,
                standing,
            });
        }
    }
    parts
}

fn standing(
    policy: &Policy,
    rule: &Rule,
    name: &str,
    by_name: &HashMap<&str, Vec<(Effect, RuleId)>>,
    patterns: &[(&str, Effect, RuleId)],
) -> Standing {
    let above: Vec<(Effect, RuleId)> = patterns
        .iter()
        .filter(|(pattern, _, id)| *id != rule.id && *pattern != name && variable::includes(pattern, name))
        .map(|(_, effect, id)| (*effect, *id))
        .collect();
    let twins = by_name
        .get(name)
        .into_iter()
        .flatten()
        .filter(|(_, id)| *id != rule.id);
    if rule.effect != Effect::Forbid
        && let Some((_, by)) = above
            .iter()
            .chain(twins.clone())
            .find(|(effect, _)| *effect == Effect::Forbid)
    {
        return Standing::Dead(*by);
    }
    if let Some(standing) = among_twins(policy, rule, twins.copied()) {
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
