//! The running kernel against the interpreter: the same filter, the same calls, the same answers.
//!
//! Needs no privilege: a process that gives up new privileges may load a filter.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod child;
#[path = "../seccomp/policies.rs"]
#[allow(dead_code, reason = "shared with the tests against the model")]
mod policies;

use artifact::seccomp::{Architecture, SeccompFilter};
use child::{Call, End, make_calls};
use compiler::seccomp::{Verdict, bpf, generate, language_architecture};
use policies::{answer, boundaries, call, filter, group, policy, when};
use policy_lang::policy::{Effect, Policy};
use policy_lang::syscall::{Comparison, SyscallSet, Width, table};

#[cfg(target_arch = "x86_64")]
const HERE: Architecture = Architecture::X86_64;
#[cfg(target_arch = "aarch64")]
const HERE: Architecture = Architecture::Aarch64;

fn number(name: &str) -> u32 {
    table::number(name, language_architecture(HERE)).unwrap()
}

/// Makes the calls, and asserts that the kernel answered as the interpreter says. A call that the filter lets
/// through must not fail with `EPERM` or `ENOSYS` by itself.
fn assert_kernel_agrees(filter: &SeccompFilter, calls: &[Call]) {
    let End::Errnos(errnos) = make_calls(&filter.program, calls) else {
        panic!(
            "the child was killed, or the filter not loaded: {:?}",
            make_calls(&filter.program, &[])
        );
    };
    for (call, errno) in calls.iter().zip(errnos) {
        let wanted = answer(filter, call.number, call.arguments);
        if wanted == Verdict::Allow.action() {
            assert!(
                ![libc::EPERM, libc::ENOSYS].contains(&errno),
                "{call:x?} was refused with {errno}"
            );
        } else {
            assert_eq!(bpf::ERRNO | errno.unsigned_abs(), wanted, "{call:x?}");
        }
    }
}

/// Allows what the child needs to end, and these.
fn with_exit(mut rules: Vec<(Effect, Vec<SyscallSet>)>) -> Policy {
    rules.insert(0, (Effect::Allow, vec![call("exit_group")]));
    policy(rules)
}

#[test]
fn argument_comparisons_hold_on_the_kernel() {
    let values = [
        0,
        1,
        0x5412,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x1_0000_0000,
        0x1_0000_0001,
        u64::MAX,
    ];
    let comparisons = |value: u64| {
        [
            Comparison::Equal(value),
            Comparison::NotEqual(value),
            Comparison::Less(value),
            Comparison::LessOrEqual(value),
            Comparison::Greater(value),
            Comparison::GreaterOrEqual(value),
            Comparison::MaskedEqual {
                mask: 0x8000_0000_ffff_0001,
                value: value & 0x8000_0000_ffff_0001,
            },
            Comparison::MaskedNotEqual {
                mask: value | 2,
                value,
            },
        ]
    };
    let mut made = 0;
    for value in values {
        for comparison in comparisons(value) {
            for width in [Width::Bits32, Width::Bits64] {
                // The third argument of fcntl is a full register, and -1 is no descriptor: EBADF if let through.
                let condition = when(2, width, comparison);
                let policy = with_exit(vec![(Effect::Allow, vec![call("fcntl").with(condition)])]);
                let calls: Vec<Call> = boundaries(value)
                    .into_iter()
                    .map(|register| Call {
                        number: number("fcntl"),
                        arguments: [u64::MAX, 1, register, 0, 0, 0],
                    })
                    .collect();
                assert_kernel_agrees(&filter(&policy, HERE), &calls);
                made += calls.len();
            }
        }
    }
    assert!(made > 2_000, "only {made} calls were made");
}

/// The floor and `@system-service`, as the quickstart has it.
fn default_policy() -> Policy {
    let mut policy = policy(Vec::new());
    policy.rules = policy_lang::floor::rules();
    let id = policy_lang::policy::RuleId(u32::try_from(policy.rules.len()).unwrap());
    let subject = policy_lang::policy::Subject::Syscall {
        targets: vec![group("@system-service")],
    };
    policy.rules.push(policies::rule(id, Effect::Allow, subject));
    policy
}

#[test]
fn every_call_that_the_default_policy_refuses_is_refused_by_the_kernel() {
    let filter = filter(&default_policy(), HERE);
    let highest = table::highest_number(language_architecture(HERE));
    // Arguments that do nothing should a call get through after all: invalid addresses, descriptors and ids.
    let calls: Vec<Call> = (0..=highest + 20)
        .map(|number| Call {
            number,
            arguments: [u64::MAX; 6],
        })
        .filter(|call| answer(&filter, call.number, call.arguments) != Verdict::Allow.action())
        .collect();
    assert!(calls.len() > 100, "{}", calls.len());
    assert_kernel_agrees(&filter, &calls);
}

#[test]
fn sockets_terminals_modes_and_namespaces_are_told_apart_by_the_kernel() {
    let filter = filter(&default_policy(), HERE);
    let mut calls = Vec::new();
    for family in [0, 1, 2, 3, 10, 16, 17, 38, 40, 44] {
        for high in [0, 1 << 32] {
            // A datagram socket of each family; none needs a privilege.
            calls.push(Call {
                number: number("socket"),
                arguments: [family | high, 2, 0, 0, 0, 0],
            });
        }
    }
    for request in [
        0x5401,
        0x5411,
        0x5412,
        0x5413,
        0x541c,
        0x5423,
        0x5412 | 1 << 32,
        0x5412_0000_0000,
    ] {
        calls.push(Call {
            number: number("ioctl"),
            arguments: [u64::MAX, request, 0, 0, 0, 0],
        });
    }
    for mode in [0o644, 0o1777, 0o2000, 0o4755, 0o4755 | 1 << 32] {
        calls.push(Call {
            number: number("fchmod"),
            arguments: [u64::MAX, mode, 0, 0, 0, 0],
        });
        // No directory -1, no path at 0.
        calls.push(Call {
            number: number("openat"),
            arguments: [u64::MAX, 0, 0o100, mode, 0, 0],
        });
    }
    for number in ["getpid", "getppid", "getuid", "sched_yield"].map(number) {
        calls.push(Call {
            number,
            arguments: [0; 6],
        });
    }
    // Refused ones only: each other clone would make a process.
    for bit in [17, 25, 26, 27, 28, 29, 30] {
        calls.push(Call {
            number: number("clone"),
            arguments: [1 << bit, 0, 0, 0, 0, 0],
        });
    }
    assert_kernel_agrees(&filter, &calls);
    let refused = calls
        .iter()
        .filter(|call| answer(&filter, call.number, call.arguments) != Verdict::Allow.action())
        .count();
    let allowed = calls.len() - refused;
    assert!(
        refused > 15 && allowed > 15,
        "{refused} refused, {allowed} allowed"
    );
}

#[test]
fn a_long_filter_loads_and_its_long_jumps_arrive() {
    // Both halves differ from value to value, so that little can be shared.
    let key = |value: u64| value << 33 | value << 1;
    let targets = |name: &str| -> Vec<SyscallSet> {
        (0..300)
            .map(|value| call(name).with(when(2, Width::Bits64, Comparison::Equal(key(value)))))
            .collect()
    };
    let policy = with_exit(vec![
        (Effect::Allow, targets("fcntl")),
        (Effect::Allow, targets("ioctl")),
    ]);
    let filter = filter(&policy, HERE);
    assert!(filter.program.len() > 1_000, "{}", filter.program.len());
    let calls: Vec<Call> = ["fcntl", "ioctl"]
        .into_iter()
        .flat_map(|name| {
            (0..301_u64).flat_map(move |value| {
                [key(value), key(value) | 1].map(|register| Call {
                    number: number(name),
                    arguments: [u64::MAX, 1, register, 0, 0, 0],
                })
            })
        })
        .collect();
    assert_kernel_agrees(&filter, &calls);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn x32_and_32_bit_calls_kill_and_the_same_calls_in_64_bit_do_not() {
    let everything = generate(&policy(vec![(Effect::Allow, vec![group("@known")])]), HERE).unwrap();
    let getpid = number("getpid");
    let call = |number| {
        make_calls(
            &everything.program,
            &[Call {
                number,
                arguments: [0; 6],
            }],
        )
    };
    assert_eq!(call(getpid), End::Errnos(vec![0]));
    assert_eq!(call(getpid | bpf::X32_BIT), End::Signal(libc::SIGSYS));
    assert_eq!(call(u32::MAX), End::Errnos(vec![libc::ENOSYS]));
    assert_eq!(
        child::make_i386_call(&everything.program),
        End::Signal(libc::SIGSYS)
    );
}

#[test]
fn the_kernel_refuses_what_the_checker_refuses() {
    use artifact::seccomp::Instruction;
    use compiler::seccomp::interpret::check;

    let allow = Instruction(bpf::RETURN, 0, 0, bpf::ALLOW);
    let broken = [
        vec![],
        vec![Instruction(bpf::LOAD, 0, 0, 0)],
        vec![Instruction(bpf::LOAD, 0, 0, 2), allow],
        vec![Instruction(bpf::LOAD, 0, 0, 64), allow],
        vec![Instruction(bpf::JUMP, 0, 0, 1), allow],
        vec![Instruction(bpf::JUMP_EQUAL, 0, 1, 0), allow],
        vec![Instruction(bpf::JUMP_EQUAL, 1, 0, 0), allow],
        vec![Instruction(0xffff, 0, 0, 0), allow],
        vec![allow; bpf::MAX_INSTRUCTIONS + 1],
    ];
    for program in broken {
        assert!(check(&program).is_err(), "{program:?}");
        assert_eq!(
            make_calls(&program, &[]),
            End::NotLoaded(libc::EINVAL),
            "{program:?}"
        );
    }
    for program in [
        vec![allow],
        vec![allow; bpf::MAX_INSTRUCTIONS],
        vec![Instruction(bpf::LOAD, 0, 0, 60), allow],
    ] {
        assert!(check(&program).is_ok());
        assert_eq!(make_calls(&program, &[]), End::Errnos(Vec::new()));
    }
}
