//! An artifact's network tables as the nodes that the programs search.
//!
//! Prefixes cut the addresses, taken as numbers, into intervals that are each decided alike: at most two for each
//! prefix, and a look-up is a search in sorted numbers. IPv6 addresses are searched word by word, like four numbers
//! in turn. An interval leads to its ports, which are intervals too. Neighbours that decide alike become one.
//!
//! A search touches few cache lines, whichever they are; the kernel's own prefix tree visits a line or two for each
//! level, some twenty of them, and takes a microsecond for that when they are not in the cache.

mod spans;

use std::collections::BTreeMap;
use std::net::IpAddr;

use artifact::Effect;
use artifact::network::{self, NetworkTables, PortInterval};
use ebpf::layout::Node;
use ebpf::layout::value::{self, Next};

use self::spans::{Cuts, Nodes, Target};
use super::error::BpfError;

/// Lowers tables.
///
/// The artifact was verified, but whether it was compiled well is not taken on trust: what the look-up in the
/// kernel would decide differently than [`network::decide`] is refused.
pub(super) fn nodes(tables: &NetworkTables) -> Result<Vec<Node>, BpfError> {
    for (index, list) in tables.port_lists.iter().enumerate() {
        check(index, list)?;
    }
    let mut nodes = Nodes::new()?;
    let mut ports_of = BTreeMap::new();
    let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
    for entry in &tables.prefixes {
        let (family, words, most) = match entry.address {
            IpAddr::V4(v4) => (&mut ipv4, [v4.to_bits(), 0, 0, 0], 32),
            IpAddr::V6(v6) => (&mut ipv6, words_of(v6.to_bits()), 128),
        };
        if entry.prefix_len > most || network::network(entry.address, entry.prefix_len) != entry.address {
            return Err(BpfError::Tables(format!(
                "{}/{} is not a prefix",
                entry.address, entry.prefix_len
            )));
        }
        let target = match ports_of.get(&entry.lists) {
            Some(known) => *known,
            None => {
                let made = ports(&mut nodes, tables, entry.lists)?;
                ports_of.insert(entry.lists, made);
                made
            }
        };
        family.push(Prefix {
            words,
            len: entry.prefix_len.into(),
            target,
        });
    }
    for family in [&mut ipv4, &mut ipv6] {
        family.sort_unstable_by_key(|prefix| (prefix.words, prefix.len));
        if family.windows(2).any(|two| matches!(two, [a, b] if a.is(b))) {
            return Err(BpfError::Tables("a prefix is there twice".to_owned()));
        }
    }
    let ipv4 = addresses(&mut nodes, &ipv4, 0, Target::REFUSED)?;
    let ipv6 = addresses(&mut nodes, &ipv6, 0, Target::REFUSED)?;
    nodes.set_roots(ipv4, ipv6)?;
    Ok(nodes.into_vec())
}

#[derive(Debug, Clone, Copy)]
struct Prefix {
    /// The address; an IPv4 address has one.
    words: [u32; 4],
    len: u32,
    target: Target,
}

impl Prefix {
    fn is(&self, other: &Self) -> bool {
        (self.words, self.len) == (other.words, other.len)
    }

    fn word(&self, level: u32) -> u32 {
        let level = usize::try_from(level).unwrap_or(usize::MAX);
        self.words.get(level).copied().unwrap_or(0)
    }
}

fn words_of(address: u128) -> [u32; 4] {
    [96, 64, 32, 0].map(|shift| u32::try_from(address >> shift & u128::from(u32::MAX)).unwrap_or(0))
}

/// The spans for one word of the addresses that begin as all of `prefixes` do. `around` is where an address leads
/// that is in none of them. They are sorted by address, then length: what is inside something comes after it.
fn addresses(nodes: &mut Nodes, prefixes: &[Prefix], level: u32, around: Target) -> Result<Target, BpfError> {
    let mut cuts = Cuts::new(around);
    // Those that the sweep is inside of: the last number of each, and where it leads.
    let mut open: Vec<(u32, Target)> = Vec::new();
    let mut rest = prefixes;
    while let Some(prefix) = rest.first() {
        let first = prefix.word(level);
        close(&mut cuts, &mut open, Some(first), around);
        let bits = prefix.len.saturating_sub(32 * level);
        let (last, target, taken) = if bits <= 32 {
            let behind = u32::MAX.checked_shr(bits).unwrap_or(0);
            (first | behind, prefix.target, 1)
        } else {
            // This word is one of many addresses: the next word tells them apart.
            let same = rest.partition_point(|other| other.word(level) == first);
            let (same_word, _) = rest.split_at(same);
            let around = open.last().map_or(around, |inside| inside.1);
            (first, addresses(nodes, same_word, level + 1, around)?, same)
        };
        cuts.put(first, target);
        open.push((last, target));
        rest = rest.get(taken..).unwrap_or_default();
    }
    close(&mut cuts, &mut open, None, around);
    nodes.add(if level == 0 { Next::Same } else { Next::Word }, cuts)
}

/// Ends what ends before `first`, or everything: behind it, what it is inside of decides again.
fn close(cuts: &mut Cuts, open: &mut Vec<(u32, Target)>, first: Option<u32>, around: Target) {
    while let Some((last, _)) = open.pop_if(|(last, _)| first.is_none_or(|first| *last < first)) {
        if let Some(behind) = last.checked_add(1) {
            cuts.put(behind, open.last().map_or(around, |inside| inside.1));
        }
    }
}

/// The span for the ports of all four protocols and verbs.
fn ports(nodes: &mut Nodes, tables: &NetworkTables, lists: [u32; 4]) -> Result<Target, BpfError> {
    let mut cuts = Cuts::new(Target::REFUSED);
    for (slot, index) in (0..).zip(lists) {
        let list = usize::try_from(index)
            .ok()
            .and_then(|index| tables.port_lists.get(index))
            .ok_or_else(|| BpfError::Tables(format!("port list {index} does not exist")))?;
        cuts.put(value::port_key(slot, 0), Target::REFUSED);
        for interval in list {
            if interval.rule.0 >= value::RULES_MAX {
                return Err(BpfError::Tables(format!("rule {} is too many", interval.rule.0)));
            }
            let decision = Target::decision(interval.effect == Effect::Allow, interval.rule.0);
            cuts.put(value::port_key(slot, interval.first), decision);
            cuts.put(value::port_key(slot, interval.last) + 1, Target::REFUSED);
        }
    }
    nodes.add(Next::Ports, cuts)
}

/// A list is sorted, and its intervals do not overlap.
fn check(index: usize, list: &[PortInterval]) -> Result<(), BpfError> {
    let mut free: u32 = 0;
    for interval in list {
        let (first, last) = (u32::from(interval.first), u32::from(interval.last));
        if first < free || last < first {
            return Err(BpfError::Tables(format!(
                "port list {index} is not sorted at {first}-{last}"
            )));
        }
        free = last + 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
