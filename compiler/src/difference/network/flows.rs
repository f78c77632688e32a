//! Flows to a name whose address is known.
//!
//! Both the rules on the name and those on the address match, and neither yields to the other, except that those on every
//! address yield to either. So what is decided depends only on the strictest effect on each side and on which rules on every
//! address are left. There are few such summaries, however many names and addresses there are: each name is met with one
//! address of each summary, and each address with one name of each.

use std::collections::BTreeMap;
use std::net::IpAddr;

use policy_lang::policy::Effect;

use super::super::cells::{Cells, Entry};
use super::super::view::Items;
use super::{Target, Unit};

/// Meetings, beside those that a dozen summaries need.
const MEETINGS_MAX: usize = 400_000;
/// Pairs of a name or an address and a summary that are tried.
const PAIRS_MAX: usize = 20_000_000;

/// All that matters of a kind of name to an address, and the other way round.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Summary {
    strictest: BTreeMap<u16, Effect>,
    everywhere: Vec<(u16, u32)>,
}

/// Meets names with addresses. Says whether some were left out.
pub(super) fn explore(
    items: &Items<Target>,
    hosts: &[Unit<String>],
    addresses: &[Unit<IpAddr>],
    mut tell: impl FnMut(&Cells, u16, &str, IpAddr),
) -> bool {
    let is_everywhere = |entry: &Entry| items.set(entry.item).is_some_and(Target::is_everywhere);
    let host_summaries = summaries(hosts, &is_everywhere);
    let address_summaries = summaries(addresses, &is_everywhere);
    let pairs = hosts.len() * address_summaries.len() + addresses.len() * host_summaries.len();
    if pairs > PAIRS_MAX {
        return true;
    }
    let mut left = MEETINGS_MAX + 16 * (hosts.len() + addresses.len());
    let mut meet = |host: &Unit<String>, address: &Unit<IpAddr>| {
        left = left.saturating_sub(1);
        let first = host.segment.first.max(address.segment.first);
        let last = host.segment.last.min(address.segment.last);
        if left > 0 && first <= last {
            let mut both = host.segment.clone();
            (both.first, both.last) = (first, last);
            let cells = met(&host.segment.cells, &address.segment.cells, &is_everywhere);
            tell(&cells, both.witness(), &host.witness, address.witness);
        }
        left > 0
    };
    for host in hosts {
        for cover in address_summaries.values() {
            let address =
                touching(cover, host.segment.first, host.segment.last).and_then(|at| addresses.get(at));
            if let Some(address) = address
                && !meet(host, address)
            {
                return true;
            }
        }
    }
    for address in addresses {
        for cover in host_summaries.values() {
            let (first, last) = (address.segment.first, address.segment.last);
            let host = touching(cover, first, last).and_then(|at| hosts.get(at));
            if let Some(host) = host
                && !meet(host, address)
            {
                return true;
            }
        }
    }
    false
}

/// Disjoint ranges of ports in order, each with a unit that has them.
type Cover = Vec<(u16, u16, usize)>;

fn summaries<W>(units: &[Unit<W>], is_everywhere: &impl Fn(&Entry) -> bool) -> BTreeMap<Summary, Cover> {
    let mut ranges: BTreeMap<Summary, Cover> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate() {
        let mut summary = Summary {
            strictest: BTreeMap::new(),
            everywhere: Vec::new(),
        };
        for entry in unit.segment.cells.entries() {
            if is_everywhere(entry) {
                summary.everywhere.push((entry.cell, entry.item));
            } else {
                let strictest = summary.strictest.entry(entry.cell).or_insert(entry.effect);
                *strictest = entry.effect.max(*strictest);
            }
        }
        let range = (unit.segment.first, unit.segment.last, at);
        ranges.entry(summary).or_default().push(range);
    }
    for cover in ranges.values_mut() {
        cover.sort_unstable();
        let mut disjoint: Cover = Vec::new();
        for &(first, last, at) in cover.iter() {
            let next = disjoint
                .last()
                .map_or(Some(0), |&(_, last, _)| last.checked_add(1));
            if let Some(next) = next
                && next <= last
            {
                disjoint.push((first.max(next), last, at));
            }
        }
        *cover = disjoint;
    }
    ranges
}

fn touching(cover: &Cover, first: u16, last: u16) -> Option<usize> {
    let at = cover.partition_point(|&(_, end, _)| end < first);
    cover
        .get(at)
        .filter(|&&(start, ..)| start <= last)
        .map(|&(_, _, unit)| unit)
}

/// What both say together: a rule on every address stands where it yields to neither.
fn met(host: &Cells, address: &Cells, is_everywhere: &impl Fn(&Entry) -> bool) -> Cells {
    let both = host.entries().iter().chain(address.entries());
    let entries = both
        .filter(|entry| {
            !is_everywhere(entry)
                || (host.of(entry.cell).contains(entry) && address.of(entry.cell).contains(entry))
        })
        .copied()
        .collect();
    Cells::from_entries(entries)
}
