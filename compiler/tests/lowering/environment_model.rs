//! Rules on variables against the reference semantics.

use artifact::environment as plan;
use compiler::{Reason, emit, lower};
use policy_lang::policy::{Effect, Subject};
use policy_lang::reference::{Access, decide};
use proptest::prelude::*;

use crate::policies::{effects, layered, policies};

const PATTERNS: [&str; 12] = [
    "A", "AB", "ABA", "B", "A*", "*A", "A*B", "*", "AB*", "*B*", "A*A", "BA*",
];

/// Every name of up to four of these letters.
fn names() -> Vec<String> {
    let mut names = vec![String::new()];
    let mut level = names.clone();
    for _ in 0..4 {
        level = level
            .iter()
            .flat_map(|name| ["A", "B", "C"].map(|letter| format!("{name}{letter}")))
            .collect();
        names.extend(level.iter().cloned());
    }
    names
}

fn rules() -> impl Strategy<Value = Vec<(Effect, Subject)>> {
    let names = proptest::collection::vec(proptest::sample::select(&PATTERNS), 1..3);
    let pass = (effects(), names).prop_map(|(effect, names)| {
        let names = names.into_iter().map(str::to_owned).collect();
        (effect, Subject::Pass { names })
    });
    let set = proptest::sample::select(&["A", "AB", "BA"]).prop_map(|name| {
        let (name, value) = (name.to_owned(), "1".to_owned());
        (Effect::Allow, Subject::Set { name, value })
    });
    proptest::collection::vec(prop_oneof![4 => pass, 1 => set], 0..9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn variables_are_decided_as_the_reference_does(policy in policies(rules())) {
        let artifact = emit(&lower(&policy).unwrap());
        for name in names() {
            let expected = decide(&policy, &Access::Environment { name: name.clone() });
            let (effect, rule) = plan::decide(&artifact.environment, &name);
            prop_assert_eq!(
                (format!("{effect:?}"), rule.0),
                (format!("{:?}", expected.effect), expected.rule.0),
                "{}",
                name
            );
        }
    }
}

#[test]
fn layers_that_set_different_values_do_not_compile() {
    let set = |layer, value: &str| {
        let (name, value) = ("A".to_owned(), value.to_owned());
        (Some(layer), (Effect::Allow, Subject::Set { name, value }))
    };
    assert!(lower(&layered(2, vec![set(0, "1"), set(1, "1")])).is_ok());
    let errors = lower(&layered(2, vec![set(0, "1"), set(1, "2")])).unwrap_err();
    assert!(matches!(&errors[..], [error] if matches!(error.reason, Reason::SetTwice { .. })));
}
