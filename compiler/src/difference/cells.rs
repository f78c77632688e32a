//! What the rules of each cell say of one class of accesses.
//!
//! Of the rules that match, only those are kept that yield to no other. That is enough to decide, and stays enough when
//! more rules match further down: "strictly inside" is transitive.

use std::ops::Range;

use policy_lang::policy::{Effect, RuleId};
use policy_lang::reference::Decision;

use super::view::{Order, Saying, View};

/// A set that matches, for one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) cell: u16,
    pub(super) item: u32,
    pub(super) effect: Effect,
    pub(super) rule: RuleId,
    pub(super) is_private: bool,
}

/// Entries of all cells, sorted by cell and item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Cells(Vec<Entry>);

impl Cells {
    pub(super) fn entries(&self) -> &[Entry] {
        &self.0
    }

    pub(super) fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        self.0.retain(keep);
    }

    pub(super) fn from_entries(mut entries: Vec<Entry>) -> Self {
        entries.sort_unstable_by_key(|entry| (entry.cell, entry.item));
        entries.dedup();
        Self(entries)
    }

    /// One more set matches.
    pub(super) fn add(&mut self, item: u32, items: &impl Order) {
        for saying in items.sayings(item) {
            self.add_one(item, saying, |inner, outer| items.strictly_inside(inner, outer));
        }
    }

    fn add_one(&mut self, item: u32, saying: &Saying, strictly_inside: impl Fn(u32, u32) -> bool) {
        let entry = Entry {
            cell: saying.cell,
            item,
            effect: saying.effect,
            rule: saying.rule,
            is_private: saying.is_private,
        };
        let own = |other: &Entry| other.cell == entry.cell;
        if let Some(forbid) = self
            .0
            .iter_mut()
            .find(|other| own(other) && other.effect == Effect::Forbid)
        {
            // Nothing changes what is forbidden, but the first rule that says so is named.
            if entry.effect == Effect::Forbid && entry.rule < forbid.rule {
                *forbid = entry;
                self.0.sort_unstable_by_key(|entry| (entry.cell, entry.item));
            }
            return;
        }
        if entry.effect == Effect::Forbid {
            self.0.retain(|other| !own(other));
        } else {
            let yields =
                |other: &Entry| own(other) && (other.item == item || strictly_inside(other.item, item));
            if self.0.iter().any(yields) {
                return;
            }
            self.0
                .retain(|other| !own(other) || !strictly_inside(item, other.item));
        }
        let at = self
            .0
            .partition_point(|other| (other.cell, other.item) < (entry.cell, item));
        self.0.insert(at, entry);
    }

    pub(super) fn of(&self, cell: u16) -> &[Entry] {
        let start = self.0.partition_point(|entry| entry.cell < cell);
        let end = self.0.partition_point(|entry| entry.cell <= cell);
        self.0.get(start..end).unwrap_or_default()
    }

    fn strictest(&self, cell: u16) -> Option<&Entry> {
        let rank = |entry: &&Entry| (entry.effect, std::cmp::Reverse(entry.rule));
        self.of(cell).iter().max_by_key(rank)
    }

    /// Whether what one layer says is said by a `scratch`.
    pub(super) fn is_private(&self, cell: u16) -> bool {
        self.strictest(cell).is_some_and(|entry| entry.is_private)
    }

    /// What one layer says.
    pub(crate) fn decide_in(&self, cell: u16) -> Decision {
        self.strictest(cell).map_or(
            Decision {
                effect: Effect::Deny,
                rule: RuleId::DEFAULT,
            },
            |entry| Decision {
                effect: entry.effect,
                rule: entry.rule,
            },
        )
    }

    /// The strictest of several layers: an explicit rule is named before the default, then the innermost layer's.
    pub(super) fn decide(&self, layers: Range<u16>) -> Decision {
        let rank = |decision: &Decision| (decision.effect, decision.rule != RuleId::DEFAULT);
        layers
            .map(|cell| self.decide_in(cell))
            .reduce(|inner, outer| if rank(&outer) > rank(&inner) { outer } else { inner })
            .unwrap_or(Decision {
                effect: Effect::Deny,
                rule: RuleId::DEFAULT,
            })
    }

    /// Whether both policies have the same to say, now and whatever else matches that is common to both.
    pub(super) fn are_paired(&self, view: &View<'_>) -> bool {
        let meaning = |cell| {
            self.of(cell)
                .iter()
                .map(|entry| (entry.item, entry.effect, entry.is_private))
        };
        view.pairs.as_ref().is_some_and(|pairs| {
            self.0.is_empty() || pairs.iter().all(|&(old, new)| meaning(old).eq(meaning(new)))
        })
    }
}
