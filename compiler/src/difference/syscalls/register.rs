//! One value of a register for each combination of comparisons that a value can satisfy.
//!
//! Whole values of one width fall into intervals. Masks and several widths are read bit by bit from the top, keeping for each
//! comparison what the bits so far say of it, as the language's own proofs do.

use std::collections::{BTreeMap, HashSet};

use policy_lang::syscall::{Comparison, Width};

/// States kept for one bit before giving up.
const STATES_MAX: usize = 8_192;

/// `None` if there are too many.
pub(super) fn one_of_each_kind(comparisons: &[(Width, Comparison)]) -> Option<Vec<u64>> {
    let candidates = match whole(comparisons) {
        Some(candidates) => candidates,
        None => read_from_the_top(comparisons)?,
    };
    let mut kinds = HashSet::new();
    let is_new = |value: &u64| {
        let kind: Vec<bool> = comparisons
            .iter()
            .map(|(width, comparison)| comparison.holds(width.cut(*value)))
            .collect();
        kinds.insert(kind)
    };
    Some(candidates.into_iter().filter(is_new).collect())
}

/// The first value of each interval, if every comparison is with a whole value and looks at the same bits.
fn whole(comparisons: &[(Width, Comparison)]) -> Option<Vec<u64>> {
    let (width, _) = comparisons.first()?;
    let most = width.cut(u64::MAX);
    let mut starts = vec![0];
    for (own, comparison) in comparisons {
        let operand = match comparison {
            Comparison::Equal(operand)
            | Comparison::NotEqual(operand)
            | Comparison::Less(operand)
            | Comparison::LessOrEqual(operand)
            | Comparison::Greater(operand)
            | Comparison::GreaterOrEqual(operand) => *operand,
            Comparison::MaskedEqual { .. } | Comparison::MaskedNotEqual { .. } => return None,
        };
        if own != width {
            return None;
        }
        starts.extend([Some(operand), operand.checked_add(1)].into_iter().flatten());
    }
    starts.retain(|&start| start <= most);
    starts.sort_unstable();
    starts.dedup();
    Some(starts)
}

/// How the bits read so far compare with the operand's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum So {
    Less,
    Equal,
    Greater,
}

fn read_from_the_top(comparisons: &[(Width, Comparison)]) -> Option<Vec<u64>> {
    // A narrow comparison does not see the high bits; an operand that has some is above every value.
    let start: Vec<So> = comparisons
        .iter()
        .map(|(width, comparison)| {
            if parts(*comparison).0 == width.cut(parts(*comparison).0) {
                So::Equal
            } else {
                So::Less
            }
        })
        .collect();
    let mut states: BTreeMap<Vec<So>, u64> = BTreeMap::from([(start, 0)]);
    for bit in (0..64_u32).rev() {
        let mut next: BTreeMap<Vec<So>, u64> = BTreeMap::new();
        for (state, value) in &states {
            for read in [0_u64, 1] {
                let state = state
                    .iter()
                    .zip(comparisons)
                    .map(|(&so, comparison)| after(so, *comparison, bit, read))
                    .collect();
                next.entry(state).or_insert(value | read << bit);
            }
        }
        if next.len() > STATES_MAX {
            return None;
        }
        states = next;
    }
    Some(states.into_values().collect())
}

fn after(so: So, (width, comparison): (Width, Comparison), bit: u32, read: u64) -> So {
    let (operand, mask) = parts(comparison);
    if so != So::Equal || bit >= width.bits() {
        return so;
    }
    match (read & (mask >> bit)).cmp(&(operand >> bit & 1)) {
        std::cmp::Ordering::Equal => So::Equal,
        // Above or below is all the same to what is only equal or not.
        std::cmp::Ordering::Less if is_ordered(comparison) => So::Less,
        _ => So::Greater,
    }
}

fn is_ordered(comparison: Comparison) -> bool {
    matches!(
        comparison,
        Comparison::Less(_)
            | Comparison::LessOrEqual(_)
            | Comparison::Greater(_)
            | Comparison::GreaterOrEqual(_)
    )
}

/// The operand, and the bits of the register it is compared with.
fn parts(comparison: Comparison) -> (u64, u64) {
    match comparison {
        Comparison::Equal(operand)
        | Comparison::NotEqual(operand)
        | Comparison::Less(operand)
        | Comparison::LessOrEqual(operand)
        | Comparison::Greater(operand)
        | Comparison::GreaterOrEqual(operand) => (operand, u64::MAX),
        Comparison::MaskedEqual { mask, value } | Comparison::MaskedNotEqual { mask, value } => (value, mask),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combinations(
        comparisons: &[(Width, Comparison)],
        values: impl Iterator<Item = u64>,
    ) -> HashSet<Vec<bool>> {
        values
            .map(|value| {
                let holds = |(width, comparison): &(Width, Comparison)| comparison.holds(width.cut(value));
                comparisons.iter().map(holds).collect()
            })
            .collect()
    }

    #[test]
    fn every_combination_of_small_values_is_found() {
        let narrow = |comparison| (Width::Bits32, comparison);
        let families = [
            vec![
                narrow(Comparison::MaskedEqual { mask: 6, value: 2 }),
                narrow(Comparison::MaskedNotEqual { mask: 3, value: 3 }),
                narrow(Comparison::Less(9)),
                narrow(Comparison::Equal(5)),
            ],
            vec![
                narrow(Comparison::Equal(3)),
                narrow(Comparison::GreaterOrEqual(12)),
            ],
            vec![
                (Width::Bits64, Comparison::Less(5)),
                (Width::Bits32, Comparison::NotEqual(7)),
                (Width::Bits64, Comparison::MaskedEqual { mask: 1, value: 1 }),
            ],
        ];
        for comparisons in families {
            let found = one_of_each_kind(&comparisons).unwrap();
            let found = combinations(&comparisons, found.into_iter());
            let few = combinations(&comparisons, 0..64);
            assert!(few.is_subset(&found), "{comparisons:?}");
        }
    }

    #[test]
    fn high_bits_are_told_apart_only_where_they_are_looked_at() {
        let comparisons = [
            (Width::Bits32, Comparison::Equal(7)),
            (Width::Bits64, Comparison::Equal(7)),
        ];
        let found = one_of_each_kind(&comparisons).unwrap();
        assert!(found.iter().any(|&value| value != 7 && value & 0xffff_ffff == 7));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn an_operand_beyond_the_width_is_above_every_value() {
        let comparisons = [(Width::Bits32, Comparison::Less(1 << 40))];
        assert_eq!(one_of_each_kind(&comparisons), Some(vec![0]));
    }
}
