//! One character of each kind that a family of patterns treats alike.

use std::collections::HashSet;

use policy_lang::pattern::CharacterSet;

/// Characters that a reader expects in a name come first. A dot is a kind of its own: `.` and `..` are no names.
pub(super) fn one_of_each_kind<'a>(
    sets: impl Iterator<Item = &'a CharacterSet> + Clone,
    is_allowed: impl Fn(char) -> bool,
) -> Vec<char> {
    let sets: HashSet<&CharacterSet> = sets.collect();
    let sets: Vec<&CharacterSet> = sets.into_iter().collect();
    let around = |character: char| [u32::from(character), u32::from(character) + 1];
    let mut starts: Vec<u32> = sets
        .iter()
        .flat_map(|set| boundaries(set))
        .chain(['.', '/', '=', '\0'].into_iter().flat_map(around))
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([u32::from(char::MAX) + 1]);
    // Surrogates are no characters: an interval that starts among them starts behind them.
    let first_of = |(&start, end): (&u32, u32)| (start..end).take(0x801).find_map(char::from_u32);
    let legible = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(['_', '.']);
    let mut kinds: HashSet<Vec<bool>> = HashSet::new();
    legible
        .chain(starts.iter().zip(ends).filter_map(first_of))
        .filter(|&character| is_allowed(character))
        .filter(|&character| {
            let mut kind: Vec<bool> = sets.iter().map(|set| set.contains(character)).collect();
            kind.push(character == '.');
            kinds.insert(kind)
        })
        .collect()
}

/// Where the set begins or ceases to have characters.
fn boundaries(set: &CharacterSet) -> Vec<u32> {
    let around = |first: char, last: char| [u32::from(first), u32::from(last) + 1];
    match set {
        CharacterSet::Just(character) => around(*character, *character).into(),
        CharacterSet::Class { ranges, .. } => ranges
            .iter()
            .flat_map(|&(first, last)| around(first, last))
            .collect(),
    }
}
