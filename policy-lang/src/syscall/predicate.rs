//! Predicates on argument registers: what a set of calls matches, and whether one set lies inside another.
//!
//! `inner` lies inside `outer` when for each comparison of `outer` there are no registers that satisfy `inner` and
//! the opposite comparison. That is a satisfiability question about one register at a time, answered by reading the
//! register's bits from the top and keeping, for each comparison, what the bits read so far say of it. Comparisons
//! with whole values give few such states; conjunctions of `& mask !=` are as hard as SAT, so the states are bounded.

use std::collections::BTreeSet;

use super::{Comparison, Condition, SyscallSet, Width};
use crate::inclusion::Proof;

/// States kept for one bit before the search gives up. A dozen masked comparisons stay below it.
const STATES_MAX: usize = 8_192;

impl Comparison {
    /// Whether it holds for a value that is already cut to its width.
    #[must_use]
    pub fn holds(self, value: u64) -> bool {
        match self {
            Self::Equal(other) => value == other,
            Self::NotEqual(other) => value != other,
            Self::Less(other) => value < other,
            Self::LessOrEqual(other) => value <= other,
            Self::Greater(other) => value > other,
            Self::GreaterOrEqual(other) => value >= other,
            Self::MaskedEqual { mask, value: wanted } => value & mask == wanted,
            Self::MaskedNotEqual {
                mask,
                value: unwanted,
            } => value & mask != unwanted,
        }
    }

    /// The comparison that holds exactly where this one does not.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Equal(other) => Self::NotEqual(other),
            Self::NotEqual(other) => Self::Equal(other),
            Self::Less(other) => Self::GreaterOrEqual(other),
            Self::LessOrEqual(other) => Self::Greater(other),
            Self::Greater(other) => Self::LessOrEqual(other),
            Self::GreaterOrEqual(other) => Self::Less(other),
            Self::MaskedEqual { mask, value } => Self::MaskedNotEqual { mask, value },
            Self::MaskedNotEqual { mask, value } => Self::MaskedEqual { mask, value },
        }
    }

    /// The operand, and the bits of the register it is compared with.
    fn operand(self) -> (u64, u64) {
        match self {
            Self::Equal(other)
            | Self::NotEqual(other)
            | Self::Less(other)
            | Self::LessOrEqual(other)
            | Self::Greater(other)
            | Self::GreaterOrEqual(other) => (other, u64::MAX),
            Self::MaskedEqual { mask, value } | Self::MaskedNotEqual { mask, value } => (value, mask),
        }
    }
}

impl Condition {
    /// Whether it holds for the registers of a call.
    #[must_use]
    pub fn holds(&self, arguments: &[u64; 6]) -> bool {
        let register = arguments.get(usize::from(self.argument)).copied();
        register.is_some_and(|value| self.comparison.holds(self.width.cut(value)))
    }
}

impl SyscallSet {
    /// Whether the call is in the set.
    #[must_use]
    pub fn matches(&self, name: &str, arguments: &[u64; 6]) -> bool {
        self.names.contains(name) && self.conditions.iter().all(|condition| condition.holds(arguments))
    }

    /// Whether no call at all is in the set.
    #[must_use]
    pub fn is_empty(&self) -> Proof {
        if self.names.is_empty() {
            Proof::Holds
        } else {
            !satisfiable(&self.conditions, BITS)
        }
    }

    /// Whether every call of `inner` is in this set.
    #[must_use]
    pub fn includes(&self, inner: &Self) -> Proof {
        if inner.names.is_subset(&self.names) && self.conditions.is_empty() {
            return Proof::Holds;
        }
        match inner.is_empty() {
            Proof::Holds => Proof::Holds,
            _ if !inner.names.is_subset(&self.names) => Proof::Fails,
            Proof::Fails => implies(&inner.conditions, &self.conditions, BITS),
            Proof::Undecided => Proof::Undecided,
        }
    }
}

/// The bits of the two widths. Tests narrow them to count every value.
type Bits = fn(Width) -> u32;
const BITS: Bits = Width::bits;

/// Whether `premises` (which some registers satisfy) imply every one of `conclusions`.
fn implies(premises: &[Condition], conclusions: &[Condition], bits: Bits) -> Proof {
    conclusions.iter().fold(Proof::Holds, |proof, conclusion| {
        let mut both: Vec<Condition> = premises
            .iter()
            .filter(|premise| premise.argument == conclusion.argument)
            .copied()
            .collect();
        both.push(Condition {
            comparison: conclusion.comparison.opposite(),
            ..*conclusion
        });
        proof.and(!satisfiable(&both, bits))
    })
}

/// Whether some registers satisfy all conditions. Registers are independent of each other.
fn satisfiable(conditions: &[Condition], bits: Bits) -> Proof {
    let registers: BTreeSet<u8> = conditions.iter().map(|condition| condition.argument).collect();
    registers.iter().fold(Proof::Holds, |proof, register| {
        let own: Vec<Condition> = conditions
            .iter()
            .filter(|c| c.argument == *register)
            .copied()
            .collect();
        proof.and(satisfiable_register(&own, bits))
    })
}

/// How the bits read so far compare with the operand's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum So {
    Less,
    Equal,
    Greater,
}

/// An equality leaves one value to try, and a value that satisfies everything settles it; most questions are of these
/// kinds. The rest reads the bits from the top.
fn satisfiable_register(conditions: &[Condition], bits: Bits) -> Proof {
    let cut = |value: u64, width: Width| {
        let unseen = 64u32.saturating_sub(bits(width));
        value
            .checked_shl(unseen)
            .and_then(|high| high.checked_shr(unseen))
            .unwrap_or(0)
    };
    let all_hold = |value: u64| {
        conditions
            .iter()
            .all(|condition| condition.comparison.holds(cut(value, condition.width)))
    };
    let sees_most = |condition: &Condition| conditions.iter().all(|other| other.width <= condition.width);
    for condition in conditions {
        let (operand, _) = condition.comparison.operand();
        if matches!(condition.comparison, Comparison::Equal(_)) && sees_most(condition) {
            return all_hold(operand).into();
        }
        if [operand, operand.wrapping_add(1), operand.wrapping_sub(1), 0]
            .into_iter()
            .any(all_hold)
        {
            return Proof::Holds;
        }
    }
    read_from_the_top(conditions, bits)
}

fn read_from_the_top(conditions: &[Condition], bits: Bits) -> Proof {
    // A narrow comparison does not see the high bits; an operand that has some is above every value.
    let start: Vec<So> = conditions
        .iter()
        .map(|condition| {
            let beyond = condition
                .comparison
                .operand()
                .0
                .checked_shr(bits(condition.width))
                .unwrap_or(0);
            if beyond == 0 { So::Equal } else { So::Less }
        })
        .collect();
    let mut states = BTreeSet::from([start]);
    for bit in (0..bits(Width::Bits64)).rev() {
        let mut next = BTreeSet::new();
        for state in &states {
            for value in [0, 1] {
                next.extend(advance(state, conditions, bit, value, bits));
            }
        }
        if next.len() > STATES_MAX {
            return Proof::Undecided;
        }
        states = next;
    }
    states
        .iter()
        .any(|state| {
            state
                .iter()
                .zip(conditions)
                .all(|(so, c)| accepts(*so, c.comparison))
        })
        .into()
}

/// The state after one more bit, or nothing when some comparison can no longer hold.
fn advance(state: &[So], conditions: &[Condition], bit: u32, value: u64, bits: Bits) -> Option<Vec<So>> {
    state
        .iter()
        .zip(conditions)
        .map(|(&so, condition)| {
            let (operand, mask) = condition.comparison.operand();
            let mut so = so;
            if so == So::Equal && bit < bits(condition.width) {
                let seen = value & (mask >> bit);
                so = match (seen & 1).cmp(&(operand >> bit & 1)) {
                    std::cmp::Ordering::Less => So::Less,
                    std::cmp::Ordering::Equal => So::Equal,
                    std::cmp::Ordering::Greater => So::Greater,
                };
            }
            (so == So::Equal || accepts(so, condition.comparison)).then_some(so)
        })
        .collect()
}

fn accepts(so: So, comparison: Comparison) -> bool {
    match comparison {
        Comparison::Equal(_) | Comparison::MaskedEqual { .. } => so == So::Equal,
        Comparison::NotEqual(_) | Comparison::MaskedNotEqual { .. } => so != So::Equal,
        Comparison::Less(_) => so == So::Less,
        Comparison::LessOrEqual(_) => so != So::Greater,
        Comparison::Greater(_) => so == So::Greater,
        Comparison::GreaterOrEqual(_) => so != So::Less,
    }
}

#[cfg(test)]
mod tests;
