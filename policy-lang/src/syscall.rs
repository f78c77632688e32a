//! System calls as the language names them: numbers, groups, argument names and predicates.
//!
//! [`table`] answers what a name means; [`predicate`] answers which registers a set matches and whether one set
//! lies inside another.

use std::collections::BTreeSet;

use serde::Serialize;

mod arguments;
mod constants;
mod groups;
mod numbers;
pub mod predicate;
pub mod table;

/// Architectures the language has a table for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Architecture {
    /// x86_64, 64-bit numbers only.
    X86_64,
    /// arm64.
    Aarch64,
}

impl Architecture {
    /// Every architecture there is a table for.
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// The kernel's name, as `uname -m` prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }
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

impl SyscallSet {
    /// One call, whatever its arguments. `None` for a name that no architecture knows.
    #[must_use]
    pub fn call(name: &str) -> Option<Self> {
        table::is_known(name).then(|| Self {
            names: BTreeSet::from([name.to_owned()]),
            conditions: Vec::new(),
        })
    }

    /// A group, by its name with the `@`.
    #[must_use]
    pub fn group(name: &str) -> Option<Self> {
        table::group(name).map(|names| Self {
            names,
            conditions: Vec::new(),
        })
    }

    /// The same calls, only where the condition holds too.
    #[must_use]
    pub fn with(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }
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

impl Width {
    /// As a number.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }

    /// The value cut to the width.
    #[must_use]
    pub fn cut(self, value: u64) -> u64 {
        match self {
            Self::Bits32 => value & u64::from(u32::MAX),
            Self::Bits64 => value,
        }
    }
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
