//! Which pattern lies strictly inside which, asked often.
//!
//! The language's own proof is exact and costs microseconds. Most pairs have nothing to do with each other, and one path of
//! the one shows that the other does not cover it: each pattern's example is walked once through all patterns together.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use policy_lang::pattern::PathPattern;
use policy_lang::policy::Effect;

use super::super::view::{Items, Order, Saying};
use super::trie::Trie;
use super::wild::Families;

/// Patterns that cover an example, sorted. Absent: no example was found.
type Covering = Option<Rc<[u32]>>;

pub(super) struct PathOrder<'a> {
    items: &'a Items<Cow<'a, PathPattern>>,
    trie: &'a Trie,
    families: &'a Families<'a>,
    covering: RefCell<HashMap<u32, Covering>>,
    /// For each glob, what may lie inside it.
    inside: OnceCell<HashMap<u32, Vec<u32>>>,
    final_refusals: RefCell<HashMap<u32, bool>>,
}

impl<'a> PathOrder<'a> {
    pub(super) fn new(
        items: &'a Items<Cow<'a, PathPattern>>,
        trie: &'a Trie,
        families: &'a Families<'a>,
    ) -> Self {
        Self {
            items,
            trie,
            families,
            covering: RefCell::default(),
            inside: OnceCell::new(),
            final_refusals: RefCell::default(),
        }
    }

    fn is_literal(&self, item: u32) -> bool {
        let pattern = self.items.set(item).map(AsRef::as_ref);
        matches!(pattern, Some(PathPattern::Literal(_)))
    }

    /// Every pattern that covers the example of one.
    fn covering(&self, item: u32) -> Covering {
        if let Some(known) = self.covering.borrow().get(&item) {
            return known.clone();
        }
        let example = self.items.set(item).and_then(|pattern| pattern.example());
        let covering: Covering = example.map(|path| Rc::from(self.covering_path(&path)));
        self.covering.borrow_mut().insert(item, covering.clone());
        covering
    }

    fn covering_path(&self, path: &str) -> Vec<u32> {
        let mut reached = self.trie.root();
        let mut covering = std::mem::take(&mut reached.matched);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let wild = self.families.at(&reached.nodes);
            let numbers = wild.numbers(&wild.matched(name));
            reached = self.trie.advance(&reached.nodes, Some(name), &numbers);
            covering.append(&mut reached.matched);
        }
        covering.sort_unstable();
        covering.dedup();
        covering
    }

    fn inside(&self) -> &HashMap<u32, Vec<u32>> {
        self.inside.get_or_init(|| {
            let mut inside: HashMap<u32, Vec<u32>> = HashMap::new();
            let globs: Vec<u32> = self
                .items
                .numbered()
                .map(|(item, _)| item)
                .filter(|&item| !self.is_literal(item))
                .collect();
            for (item, _) in self.items.numbered() {
                match self.covering(item) {
                    Some(covering) => {
                        for &outer in covering
                            .iter()
                            .filter(|&&outer| outer != item && !self.is_literal(outer))
                        {
                            inside.entry(outer).or_default().push(item);
                        }
                    }
                    None => globs
                        .iter()
                        .for_each(|&outer| inside.entry(outer).or_default().push(item)),
                }
            }
            inside
        })
    }

    /// Whether a glob refuses in each of some groups of cells, and nothing further down can change that: it is absolute, or
    /// nothing lies strictly inside it.
    pub(super) fn refuses_for_good(&self, item: u32, groups: &[Range<u16>]) -> bool {
        if self.is_literal(item) {
            return false;
        }
        if let Some(&known) = self.final_refusals.borrow().get(&item) {
            return known;
        }
        let refuses = |saying: &Saying| match saying.effect {
            Effect::Forbid => true,
            Effect::Deny => {
                let inside = self.inside().get(&item).map_or(&[] as &[u32], Vec::as_slice);
                !inside.iter().any(|&inner| {
                    let speaks = self.sayings(inner).iter().any(|other| other.cell == saying.cell);
                    speaks && self.strictly_inside(inner, item)
                })
            }
            Effect::Allow | Effect::Ask => false,
        };
        let own = self.sayings(item);
        let in_group = |group: &Range<u16>| {
            own.iter()
                .any(|saying| group.contains(&saying.cell) && refuses(saying))
        };
        let answer = groups.iter().all(in_group);
        self.final_refusals.borrow_mut().insert(item, answer);
        answer
    }
}

impl Order for PathOrder<'_> {
    fn sayings(&self, item: u32) -> &[Saying] {
        self.items.sayings(item)
    }

    fn strictly_inside(&self, inner: u32, outer: u32) -> bool {
        let (inner_is_literal, outer_is_literal) = (self.is_literal(inner), self.is_literal(outer));
        if inner_is_literal && outer_is_literal {
            return self.items.strictly_inside(inner, outer);
        }
        let misses = |one: u32, other: u32| {
            self.covering(one)
                .is_some_and(|covering| covering.binary_search(&other).is_err())
        };
        if misses(inner, outer) {
            return false;
        }
        // A literal's example is its top: what covers it covers all of it.
        if inner_is_literal && misses(outer, inner) {
            return true;
        }
        self.items.strictly_inside(inner, outer)
    }
}
