//! Identity and limits.

use std::collections::BTreeSet;

use super::{Check, Invalid, Rules};
use crate::process::{Identity, ProcessPlan, Resource};
use crate::rule::{Domain, Effect, RuleId};

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
