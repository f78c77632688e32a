//! Policies made of system call rules, and the filter's answer to a call.

use artifact::seccomp::{Architecture, SeccompFilter};
use compiler::seccomp::interpret::{Checked, SeccompData, check};
use compiler::seccomp::{bpf, generate};
use policy_lang::policy::{Effect, LayerId, Origin, Policy, Rule, RuleId, Subject};
use policy_lang::syscall::{Comparison, Condition, SyscallSet, Width};

pub(crate) const ARCHITECTURES: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

/// The built-in default, then these.
pub(crate) fn policy(rules: Vec<(Effect, Vec<SyscallSet>)>) -> Policy {
    let subjects = std::iter::once((Effect::Deny, Subject::Everything)).chain(
        rules
            .into_iter()
            .map(|(effect, targets)| (effect, Subject::Syscall { targets })),
    );
    Policy {
        rules: (0..)
            .zip(subjects)
            .map(|(id, (effect, subject))| rule(RuleId(id), effect, subject))
            .collect(),
        ..Policy::built_in("test")
    }
}

/// The same rules spread over several layers; few of them are of every layer.
pub(crate) fn layered(mut policy: Policy, layers: &[Option<u8>]) -> Policy {
    let count = 1 + layers.iter().flatten().max().copied().unwrap_or(0);
    policy.layers = vec![policy.layers[0].clone(); usize::from(count)];
    for (rule, layer) in policy.rules.iter_mut().skip(1).zip(layers) {
        rule.layer = layer.map(LayerId);
    }
    policy
}

pub(crate) fn rule(id: RuleId, effect: Effect, subject: Subject) -> Rule {
    Rule {
        id,
        effect,
        subject,
        text: String::new(),
        label: None,
        because: None,
        origin: Origin::BuiltIn,
        layer: None,
        via: None,
        if_present: false,
        permit_degraded: false,
    }
}

pub(crate) fn call(name: &str) -> SyscallSet {
    SyscallSet::call(name).unwrap()
}

pub(crate) fn group(name: &str) -> SyscallSet {
    SyscallSet::group(name).unwrap()
}

pub(crate) fn when(argument: u8, width: Width, comparison: Comparison) -> Condition {
    Condition {
        argument,
        width,
        comparison,
    }
}

pub(crate) fn filter(policy: &Policy, architecture: Architecture) -> SeccompFilter {
    let filter = generate(policy, architecture).unwrap();
    check(&filter.program).unwrap();
    filter
}

pub(crate) fn answer(filter: &SeccompFilter, number: u32, arguments: [u64; 6]) -> u32 {
    run(
        &check(&filter.program).unwrap(),
        filter.architecture,
        number,
        arguments,
    )
}

/// The same for many calls: the filter is checked once.
pub(crate) fn run(
    program: &Checked<'_>,
    architecture: Architecture,
    number: u32,
    arguments: [u64; 6],
) -> u32 {
    let data = SeccompData {
        number,
        architecture: bpf::audit_arch(architecture),
        instruction_pointer: 0xdead_beef_0000_1234,
        arguments,
    };
    program.run(&data).action
}

/// Around every value of a condition, below and above 32 bits.
pub(crate) fn boundaries(value: u64) -> Vec<u64> {
    let mut values = vec![0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX];
    for near in [value.wrapping_sub(1), value, value.wrapping_add(1)] {
        values.extend([
            near,
            near | 1 << 32,
            near & u64::from(u32::MAX),
            near ^ 1 << 63,
            near << 32,
            !near,
        ]);
    }
    values.sort_unstable();
    values.dedup();
    values
}
