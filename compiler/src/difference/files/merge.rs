//! Which of the rules at a place can never matter again.
//!
//! Twenty globs like `**/*.pem` can cover a path in a million combinations, but a place that one `deny` has settled needs no
//! other. A rule is *settled* when no pattern that can still be matched lies strictly inside its own: it never yields.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use policy_lang::policy::Effect;

use super::super::cells::{Cells, Entry};
use super::super::view::{Order as _, View};
use super::order::PathOrder;
use super::trie::Trie;

/// More patterns ahead than this, and nothing is merged.
const AHEAD_MAX: usize = 256;

/// Patterns that can still be matched, unless there are too many.
type Ahead = Option<Rc<[u32]>>;

pub(super) struct Merging<'a> {
    view: &'a View<'a>,
    items: &'a PathOrder<'a>,
    trie: &'a Trie,
    ahead: RefCell<HashMap<Vec<u32>, Ahead>>,
}

impl<'a> Merging<'a> {
    pub(super) fn new(view: &'a View<'a>, items: &'a PathOrder<'a>, trie: &'a Trie) -> Self {
        Self {
            view,
            items,
            trie,
            ahead: RefCell::default(),
        }
    }

    /// Drops what no longer matters to any effect. Says whether the rules that decide are still named as before.
    pub(super) fn merge(&self, nodes: &[u32], cells: &mut Cells) -> bool {
        let Some(ahead) = self.ahead(nodes) else {
            return true;
        };
        let mut dropped: Vec<Entry> = Vec::new();
        let mut renamed = false;
        for cell in self.view.sides.iter().flat_map(|side| side.cells()) {
            let Some(kept) = self.settled(cells.of(cell), &ahead) else {
                continue;
            };
            for entry in cells.of(cell) {
                if entry.item != kept.item && self.is_outdone(entry, &kept, &ahead) {
                    renamed |= entry.effect == kept.effect;
                    dropped.push(*entry);
                }
            }
        }
        cells.retain(|entry| !dropped.contains(entry));
        !renamed
    }

    fn ahead(&self, nodes: &[u32]) -> Ahead {
        if let Some(known) = self.ahead.borrow().get(nodes) {
            return known.clone();
        }
        let ahead: Ahead = self.trie.ahead(nodes, AHEAD_MAX).map(Rc::from);
        self.ahead.borrow_mut().insert(nodes.to_vec(), ahead.clone());
        ahead
    }

    /// The strictest settled entry of a cell.
    fn settled(&self, entries: &[Entry], ahead: &[u32]) -> Option<Entry> {
        let never_yields = |entry: &&Entry| {
            entry.effect == Effect::Forbid
                || !ahead.iter().any(|&item| {
                    self.speaks(item, entry.cell) && self.items.strictly_inside(item, entry.item)
                })
        };
        entries
            .iter()
            .filter(never_yields)
            .max_by_key(|entry| (entry.effect, std::cmp::Reverse(entry.rule)))
            .copied()
    }

    fn speaks(&self, item: u32, cell: u16) -> bool {
        self.items.sayings(item).iter().any(|saying| saying.cell == cell)
    }

    /// Whether `entry` matters neither as a candidate nor as one that others yield to, given that `kept` never yields.
    fn is_outdone(&self, entry: &Entry, kept: &Entry, ahead: &[u32]) -> bool {
        // Memory of the run's own and the host's files are not the same to be allowed.
        let differ_in_kind = kept.effect == Effect::Allow && entry.is_private != kept.is_private;
        if entry.effect > kept.effect || differ_in_kind {
            return false;
        }
        // Only a rule that is stricter than `kept` and not absolute could matter by yielding to `entry`.
        let could_matter = |item: u32| {
            self.items.sayings(item).iter().any(|saying| {
                saying.cell == entry.cell && saying.effect > kept.effect && saying.effect != Effect::Forbid
            })
        };
        !ahead
            .iter()
            .any(|&item| could_matter(item) && self.items.strictly_inside(entry.item, item))
    }
}
