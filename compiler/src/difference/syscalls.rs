//! System calls: every call, and every kind of arguments that the predicates on it tell apart.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use policy_lang::inclusion::Proof;
use policy_lang::policy::Subject;
use policy_lang::reference::Access;
use policy_lang::syscall::{Architecture, Comparison, Condition, SyscallSet, Width, table};

use super::cells::Cells;
use super::classes::{Class, Classes};
use super::view::{Items, Set, View};

mod register;

/// Rules looked at for the arguments of all calls.
const WORK_MAX: usize = 8_000_000;

/// A set of calls, cheap to copy.
#[derive(Debug, Clone, Copy)]
struct Calls<'a>(&'a SyscallSet);

impl PartialEq for Calls<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Calls<'_> {}

impl std::hash::Hash for Calls<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.names.hash(state);
        self.0.conditions.hash(state);
    }
}

impl Set for Calls<'_> {
    fn strictly_inside(&self, outer: &Self) -> Proof {
        outer.0.includes(self.0).and(!self.0.includes(outer.0))
    }

    fn is_costly(&self, _: &Self) -> bool {
        true
    }
}

fn calls(subject: &Subject) -> Vec<Calls<'_>> {
    match subject {
        Subject::Syscall { targets } => targets.iter().map(Calls).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn explore(view: &View<'_>, out: &mut dyn Classes) {
    let items = Items::collect(view, calls);
    let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
    for (item, set) in items.numbered() {
        for name in &set.0.names {
            by_name.entry(name).or_default().push(item);
        }
    }
    let mut work = 0;
    let mut is_cut = false;
    for name in table::names() {
        let Some(own) = by_name.get(name) else { continue };
        if view.pairs.is_some() && own.iter().all(|&item| items.is_common(item)) {
            continue;
        }
        let Some((architecture, number)) = number(name) else {
            continue;
        };
        is_cut |= !each_kind(&items, own, &mut work, |cells, arguments| {
            let class = Class {
                cells,
                is_named: true,
            };
            out.class(&class, &|| Access::Syscall {
                architecture,
                number,
                arguments: *arguments,
            });
        });
    }
    if is_cut {
        out.undecided("the arguments of a system call are told apart in more ways than can be looked at");
    }
    if items.unsure.get() {
        out.undecided("two predicates on a system call are too long to be compared");
    }
}

fn number(name: &str) -> Option<(Architecture, u32)> {
    let mut architectures = Architecture::ALL.into_iter();
    architectures.find_map(|architecture| Some((architecture, table::number(name, architecture)?)))
}

/// Tells of each kind of arguments. Says whether it told of all.
fn each_kind(
    items: &Items<Calls<'_>>,
    own: &[u32],
    work: &mut usize,
    mut tell: impl FnMut(&Cells, &[u64; 6]),
) -> bool {
    let sets: Vec<(u32, &SyscallSet)> = own
        .iter()
        .filter_map(|&item| items.set(item).map(|set| (item, set.0)))
        .collect();
    let mut comparisons: BTreeMap<u8, BTreeSet<(Width, Comparison)>> = BTreeMap::new();
    for condition in sets.iter().flat_map(|(_, set)| &set.conditions) {
        let on_register = comparisons.entry(condition.argument).or_default();
        on_register.insert((condition.width, condition.comparison));
    }
    let mut values: Vec<(usize, Vec<u64>)> = Vec::new();
    for (argument, comparisons) in comparisons {
        let comparisons: Vec<(Width, Comparison)> = comparisons.into_iter().collect();
        let Some(kinds) = register::one_of_each_kind(&comparisons) else {
            return false;
        };
        values.push((usize::from(argument), kinds));
    }
    let mut choice = vec![0_usize; values.len()];
    loop {
        let mut arguments = [0_u64; 6];
        for ((argument, values), &chosen) in values.iter().zip(&choice) {
            if let (Some(register), Some(value)) = (arguments.get_mut(*argument), values.get(chosen)) {
                *register = *value;
            }
        }
        let mut cells = Cells::default();
        let holds = |condition: &Condition| condition.holds(&arguments);
        for (item, set) in &sets {
            if set.conditions.iter().all(holds) {
                cells.add(*item, items);
            }
        }
        tell(&cells, &arguments);
        *work += 1 + sets.len();
        if *work > WORK_MAX {
            return false;
        }
        if !advance(&mut choice, &values) {
            return true;
        }
    }
}

/// The next combination, or none.
fn advance(choice: &mut [usize], values: &[(usize, Vec<u64>)]) -> bool {
    for (chosen, (_, values)) in choice.iter_mut().zip(values) {
        *chosen += 1;
        if *chosen < values.len() {
            return true;
        }
        *chosen = 0;
    }
    false
}
