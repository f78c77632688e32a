//! Grants held against ceilings: no sampled access contradicts "inside", and every witness is decided as it is said.

use compiler::check::ceiling::{Finding, ceiling};
use policy_lang::policy::{Effect, LayerId, Policy, RuleId};
use policy_lang::reference::{Access, decide_in};
use proptest::prelude::*;

use super::generate::{accesses, rules, small_world};
use super::rules::policy;

fn is_sound(policy: &Policy, finding: &Finding) {
    let rule = policy.rule(finding.rule).unwrap();
    let layer = rule.layer.unwrap();
    let own = decide_in(layer, policy, &finding.witness);
    assert_eq!(own.rule, finding.rule, "{finding:?}");
    assert!(own.effect < Effect::Deny, "{finding:?}");
    assert!(finding.ceiling > layer, "{finding:?}");
    let above = decide_in(finding.ceiling, policy, &finding.witness);
    assert!(above.effect >= Effect::Deny, "{finding:?}");
    assert_eq!(
        above.rule,
        finding.refused_by.unwrap_or(RuleId::DEFAULT),
        "{finding:?}"
    );
}

/// What a layer allows and a ceiling of it says nothing of is found, at that rule.
fn is_complete(policy: &Policy, found: &[Finding], access: &Access) {
    let layers: Vec<LayerId> = (0..).map(LayerId).take(policy.layers.len()).collect();
    for (at, &layer) in layers.iter().enumerate() {
        let own = decide_in(layer, policy, access);
        for &above in layers.iter().skip(at + 1) {
            let is_beyond =
                own.effect < Effect::Deny && decide_in(above, policy, access).rule == RuleId::DEFAULT;
            assert!(
                !is_beyond || found.iter().any(|finding| finding.rule == own.rule),
                "{access} is beyond {above:?}: {found:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sampled_access_is_beyond_a_ceiling_unfound(
        rules in rules(3),
        sampled in prop::collection::vec(accesses(), 60),
    ) {
        let policy = policy(rules);
        let findings = ceiling(&policy);
        prop_assert!(findings.undecided.is_empty());
        for finding in &findings.beyond {
            is_sound(&policy, finding);
        }
        for access in &sampled {
            is_complete(&policy, &findings.beyond, access);
        }
    }

    #[test]
    fn a_grant_that_a_rule_refuses_in_part_is_left_alone(rules in rules(2)) {
        let policy = policy(rules);
        let findings = ceiling(&policy);
        let refused = findings.beyond.iter().filter(|finding| finding.refused_by.is_some());
        for finding in refused {
            // Nothing of a small world is left of a grant of which nothing is said to be left.
            for access in small_world() {
                let own = decide_in(LayerId(0), &policy, &access);
                let above = decide_in(LayerId(1), &policy, &access);
                prop_assert!(
                    own.rule != finding.rule || above.effect >= Effect::Deny,
                    "{} is left of {:?}", access, finding
                );
            }
        }
    }
}
