//! A comparison of a 64-bit argument as questions about its two 32-bit halves, which is all cBPF can ask.

use policy_lang::syscall::{Comparison, Condition, Width};

use super::facts::Facts;
use super::graph::{Test, Word};

/// A question the filter can ask in one branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Question {
    /// Where it looks.
    pub(super) word: Word,
    /// What it asks.
    pub(super) test: Test,
}

/// A condition over words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Formula {
    /// Decided already.
    Constant(bool),
    /// True if the answer is yes.
    Asks(Question),
    /// True if the answer is no.
    AsksNot(Question),
    /// Both.
    And(Box<[Formula; 2]>),
    /// Either.
    Or(Box<[Formula; 2]>),
}

impl Formula {
    /// What a condition asks.
    pub(super) fn from_condition(condition: &Condition) -> Self {
        let argument = Argument {
            index: condition.argument,
            width: condition.width,
        };
        match condition.comparison {
            Comparison::Equal(value) => argument.equals(u64::MAX, value),
            Comparison::NotEqual(value) => argument.equals(u64::MAX, value).negated(),
            Comparison::GreaterOrEqual(value) => argument.at_least(value),
            Comparison::Less(value) => argument.at_least(value).negated(),
            Comparison::Greater(value) => argument.above(value),
            Comparison::LessOrEqual(value) => argument.above(value).negated(),
            Comparison::MaskedEqual { mask, value } => argument.equals(mask, value),
            Comparison::MaskedNotEqual { mask, value } => argument.equals(mask, value).negated(),
        }
    }

    /// Whether it holds, as far as the facts tell.
    pub(super) fn evaluate(&self, facts: &Facts) -> Option<bool> {
        match self {
            Self::Constant(truth) => Some(*truth),
            Self::Asks(question) => facts.answer(*question),
            Self::AsksNot(question) => facts.answer(*question).map(|answer| !answer),
            Self::And(both) => combine(both, facts, false),
            Self::Or(either) => combine(either, facts, true),
        }
    }

    /// The first question whose answer would tell more. `None` once [`Self::evaluate`] is certain.
    pub(super) fn open_question(&self, facts: &Facts) -> Option<Question> {
        if self.evaluate(facts).is_some() {
            return None;
        }
        match self {
            Self::Constant(_) => None,
            Self::Asks(question) | Self::AsksNot(question) => Some(*question),
            Self::And(parts) | Self::Or(parts) => parts.iter().find_map(|part| part.open_question(facts)),
        }
    }

    /// Every word it may look at.
    pub(super) fn words(&self, visit: &mut impl FnMut(Word)) {
        match self {
            Self::Constant(_) => {}
            Self::Asks(question) | Self::AsksNot(question) => visit(question.word),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.words(visit)),
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::Constant(truth) => Self::Constant(!truth),
            Self::Asks(question) => Self::AsksNot(question),
            Self::AsksNot(question) => Self::Asks(question),
            Self::And(parts) => Self::Or(Box::new(parts.map(Self::negated))),
            Self::Or(parts) => Self::And(Box::new(parts.map(Self::negated))),
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(true), rest) | (rest, Self::Constant(true)) => rest,
            (Self::Constant(false), _) | (_, Self::Constant(false)) => Self::Constant(false),
            (left, right) => Self::And(Box::new([left, right])),
        }
    }

    fn or(self, other: Self) -> Self {
        self.negated().and(other.negated()).negated()
    }
}

/// `absorbing` decides alone: false in a conjunction, true in a disjunction.
fn combine(parts: &[Formula; 2], facts: &Facts, absorbing: bool) -> Option<bool> {
    let [left, right] = parts;
    match (left.evaluate(facts), right.evaluate(facts)) {
        (Some(truth), _) | (_, Some(truth)) if truth == absorbing => Some(absorbing),
        (Some(_), Some(_)) => Some(!absorbing),
        _ => None,
    }
}

/// An argument, and how much of it the kernel looks at.
#[derive(Clone, Copy)]
struct Argument {
    index: u8,
    width: Width,
}

impl Argument {
    /// A 32-bit parameter is judged as if its high half were zero: the kernel never reads that half.
    fn high(self, test: Test) -> Formula {
        match (self.width, test) {
            (Width::Bits64, _) => ask(Word::High(self.index), test),
            (Width::Bits32, Test::Equal(value) | Test::Masked { value, .. }) => Formula::Constant(value == 0),
            (Width::Bits32, Test::AtLeast(value)) => Formula::Constant(value == 0),
            (Width::Bits32, Test::AnySet(_)) => Formula::Constant(false),
        }
    }

    fn low(self, test: Test) -> Formula {
        ask(Word::Low(self.index), test)
    }

    fn equals(self, mask: u64, value: u64) -> Formula {
        let (mask_high, mask_low) = halves(mask);
        let (value_high, value_low) = halves(value);
        // The low half first: it is the one that differs in practice.
        self.low(Test::Masked {
            mask: mask_low,
            value: value_low,
        })
        .and(self.high(Test::Masked {
            mask: mask_high,
            value: value_high,
        }))
    }

    fn at_least(self, value: u64) -> Formula {
        let (high, low) = halves(value);
        let same_high = self.high(Test::Equal(high)).and(self.low(Test::AtLeast(low)));
        match high.checked_add(1) {
            Some(next) => self.high(Test::AtLeast(next)).or(same_high),
            None => same_high,
        }
    }

    fn above(self, value: u64) -> Formula {
        match value.checked_add(1) {
            Some(next) => self.at_least(next),
            None => Formula::Constant(false),
        }
    }
}

/// A question in its simplest wording, so that equal questions look equal.
fn ask(word: Word, test: Test) -> Formula {
    let asks = |test| Formula::Asks(Question { word, test });
    match test {
        Test::AtLeast(0) | Test::Masked { mask: 0, value: 0 } => Formula::Constant(true),
        Test::AnySet(0) => Formula::Constant(false),
        Test::Masked { mask, value } if value & !mask != 0 => Formula::Constant(false),
        Test::Masked {
            mask: u32::MAX,
            value,
        } => asks(Test::Equal(value)),
        Test::Masked { mask, value: 0 } => asks(Test::AnySet(mask)).negated(),
        Test::Masked { mask, value } if value == mask && mask.is_power_of_two() => asks(Test::AnySet(mask)),
        test => asks(test),
    }
}

/// High and low half.
#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
const fn halves(value: u64) -> (u32, u32) {
    ((value >> 32) as u32, value as u32)
}
