//! Which pattern lies strictly inside which, where one of the two is a glob.
//!
//! Proving inclusion between globs takes a search over two automata, so only pairs are proved that one path cannot tell
//! apart: what includes a pattern covers every path of it, and one example finds the few that do.

use std::borrow::Cow;
use std::collections::HashMap;

use artifact::filesystem::glob::{Glob, GlobIndex};
use artifact::filesystem::path;
use policy_lang::inclusion::Proof;
use policy_lang::pattern::PathPattern;

/// Pairs of patterns by their numbers: the outer one, then one strictly inside it.
pub(super) struct Nesting {
    pairs: Vec<(usize, usize)>,
}

impl Nesting {
    pub(super) fn of(patterns: &[Cow<'_, PathPattern>]) -> Self {
        let index = Index::of(patterns);
        let mut pairs = Vec::new();
        if index.globs.is_empty() {
            return Self { pairs };
        }
        for (inner, pattern) in patterns.iter().enumerate() {
            for outer in index.candidates(pattern, patterns.len()) {
                if let Some(including) = patterns.get(outer)
                    && outer != inner
                    && index.is_strictly_inside(pattern, including)
                {
                    pairs.push((outer, inner));
                }
            }
        }
        Self { pairs }
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pairs.iter().copied()
    }
}

/// Patterns by what they cover.
struct Index<'p> {
    literals: HashMap<&'p str, usize>,
    globs: GlobIndex,
    /// For each glob of the index the number of its pattern, and a path that it matches.
    patterns: Vec<(usize, Option<String>)>,
    by_text: HashMap<&'p str, usize>,
}

impl<'p> Index<'p> {
    fn of(patterns: &'p [Cow<'_, PathPattern>]) -> Self {
        let mut index = Self {
            literals: HashMap::new(),
            globs: GlobIndex::default(),
            patterns: Vec::new(),
            by_text: HashMap::new(),
        };
        for (number, pattern) in patterns.iter().enumerate() {
            match &**pattern {
                PathPattern::Literal(path) => {
                    index.literals.insert(path, number);
                }
                PathPattern::Glob(text) => {
                    if let Ok(glob) = Glob::parse(text) {
                        index.by_text.insert(text, index.patterns.len());
                        index.patterns.push((number, pattern.example()));
                        index.globs.insert(glob);
                    }
                }
            }
        }
        index
    }

    /// What may include a pattern: globs, and for a glob also literals.
    fn candidates(&self, pattern: &PathPattern, all: usize) -> Vec<usize> {
        let (example, literals) = match pattern {
            PathPattern::Literal(path) => (Some(path.as_str()), false),
            PathPattern::Glob(text) => (self.example(text), true),
        };
        let Some(example) = example else {
            // No path at hand: anything may.
            return (0..all).collect();
        };
        let numbers = self.globs.covering(example).into_iter();
        let numbers = numbers.filter_map(|glob| self.patterns.get(usize::try_from(glob).ok()?));
        let mut found: Vec<usize> = numbers.map(|(number, _)| *number).collect();
        if literals {
            found.extend(path::ancestors(example).filter_map(|above| self.literals.get(above)));
        }
        found
    }

    fn example(&self, glob: &str) -> Option<&str> {
        let (_, example) = self.patterns.get(*self.by_text.get(glob)?)?;
        example.as_deref()
    }

    /// Whether a pattern lies strictly inside one of its candidates. What cannot be decided within bounds counts as no: the
    /// outer rule then stands, and the stricter effect wins.
    fn is_strictly_inside(&self, inner: &PathPattern, outer: &PathPattern) -> bool {
        if let (PathPattern::Literal(inner), PathPattern::Glob(glob)) = (inner, outer)
            && self
                .example(glob)
                .is_some_and(|example| !path::covers(inner, example))
        {
            // It is covered, and the glob reaches beyond it.
            return true;
        }
        outer.includes(inner).holds() && inner.includes(outer) == Proof::Fails
    }
}
