//! Host names as a tree of labels, read from the right.

use std::collections::BTreeMap;

use policy_lang::pattern::HostPattern;
use policy_lang::pattern::host::NAME_BYTES;

use super::super::view::Items;
use super::ports::{self, PortMap, Work};
use super::{Target, Unit};

#[derive(Default)]
struct Label<'a> {
    beneath: BTreeMap<&'a str, Label<'a>>,
    /// Rules on exactly this name.
    exact: Vec<u32>,
    /// Rules on every name beneath it.
    wild: Vec<u32>,
}

/// Each kind of name that the rules tell apart, with its ports. `base` is what is said of flows to any name.
pub(super) fn units(items: &Items<Target>, base: PortMap, work: &mut Work) -> Vec<Unit<String>> {
    let mut root = Label::default();
    for (item, target) in items.numbered() {
        let Target::Host(host) = target else { continue };
        let (name, is_wild) = match &host.pattern {
            HostPattern::Name(name) => (name, false),
            HostPattern::Beneath(name) => (name, true),
        };
        let label = name
            .rsplit('.')
            .fold(&mut root, |label, next| label.beneath.entry(next).or_default());
        if is_wild {
            label.wild.push(item);
        } else {
            label.exact.push(item);
        }
    }
    let mut units = Vec::new();
    tell(&mut units, &base, fresh("", &root));
    let mut walk = Walk {
        items,
        work,
        around: vec![base],
        units,
    };
    walk.beneath("", &root);
    walk.units
}

struct Walk<'a> {
    items: &'a Items<Target>,
    work: &'a mut Work,
    around: Vec<PortMap>,
    units: Vec<Unit<String>>,
}

impl Walk<'_> {
    /// As deep as a name has labels: a hundred at most.
    fn beneath(&mut self, name: &str, label: &Label<'_>) {
        for (first, next) in &label.beneath {
            let name = joined(first, name);
            if !next.exact.is_empty() {
                let map = ports::within(&self.around, &next.exact, self.items, self.work);
                tell(&mut self.units, &map, Some(name.clone()));
            }
            if next.wild.is_empty() {
                self.beneath(&name, next);
            } else {
                let map = ports::within(&self.around, &next.wild, self.items, self.work);
                tell(&mut self.units, &map, fresh(&name, next));
                self.around.push(map);
                self.beneath(&name, next);
                self.around.pop();
            }
        }
    }
}

fn tell(units: &mut Vec<Unit<String>>, map: &PortMap, name: Option<String>) {
    if let Some(name) = name {
        units.extend(map.0.iter().map(|segment| Unit {
            segment: segment.clone(),
            witness: name.clone(),
        }));
    }
}

fn joined(first: &str, rest: &str) -> String {
    if rest.is_empty() {
        first.to_owned()
    } else {
        format!("{first}.{rest}")
    }
}

/// A name beneath another that no rule further down speaks of, if the name is short enough to have one.
fn fresh(name: &str, label: &Label<'_>) -> Option<String> {
    const SINGLE: &str = "abcdefghijklmnopqrstuvwxyz_0123456789";
    let single = SINGLE.chars().map(String::from);
    let pairs = SINGLE
        .chars()
        .flat_map(|one| SINGLE.chars().map(move |two| format!("{one}{two}")));
    let longer = (0..=label.beneath.len()).map(|number| format!("x{number:03}"));
    single
        .chain(pairs)
        .chain(longer)
        .filter(|first| !label.beneath.contains_key(first.as_str()))
        .map(|first| joined(&first, name))
        .find(|name| name.len() <= NAME_BYTES && policy_lang::pattern::host::name(name).is_ok())
}
