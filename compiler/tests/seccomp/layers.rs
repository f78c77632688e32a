//! Filters of policies beneath ceilings.

use artifact::RuleId as ArtifactRuleId;
use compiler::seccomp::constant_allow::is_constant_allow;
use compiler::seccomp::{Verdict, bpf};
use policy_lang::policy::{Effect, LayerId, Policy, RuleId, Subject};
use policy_lang::syscall::{Comparison, SyscallSet, Width, table};

use crate::default_policy::default_policy;
use crate::policies::{ARCHITECTURES, answer, call, filter, group, layered, policy, rule, when};

/// The default policy with its own rules said once in each of some layers.
fn repeated(layers: u8) -> Policy {
    let mut policy = default_policy();
    let floor = policy_lang::floor::rules().len();
    let own: Vec<_> = policy.rules.drain(floor..).collect();
    policy.layers = vec![policy.layers[0].clone(); usize::from(layers)];
    for layer in (0..layers).map(LayerId) {
        for rule in &own {
            let id = RuleId(u32::try_from(policy.rules.len()).unwrap());
            policy.rules.push(policy_lang::policy::Rule {
                id,
                layer: Some(layer),
                ..rule.clone()
            });
        }
    }
    policy
}

#[test]
fn a_ceiling_that_says_the_same_costs_no_instruction() {
    for architecture in ARCHITECTURES {
        let alone = filter(&default_policy(), architecture).program;
        for layers in 1..=8 {
            assert_eq!(filter(&repeated(layers), architecture).program, alone, "{layers}");
        }
    }
}

#[test]
fn what_every_layer_allows_without_conditions_is_cached_and_the_rest_refused() {
    let rules = vec![
        (Effect::Allow, vec![group("@system-service")]),
        (Effect::Allow, vec![group("@basic-io"), group("@file-system")]),
    ];
    let policy = layered(policy(rules), &[Some(0), Some(1)]);
    for architecture in ARCHITECTURES {
        let filter = filter(&policy, architecture);
        let language = compiler::seccomp::language_architecture(architecture);
        let cached = |name: &str| {
            let number = table::number(name, language).unwrap();
            is_constant_allow(&filter.program, bpf::audit_arch(architecture), number)
        };
        assert!(cached("read") && cached("openat"));
        let number = table::number("setuid", language).unwrap();
        assert_eq!(answer(&filter, number, [0; 6]), Verdict::Refuse.action());
    }
}

#[test]
fn a_refusal_names_the_rules_of_both_layers_the_strictest_first() {
    let conditional = |value| call("ioctl").with(when(1, Width::Bits32, Comparison::Equal(value)));
    let rules = vec![
        (Effect::Allow, vec![call("ioctl")]),
        (Effect::Deny, vec![conditional(1)]),
        (Effect::Allow, vec![call("ioctl")]),
        (Effect::Forbid, vec![conditional(2)]),
    ];
    let policy = layered(policy(rules), &[Some(0), Some(0), Some(1), Some(1)]);
    for architecture in ARCHITECTURES {
        let filter = filter(&policy, architecture);
        let language = compiler::seccomp::language_architecture(architecture);
        let number = table::number("ioctl", language).unwrap();
        let refusal = filter.refusals.iter().find(|refusal| refusal.number == number);
        assert_eq!(refusal.unwrap().rules, [ArtifactRuleId(4), ArtifactRuleId(2)]);
        for (request, verdict) in [(0, Verdict::Allow), (1, Verdict::Refuse), (2, Verdict::Refuse)] {
            assert_eq!(
                answer(&filter, number, [3, request, 0, 0, 0, 0]),
                verdict.action()
            );
        }
    }
}

/// Each layer asks something else of the same call: together more than either, and still one small filter.
#[test]
fn eight_layers_with_different_conditions_fit() {
    let mut rules = Vec::new();
    let mut layers = Vec::new();
    for layer in 0..8_u8 {
        let value = 0x5400 + u64::from(layer);
        let denied = call("ioctl").with(when(1, Width::Bits32, Comparison::Equal(value)));
        rules.push((Effect::Allow, vec![group("@system-service")]));
        rules.push((Effect::Deny, vec![denied]));
        layers.extend([Some(layer), Some(layer)]);
    }
    let policy = layered(policy(rules), &layers);
    for architecture in ARCHITECTURES {
        assert!(filter(&policy, architecture).program.len() < 200);
    }
}

#[test]
fn a_layer_without_a_rule_on_system_calls_refuses_all_of_them() {
    let everything = SyscallSet::group("@known").unwrap();
    let mut policy = layered(policy(vec![(Effect::Allow, vec![everything])]), &[Some(0)]);
    policy.layers.push(policy.layers[0].clone());
    policy.rules.push(rule(
        RuleId(2),
        Effect::Allow,
        Subject::Pass {
            names: vec!["PATH".to_owned()],
        },
    ));
    for architecture in ARCHITECTURES {
        let filter = filter(&policy, architecture);
        assert_eq!(answer(&filter, 0, [0; 6]), Verdict::Refuse.action());
    }
}
