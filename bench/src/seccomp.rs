//! The filter of the default policy, made by us and by the two libraries that programs use for it today.

use artifact::seccomp::Instruction;
use policy_lang::policy::{Effect, Origin, Policy, Rule, RuleId, Subject};
use policy_lang::reference::{Access, decide};
use policy_lang::syscall::{Architecture, SyscallSet, table};

#[cfg(feature = "libseccomp")]
mod libseccomp;
mod seccompiler;

#[cfg(feature = "libseccomp")]
pub use libseccomp::libseccomp;
pub use seccompiler::seccompiler;

/// A comparison on the low 32 bits of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    /// `==`
    Equal(u32),
    /// `!=`
    NotEqual(u32),
    /// `& mask == value`
    Masked(u32, u32),
}

/// Conjunctions over argument numbers, one of which has to hold.
pub type Alternatives = &'static [&'static [(u8, Is)]];

use Is::{Equal, Masked, NotEqual};

/// Calls of the default policy whose arguments matter, and when they are allowed: if one of these conjunctions holds.
/// Written by hand, as somebody would who uses one of the libraries; a test compares them with the policy.
pub const CONDITIONAL: [(&str, Alternatives); 14] = [
    ("chmod", &[&[(1, NO_SET_ID)]]),
    ("clone", &[&[(0, Masked(CLONE_NEW, 0))]]),
    ("creat", &[&[(1, NO_SET_ID)]]),
    ("fchmod", &[&[(1, NO_SET_ID)]]),
    ("fchmodat", &[&[(2, NO_SET_ID)]]),
    ("fchmodat2", &[&[(2, NO_SET_ID)]]),
    (
        "ioctl",
        &[&[
            (1, NotEqual(TIOCSTI)),
            (1, NotEqual(TIOCLINUX)),
            (1, NotEqual(TIOCSETD)),
        ]],
    ),
    ("mknod", &[&[(1, NO_SET_ID)]]),
    ("mknodat", &[&[(2, NO_SET_ID)]]),
    ("open", &[&[(1, CREATES_NOTHING)], &[(2, NO_SET_ID)]]),
    ("openat", &[&[(2, CREATES_NOTHING)], &[(3, NO_SET_ID)]]),
    (
        "setsockopt",
        &[
            &[(1, NotEqual(IPPROTO_IP)), (1, NotEqual(IPPROTO_IPV6))],
            &[(1, Equal(IPPROTO_IP)), (2, NotEqual(IP_OPTIONS))],
            &[
                (1, Equal(IPPROTO_IPV6)),
                (2, NotEqual(IPV6_RTHDR)),
                (2, NotEqual(IPV6_2292RTHDR)),
                (2, NotEqual(IPV6_2292PKTOPTIONS)),
            ],
        ],
    ),
    (
        "socket",
        &[
            &[
                (0, Equal(AF_INET)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_STREAM)),
                (2, Equal(0)),
            ],
            &[
                (0, Equal(AF_INET)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_STREAM)),
                (2, Equal(IPPROTO_TCP)),
            ],
            &[
                (0, Equal(AF_INET)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_STREAM)),
                (2, Equal(IPPROTO_UDP)),
            ],
            &[
                (0, Equal(AF_INET)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_DGRAM)),
                (2, Equal(0)),
            ],
            &[
                (0, Equal(AF_INET)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_DGRAM)),
                (2, Equal(IPPROTO_TCP)),
            ],
            &[
                (0, Equal(AF_INET)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_DGRAM)),
                (2, Equal(IPPROTO_UDP)),
            ],
            &[
                (0, Equal(AF_INET6)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_STREAM)),
                (2, Equal(0)),
            ],
            &[
                (0, Equal(AF_INET6)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_STREAM)),
                (2, Equal(IPPROTO_TCP)),
            ],
            &[
                (0, Equal(AF_INET6)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_STREAM)),
                (2, Equal(IPPROTO_UDP)),
            ],
            &[
                (0, Equal(AF_INET6)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_DGRAM)),
                (2, Equal(0)),
            ],
            &[
                (0, Equal(AF_INET6)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_DGRAM)),
                (2, Equal(IPPROTO_TCP)),
            ],
            &[
                (0, Equal(AF_INET6)),
                (1, Masked(SOCK_TYPE_MASK, SOCK_DGRAM)),
                (2, Equal(IPPROTO_UDP)),
            ],
            &[(0, Equal(AF_NETLINK)), (2, Equal(0))],
        ],
    ),
    // Neither SOCK_DGRAM, 2, nor SOCK_RAW, 3: the second bit is clear, or one above it is set.
    (
        "socketpair",
        &[
            &[(0, Equal(AF_UNIX)), (1, Masked(2, 0))],
            &[(0, Equal(AF_UNIX)), (1, Masked(4, 4))],
            &[(0, Equal(AF_UNIX)), (1, Masked(8, 8))],
        ],
    ),
];

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`.
const CLONE_NEW: u32 = 0x7e02_0000;
/// Neither `S_ISUID` nor `S_ISGID`.
const NO_SET_ID: Is = Masked(0o6000, 0);
/// Neither `O_CREAT` nor `__O_TMPFILE`.
const CREATES_NOTHING: Is = Masked(0o20_000_100, 0);
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
const TIOCSETD: u32 = 0x5423;
const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;
const SOCK_TYPE_MASK: u32 = 0xf;
const SOCK_STREAM: u32 = 1;
const SOCK_DGRAM: u32 = 2;
const IPPROTO_IP: u32 = 0;
const IPPROTO_TCP: u32 = 6;
const IPPROTO_UDP: u32 = 17;
const IPPROTO_IPV6: u32 = 41;
const IP_OPTIONS: u32 = 4;
const IPV6_2292RTHDR: u32 = 5;
const IPV6_2292PKTOPTIONS: u32 = 6;
const IPV6_RTHDR: u32 = 57;

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
            layer: None,
            via: None,
            if_present: false,
            permit_degraded: false,
        });
    }
    Policy {
        rules,
        ..Policy::built_in("default")
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
    CONDITIONAL.iter().any(|(name, _)| *name == call)
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
