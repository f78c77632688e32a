//! The run's environment, built from nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use artifact::environment::EnvironmentPlan;

/// `NAME=value` for every variable the plan passes and the caller has, and every one it sets, by name.
pub(crate) fn build(plan: &EnvironmentPlan, caller: &[(OsString, OsString)]) -> Vec<OsString> {
    let mut variables: BTreeMap<&str, &OsStr> = BTreeMap::new();
    for (name, value) in caller {
        if let Some((name, _)) = name.to_str().and_then(|name| plan.pass.get_key_value(name)) {
            variables.insert(name, value);
        }
    }
    for (name, set) in &plan.set {
        variables.insert(name, OsStr::new(&set.value));
    }
    variables
        .into_iter()
        .map(|(name, value)| {
            let mut pair = OsString::from(name);
            pair.push("=");
            pair.push(value);
            pair
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use artifact::environment::SetVariable;
    use artifact::rule::RuleId;

    use super::*;

    #[test]
    fn only_named_variables_pass_and_a_fixed_value_wins() {
        let set = SetVariable {
            value: "fixed".into(),
            rule: RuleId(2),
        };
        let plan = EnvironmentPlan {
            pass: [
                ("PATH".to_owned(), RuleId(1)),
                ("GONE".to_owned(), RuleId(1)),
                ("CI".to_owned(), RuleId(1)),
            ]
            .into(),
            set: [("CI".to_owned(), set)].into(),
        };
        let caller = [("SECRET", "x"), ("PATH", "/bin"), ("CI", "caller")].map(|(n, v)| (n.into(), v.into()));
        assert_eq!(build(&plan, &caller), ["CI=fixed", "PATH=/bin"]);
    }
}
