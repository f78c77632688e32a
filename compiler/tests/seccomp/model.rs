//! Random policies: the filter in the interpreter against the reference semantics.

use std::collections::BTreeSet;

use artifact::seccomp::Architecture;
use compiler::seccomp::constant_allow::is_constant_allow;
use compiler::seccomp::interpret::{SeccompData, check};
use compiler::seccomp::{Verdict, bpf, language_architecture};
use policy_lang::policy::{Effect, Policy, RuleId};
use policy_lang::reference::{Access, Decision, decide};
use policy_lang::syscall::{Comparison, Condition, SyscallSet, Width, table};
use proptest::prelude::*;

use crate::policies::{ARCHITECTURES, boundaries, call, filter, group, layered, policy, run, when};

/// Neighbours in the table, calls one architecture lacks, and calls whose arguments policies look at.
const CALLS: [&str; 14] = [
    "read",
    "write",
    "open",
    "openat",
    "close",
    "socket",
    "socketpair",
    "connect",
    "ioctl",
    "fcntl",
    "clone",
    "clone3",
    "personality",
    "prctl",
];

/// Few values, so that the conditions of a policy meet.
const VALUES: [u64; 12] = [
    0,
    1,
    2,
    3,
    7,
    16,
    0x5412,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_0003,
    u64::MAX,
];

fn comparison() -> impl Strategy<Value = Comparison> {
    let value = || prop::sample::select(&VALUES[..]);
    (0..8_u8, value(), value()).prop_map(|(kind, value, mask)| match kind {
        0 => Comparison::Equal(value),
        1 => Comparison::NotEqual(value),
        2 => Comparison::Less(value),
        3 => Comparison::LessOrEqual(value),
        4 => Comparison::Greater(value),
        5 => Comparison::GreaterOrEqual(value),
        6 => Comparison::MaskedEqual {
            mask,
            value: value & mask,
        },
        _ => Comparison::MaskedNotEqual {
            mask,
            value: value & mask,
        },
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    let width = prop_oneof![Just(Width::Bits32), Just(Width::Bits64)];
    (0..2_u8, width, comparison()).prop_map(|(argument, width, comparison)| when(argument, width, comparison))
}

fn target() -> impl Strategy<Value = SyscallSet> {
    let name = || prop::sample::select(&CALLS[..]);
    prop_oneof![
        3 => (name(), prop::collection::vec(condition(), 1..4)).prop_map(|(name, conditions)| {
            conditions.into_iter().fold(call(name), SyscallSet::with)
        }),
        1 => prop::collection::btree_set(name(), 1..6).prop_map(|names| SyscallSet {
            names: names.into_iter().map(str::to_owned).collect(),
            conditions: Vec::new(),
        }),
        1 => prop::sample::subsequence(table::names().collect::<Vec<_>>(), 1..300).prop_map(|names| SyscallSet {
            names: names.into_iter().map(str::to_owned).collect(),
            conditions: Vec::new(),
        }),
        1 => prop::sample::select(table::group_names().collect::<Vec<_>>()).prop_map(group),
    ]
}

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![
        6 => Just(Effect::Allow),
        1 => Just(Effect::Ask),
        3 => Just(Effect::Deny),
        1 => Just(Effect::Forbid),
    ]
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let rule = (effect(), prop::collection::vec(target(), 1..3));
    let layer = prop_oneof![1 => Just(None), 3 => Just(Some(0)), 3 => Just(Some(1)), 1 => Just(Some(2))];
    let layers = prop_oneof![Just(vec![Some(0); 9]), prop::collection::vec(layer, 9)];
    (prop::collection::vec(rule, 0..9), layers).prop_map(|(rules, layers)| layered(policy(rules), &layers))
}

/// Arguments on both sides of everything the policy compares.
fn samples(policy: &Policy, name: &str) -> Vec<[u64; 6]> {
    let mut values: [BTreeSet<u64>; 2] = [BTreeSet::from([0]), BTreeSet::from([0])];
    for rule in &policy.rules {
        let policy_lang::policy::Subject::Syscall { targets } = &rule.subject else {
            continue;
        };
        for condition in targets
            .iter()
            .filter(|set| set.names.contains(name))
            .flat_map(|set| &set.conditions)
        {
            let operands = match condition.comparison {
                Comparison::Equal(value)
                | Comparison::NotEqual(value)
                | Comparison::Less(value)
                | Comparison::LessOrEqual(value)
                | Comparison::Greater(value)
                | Comparison::GreaterOrEqual(value) => vec![value],
                Comparison::MaskedEqual { mask, value } | Comparison::MaskedNotEqual { mask, value } => {
                    vec![value, mask, value | !mask]
                }
            };
            values[usize::from(condition.argument)].extend(operands.into_iter().flat_map(boundaries));
        }
    }
    let [first, second] = values;
    let mut samples = Vec::new();
    for a in &first {
        // All pairs would be too many: each value meets some of the others, differently each time.
        for b in second
            .iter()
            .skip(samples.len() % 5)
            .step_by(1 + second.len() / 8)
        {
            samples.push([*a, *b, u64::MAX, 0, 1 << 32, 7]);
        }
    }
    samples
}

fn expected(policy: &Policy, architecture: Architecture, number: u32, arguments: [u64; 6]) -> Decision {
    let architecture = language_architecture(architecture);
    decide(
        policy,
        &Access::Syscall {
            architecture,
            number,
            arguments,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_filter_decides_as_the_language_does(policy in any_policy()) {
        for architecture in ARCHITECTURES {
            let filter = filter(&policy, architecture);
            let program = check(&filter.program).unwrap();
            for (name, number) in table::calls(language_architecture(architecture)) {
                for arguments in samples(&policy, name) {
                    let decision = expected(&policy, architecture, number, arguments);
                    let action = run(&program, architecture, number, arguments);
                    if ["clone3", "openat2"].contains(&name) && action == Verdict::Unknown.action() {
                        // Their flags cannot be seen: they go with their plain siblings, see the tests on calls.
                        continue;
                    }
                    let verdict = if decision.effect == Effect::Allow { Verdict::Allow } else { Verdict::Refuse };
                    prop_assert_eq!(action, verdict.action(), "{} {:x?} by {:?}", name, arguments, decision.rule);

                    let listed = filter.refusals.iter().find(|refusal| refusal.number == number);
                    let reason = artifact::RuleId(decision.rule.0);
                    if verdict == Verdict::Refuse && (decision.rule != RuleId::DEFAULT || listed.is_some()) {
                        prop_assert!(
                            listed.is_some_and(|refusal| refusal.rules.contains(&reason)),
                            "{} is refused by {:?}, and only {:?} are named", name, reason, listed
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_unconditional_allow_is_cached_by_the_kernel(policy in any_policy()) {
        for architecture in ARCHITECTURES {
            let filter = filter(&policy, architecture);
            let arch = bpf::audit_arch(architecture);
            for (name, number) in table::calls(language_architecture(architecture)) {
                let conditional = policy.rules.iter().any(|rule| match &rule.subject {
                    policy_lang::policy::Subject::Syscall { targets } => {
                        targets.iter().any(|set| set.names.contains(name) && !set.conditions.is_empty())
                    }
                    _ => false,
                });
                let constant = is_constant_allow(&filter.program, arch, number);
                let allowed = expected(&policy, architecture, number, [0; 6]).effect == Effect::Allow;
                if !conditional && !["clone3", "openat2"].contains(&name) {
                    prop_assert_eq!(constant, allowed, "{}", name);
                }
                if constant {
                    // Cached means: never looked at again. No argument may make a difference.
                    for arguments in samples(&policy, name) {
                        prop_assert_eq!(expected(&policy, architecture, number, arguments).effect, Effect::Allow);
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_without_a_name_are_unknown_and_foreign_calls_kill(
        policy in any_policy(),
        number in any::<u32>(),
        arch in any::<u32>(),
    ) {
        for architecture in ARCHITECTURES {
            let filter = filter(&policy, architecture);
            let program = check(&filter.program).unwrap();
            let language = language_architecture(architecture);
            let highest = table::highest_number(language);
            let named: BTreeSet<u32> = table::calls(language).map(|(_, number)| number).collect();
            let edges = [highest + 1, highest + 2, 511, 512, 1023, 0x3fff_ffff, 0x8000_0000, 0xbfff_ffff, u32::MAX];
            for number in (0..=highest).chain(edges).chain([number]).filter(|number| !named.contains(number)) {
                let x32 = architecture == Architecture::X86_64 && number & bpf::X32_BIT != 0 && number != u32::MAX;
                let wanted = if x32 { Verdict::Kill } else { Verdict::Unknown };
                prop_assert_eq!(run(&program, architecture, number, [0; 6]), wanted.action(), "{:#x}", number);
                prop_assert_eq!(expected(&policy, architecture, number, [0; 6]).rule, RuleId::DEFAULT);
            }
            for number in named.iter().copied().chain([number]) {
                if architecture == Architecture::X86_64 {
                    let data = SeccompData {
                        number: number | bpf::X32_BIT,
                        architecture: bpf::audit_arch(architecture),
                        ..SeccompData::default()
                    };
                    if data.number != u32::MAX {
                        prop_assert_eq!(program.run(&data).action, Verdict::Kill.action());
                    }
                }
                // i386, arm, riscv64, s390x, none, the other one of ours, and any.
                for foreign in [0x4000_0003, 0x4000_0028, 0xc000_00f3, 0x8000_0016, 0, 0xc000_003e, 0xc000_00b7, arch] {
                    if foreign == bpf::audit_arch(architecture) {
                        continue;
                    }
                    let data = SeccompData { number, architecture: foreign, ..SeccompData::default() };
                    prop_assert_eq!(program.run(&data).action, Verdict::Kill.action());
                    prop_assert!(!is_constant_allow(&filter.program, foreign, number));
                }
            }
        }
    }

    #[test]
    fn the_same_policy_gives_the_same_filter(policy in any_policy()) {
        for architecture in ARCHITECTURES {
            prop_assert_eq!(filter(&policy, architecture), filter(&policy.clone(), architecture));
        }
    }
}
