//! Environment, identity and limits.

use std::collections::BTreeSet;

use super::{Check, Invalid, Rules, at_most};
use crate::bounds;
use crate::environment::EnvironmentPlan;
use crate::process::{Identity, ProcessPlan, Resource};
use crate::rule::{Domain, Effect, RuleId};

pub(super) fn check_environment(plan: &EnvironmentPlan, rules: Rules<'_>) -> Check {
    at_most("environment.pass", plan.pass.len(), bounds::VARIABLES)?;
    for (name, rule) in &plan.pass {
        let at = || format!("environment.pass[{name:?}]");
        check_variable(name, "").map_err(|problem| Invalid::new(at(), problem))?;
        rules.agrees(*rule, Domain::Credentials, Effect::Allow, at)?;
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

pub(super) fn check(plan: &ProcessPlan, rules: Rules<'_>) -> Check {
    let at = || "process.identity".to_owned();
    if let Identity::Ids { uid, gid } = plan.identity
        && (uid == u32::MAX || gid == u32::MAX)
    {
        return Err(Invalid::new(
            at(),
            "4294967295 is no id: system calls take it for `unchanged`",
        ));
    }
    if plan.identity_rule != RuleId::DEFAULT {
        rules.agrees(plan.identity_rule, Domain::Process, Effect::Allow, at)?;
    }
    let mut seen: BTreeSet<Resource> = BTreeSet::new();
    for limit in &plan.limits {
        let at = || format!("process.limits, {:?}", limit.resource);
        if !seen.insert(limit.resource) {
            return Err(Invalid::new(at(), "it is limited twice"));
        }
        if limit.value == 0 {
            return Err(Invalid::new(at(), "nothing can run with none of it"));
        }
        rules.agrees(limit.rule, Domain::Process, Effect::Allow, at)?;
    }
    Ok(())
}
