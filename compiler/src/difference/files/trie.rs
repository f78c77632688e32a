//! Every path pattern of two policies, laid out component by component with their beginnings shared.
//!
//! It is a nondeterministic automaton over components: a `**` is a node that stays where it is. A path is at a set of nodes;
//! literals alone make that a single one, and the automaton a tree.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use policy_lang::pattern::{Component, PathPattern, Token};

use super::super::view::Items;

/// Where a path can stand among the patterns.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Components without wildcards.
    pub(super) fixed: BTreeMap<Box<str>, u32>,
    /// Components with wildcards, by their index in [`Trie::wild`].
    pub(super) wild: Vec<(u32, u32)>,
    /// `**`
    any: Option<u32>,
    /// It stands for `**`, and takes any component.
    pub(super) stays: bool,
    /// Patterns that are matched here.
    ends: Vec<u32>,
    /// A literal leads here.
    pub(super) is_literal: bool,
    /// The policies differ in what they say of a pattern that is matched here or further down.
    differs: bool,
}

impl Node {
    fn leads_on(&self) -> bool {
        !self.fixed.is_empty() || !self.wild.is_empty()
    }
}

/// The patterns of both policies for one kind of access.
#[derive(Debug)]
pub(super) struct Trie {
    nodes: Vec<Node>,
    pub(super) wild: Vec<Vec<Token>>,
}

/// Where a path and one more component lead.
#[derive(Debug, Clone, Default)]
pub(super) struct Reached {
    /// Nodes from which something can still be matched, sorted.
    pub(super) nodes: Vec<u32>,
    /// Patterns that have been matched on the way.
    pub(super) matched: Vec<u32>,
    /// The policies differ in one of these, or in one further down.
    pub(super) differs: bool,
}

impl Trie {
    pub(super) fn new(items: &Items<Cow<'_, PathPattern>>) -> Self {
        let mut trie = Self {
            nodes: vec![Node {
                is_literal: true,
                ..Node::default()
            }],
            wild: Vec::new(),
        };
        let mut known: HashMap<Vec<Token>, u32> = HashMap::new();
        for (item, pattern) in items.numbered() {
            let differs = !items.is_common(item);
            match pattern.as_ref() {
                PathPattern::Literal(path) => trie.insert_literal(item, path, differs),
                // A glob that is malformed matches nothing.
                glob @ PathPattern::Glob(_) => {
                    if let Some(components) = glob.components() {
                        trie.insert(item, components, differs, &mut known);
                    }
                }
            }
        }
        trie
    }

    pub(super) fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// As [`Self::insert`], without looking at characters.
    fn insert_literal(&mut self, item: u32, path: &str, differs: bool) {
        let mut at = 0;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let fresh = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
            let Some(node) = self.nodes.get_mut(at as usize) else {
                return;
            };
            node.differs |= differs;
            at = match node.fixed.get(name) {
                Some(&known) => known,
                None => {
                    node.fixed.insert(name.into(), fresh);
                    self.nodes.push(Node {
                        is_literal: true,
                        ..Node::default()
                    });
                    fresh
                }
            };
        }
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.differs |= differs;
            node.ends.push(item);
        }
    }

    fn insert(
        &mut self,
        item: u32,
        components: Vec<Component>,
        differs: bool,
        known: &mut HashMap<Vec<Token>, u32>,
    ) {
        let mut at = 0;
        for component in components {
            let fresh = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
            let Some(node) = self.nodes.get_mut(at as usize) else {
                return;
            };
            node.differs |= differs;
            let is_literal = node.is_literal;
            let mut new = Node::default();
            at = match component {
                // `**/**` is `**`.
                Component::AnyDepth if node.stays => at,
                Component::AnyDepth => {
                    new.stays = true;
                    *node.any.get_or_insert(fresh)
                }
                Component::Name(tokens) => match fixed(&tokens) {
                    Some(name) => {
                        new.is_literal = is_literal;
                        *node.fixed.entry(name.into()).or_insert(fresh)
                    }
                    None => {
                        let next = u32::try_from(self.wild.len()).unwrap_or(u32::MAX);
                        let wild = *known.entry(tokens).or_insert_with_key(|tokens| {
                            self.wild.push(tokens.clone());
                            next
                        });
                        match node.wild.iter().find(|(own, _)| *own == wild) {
                            Some(&(_, to)) => to,
                            None => {
                                node.wild.push((wild, fresh));
                                fresh
                            }
                        }
                    }
                },
            };
            if at == fresh {
                self.nodes.push(new);
            }
        }
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.differs |= differs;
            node.ends.push(item);
        }
    }

    /// Where `/` is.
    pub(super) fn root(&self) -> Reached {
        let mut reached = Reached::default();
        self.reach(0, &[], &mut reached);
        self.finish(reached)
    }

    /// Where a component leads that has a name and is matched by some components with wildcards.
    pub(super) fn advance(&self, from: &[u32], name: Option<&str>, wild: &[u32]) -> Reached {
        let mut reached = Reached::default();
        for &index in from {
            let Some(node) = self.node(index) else { continue };
            if node.stays {
                self.reach(index, from, &mut reached);
            }
            if let Some(&to) = name.and_then(|name| node.fixed.get(name)) {
                self.reach(to, from, &mut reached);
            }
            for &(own, to) in &node.wild {
                if wild.binary_search(&own).is_ok() {
                    self.reach(to, from, &mut reached);
                }
            }
        }
        self.finish(reached)
    }

    fn reach(&self, index: u32, from: &[u32], reached: &mut Reached) {
        let mut next = Some(index);
        while let Some(index) = next {
            let Some(node) = self.node(index) else { return };
            if reached.nodes.contains(&index) {
                return;
            }
            reached.nodes.push(index);
            // What was matched before stays matched, and need not be added again.
            if from.binary_search(&index).is_err() {
                reached.matched.extend(&node.ends);
            }
            reached.differs |= node.differs;
            next = node.any;
        }
    }

    fn finish(&self, mut reached: Reached) -> Reached {
        reached
            .nodes
            .retain(|&index| self.node(index).is_some_and(Node::leads_on));
        reached.nodes.sort_unstable();
        reached.matched.sort_unstable();
        reached.matched.dedup();
        reached
    }

    /// Patterns that can still be matched from some nodes, unless there are more than `most`.
    pub(super) fn ahead(&self, from: &[u32], most: usize) -> Option<Vec<u32>> {
        let mut items = Vec::new();
        let mut open = from.to_vec();
        let mut visited = 0;
        while let Some(index) = open.pop() {
            visited += 1;
            if visited > 4 * most || items.len() > most {
                return None;
            }
            let Some(node) = self.node(index) else { continue };
            items.extend(&node.ends);
            open.extend(node.fixed.values());
            open.extend(node.wild.iter().map(|&(_, to)| to));
            open.extend(node.any);
        }
        items.sort_unstable();
        items.dedup();
        Some(items)
    }
}

fn fixed(tokens: &[Token]) -> Option<String> {
    Component::Name(tokens.to_vec()).fixed()
}
