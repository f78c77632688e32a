//! Which pattern lies strictly inside which, where one of the two is a glob.
//!
//! Proving inclusion takes a search over two automata, so only pairs are proved that one path cannot tell apart: if a
//! pattern includes another, it covers every path of it, and a path made from the inner one finds the few that do.

use std::borrow::Cow;
use std::collections::HashMap;

use artifact::filesystem::glob::Glob;
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
            let is_glob = matches!(&**pattern, PathPattern::Glob(_));
            let candidates = match pattern.example() {
                Some(example) => index.covering(&example, is_glob),
                // No path at hand: everything may include it.
                None => (0..patterns.len()).collect(),
            };
            for outer in candidates {
                if let Some(including) = patterns.get(outer)
                    && outer != inner
                    && is_strictly_inside(pattern, including)
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

/// What cannot be decided within bounds counts as no: the outer rule then stands, and the stricter effect wins.
fn is_strictly_inside(inner: &PathPattern, outer: &PathPattern) -> bool {
    outer.includes(inner).holds() && inner.includes(outer) == Proof::Fails
}

/// Patterns by what they cover.
struct Index<'p> {
    literals: HashMap<&'p str, usize>,
    /// By the longest path above every match.
    globs: HashMap<String, Vec<(usize, Glob)>>,
}

impl<'p> Index<'p> {
    fn of(patterns: &'p [Cow<'_, PathPattern>]) -> Self {
        let mut literals = HashMap::new();
        let mut globs: HashMap<String, Vec<(usize, Glob)>> = HashMap::new();
        for (number, pattern) in patterns.iter().enumerate() {
            match &**pattern {
                PathPattern::Literal(path) => {
                    literals.insert(path.as_str(), number);
                }
                PathPattern::Glob(text) => {
                    if let Ok(glob) = Glob::parse(text) {
                        globs.entry(glob.fixed_prefix()).or_default().push((number, glob));
                    }
                }
            }
        }
        Self { literals, globs }
    }

    /// The globs that cover a path; with `literals` those too.
    fn covering(&self, example: &str, literals: bool) -> Vec<usize> {
        let mut found = Vec::new();
        for above in path::ancestors(example) {
            if literals {
                found.extend(self.literals.get(above));
            }
            let globs = self.globs.get(above).into_iter().flatten();
            found.extend(
                globs
                    .filter(|(_, glob)| glob.covers(example))
                    .map(|(number, _)| *number),
            );
        }
        found
    }
}
