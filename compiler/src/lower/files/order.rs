//! Which elementary rule yields to which.
//!
//! Rules of two layers never yield to each other, so each layer is ordered by itself, with the built-in rules in each.
//! Literals make a tree, so it is enough that a rule lists the literals next inside it: whatever lies deeper is inside
//! those too, and a path that matches it matches them. What globs include comes from [`Nesting`].

use std::borrow::Cow;

use artifact::LayerId;
use artifact::filesystem::{FileAccess, PathRule, path};
use policy_lang::pattern::PathPattern;

use super::nesting::Nesting;

/// Fills in `yields_to` of each rule. `pattern_of` has the number of each rule's pattern among `patterns`.
pub(super) fn order(
    rules: &mut [PathRule],
    pattern_of: &[u32],
    patterns: &[Cow<'_, PathPattern>],
    outermost: LayerId,
) {
    let nesting = Nesting::of(patterns);
    let mut literals: Vec<(&str, usize)> = patterns
        .iter()
        .enumerate()
        .filter_map(|(number, pattern)| match &**pattern {
            PathPattern::Literal(path) => Some((path.as_str(), number)),
            PathPattern::Glob(_) => None,
        })
        .collect();
    literals.sort_unstable_by(|(left, _), (right, _)| path::compare(left, right));
    for access in [FileAccess::Read, FileAccess::Write, FileAccess::Execute] {
        for layer in (0..=outermost.0).map(LayerId) {
            let view = View::new(rules, pattern_of, patterns.len(), access, layer);
            let mut yields = Vec::new();
            view.order_literals(&literals, &mut yields);
            view.order_globs(&nesting, &mut yields);
            for (outer, inner) in yields {
                if let Some(rule) = usize::try_from(outer).ok().and_then(|at| rules.get_mut(at)) {
                    rule.yields_to.push(inner);
                }
            }
        }
    }
    for rule in rules {
        rule.yields_to.sort_unstable();
        rule.yields_to.dedup();
    }
}

/// The rules on one access that one layer sees, by pattern.
struct View {
    rules: Vec<u32>,
    /// Where the rules on each pattern begin, and at last where they end.
    starts: Vec<usize>,
}

impl View {
    fn new(
        rules: &[PathRule],
        pattern_of: &[u32],
        patterns: usize,
        access: FileAccess,
        layer: LayerId,
    ) -> Self {
        let mut seen: Vec<(u32, u32)> = (0..)
            .zip(rules)
            .zip(pattern_of)
            .filter(|((_, rule), _)| rule.access == access && rule.layer.is_none_or(|own| own == layer))
            .map(|((index, _), pattern)| (*pattern, index))
            .collect();
        seen.sort_unstable();
        let mut starts = Vec::with_capacity(patterns + 1);
        for (at, (pattern, _)) in seen.iter().enumerate() {
            let pattern = usize::try_from(*pattern).unwrap_or(usize::MAX);
            while starts.len() <= pattern.min(patterns) {
                starts.push(at);
            }
        }
        starts.resize(patterns + 1, seen.len());
        Self {
            rules: seen.into_iter().map(|(_, index)| index).collect(),
            starts,
        }
    }

    fn on(&self, pattern: usize) -> &[u32] {
        match self.starts.get(pattern..pattern + 2) {
            Some([start, end]) => self.rules.get(*start..*end).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Rules on one pattern match alike, so one of them stands for all that others yield to.
    fn yield_to(&self, outer: &[u32], inner: usize, yields: &mut Vec<(u32, u32)>) {
        if let Some(inner) = self.on(inner).first() {
            yields.extend(outer.iter().map(|outer| (*outer, *inner)));
        }
    }

    /// `literals` are in tree order.
    fn order_literals(&self, literals: &[(&str, usize)], yields: &mut Vec<(u32, u32)>) {
        let mut open: Vec<(&str, &[u32])> = Vec::new();
        for (literal, number) in literals {
            let group = self.on(*number);
            if group.is_empty() {
                continue;
            }
            while open.pop_if(|(outer, _)| !path::covers(outer, literal)).is_some() {}
            if let Some((_, outer)) = open.last() {
                self.yield_to(outer, *number, yields);
            }
            open.push((literal, group));
        }
    }

    fn order_globs(&self, nesting: &Nesting, yields: &mut Vec<(u32, u32)>) {
        for (outer, inner) in nesting.pairs() {
            self.yield_to(self.on(outer), inner, yields);
        }
    }
}
