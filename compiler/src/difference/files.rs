//! Files: every kind of path that the patterns of a view tell apart.
//!
//! What is decided for a path depends on which patterns cover it. The paths are walked component by component, from each
//! place to every name that some pattern writes out, and to one name for each combination of wildcards that it can match.
//! Places from which the same can follow are one place. Where two policies say the same and can only go on saying
//! the same, nothing is walked.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use policy_lang::inclusion::Proof;
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{FileAccess, Subject};
use policy_lang::reference::Access;

use super::cells::Cells;
use super::classes::{Class, Classes};
use super::names::Kind;
use super::view::{Items, Set, View};

mod merge;
mod order;
mod trie;
mod wild;

use merge::Merging;
use order::PathOrder;
use trie::{Reached, Trie};
use wild::{Families, Wild};

/// Steps from a place to a name, beside those that a tree of literals needs.
const STEPS_MAX: usize = 200_000;
/// Steps that are still taken when it is known that not everything is looked at: a witness is worth more than no answer.
const STEPS_WHEN_CUT: usize = 5_000;

impl Set for PathPattern {
    fn strictly_inside(&self, outer: &Self) -> Proof {
        // As the reference has it: what cannot be shown to be outside is not strictly inside.
        outer.includes(self).and(!self.includes(outer))
    }

    fn is_costly(&self, other: &Self) -> bool {
        !matches!((self, other), (Self::Literal(_), Self::Literal(_)))
    }
}

/// The path patterns of a rule for one kind of access.
pub(super) fn patterns(subject: &Subject, access: FileAccess) -> Vec<Cow<'_, PathPattern>> {
    match subject {
        Subject::File { accesses, targets } if accesses.contains(&access) => {
            targets.iter().map(Cow::Borrowed).collect()
        }
        Subject::Hide { targets } => targets.iter().map(Cow::Borrowed).collect(),
        Subject::Scratch { path, .. } if access != FileAccess::Execute => {
            vec![Cow::Owned(PathPattern::Literal(path.clone()))]
        }
        _ => Vec::new(),
    }
}

pub(super) fn explore(view: &View<'_>, access: FileAccess, out: &mut dyn Classes) {
    let items = Items::collect(view, |subject| patterns(subject, access));
    let trie = Trie::new(&items);
    let families = Families::new(&trie);
    let order = PathOrder::new(&items, &trie, &families);
    let mut walk = Walk {
        view,
        access,
        order: &order,
        merging: Merging::new(view, &order, &trie),
        trie: &trie,
        families: &families,
        places: Vec::new(),
        known: HashSet::new(),
        open: VecDeque::new(),
        onward: HashMap::new(),
        is_cut: false,
    };
    walk.run(out);
    if walk.is_cut {
        out.undecided("there are more kinds of paths than can be looked at");
    }
    if items.unsure.get() {
        out.undecided("two path patterns are too long to be compared");
    }
}

/// Paths that nothing tells apart, now or further down.
struct Place {
    above: usize,
    name: Box<str>,
    nodes: Vec<u32>,
    cells: Cells,
    is_named: bool,
}

/// Where names lead that no pattern writes out.
struct Onward {
    wild: Rc<Wild>,
    /// Positions of kinds, and where they lead. Kinds that lead nowhere, or to what all refuse, are left out.
    kinds: Vec<(usize, Reached)>,
}

struct Walk<'a> {
    view: &'a View<'a>,
    access: FileAccess,
    order: &'a PathOrder<'a>,
    trie: &'a Trie,
    families: &'a Families<'a>,
    merging: Merging<'a>,
    places: Vec<Place>,
    known: HashSet<(Vec<u32>, Cells)>,
    open: VecDeque<usize>,
    onward: HashMap<Vec<u32>, Rc<Onward>>,
    is_cut: bool,
}

impl Walk<'_> {
    fn run(&mut self, out: &mut dyn Classes) {
        self.arrive(None, "", self.trie.root(), out);
        let mut most = STEPS_MAX + 16 * self.trie.len();
        let mut steps = 0;
        while let Some(at) = self.open.pop_front() {
            let was_cut = self.is_cut;
            steps += self.go_on(at, out);
            if self.is_cut && !was_cut {
                most = most.min(steps + STEPS_WHEN_CUT);
            }
            if steps > most {
                self.is_cut = true;
                return;
            }
        }
    }

    /// Goes one component further. Says how many names were looked at.
    fn go_on(&mut self, at: usize, out: &mut dyn Classes) -> usize {
        let Some(place) = self.places.get_mut(at) else {
            return 0;
        };
        let nodes = std::mem::take(&mut place.nodes);
        let is_settled = place.cells.are_paired(self.view);
        let trie = self.trie;
        let here = || nodes.iter().filter_map(|&index| trie.node(index));
        let written: BTreeSet<&str> = here()
            .flat_map(|node| node.fixed.keys())
            .map(AsRef::as_ref)
            .collect();
        let onward = self.onward(&nodes);
        self.is_cut |= !onward.wild.is_complete;
        let mut taken: HashMap<Vec<u32>, HashSet<&str>> = HashMap::new();
        for &name in &written {
            let matched = onward.wild.matched(name);
            let reached = trie.advance(&nodes, Some(name), &onward.wild.numbers(&matched));
            if !onward.kinds.is_empty() {
                taken.entry(matched).or_default().insert(name);
            }
            if !is_settled || reached.differs {
                self.arrive(Some(at), name, reached, out);
            }
        }
        for (position, reached) in &onward.kinds {
            if is_settled && !reached.differs {
                continue;
            }
            let Some(kind) = onward.wild.kinds.get(*position) else {
                continue;
            };
            let name = match taken.get(&kind.matched) {
                Some(taken) if taken.contains(kind.name.as_str()) => self
                    .families
                    .other(&onward.wild, kind, taken)
                    .unwrap_or_else(|()| {
                        self.is_cut = true;
                        None
                    }),
                _ => Some(kind.name.clone()),
            };
            if let Some(name) = name {
                self.arrive(Some(at), &name, reached.clone(), out);
            }
        }
        1 + written.len() + onward.kinds.len()
    }

    fn onward(&mut self, nodes: &[u32]) -> Rc<Onward> {
        // A node with names alone leads nowhere else.
        let is_open = |&index: &u32| {
            let node = self.trie.node(index);
            node.is_some_and(|node| node.stays || !node.wild.is_empty())
        };
        let open: Vec<u32> = nodes.iter().copied().filter(is_open).collect();
        if let Some(known) = self.onward.get(&open) {
            return Rc::clone(known);
        }
        let wild = self.families.at(&open);
        let lead = |kind: &Kind| self.trie.advance(&open, None, &wild.numbers(&kind.matched));
        let kinds = wild.kinds.iter().map(lead).enumerate();
        // Where nothing is matched and nothing can be, paths are like those above.
        let is_alive = |(_, reached): &(usize, Reached)| {
            let leads_nowhere = reached.nodes.is_empty() && reached.matched.is_empty();
            !leads_nowhere && !self.is_refused(reached)
        };
        let kinds = kinds.filter(is_alive).collect();
        let onward = Rc::new(Onward { wild, kinds });
        self.onward.insert(open, Rc::clone(&onward));
        onward
    }

    /// Whether all that asks is refused there, and everywhere beneath.
    fn is_refused(&self, reached: &Reached) -> bool {
        let refuses = |&item: &u32| self.order.refuses_for_good(item, &self.view.groups);
        reached.matched.iter().any(refuses)
    }

    fn arrive(&mut self, above: Option<usize>, name: &str, reached: Reached, out: &mut dyn Classes) {
        if self.is_refused(&reached) {
            return;
        }
        let before = above.and_then(|above| self.places.get(above));
        let mut cells = before.map_or_else(Cells::default, |place| place.cells.clone());
        let mut is_named = before.is_none_or(|place| place.is_named);
        for item in reached.matched {
            cells.add(item, self.order);
        }
        // Beside the tree of literals many roads lead to places that are alike.
        let is_literal = |&index: &u32| self.trie.node(index).is_some_and(|node| node.is_literal);
        let on_tree = reached.nodes.iter().any(is_literal);
        let is_new = before.is_none_or(|place| place.cells != cells);
        let leads_on = !reached.nodes.is_empty();
        self.places.push(Place {
            above: above.unwrap_or(usize::MAX),
            name: name.into(),
            nodes: Vec::new(),
            cells: Cells::default(),
            is_named,
        });
        let at = self.places.len() - 1;
        if is_new {
            let class = Class {
                cells: &cells,
                is_named,
            };
            out.class(&class, &|| Access::File {
                access: self.access,
                path: self.path(at),
            });
        }
        if leads_on && !on_tree {
            is_named &= self.merging.merge(&reached.nodes, &mut cells);
        }
        if !leads_on || (!on_tree && !self.known.insert((reached.nodes.clone(), cells.clone()))) {
            self.places.pop();
            return;
        }
        if let Some(place) = self.places.get_mut(at) {
            place.nodes = reached.nodes;
            place.cells = cells;
            place.is_named = is_named;
        }
        self.open.push_back(at);
    }

    fn path(&self, place: usize) -> String {
        let mut names = Vec::new();
        let mut at = place;
        while let Some(place) = self.places.get(at) {
            if place.above == usize::MAX {
                break;
            }
            names.push(&*place.name);
            at = place.above;
        }
        if names.is_empty() {
            return "/".to_owned();
        }
        names
            .iter()
            .rev()
            .fold(String::new(), |path, name| path + "/" + name)
    }
}
