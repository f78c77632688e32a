//! What is known about the argument words on one way through the filter.
//!
//! Knowing only ever saves branches. Where nothing is known the question is asked, so a gap in the reasoning
//! here makes a filter longer, never wrong.

use std::collections::BTreeMap;

use super::formula::Question;
use super::graph::{Test, Word};

/// Facts about every word that was asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Facts {
    words: BTreeMap<Word, WordFacts>,
}

/// Facts about one word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WordFacts {
    lowest: u32,
    highest: u32,
    known_bits: u32,
    bits: u32,
    /// Answers that the fields above do not say in full.
    answers: BTreeMap<Test, bool>,
}

impl Facts {
    /// The answer, where the facts settle it.
    pub(super) fn answer(&self, question: Question) -> Option<bool> {
        self.words.get(&question.word)?.answer(question.test)
    }

    /// These facts and one more answer.
    pub(super) fn with(&self, question: Question, answer: bool) -> Self {
        let mut more = self.clone();
        more.words
            .entry(question.word)
            .or_default()
            .learn(question.test, answer);
        more
    }

    /// The facts about these words alone.
    pub(super) fn about(&self, mut wanted: impl FnMut(Word) -> bool) -> Self {
        Self {
            words: self
                .words
                .iter()
                .filter(|(word, _)| wanted(**word))
                .map(|(word, facts)| (*word, facts.clone()))
                .collect(),
        }
    }
}

impl Default for WordFacts {
    fn default() -> Self {
        Self {
            lowest: 0,
            highest: u32::MAX,
            known_bits: 0,
            bits: 0,
            answers: BTreeMap::new(),
        }
    }
}

impl WordFacts {
    fn answer(&self, test: Test) -> Option<bool> {
        if let Some(answer) = self.answers.get(&test) {
            return Some(*answer);
        }
        if self.lowest == self.highest {
            return Some(test.holds(self.lowest));
        }
        match test {
            Test::Equal(value) => {
                let impossible =
                    value < self.lowest || value > self.highest || (value ^ self.bits) & self.known_bits != 0;
                impossible.then_some(false)
            }
            Test::AtLeast(value) if self.lowest >= value => Some(true),
            Test::AtLeast(value) => (self.highest < value).then_some(false),
            Test::AnySet(mask) if self.bits & self.known_bits & mask != 0 => Some(true),
            Test::AnySet(mask) => (mask & !self.known_bits == 0).then_some(false),
            Test::Masked { mask, value } if (value ^ self.bits) & self.known_bits & mask != 0 => Some(false),
            Test::Masked { mask, .. } => (mask & !self.known_bits == 0).then_some(true),
        }
    }

    fn learn(&mut self, test: Test, answer: bool) {
        self.answers.insert(test, answer);
        match (test, answer) {
            (Test::Equal(value), true) => {
                (self.lowest, self.highest) = (value, value);
                (self.known_bits, self.bits) = (u32::MAX, value);
                // Everything else follows from the value.
                self.answers.clear();
            }
            (Test::Equal(value), false) => {
                if value == self.lowest {
                    self.lowest = self.lowest.saturating_add(1);
                }
                if value == self.highest {
                    self.highest = self.highest.saturating_sub(1);
                }
            }
            (Test::AtLeast(value), true) => self.lowest = self.lowest.max(value),
            (Test::AtLeast(value), false) => self.highest = self.highest.min(value.saturating_sub(1)),
            (Test::AnySet(mask), false) => self.learn_bits(mask, 0),
            (Test::AnySet(mask), true) if mask.is_power_of_two() => self.learn_bits(mask, mask),
            (Test::Masked { mask, value }, true) => self.learn_bits(mask, value),
            (Test::AnySet(_), true) | (Test::Masked { .. }, false) => {}
        }
    }

    fn learn_bits(&mut self, mask: u32, value: u32) {
        self.known_bits |= mask;
        self.bits = (self.bits & !mask) | (value & mask);
    }
}

impl Test {
    /// The answer for a known word.
    pub(super) const fn holds(self, word: u32) -> bool {
        match self {
            Self::Equal(value) => word == value,
            Self::AtLeast(value) => word >= value,
            Self::AnySet(mask) => word & mask != 0,
            Self::Masked { mask, value } => word & mask == value,
        }
    }
}
