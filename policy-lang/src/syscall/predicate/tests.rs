use super::*;

const NARROW: Bits = |width| match width {
    Width::Bits32 => 3,
    Width::Bits64 => 5,
};

fn narrow_holds(condition: &Condition, value: u64) -> bool {
    condition
        .comparison
        .holds(value & ((1 << NARROW(condition.width)) - 1))
}

fn condition(width: Width, comparison: Comparison) -> Condition {
    Condition {
        argument: 1,
        width,
        comparison,
    }
}

fn on_request(comparison: Comparison) -> SyscallSet {
    SyscallSet::call("ioctl")
        .unwrap()
        .with(condition(Width::Bits32, comparison))
}

/// Every comparison with every operand a register of five bits can tell apart, in both widths.
fn every_narrow_condition() -> Vec<Condition> {
    let mut all = Vec::new();
    for width in [Width::Bits32, Width::Bits64] {
        for other in 0..32 {
            all.extend(
                [
                    Comparison::Equal(other),
                    Comparison::NotEqual(other),
                    Comparison::Less(other),
                    Comparison::LessOrEqual(other),
                    Comparison::Greater(other),
                    Comparison::GreaterOrEqual(other),
                ]
                .map(|comparison| condition(width, comparison)),
            );
        }
        for mask in [0, 1, 2, 5, 6, 7, 8, 17, 20, 24, 31] {
            for value in 0..32 {
                all.push(condition(width, Comparison::MaskedEqual { mask, value }));
                all.push(condition(width, Comparison::MaskedNotEqual { mask, value }));
            }
        }
    }
    all
}

/// Small, seeded, and good enough to pick cases.
struct Random(u64);

impl Random {
    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        &from[(self.0 % from.len() as u64) as usize]
    }
}

#[test]
fn satisfiability_and_implication_agree_with_counting_every_value() {
    let all = every_narrow_condition();
    for one in &all {
        let counted = (0..32).any(|value| narrow_holds(one, value));
        assert_eq!(satisfiable(&[*one], NARROW), counted.into(), "{one:?}");
        let opposite = Condition {
            comparison: one.comparison.opposite(),
            ..*one
        };
        assert!(
            (0..32).all(|value| narrow_holds(one, value) != narrow_holds(&opposite, value)),
            "{one:?}"
        );
    }
    let mut random = Random(0x5eed);
    let (mut satisfied, mut implied) = (0, 0);
    for round in 0..60_000 {
        let premises: Vec<Condition> = (0..round % 4).map(|_| *random.pick(&all)).collect();
        let conclusions: Vec<Condition> = (0..1 + round % 2).map(|_| *random.pick(&all)).collect();
        let holds = |set: &[Condition], value| set.iter().all(|condition| narrow_holds(condition, value));
        let counted = (0..32).any(|value| holds(&premises, value));
        assert_eq!(satisfiable(&premises, NARROW), counted.into(), "{premises:?}");
        satisfied += u32::from(counted);
        let counted = (0..32).all(|value| !holds(&premises, value) || holds(&conclusions, value));
        assert_eq!(
            implies(&premises, &conclusions, NARROW),
            counted.into(),
            "{premises:?} => {conclusions:?}"
        );
        implied += u32::from(counted);
    }
    // The cases must be of both kinds, or nothing was tested.
    assert!(
        (10_000..60_000).contains(&satisfied) && (10_000..50_000).contains(&implied),
        "{satisfied} {implied}"
    );
}

#[test]
fn boundaries_of_the_full_width_are_exact() {
    let edges = [
        0,
        1,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x1_0000_0000,
        0x1_0000_0001,
        u64::MAX - 1,
        u64::MAX,
    ];
    for one in edges {
        for other in edges {
            let set = |comparison| {
                SyscallSet::call("brk").unwrap().with(Condition {
                    argument: 0,
                    width: Width::Bits64,
                    comparison,
                })
            };
            let equal = set(Comparison::Equal(one));
            for (comparison, expected) in [
                (Comparison::Equal(other), one == other),
                (Comparison::NotEqual(other), one != other),
                (Comparison::Less(other), one < other),
                (Comparison::LessOrEqual(other), one <= other),
                (Comparison::Greater(other), one > other),
                (Comparison::GreaterOrEqual(other), one >= other),
                (
                    Comparison::MaskedEqual {
                        mask: other,
                        value: other,
                    },
                    one & other == other,
                ),
                (
                    Comparison::MaskedNotEqual {
                        mask: other,
                        value: other,
                    },
                    one & other != other,
                ),
            ] {
                assert_eq!(
                    set(comparison).matches("brk", &[one, 0, 0, 0, 0, 0]),
                    expected,
                    "{one:#x} {comparison:?}"
                );
                assert_eq!(
                    set(comparison).includes(&equal),
                    expected.into(),
                    "{one:#x} {comparison:?}"
                );
            }
            assert_eq!(
                set(Comparison::Less(one)).includes(&set(Comparison::Less(other))),
                (other <= one).into()
            );
        }
    }
}

#[test]
fn high_bits_do_not_slip_past_a_32_bit_comparison() {
    let set = on_request(Comparison::Equal(0x5412));
    assert!(set.matches("ioctl", &[0, 0x5412, 0, 0, 0, 0]));
    assert!(set.matches("ioctl", &[0, 0xdead_0000_0000_5412, 0, 0, 0, 0]));
    assert!(!set.matches("ioctl", &[0x5412, 0, 0, 0, 0, 0]));
    assert!(!set.matches("fcntl", &[0, 0x5412, 0, 0, 0, 0]));
}

#[test]
fn the_same_comparison_in_the_narrow_width_is_the_larger_set() {
    let narrow = on_request(Comparison::Equal(0x5412));
    let wide = SyscallSet::call("ioctl").unwrap().with(Condition {
        width: Width::Bits64,
        ..narrow.conditions[0]
    });
    assert_eq!(narrow.includes(&wide), Proof::Holds);
    assert_eq!(wide.includes(&narrow), Proof::Fails);
}

#[test]
fn a_group_includes_its_calls_and_a_call_its_predicates() {
    let service = SyscallSet::group("@system-service").unwrap();
    let ioctl = SyscallSet::call("ioctl").unwrap();
    let sti = on_request(Comparison::Equal(0x5412));
    assert!(
        service.includes(&ioctl).holds() && ioctl.includes(&sti).holds() && service.includes(&sti).holds()
    );
    assert_eq!(ioctl.includes(&service), Proof::Fails);
    assert_eq!(sti.includes(&ioctl), Proof::Fails);
    assert_eq!(
        service.includes(&SyscallSet::group("@debug").unwrap()),
        Proof::Fails
    );
}

#[test]
fn a_tautology_is_as_large_as_no_condition() {
    let ioctl = SyscallSet::call("ioctl").unwrap();
    for always in [
        Comparison::GreaterOrEqual(0),
        Comparison::LessOrEqual(u64::from(u32::MAX)),
        Comparison::Less(1 << 32),
        Comparison::NotEqual(1 << 32),
        Comparison::MaskedEqual { mask: 0, value: 0 },
    ] {
        assert_eq!(on_request(always).includes(&ioctl), Proof::Holds, "{always:?}");
    }
}

#[test]
fn a_contradiction_is_empty_and_inside_everything() {
    let nothing = on_request(Comparison::Less(5)).with(condition(Width::Bits32, Comparison::Greater(5)));
    assert_eq!(nothing.is_empty(), Proof::Holds);
    assert_eq!(SyscallSet::call("read").unwrap().includes(&nothing), Proof::Holds);
    assert_eq!(on_request(Comparison::Equal(1 << 32)).is_empty(), Proof::Holds);
    assert_eq!(on_request(Comparison::Equal(1)).is_empty(), Proof::Fails);
}

#[test]
fn a_conjunction_that_is_too_hard_is_undecided_rather_than_wrong() {
    // Thirty pairs of bits of which not both may be set: two to the thirty states would be kept.
    let pairs = (0..30).map(|bit| 1 << (63 - bit) | 1 << bit);
    let mut comparisons: Vec<_> = pairs
        .map(|mask| Comparison::MaskedNotEqual { mask, value: mask })
        .collect();
    // And no value near an operand, nor zero, is in it.
    let (middle, lowest, low) = (0b11 << 31, 0b11, (1 << 30) - 1);
    comparisons.push(Comparison::MaskedEqual {
        mask: middle,
        value: middle,
    });
    comparisons.push(Comparison::MaskedEqual {
        mask: lowest,
        value: 0,
    });
    comparisons.push(Comparison::MaskedNotEqual { mask: low, value: 0 });
    let mut hard = SyscallSet::call("brk").unwrap();
    for comparison in comparisons {
        hard = hard.with(Condition {
            argument: 0,
            width: Width::Bits64,
            comparison,
        });
    }
    assert_eq!(hard.is_empty(), Proof::Undecided);
    assert_eq!(SyscallSet::call("brk").unwrap().includes(&hard), Proof::Holds);
}
