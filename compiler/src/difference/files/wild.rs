//! What the components with wildcards that stand at a place make of names.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use policy_lang::pattern::Token;

use super::super::names::{Grammar, Kind, Names};
use super::trie::Trie;

/// A family of components with wildcards.
pub(super) struct Wild {
    /// Indices in the trie, sorted.
    components: Vec<u32>,
    names: Names,
    pub(super) kinds: Vec<Kind>,
    /// Whether these are all kinds of names.
    pub(super) is_complete: bool,
}

impl Wild {
    /// Those that match a name, as positions in the family.
    pub(super) fn matched(&self, name: &str) -> Vec<u32> {
        if self.components.is_empty() {
            Vec::new()
        } else {
            self.names.matched(name)
        }
    }

    /// From positions to indices in the trie.
    pub(super) fn numbers(&self, positions: &[u32]) -> Vec<u32> {
        positions
            .iter()
            .filter_map(|&position| self.components.get(position as usize).copied())
            .collect()
    }
}

/// Families, each worked out once.
pub(super) struct Families<'a> {
    trie: &'a Trie,
    known: RefCell<HashMap<Vec<u32>, Rc<Wild>>>,
}

impl<'a> Families<'a> {
    pub(super) fn new(trie: &'a Trie) -> Self {
        Self {
            trie,
            known: RefCell::default(),
        }
    }

    /// The family that stands at some nodes.
    pub(super) fn at(&self, nodes: &[u32]) -> Rc<Wild> {
        let here = nodes.iter().filter_map(|&index| self.trie.node(index));
        let mut components: Vec<u32> = here.flat_map(|node| &node.wild).map(|&(own, _)| own).collect();
        components.sort_unstable();
        components.dedup();
        if let Some(known) = self.known.borrow().get(&components) {
            return Rc::clone(known);
        }
        let names = Names::new(Grammar::Component, self.tokens(&components));
        let (kinds, is_complete) = names.kinds();
        let wild = Rc::new(Wild {
            components: components.clone(),
            names,
            kinds,
            is_complete,
        });
        self.known.borrow_mut().insert(components, Rc::clone(&wild));
        wild
    }

    fn tokens(&self, components: &[u32]) -> Vec<&'a [Token]> {
        let tokens = components
            .iter()
            .filter_map(|&number| self.trie.wild.get(number as usize));
        tokens.map(Vec::as_slice).collect()
    }

    /// A name of a kind that is none of those written out. `Err` if that would take too long.
    pub(super) fn other(
        &self,
        wild: &Wild,
        kind: &Kind,
        taken: &HashSet<&str>,
    ) -> Result<Option<String>, ()> {
        let patterns = self.tokens(&wild.components);
        Names::other(Grammar::Component, &patterns, &kind.matched, taken)
    }
}
