//! The promise about the size of the default policy's filter: at most a fifth of what `seccompiler` emits for the
//! same decisions, and at most half of what libseccomp does with its binary tree.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use artifact::seccomp::{Architecture, Instruction};
use bench::seccomp::{allows, default_policy, is_conditional, unconditional};
use compiler::seccomp::interpret::{SeccompData, check};
use compiler::seccomp::{bpf, generate};
use policy_lang::syscall::{self, table};

fn ours() -> Vec<Instruction> {
    generate(&default_policy(), Architecture::X86_64).unwrap().program
}

/// Families, types, protocols, options, requests, modes, open flags and clone flags, some with high bits.
const VALUES: [u64; 24] = [
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    10,
    15,
    16,
    17,
    41,
    57,
    0o100,
    0o755,
    0o4755,
    0o2000,
    0x5401,
    0x5412,
    0x541c,
    0x5423,
    1 << 28,
    1 << 32 | 2,
    0o20_200_002,
];

/// A comparison of sizes means nothing unless the filters allow the same calls.
fn assert_same_decisions(program: &[Instruction], laxer: &[&str]) {
    let policy = default_policy();
    let program = check(program).unwrap();
    let mut allowed = 0;
    for number in 0..=table::highest_number(syscall::Architecture::X86_64) + 10 {
        let mut samples = vec![[0; 6], [u64::from(u32::MAX); 6], [7; 6]];
        let name = table::name(number, syscall::Architecture::X86_64);
        if name.is_some_and(is_conditional) {
            for first in VALUES {
                for second in VALUES {
                    samples.extend([
                        [first, second, 0, 0, 0, 0],
                        [1, first, second, 0, 0, 0],
                        [1, 0, first, second, 0, 0],
                        [first, 1, second, 0, 0, 0],
                    ]);
                }
            }
        }
        for arguments in samples {
            let data = SeccompData {
                number,
                architecture: bpf::audit_arch(Architecture::X86_64),
                arguments,
                ..SeccompData::default()
            };
            let allows = allows(&policy, number, arguments);
            let theirs = program.run(&data).action == bpf::ALLOW;
            let may_differ = theirs && name.is_some_and(|name| laxer.contains(&name));
            assert!(
                theirs == allows || may_differ,
                "{name:?} {arguments:x?}: {theirs}, not {allows}"
            );
            allowed += u32::from(allows);
        }
    }
    assert!(allowed > 1_000, "{allowed} calls were allowed");
}

#[test]
fn it_is_at_most_a_fifth_of_seccompilers() {
    let theirs = bench::seccomp::seccompiler(&unconditional(&default_policy())).unwrap();
    assert_same_decisions(&ours(), &[]);
    assert_same_decisions(&theirs, &[]);
    let (ours, theirs) = (ours().len(), theirs.len());
    println!("{ours} instructions, seccompiler {theirs}");
    assert!(5 * ours <= theirs, "{ours} against {theirs}");
}

#[cfg(feature = "libseccomp")]
#[test]
fn it_is_at_most_half_of_libseccomps_with_its_tree() {
    let theirs = bench::seccomp::libseccomp(&unconditional(&default_policy())).unwrap();
    // It takes one comparison of an argument in a rule.
    assert_same_decisions(&theirs, &["ioctl", "setsockopt"]);
    let (ours, theirs) = (ours().len(), theirs.len());
    println!("{ours} instructions, libseccomp {theirs}");
    assert!(2 * ours <= theirs, "{ours} against {theirs}");
}

#[cfg(not(feature = "libseccomp"))]
#[test]
fn it_is_at_most_half_of_libseccomps_with_its_tree() {
    println!("skipped: built without the feature libseccomp (needs libseccomp-dev)");
}

#[test]
fn the_rivals_are_given_every_call_whose_arguments_matter() {
    let filter = generate(&default_policy(), Architecture::X86_64).unwrap();
    for (name, number) in table::calls(syscall::Architecture::X86_64) {
        let program = &filter.program;
        let arch = bpf::audit_arch(Architecture::X86_64);
        let cached = compiler::seccomp::constant_allow::is_constant_allow(program, arch, number);
        let sometimes = [[0; 6], [1, 0, 0, 0, 0, 0], [2, 1, 0, 0, 0, 0]]
            .iter()
            .any(|arguments| allows(&default_policy(), number, *arguments));
        assert_eq!(sometimes && !cached, is_conditional(name), "{name}");
    }
}
