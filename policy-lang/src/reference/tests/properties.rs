use proptest::prelude::*;

use super::*;

fn any_effect() -> impl Strategy<Value = Effect> {
    prop_oneof![Just(Allow), Just(Effect::Ask), Just(Deny), Just(Forbid)]
}

fn any_rule() -> impl Strategy<Value = (Effect, Subject)> {
    let name = prop_oneof![Just("a"), Just("b"), Just("*"), Just("a*"), Just("**"), Just("?")];
    let path = prop::collection::vec(name, 1..4).prop_map(|names| format!("/{}", names.join("/")));
    let accesses = prop::sample::subsequence(ALL.to_vec(), 1..=3);
    let file =
        (any_effect(), accesses, path).prop_map(|(effect, accesses, path)| files(effect, &accesses, &path));
    let network =
        (any_effect(), 0u8..=32, 0u32..4, 0u16..4, 0u16..4).prop_map(|(effect, len, address, one, two)| {
            let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
            let address = std::net::Ipv4Addr::from_bits((0x0a00_0000 | address) & mask);
            connect_tcp(
                effect,
                &format!("{address}/{len}:{}-{}", one.min(two), one.max(two)),
            )
        });
    let comparison = (0u64..4, 0u8..6).prop_map(|(operand, kind)| match kind {
        0 => Comparison::Equal(operand),
        1 => Comparison::NotEqual(operand),
        2 => Comparison::LessOrEqual(operand),
        3 => Comparison::Greater(operand),
        4 => Comparison::MaskedEqual {
            mask: 1,
            value: operand & 1,
        },
        _ => Comparison::MaskedNotEqual {
            mask: 3,
            value: operand,
        },
    });
    let calls = (any_effect(), prop::collection::vec(comparison, 0..3)).prop_map(|(effect, comparisons)| {
        let set = comparisons
            .into_iter()
            .fold(SyscallSet::call("ioctl").unwrap(), |set, comparison| {
                set.with(Condition {
                    argument: 1,
                    width: Width::Bits32,
                    comparison,
                })
            });
        syscall(effect, set)
    });
    let group = (any_effect(), prop_oneof![Just("@system-service"), Just("@known")])
        .prop_map(|(effect, group)| syscall(effect, SyscallSet::group(group).unwrap()));
    prop_oneof![4 => file, 3 => network, 3 => calls, 1 => group]
}

fn any_access() -> impl Strategy<Value = Access> {
    let name = prop_oneof![Just("a"), Just("b"), Just("ab"), Just("c")];
    let path = prop::collection::vec(name, 0..4).prop_map(|names| format!("/{}", names.join("/")));
    prop_oneof![
        (prop::sample::select(ALL.to_vec()), path).prop_map(|(access, path)| file(access, &path)),
        (0u32..5, 0u16..5).prop_map(|(address, port)| {
            connect(
                &std::net::Ipv4Addr::from_bits(0x0a00_0000 | address).to_string(),
                port,
            )
        }),
        (0u64..5).prop_map(|request| call("ioctl", [0, request, 0, 0, 0, 0])),
    ]
}

proptest! {
    #[test]
    fn the_order_of_rules_never_changes_the_effect(
        (rules, shuffled) in prop::collection::vec(any_rule(), 0..8)
            .prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        accesses in prop::collection::vec(any_access(), 8),
    ) {
        let (one, two) = (policy(rules), policy(shuffled));
        for access in &accesses {
            prop_assert_eq!(effect(&one, access), effect(&two, access));
        }
    }

    #[test]
    fn a_forbid_is_absolute_and_adding_one_opens_nothing(
        rules in prop::collection::vec(any_rule(), 0..8),
        (_, forbidden) in any_rule(),
        access in any_access(),
    ) {
        let before = policy(rules.clone());
        let alone = policy([(Forbid, forbidden.clone())]);
        let after = policy(rules.into_iter().chain([(Forbid, forbidden)]));
        // The new rule makes its accesses forbidden; to the others it means nothing at all.
        let expected = if effect(&alone, &access) == Forbid { Forbid } else { effect(&before, &access) };
        prop_assert_eq!(effect(&after, &access), expected);
    }

    #[test]
    fn nothing_is_allowed_that_no_rule_allows(
        rules in prop::collection::vec(any_rule(), 0..8),
        access in any_access(),
    ) {
        let all = policy(rules.clone());
        let granting = rules.into_iter().filter(|(effect, _)| *effect == Allow);
        if effect(&all, &access) == Allow {
            prop_assert_eq!(effect(&policy(granting), &access), Allow);
        }
    }

    #[test]
    fn the_decider_is_the_one_that_standings_name(
        rules in prop::collection::vec(any_rule(), 0..8),
        access in any_access(),
    ) {
        let policy = policy(rules);
        let deciding: Vec<RuleId> = standings(&policy, &access)
            .into_iter()
            .filter_map(|(rule, standing)| (standing == Standing::Decides).then_some(rule))
            .collect();
        prop_assert_eq!(deciding, [decide(&policy, &access).rule]);
    }
}
