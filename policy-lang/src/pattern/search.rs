//! Inclusion and intersection of patterns, by searching the product of their automata.
//!
//! Inclusion walks the states of the inner automaton together with the set of states the outer one may be in, and
//! keeps only the smallest such sets ("antichains", De Wulf, Doyen, Henzinger and Raskin, CAV 2006): what a small set
//! covers, a larger one covers too. The number of sets may grow with two to the length of the pattern, so it is bounded.

use std::collections::{HashMap, HashSet};

use super::automaton::{Automaton, States};
use crate::inclusion::Proof;

/// Pairs visited before the search gives up.
const PAIRS_MAX: usize = 20_000;

/// How a word can go on to be a path: absolute, without empty, `.` or `..` components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Shape {
    Root,
    Slash,
    Dot,
    DotDot,
    Name,
}

impl Shape {
    fn step(self, character: char) -> Option<Self> {
        match (self, character) {
            (Self::Root | Self::Name, '/') => Some(Self::Slash),
            (Self::Root, _) | (Self::Slash | Self::Dot | Self::DotDot, '/') => None,
            (Self::Slash, '.') => Some(Self::Dot),
            (Self::Dot, '.') => Some(Self::DotDot),
            _ => Some(Self::Name),
        }
    }

    fn is_path(self) -> bool {
        matches!(self, Self::Root | Self::Name)
    }
}

/// Whether `outer` covers everything that `inner` covers.
pub(super) fn includes(outer: &Automaton, inner: &Automaton) -> Proof {
    let alphabet = alphabet(outer, inner);
    let mut smallest: HashMap<(usize, Shape), Vec<States>> = HashMap::new();
    let mut open: Vec<(usize, Shape, States)> = inner
        .start()
        .iter()
        .map(|state| (state, Shape::Root, outer.start()))
        .collect();
    let mut visited = 0;
    while let Some((state, shape, states)) = open.pop() {
        // Everything that goes on from here is covered.
        if states.contains(outer.beneath()) {
            continue;
        }
        if state == inner.end() {
            // What lies beneath need not be looked at: `outer` covers it if it covers the top.
            if shape.is_path() && !outer.accepts(&states) {
                return Proof::Fails;
            }
            continue;
        }
        let seen = smallest.entry((state, shape)).or_default();
        if seen.iter().any(|smaller| smaller.is_subset(&states)) {
            continue;
        }
        seen.retain(|larger| !states.is_subset(larger));
        seen.push(states.clone());
        visited += 1;
        if visited > PAIRS_MAX {
            return Proof::Undecided;
        }
        for &character in &alphabet {
            let Some(shape) = shape.step(character) else {
                continue;
            };
            let next = inner.successors(state, character);
            if next.iter().next().is_none() {
                continue;
            }
            let states = outer.advance(&states, character);
            open.extend(next.iter().map(|state| (state, shape, states.clone())));
        }
    }
    Proof::Holds
}

/// Whether some path is covered by both.
pub(super) fn intersects(one: &Automaton, two: &Automaton) -> Proof {
    let alphabet = alphabet(one, two);
    let mut open: Vec<(usize, usize, Shape)> = Vec::new();
    let pairs = |first: &States, second: &States, shape: Shape| -> Vec<(usize, usize, Shape)> {
        first
            .iter()
            .flat_map(|one| second.iter().map(move |two| (one, two, shape)))
            .collect()
    };
    open.extend(pairs(&one.start(), &two.start(), Shape::Root));
    let mut seen: HashSet<(usize, usize, Shape)> = open.iter().copied().collect();
    while let Some((first, second, shape)) = open.pop() {
        if shape.is_path() && first >= one.end() && second >= two.end() {
            return Proof::Holds;
        }
        if seen.len() > PAIRS_MAX {
            return Proof::Undecided;
        }
        for &character in &alphabet {
            let Some(shape) = shape.step(character) else {
                continue;
            };
            let first = one.successors(first, character);
            let second = two.successors(second, character);
            open.extend(
                pairs(&first, &second, shape)
                    .into_iter()
                    .filter(|pair| seen.insert(*pair)),
            );
        }
    }
    Proof::Fails
}

/// One character of each kind that both automata and [`Shape`] treat alike.
fn alphabet(one: &Automaton, two: &Automaton) -> Vec<char> {
    let fixed = ['/', '.']
        .into_iter()
        .flat_map(|c| [u32::from(c), u32::from(c) + 1]);
    let mut starts: Vec<u32> = one
        .boundaries()
        .chain(two.boundaries())
        .chain(fixed)
        .chain([1])
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([u32::from(char::MAX) + 1]);
    // Surrogates are no characters: an interval that starts among them starts behind them.
    let first_of = |(&start, end): (&u32, u32)| (start..end).take(0x801).find_map(char::from_u32);
    // Intervals that no set of either tells apart are one kind, most of all those between the letters.
    let mut kinds = HashSet::new();
    let known = |character: &char| {
        let inside: Vec<bool> = one
            .sets()
            .chain(two.sets())
            .map(|set| set.contains(*character))
            .collect();
        matches!(character, '/' | '.') || kinds.insert(inside)
    };
    starts
        .iter()
        .zip(ends)
        .filter_map(first_of)
        .filter(known)
        .collect()
}
