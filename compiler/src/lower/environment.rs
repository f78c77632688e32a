//! Rules on variables: which of them yields to which, and the values that rules set.

use std::collections::BTreeMap;

use artifact::environment::{EnvironmentPlan, SetVariable, VariableRule};
use policy_lang::pattern::variable;
use policy_lang::policy::{Policy, Rule, Subject};

use super::vocabulary;
use crate::error::{LowerError, Reason};

pub(super) fn lower(policy: &Policy, errors: &mut Vec<LowerError>) -> EnvironmentPlan {
    let mut plan = EnvironmentPlan {
        outermost: vocabulary::outermost(policy),
        ..EnvironmentPlan::default()
    };
    for rule in &policy.rules {
        match &rule.subject {
            Subject::Pass { names } => {
                let rules = names.iter().map(|name| elementary(policy, rule, name));
                plan.rules.extend(rules);
            }
            Subject::Set { name, value } => {
                plan.rules.push(elementary(policy, rule, name));
                set(policy, rule, name, value, &mut plan, errors);
            }
            _ => {}
        }
    }
    order(&mut plan.rules);
    plan
}

fn elementary(policy: &Policy, rule: &Rule, pattern: &str) -> VariableRule {
    VariableRule {
        rule: vocabulary::rule_id(rule.id),
        effect: vocabulary::effect(rule.effect),
        layer: vocabulary::layer(policy, rule),
        pattern: pattern.to_owned(),
        yields_to: Vec::new(),
    }
}

/// Two values for one variable are an error, in one layer and over several: neither the order of rules nor that of
/// layers chooses between values.
fn set(
    policy: &Policy,
    rule: &Rule,
    name: &str,
    value: &str,
    plan: &mut EnvironmentPlan,
    errors: &mut Vec<LowerError>,
) {
    match plan.set.get(name) {
        Some(set) if set.value != value => {
            let other = policy.rule(policy_lang::policy::RuleId(set.rule.0));
            errors.push(LowerError::about(
                rule,
                Reason::SetTwice {
                    name: name.to_owned(),
                    other: other.unwrap_or(rule).origin.clone(),
                },
            ));
        }
        Some(_) => {}
        None => {
            let variable = SetVariable {
                value: value.to_owned(),
                rule: vocabulary::rule_id(rule.id),
            };
            plan.set.insert(name.to_owned(), variable);
        }
    }
}

/// Only a pattern with a `*` has other patterns strictly inside it.
fn order(rules: &mut [VariableRule]) {
    let mut by_pattern: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (index, rule) in (0..).zip(rules.iter()) {
        by_pattern.entry(rule.pattern.clone()).or_default().push(index);
    }
    let layers: Vec<_> = rules.iter().map(|rule| rule.layer).collect();
    let layer = |index: u32| usize::try_from(index).ok().and_then(|at| layers.get(at).copied());
    for rule in rules.iter_mut().filter(|rule| rule.pattern.contains('*')) {
        let inside = by_pattern.iter().filter(|(pattern, _)| {
            variable::includes(&rule.pattern, pattern) && !variable::includes(pattern, &rule.pattern)
        });
        rule.yields_to = inside.flat_map(|(_, indices)| indices).copied().collect();
        rule.yields_to.retain(|index| {
            layer(*index).is_some_and(|other| other.is_none() || rule.layer.is_none() || other == rule.layer)
        });
        rule.yields_to.sort_unstable();
    }
}
