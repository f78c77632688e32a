//! A pattern as a nondeterministic automaton over the characters of a path.
//!
//! The word of a path is the path itself, and of `/` the empty word, so that each component is a slash and a name.
//! States stand in a line; a state's step says where a character leads, and going on without one only leads forward.
//! A set of states is a few machine words, so a match costs the length of the path times that of the pattern at most.

use super::PathPattern;
use super::glob::{self, CharacterSet, Component, PatternError, Token};

/// What a state does with the next character.
#[derive(Debug, Clone)]
enum Step {
    /// Takes the slash and goes on.
    Slash,
    /// Takes one character of the set and goes on.
    One(CharacterSet),
    /// Takes any character of a name and stays, or goes on with none.
    Run,
    /// Before `**`: takes a slash and enters the next state, or goes on past it.
    AnyDepth,
    /// Inside `**`: takes everything and stays, or goes on. What comes next is a slash or the end, so the words that
    /// are paths leave it only between components.
    Inside,
    /// The pattern is matched; a slash leads beneath.
    End,
    /// Beneath a match.
    Beneath,
}

/// A set of states, one bit each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct States(Vec<u64>);

impl States {
    fn none(states: usize) -> Self {
        Self(vec![0; states.div_ceil(64)])
    }

    fn insert(&mut self, state: usize) {
        if let Some(word) = self.0.get_mut(state / 64) {
            *word |= 1 << (state % 64);
        }
    }

    pub(super) fn contains(&self, state: usize) -> bool {
        self.0
            .get(state / 64)
            .is_some_and(|word| word >> (state % 64) & 1 == 1)
    }

    pub(super) fn is_subset(&self, other: &Self) -> bool {
        self.0
            .iter()
            .zip(&other.0)
            .all(|(own, others)| own & !others == 0)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

#[derive(Debug)]
pub(super) struct Automaton {
    steps: Vec<Step>,
}

impl Automaton {
    pub(super) fn of(pattern: &PathPattern) -> Result<Self, PatternError> {
        let mut steps = Vec::new();
        match pattern {
            PathPattern::Literal(path) => {
                steps.extend(word_of(path).chars().map(|character| match character {
                    '/' => Step::Slash,
                    other => Step::One(CharacterSet::Just(other)),
                }));
            }
            PathPattern::Glob(text) => {
                for component in glob::components(text)? {
                    match component {
                        Component::AnyDepth => steps.extend([Step::AnyDepth, Step::Inside]),
                        Component::Name(tokens) => {
                            steps.push(Step::Slash);
                            steps.extend(tokens.into_iter().map(|token| match token {
                                Token::Run => Step::Run,
                                Token::One(set) => Step::One(set),
                            }));
                        }
                    }
                }
            }
        }
        steps.extend([Step::End, Step::Beneath]);
        Ok(Self { steps })
    }

    pub(super) fn covers(&self, path: &str) -> bool {
        let mut states = self.start();
        let mut next = States::none(self.steps.len());
        for character in word_of(path).chars() {
            if states.contains(self.beneath()) {
                return true;
            }
            self.advance_into(&states, character, &mut next);
            std::mem::swap(&mut states, &mut next);
        }
        self.accepts(&states)
    }

    pub(super) fn start(&self) -> States {
        let mut states = States::none(self.steps.len());
        self.reach(&mut states, 0);
        states
    }

    /// Where one state and a character lead.
    pub(super) fn successors(&self, state: usize, character: char) -> States {
        let mut states = States::none(self.steps.len());
        states.insert(state);
        self.advance(&states, character)
    }

    pub(super) fn advance(&self, states: &States, character: char) -> States {
        let mut next = States::none(self.steps.len());
        self.advance_into(states, character, &mut next);
        next
    }

    fn advance_into(&self, states: &States, character: char, next: &mut States) {
        next.0.fill(0);
        for state in states.iter() {
            let Some(step) = self.steps.get(state) else {
                continue;
            };
            match step {
                Step::Slash | Step::AnyDepth | Step::End if character == '/' => self.reach(next, state + 1),
                Step::One(set) if set.contains(character) => self.reach(next, state + 1),
                Step::Run if character != '/' => self.reach(next, state),
                Step::Inside | Step::Beneath => self.reach(next, state),
                Step::Slash | Step::One(_) | Step::Run | Step::AnyDepth | Step::End => {}
            }
        }
    }

    /// Adds a state and those it reaches without a character.
    fn reach(&self, states: &mut States, state: usize) {
        let mut state = state;
        while !states.contains(state) {
            states.insert(state);
            match self.steps.get(state) {
                Some(Step::Run | Step::Inside) => state += 1,
                Some(Step::AnyDepth) => state += 2,
                _ => return,
            }
        }
    }

    /// Whether the word so far is covered, if it is a path.
    pub(super) fn accepts(&self, states: &States) -> bool {
        states.contains(self.end()) || states.contains(self.beneath())
    }

    /// The state that is reached when the whole pattern is matched.
    pub(super) fn end(&self) -> usize {
        self.steps.len().saturating_sub(2)
    }

    /// The state from which every longer path is covered.
    pub(super) fn beneath(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }

    /// Characters at which the automaton may start or stop to treat characters alike.
    pub(super) fn boundaries(&self) -> impl Iterator<Item = u32> {
        self.sets().flat_map(|set| {
            let (just, ranges) = match set {
                CharacterSet::Just(character) => (Some((*character, *character)), &[] as &[_]),
                CharacterSet::Class { ranges, .. } => (None, ranges.as_slice()),
            };
            let all = just.into_iter().chain(ranges.iter().copied());
            all.flat_map(|(first, last)| [u32::from(first), u32::from(last) + 1])
        })
    }

    /// Every set of characters in it.
    pub(super) fn sets(&self) -> impl Iterator<Item = &CharacterSet> {
        self.steps.iter().filter_map(|step| {
            if let Step::One(set) = step {
                Some(set)
            } else {
                None
            }
        })
    }
}

fn word_of(path: &str) -> &str {
    if path == "/" { "" } else { path }
}
