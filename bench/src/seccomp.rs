//! The filter of the default policy, made by us and by the two libraries that programs use for it today.

use artifact::seccomp::Instruction;
use policy_lang::policy::{Effect, Identity, Origin, Policy, Record, Rule, RuleId, Subject};
use policy_lang::reference::{Access, decide};
use policy_lang::syscall::{Architecture, SyscallSet, table};

#[cfg(feature = "libseccomp")]
mod libseccomp;
mod seccompiler;

#[cfg(feature = "libseccomp")]
pub use libseccomp::libseccomp;
pub use seccompiler::seccompiler;

/// Calls of the default policy whose arguments matter, and when they are allowed: one of these conjunctions of
/// `argument & mask == value`, on the low 32 bits. `ioctl` is not among them.
pub const CONDITIONAL: [(&str, &[&[MaskedEqual]]); 12] = [
    ("chmod", &[&[(1, SET_ID, 0)]]),
    ("clone", &[&[(0, CLONE_NEW, 0)]]),
    ("creat", &[&[(1, SET_ID, 0)]]),
    ("fchmod", &[&[(1, SET_ID, 0)]]),
    ("fchmodat", &[&[(2, SET_ID, 0)]]),
    ("fchmodat2", &[&[(2, SET_ID, 0)]]),
    ("mknod", &[&[(1, SET_ID, 0)]]),
    ("mknodat", &[&[(2, SET_ID, 0)]]),
    ("open", &[&[(1, CREATES, 0)], &[(2, SET_ID, 0)]]),
    ("openat", &[&[(2, CREATES, 0)], &[(3, SET_ID, 0)]]),
    // AF_INET, AF_INET6, AF_NETLINK with NETLINK_ROUTE.
    (
        "socket",
        &[&[(0, ALL, 2)], &[(0, ALL, 10)], &[(0, ALL, 16), (2, ALL, 0)]],
    ),
    // AF_UNIX.
    ("socketpair", &[&[(0, ALL, 1)]]),
];

/// Argument, mask, value.
pub type MaskedEqual = (u8, u32, u32);

/// Requests of `ioctl` that are refused, all others being allowed: `TIOCSTI`, `TIOCLINUX`, `TIOCSETD`.
pub const REFUSED_REQUESTS: [u32; 3] = [0x5412, 0x541c, 0x5423];

const ALL: u32 = u32::MAX;
/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`.
const CLONE_NEW: u32 = 0x7e02_0000;
/// `S_ISUID`, `S_ISGID`.
const SET_ID: u32 = 0o6000;
/// `O_CREAT`, `__O_TMPFILE`.
const CREATES: u32 = 0o20_000_100;

/// What the quickstart's `process` block means for system calls: the floor, `allow syscall @system-service`,
/// `deny syscall @debug`.
#[must_use]
pub fn default_policy() -> Policy {
    let mut rules = policy_lang::floor::rules();
    for (effect, name) in [(Effect::Allow, "@system-service"), (Effect::Deny, "@debug")] {
        rules.push(Rule {
            id: RuleId(u32::try_from(rules.len()).unwrap_or(u32::MAX)),
            effect,
            subject: Subject::Syscall {
                targets: SyscallSet::group(name).into_iter().collect(),
            },
            text: String::new(),
            label: None,
            because: None,
            origin: Origin::BuiltIn,
            if_present: false,
            permit_degraded: false,
        });
    }
    Policy {
        name: "default".to_owned(),
        summary: None,
        parameters: std::collections::BTreeMap::new(),
        rules,
        identity: (Identity::Dynamic, RuleId::DEFAULT),
        requirements: Vec::new(),
        record: Record::default(),
        tests: Vec::new(),
    }
}

/// Whether the policy allows a call on x86_64.
#[must_use]
pub fn allows(policy: &Policy, number: u32, arguments: [u64; 6]) -> bool {
    let access = Access::Syscall {
        architecture: Architecture::X86_64,
        number,
        arguments,
    };
    decide(policy, &access).effect == Effect::Allow
}

/// Whether the arguments of a call matter in the default policy.
#[must_use]
pub fn is_conditional(call: &str) -> bool {
    call == "ioctl" || CONDITIONAL.iter().any(|(name, _)| *name == call)
}

/// Calls that the policy allows whatever their arguments.
#[must_use]
pub fn unconditional(policy: &Policy) -> Vec<u32> {
    table::calls(Architecture::X86_64)
        .filter(|(name, number)| !is_conditional(name) && allows(policy, *number, [0; 6]))
        .map(|(_, number)| number)
        .collect()
}

/// A program from its wire form: `struct sock_filter` after `struct sock_filter`, little-endian.
#[must_use]
pub fn decode(bytes: &[u8]) -> Vec<Instruction> {
    bytes
        .chunks_exact(8)
        .filter_map(|chunk| match *chunk {
            [code_low, code_high, yes, no, a, b, c, d] => Some(Instruction(
                u16::from_le_bytes([code_low, code_high]),
                yes,
                no,
                u32::from_le_bytes([a, b, c, d]),
            )),
            _ => None,
        })
        .collect()
}
