//! Particular calls: `clone3`, socket families, filters at the limit.

use compiler::seccomp::disassemble::disassemble;
use compiler::seccomp::{GenerateError, Verdict, bpf, generate};
use policy_lang::policy::{Effect, RuleId};
use policy_lang::syscall::{Architecture, Comparison, Width, table};

use crate::policies::{ARCHITECTURES, answer, call, filter, group, policy, when};

const CLONE_NEWUSER: u64 = 0x1000_0000;

#[test]
fn clone3_seems_not_to_exist_where_the_flags_of_clone_are_filtered() {
    let namespaces = when(
        0,
        Width::Bits64,
        Comparison::MaskedNotEqual {
            mask: CLONE_NEWUSER,
            value: 0,
        },
    );
    let allow = || (Effect::Allow, vec![group("@known")]);
    let filtered = policy(vec![
        allow(),
        (Effect::Forbid, vec![call("clone").with(namespaces)]),
    ]);
    let free = policy(vec![allow()]);
    let refused = policy(vec![allow(), (Effect::Deny, vec![call("clone3")])]);
    for architecture in ARCHITECTURES {
        for (policy, verdict) in [
            (&filtered, Verdict::Unknown),
            (&free, Verdict::Allow),
            (&refused, Verdict::Unknown),
        ] {
            assert_eq!(
                answer(&filter(policy, architecture), 435, [0; 6]),
                verdict.action()
            );
        }
    }
}

#[test]
fn a_more_specific_rule_opens_what_a_wider_one_closes() {
    let unix = || when(0, Width::Bits32, Comparison::Equal(1));
    let stream = when(1, Width::Bits32, Comparison::MaskedEqual { mask: 0xf, value: 1 });
    let policy = policy(vec![
        (Effect::Allow, vec![call("socket")]),
        (Effect::Deny, vec![call("socket").with(unix())]),
        (Effect::Allow, vec![call("socket").with(unix()).with(stream)]),
    ]);
    let filter = filter(&policy, ARCHITECTURES[0]);
    let socket = |family, kind| answer(&filter, 41, [family, kind, 0, 0, 0, 0]);
    assert_eq!(socket(2, 2), Verdict::Allow.action());
    assert_eq!(socket(1, 2), Verdict::Refuse.action());
    assert_eq!(socket(1, 1), Verdict::Allow.action());
    assert_eq!(socket(1, 1 | 0o2_000_000), Verdict::Allow.action());
    assert_eq!(filter.refusals.len(), 1, "{:?}", filter.refusals);
    assert_eq!(filter.refusals[0].rules, [artifact::RuleId(2)]);
}

#[test]
fn calls_that_no_rule_speaks_of_have_no_entry() {
    let policy = policy(vec![
        (Effect::Allow, vec![call("read")]),
        (Effect::Forbid, vec![call("bpf")]),
    ]);
    for architecture in ARCHITECTURES {
        let filter = filter(&policy, architecture);
        let names: Vec<&str> = filter
            .refusals
            .iter()
            .map(|refusal| refusal.name.as_str())
            .collect();
        assert_eq!(names, ["bpf"]);
    }
}

/// Allows one value in two of one argument, for so many calls.
fn many_conditions(calls: &[&str], values: u64) -> Vec<(Effect, Vec<policy_lang::syscall::SyscallSet>)> {
    let target = |name: &&str, seed: u64| {
        (0..values)
            .map(|value| {
                call(name).with(when(
                    0,
                    Width::Bits64,
                    Comparison::Equal(value << 33 | (2 * value + seed)),
                ))
            })
            .collect::<Vec<_>>()
    };
    calls
        .iter()
        .zip(0..)
        .map(|(name, seed)| (Effect::Allow, target(name, seed)))
        .collect()
}

#[test]
fn jumps_longer_than_255_instructions_reach_their_end() {
    let calls = ["read", "write", "openat", "ioctl", "fcntl", "prctl", "socket"];
    let policy = policy(many_conditions(&calls, 80));
    for architecture in ARCHITECTURES {
        let filter = filter(&policy, architecture);
        assert!(filter.program.len() > 3 * 255, "{}", filter.program.len());
        let language = compiler::seccomp::language_architecture(architecture);
        for (name, seed) in calls.iter().zip(0..) {
            let number = table::number(name, language).unwrap();
            for value in 0..80_u64 {
                let right = value << 33 | (2 * value + seed);
                assert_eq!(
                    answer(&filter, number, [right, 0, 0, 0, 0, 0]),
                    Verdict::Allow.action()
                );
                for wrong in [right + 1, right ^ 1 << 32, right ^ 1 << 63] {
                    assert_eq!(
                        answer(&filter, number, [wrong, 0, 0, 0, 0, 0]),
                        Verdict::Refuse.action()
                    );
                }
            }
        }
    }
}

#[test]
fn a_filter_longer_than_the_kernel_takes_is_refused() {
    let calls = table::names()
        .filter(|name| table::number(name, Architecture::X86_64).is_some())
        .take(25);
    let error = generate(
        &policy(many_conditions(&calls.collect::<Vec<_>>(), 120)),
        ARCHITECTURES[0],
    )
    .map(|filter| filter.program.len())
    .unwrap_err();
    let GenerateError::TooLong { instructions, .. } = error else {
        panic!("{error:?}");
    };
    assert!(instructions > bpf::MAX_INSTRUCTIONS);
    let message = error.to_string();
    assert!(
        message.contains("at most 4096") && message.contains(&instructions.to_string()),
        "{message}"
    );
}

#[test]
fn conditions_that_cannot_be_told_apart_are_refused_in_bounded_time() {
    let bit = |bit: u32| {
        when(
            0,
            Width::Bits64,
            Comparison::MaskedEqual {
                mask: 5 << bit,
                value: 4 << bit,
            },
        )
    };
    let other = |bit: u32| {
        when(
            1,
            Width::Bits64,
            Comparison::MaskedNotEqual {
                mask: 5 << bit,
                value: 1 << bit,
            },
        )
    };
    let rules = (0..24).map(|n| {
        let effect = if n % 2 == 0 { Effect::Allow } else { Effect::Deny };
        (effect, vec![call("ioctl").with(bit(2 * n)).with(other(2 * n))])
    });
    let error = generate(&policy(rules.collect()), ARCHITECTURES[0])
        .map(|filter| filter.program.len())
        .unwrap_err();
    let GenerateError::TooComplex { call, rules } = error else {
        panic!("{error:?}");
    };
    assert_eq!((call, rules.len(), rules[0]), ("ioctl", 24, RuleId(1)));
}

#[test]
fn a_filter_reads_as_text() {
    let tiocsti = when(1, Width::Bits32, Comparison::Equal(0x5412));
    let policy = policy(vec![
        (Effect::Allow, vec![call("read"), call("ioctl")]),
        (Effect::Forbid, vec![call("ioctl").with(tiocsti)]),
    ]);
    insta::assert_snapshot!(disassemble(&filter(&policy, ARCHITECTURES[0])));
}
