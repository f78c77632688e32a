//! System calls as the language names them: numbers, groups, argument names and predicates.

use std::collections::BTreeSet;

use serde::Serialize;

/// Architectures the language has a table for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Architecture {
    /// x86_64, 64-bit numbers only.
    X86_64,
    /// arm64.
    Aarch64,
}

/// One target of a syscall rule: a group or a single call, by name, with an argument predicate.
///
/// Names, not numbers: a set means the same on every architecture; a call an architecture lacks is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SyscallSet {
    /// Names of the calls (a group is expanded).
    pub names: BTreeSet<String>,
    /// Conjunction; empty matches every call. Only a single call can carry one.
    pub conditions: Vec<Condition>,
}

/// A comparison on one argument register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Condition {
    /// Register index, 0 to 5.
    pub argument: u8,
    /// How many low bits the kernel looks at: 32 for `int` and `unsigned int` parameters, 64 otherwise. The
    /// comparison is made on those bits alone, so high bits cannot be used to slip past it.
    pub width: Width,
    /// The comparison, unsigned.
    pub comparison: Comparison,
}

/// Significant bits of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Width {
    /// Low 32 bits.
    Bits32,
    /// All 64.
    Bits64,
}

/// Unsigned comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Comparison {
    /// `==`
    Equal(u64),
    /// `!=`
    NotEqual(u64),
    /// `<`
    Less(u64),
    /// `<=`
    LessOrEqual(u64),
    /// `>`
    Greater(u64),
    /// `>=`
    GreaterOrEqual(u64),
    /// `& mask == value`
    MaskedEqual {
        /// Mask.
        mask: u64,
        /// Value, no bits outside the mask.
        value: u64,
    },
    /// `& mask != value`
    MaskedNotEqual {
        /// Mask.
        mask: u64,
        /// Value, no bits outside the mask.
        value: u64,
    },
}
