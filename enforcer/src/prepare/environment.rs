//! The run's environment, built from nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use artifact::Effect;
use artifact::environment::{EnvironmentPlan, decide};

/// `NAME=value` for every variable that the plan lets in and the caller has, and every one it sets, by name. A name that
/// is not UTF-8 is none that a policy can speak of.
pub(crate) fn build(plan: &EnvironmentPlan, caller: &[(OsString, OsString)]) -> Vec<OsString> {
    let mut variables: BTreeMap<&str, &OsStr> = BTreeMap::new();
    let callers = caller
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?, value.as_os_str())));
    let fixed = plan
        .set
        .iter()
        .map(|(name, set)| (name.as_str(), OsStr::new(&set.value)));
    // A fixed value comes last, and wins.
    for (name, value) in callers.chain(fixed) {
        if decide(plan, name).0 == Effect::Allow {
            variables.insert(name, value);
        }
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
    use artifact::environment::{SetVariable, VariableRule};
    use artifact::rule::{LayerId, RuleId};

    use super::*;

    fn rule(id: u32, effect: Effect, layer: u8, pattern: &str, yields_to: &[u32]) -> VariableRule {
        VariableRule {
            rule: RuleId(id),
            effect,
            layer: Some(LayerId(layer)),
            pattern: pattern.to_owned(),
            yields_to: yields_to.to_vec(),
        }
    }

    fn set(value: &str, rule: u32) -> SetVariable {
        SetVariable {
            value: value.to_owned(),
            rule: RuleId(rule),
        }
    }

    fn built(plan: &EnvironmentPlan, caller: &[(&str, &str)]) -> Vec<OsString> {
        let caller: Vec<_> = caller.iter().map(|(n, v)| (n.into(), v.into())).collect();
        build(plan, &caller)
    }

    #[test]
    fn only_named_variables_pass_and_a_fixed_value_wins() {
        let plan = EnvironmentPlan {
            rules: vec![
                rule(1, Effect::Allow, 0, "PATH", &[]),
                rule(1, Effect::Allow, 0, "GONE", &[]),
                rule(1, Effect::Allow, 0, "CI", &[]),
                rule(2, Effect::Allow, 0, "CI", &[]),
            ],
            outermost: LayerId(0),
            set: [("CI".to_owned(), set("fixed", 2))].into(),
        };
        let caller = [("SECRET", "x"), ("PATH", "/bin"), ("CI", "caller")];
        assert_eq!(built(&plan, &caller), ["CI=fixed", "PATH=/bin"]);
    }

    #[test]
    fn a_variable_gets_in_when_every_layer_lets_it() {
        let plan = EnvironmentPlan {
            rules: vec![
                rule(1, Effect::Allow, 0, "*", &[1]),
                rule(2, Effect::Forbid, 0, "AWS_*", &[]),
                rule(3, Effect::Allow, 1, "LC_*", &[]),
                rule(4, Effect::Allow, 1, "AWS_REGION", &[]),
                rule(5, Effect::Allow, 1, "CI", &[]),
                rule(6, Effect::Allow, 1, "PATH", &[]),
                rule(7, Effect::Deny, 1, "PATH", &[]),
            ],
            outermost: LayerId(1),
            set: [("CI".to_owned(), set("1", 5)), ("X".to_owned(), set("2", 1))].into(),
        };
        let caller = [
            ("LC_ALL", "C"),
            ("HOME", "/root"),
            ("AWS_REGION", "eu"),
            ("PATH", "/bin"),
        ];
        assert_eq!(built(&plan, &caller), ["CI=1", "LC_ALL=C"]);
    }
}
