//! Names, and patterns that match them: which sets of patterns have a name that exactly they match, and such a name.
//!
//! The patterns are laid out as one nondeterministic automaton that shares their beginnings. Walking its sets of states
//! with one character of each kind meets every combination of patterns that a name can match.

use std::collections::{HashMap, HashSet, VecDeque};

use policy_lang::pattern::{CharacterSet, Token};

mod alphabet;

/// Sets of states that are visited for one family of patterns.
const STATES_MAX: usize = 10_000;

/// What a name may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grammar {
    /// One component of a path.
    Component,
    /// An environment variable.
    Variable,
}

impl Grammar {
    fn has(self, character: char) -> bool {
        match self {
            Self::Component => !matches!(character, '/' | '\0'),
            Self::Variable => !matches!(character, '=' | '\0'),
        }
    }

    fn is_name(self, beginning: Beginning) -> bool {
        match self {
            Self::Component => beginning == Beginning::Other,
            Self::Variable => beginning != Beginning::Empty,
        }
    }
}

/// As much of a name as tells `.` and `..` from other names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Beginning {
    Empty,
    Dot,
    DotDot,
    Other,
}

impl Beginning {
    fn then(self, character: char) -> Self {
        match (self, character) {
            (Self::Empty, '.') => Self::Dot,
            (Self::Dot, '.') => Self::DotDot,
            _ => Self::Other,
        }
    }
}

/// Names that the same patterns match, and one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kind {
    /// Positions of the patterns, sorted.
    pub(super) matched: Vec<u32>,
    pub(super) name: String,
}

#[derive(Debug, Default)]
struct Node {
    ones: Vec<(CharacterSet, usize)>,
    run: Option<usize>,
    /// It stands for `*` and takes any character.
    stays: bool,
    ends: Vec<u32>,
}

/// A family of patterns.
#[derive(Debug)]
pub(super) struct Names {
    grammar: Grammar,
    nodes: Vec<Node>,
    alphabet: Vec<char>,
    start: Vec<usize>,
}

impl Names {
    pub(super) fn new<'a>(grammar: Grammar, patterns: impl IntoIterator<Item = &'a [Token]>) -> Self {
        let mut names = Self {
            grammar,
            nodes: vec![Node::default()],
            alphabet: Vec::new(),
            start: Vec::new(),
        };
        for (position, tokens) in (0..).zip(patterns) {
            names.insert(position, tokens);
        }
        let sets = names.nodes.iter().flat_map(|node| &node.ones).map(|(set, _)| set);
        names.alphabet = alphabet::one_of_each_kind(sets, |character| grammar.has(character));
        let mut start = Vec::new();
        names.reach(&mut start, 0);
        start.sort_unstable();
        names.start = start;
        names
    }

    fn insert(&mut self, position: u32, tokens: &[Token]) {
        let mut at = 0;
        for token in tokens {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else {
                return;
            };
            at = match token {
                // Two stars in a row are one.
                Token::Run if node.stays => at,
                Token::Run => *node.run.get_or_insert(fresh),
                Token::One(set) => match node.ones.iter().find(|(own, _)| own == set) {
                    Some(&(_, known)) => known,
                    None => {
                        node.ones.push((set.clone(), fresh));
                        fresh
                    }
                },
            };
            if at == fresh {
                self.nodes.push(Node {
                    stays: matches!(token, Token::Run),
                    ..Node::default()
                });
            }
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.ends.push(position);
        }
    }

    fn reach(&self, states: &mut Vec<usize>, state: usize) {
        let mut next = Some(state);
        while let Some(state) = next {
            if states.contains(&state) {
                return;
            }
            states.push(state);
            next = self.nodes.get(state).and_then(|node| node.run);
        }
    }

    fn advance(&self, states: &[usize], character: char) -> Vec<usize> {
        let mut next = Vec::new();
        for &state in states {
            let Some(node) = self.nodes.get(state) else {
                continue;
            };
            if node.stays {
                self.reach(&mut next, state);
            }
            for (set, to) in &node.ones {
                if set.contains(character) {
                    self.reach(&mut next, *to);
                }
            }
        }
        next.sort_unstable();
        next
    }

    fn ends(&self, states: &[usize]) -> Vec<u32> {
        let ends = states.iter().filter_map(|&state| self.nodes.get(state));
        let mut ends: Vec<u32> = ends.flat_map(|node| node.ends.iter().copied()).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// The patterns that match a name, sorted.
    pub(super) fn matched(&self, name: &str) -> Vec<u32> {
        let mut states = self.start.clone();
        for character in name.chars() {
            states = self.advance(&states, character);
        }
        self.ends(&states)
    }

    /// One name of each kind, the shortest first. The flag says whether these are all.
    pub(super) fn kinds(&self) -> (Vec<Kind>, bool) {
        let mut kinds: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut found: Vec<Kind> = Vec::new();
        let complete = self.walk(|matched, name| {
            kinds.entry(matched).or_insert_with_key(|matched| {
                let name = self.legible(matched, name());
                found.push(Kind {
                    matched: matched.clone(),
                    name,
                });
                found.len() - 1
            });
            false
        });
        (found, complete)
    }

    /// `.pem` is a name that `*.pem` matches, but `a.pem` is what a reader thinks of.
    fn legible(&self, matched: &[u32], name: String) -> String {
        let longer = format!("a{name}");
        let is_plain = name.starts_with(|first: char| first.is_alphanumeric());
        if !is_plain && self.grammar == Grammar::Component && self.matched(&longer) == matched {
            longer
        } else {
            name
        }
    }

    /// A name of a kind that is none of `taken`, all of which are of that kind. `Err` if that would take too long.
    pub(super) fn other(
        grammar: Grammar,
        patterns: &[&[Token]],
        matched: &[u32],
        taken: &HashSet<&str>,
    ) -> Result<Option<String>, ()> {
        let exact: Vec<Vec<Token>> = taken
            .iter()
            .map(|name| {
                name.chars()
                    .map(|next| Token::One(CharacterSet::Just(next)))
                    .collect()
            })
            .collect();
        let all = patterns.iter().copied().chain(exact.iter().map(Vec::as_slice));
        let names = Self::new(grammar, all);
        let mut found = None;
        let complete = names.walk(|own, name| {
            if own == matched {
                found = Some(name());
            }
            found.is_some()
        });
        if complete || found.is_some() {
            Ok(found)
        } else {
            Err(())
        }
    }

    /// Walks every set of states, breadth first, until told to stop. Says whether it got to the end.
    fn walk(&self, mut visit: impl FnMut(Vec<u32>, &dyn Fn() -> String) -> bool) -> bool {
        let mut steps: Vec<(usize, char)> = vec![(0, '\0')];
        let mut seen = HashSet::from([(self.start.clone(), Beginning::Empty)]);
        let mut open = VecDeque::from([(0_usize, self.start.clone(), Beginning::Empty)]);
        while let Some((step, states, beginning)) = open.pop_front() {
            if self.grammar.is_name(beginning) && visit(self.ends(&states), &|| word(&steps, step)) {
                return true;
            }
            for &character in &self.alphabet {
                let next = self.advance(&states, character);
                let beginning = beginning.then(character);
                if seen.insert((next.clone(), beginning)) {
                    if steps.len() > STATES_MAX {
                        return false;
                    }
                    steps.push((step, character));
                    open.push_back((steps.len() - 1, next, beginning));
                }
            }
        }
        true
    }
}

fn word(steps: &[(usize, char)], step: usize) -> String {
    let mut characters = Vec::new();
    let mut at = step;
    while at != 0 {
        let Some(&(before, character)) = steps.get(at) else {
            break;
        };
        characters.push(character);
        at = before;
    }
    characters.iter().rev().collect()
}

#[cfg(test)]
mod tests;
