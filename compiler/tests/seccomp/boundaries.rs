//! Every comparison, at and around every boundary, in both widths.

use crate::policies::{ARCHITECTURES, answer, boundaries, call, filter, policy, when};
use compiler::seccomp::Verdict;
use policy_lang::policy::Effect;
use policy_lang::syscall::{Comparison, Width, table};

const VALUES: [u64; 13] = [
    0,
    1,
    2,
    0x5412,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_0001,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_0000_0000,
    u64::MAX,
];

fn comparisons(value: u64) -> Vec<Comparison> {
    let mut all = vec![
        Comparison::Equal(value),
        Comparison::NotEqual(value),
        Comparison::Less(value),
        Comparison::LessOrEqual(value),
        Comparison::Greater(value),
        Comparison::GreaterOrEqual(value),
    ];
    for mask in [
        value,
        u64::MAX,
        0xffff,
        0xffff_0000_0000,
        0x8000_0000,
        1 << 63,
        0x1_0000_0001,
    ] {
        let value = value & mask;
        all.extend([
            Comparison::MaskedEqual { mask, value },
            Comparison::MaskedNotEqual { mask, value },
        ]);
    }
    all
}

/// Worked out here, in wide arithmetic, and not with the code under test.
fn holds(comparison: Comparison, width: Width, register: u64) -> bool {
    let seen = match width {
        Width::Bits32 => u128::from(register) % (1 << 32),
        Width::Bits64 => u128::from(register),
    };
    match comparison {
        Comparison::Equal(value) => seen == u128::from(value),
        Comparison::NotEqual(value) => seen != u128::from(value),
        Comparison::Less(value) => seen < u128::from(value),
        Comparison::LessOrEqual(value) => seen <= u128::from(value),
        Comparison::Greater(value) => seen > u128::from(value),
        Comparison::GreaterOrEqual(value) => seen >= u128::from(value),
        Comparison::MaskedEqual { mask, value } => seen & u128::from(mask) == u128::from(value),
        Comparison::MaskedNotEqual { mask, value } => seen & u128::from(mask) != u128::from(value),
    }
}

#[test]
fn a_comparison_is_exact_at_every_boundary() {
    let mut checked = 0_u32;
    for architecture in ARCHITECTURES {
        for argument in [0, 5] {
            for value in VALUES {
                for comparison in comparisons(value) {
                    for width in [Width::Bits32, Width::Bits64] {
                        let condition = when(argument, width, comparison);
                        let policy = policy(vec![(Effect::Allow, vec![call("fcntl").with(condition)])]);
                        let filter = filter(&policy, architecture);
                        let number =
                            table::number("fcntl", compiler::seccomp::language_architecture(architecture))
                                .unwrap();
                        for register in boundaries(value) {
                            let mut arguments = [0x5555_aaaa_3333_cccc; 6];
                            arguments[usize::from(argument)] = register;
                            let wanted = if holds(comparison, width, register) {
                                Verdict::Allow
                            } else {
                                Verdict::Refuse
                            };
                            assert_eq!(
                                answer(&filter, number, arguments),
                                wanted.action(),
                                "{condition:?} on {register:#x}"
                            );
                            checked += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(checked > 20_000, "only {checked} registers were tried");
}

#[test]
fn high_bits_do_not_slip_past_a_32_bit_comparison() {
    let tiocsti = when(1, Width::Bits32, Comparison::Equal(0x5412));
    let policy = policy(vec![
        (Effect::Allow, vec![call("ioctl")]),
        (Effect::Forbid, vec![call("ioctl").with(tiocsti)]),
    ]);
    let filter = filter(&policy, ARCHITECTURES[0]);
    let ioctl = |request| answer(&filter, 16, [0, request, 0, 0, 0, 0]);
    for request in [0x5412, 0x5412 | 1 << 32, 0x5412 | 1 << 63, 0xffff_ffff_0000_5412] {
        assert_eq!(ioctl(request), Verdict::Refuse.action(), "{request:#x}");
    }
    for request in [0x5411, 0x5413, 0x5412_0000_0000, 0x5412_5413] {
        assert_eq!(ioctl(request), Verdict::Allow.action(), "{request:#x}");
    }
}
