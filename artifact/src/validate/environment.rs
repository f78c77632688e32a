//! The environment.

use super::{Check, Invalid, Rules, ascending, at_most, have_a_common_layer};
use crate::bounds;
use crate::environment::{EnvironmentPlan, VariableRule, covers};
use crate::rule::{Domain, Effect};

pub(super) fn check(plan: &EnvironmentPlan, rules: Rules<'_>) -> Check {
    at_most("environment.rules", plan.rules.len(), bounds::VARIABLES)?;
    for (number, rule) in plan.rules.iter().enumerate() {
        let at = || format!("environment.rules[{number}]");
        check_variable(&rule.pattern, "").map_err(|problem| Invalid::new(at(), problem))?;
        rules.agrees(rule.rule, Domain::Credentials, rule.effect, at)?;
        rules.is_of_layer(rule.rule, rule.layer, plan.outermost, at)?;
        check_yields(plan, rule).map_err(|problem| Invalid::new(format!("{}.yields_to", at()), problem))?;
    }
    at_most("environment.set", plan.set.len(), bounds::VARIABLES)?;
    for (name, variable) in &plan.set {
        let at = || format!("environment.set[{name:?}]");
        check_variable(name, &variable.value).map_err(|problem| Invalid::new(at(), problem))?;
        rules.agrees(variable.rule, Domain::Credentials, Effect::Allow, at)?;
    }
    Ok(())
}

fn check_variable(name: &str, value: &str) -> Result<(), String> {
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return Err("it is no variable: a name has no `=`, and neither part a NUL".to_owned());
    }
    if name.len() + value.len() + 2 > bounds::VARIABLE_BYTES {
        return Err(format!("it is longer than {} bytes", bounds::VARIABLE_BYTES));
    }
    Ok(())
}

/// A `*` of the inner pattern is a character that only a `*` of the outer one can take, so the pattern read as a name
/// tells.
fn check_yields(plan: &EnvironmentPlan, rule: &VariableRule) -> Result<(), String> {
    if !ascending(&rule.yields_to) {
        return Err("it is not sorted, or has duplicates".to_owned());
    }
    for index in &rule.yields_to {
        let other = usize::try_from(*index)
            .ok()
            .and_then(|index| plan.rules.get(index))
            .ok_or_else(|| format!("there is no rule {index}"))?;
        if !covers(&rule.pattern, &other.pattern) || covers(&other.pattern, &rule.pattern) {
            return Err(format!("rule {index} is not strictly inside it"));
        }
        if !have_a_common_layer(rule.layer, other.layer) {
            return Err(format!("rule {index} is of another layer"));
        }
    }
    Ok(())
}
