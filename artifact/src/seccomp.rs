//! The seccomp filter as classic BPF, and what the enforcer needs to name the rule behind a refusal.

use serde::{Deserialize, Serialize};

use crate::rule::RuleId;

/// Architectures the compiler generates for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Architecture {
    /// `AUDIT_ARCH_X86_64`.
    X86_64,
    /// `AUDIT_ARCH_AARCH64`.
    Aarch64,
}

/// A classic BPF program for seccomp(2), at most 4,096 instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeccompFilter {
    /// Which kernels this is for.
    pub architecture: Architecture,
    /// `struct sock_filter` in order.
    pub program: Vec<Instruction>,
    /// For each call that this filter can refuse: number, name, and the rules that can be the reason, the
    /// strictest first. Calls that are not here and are refused fall to the default rule.
    pub refusals: Vec<Refusal>,
}

/// `struct sock_filter`: code, jump if true, jump if false, operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction(pub u16, pub u8, pub u8, pub u32);

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// System call number.
    pub number: u32,
    /// System call name.
    pub name: String,
    /// Candidate rules.
    pub rules: Vec<RuleId>,
}
