//! Addresses as a tree of prefixes: the addresses of a prefix that are in none further down are all alike.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use policy_lang::policy::{Endpoint, Verb};

use super::super::view::Items;
use super::ports::{self, PortMap, Work};
use super::{Target, Unit};

/// A family of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    pub(super) fn has(self, endpoint: &Endpoint) -> bool {
        endpoint.address.is_ipv4() == (self == Self::V4)
    }

    fn width(self) -> u8 {
        match self {
            Self::V4 => 32,
            Self::V6 => 128,
        }
    }

    fn address(self, bits: u128) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::from_bits(u32::try_from(bits).unwrap_or(u32::MAX)).into(),
            Self::V6 => Ipv6Addr::from_bits(bits).into(),
        }
    }

    /// Prefixes whose addresses are judged as others: see `reference::judged_as`.
    fn stand_ins(self, verb: Verb) -> Vec<(u128, u8)> {
        let mut prefixes = match self {
            Self::V4 => Vec::new(),
            // IPv4-mapped, NAT64, 6to4.
            Self::V6 => vec![(0xffff << 32, 96), (0x0064_ff9b << 96, 96), (0x2002 << 112, 16)],
        };
        if verb == Verb::Connect {
            prefixes.push((0, self.width()));
        }
        prefixes
    }

    /// Addresses for documentation, where there is a choice.
    fn example(self) -> u128 {
        match self {
            Self::V4 => 0xc000_0201,
            Self::V6 => 0x2001_0db8 << 96 | 1,
        }
    }
}

/// Whether one box's addresses are among the other's.
pub(super) fn has_prefix(outer: &Endpoint, inner: &Endpoint) -> bool {
    let (family, other) = (family_of(outer), family_of(inner));
    let last = |endpoint: &Endpoint| last_of(family, bits(endpoint), endpoint.prefix_len);
    family == other
        && outer.prefix_len <= inner.prefix_len
        && (bits(outer)..=last(outer)).contains(&bits(inner))
}

fn family_of(endpoint: &Endpoint) -> Family {
    if endpoint.address.is_ipv4() {
        Family::V4
    } else {
        Family::V6
    }
}

fn bits(endpoint: &Endpoint) -> u128 {
    match endpoint.address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn last_of(family: Family, first: u128, prefix_len: u8) -> u128 {
    let host_bits = u32::from(family.width().saturating_sub(prefix_len));
    first | 1_u128.checked_shl(host_bits).map_or(u128::MAX, |size| size - 1)
}

struct Prefix {
    first: u128,
    last: u128,
    boxes: Vec<u32>,
    /// Its addresses are judged as others.
    stands_in: bool,
    /// The first address that is not known to be in a prefix further down.
    next: Option<u128>,
    /// An address that is in none further down.
    free: Option<u128>,
}

impl Prefix {
    /// What lies before a prefix further down, or before the end, is free.
    fn leave(&mut self, family: Family, until: Option<u128>, next: Option<u128>) {
        if let (Some(from), Some(until)) = (self.next, until)
            && from <= until
        {
            let example = family.example();
            // What looks like the address of a network is legal, but puzzles a reader.
            let is_network = |address: u128| address & 0xff == 0;
            let found = if (from..=until).contains(&example) {
                example
            } else if is_network(from) && from < until {
                from + 1
            } else {
                from
            };
            let is_better = self
                .free
                .is_none_or(|known| found == example || (is_network(known) && known != found));
            if is_better {
                self.free = Some(found);
            }
        }
        self.next = next;
    }
}

/// Each kind of address that the rules of a family tell apart, with its ports.
pub(super) fn units(items: &Items<Target>, family: Family, verb: Verb, work: &mut Work) -> Vec<Unit<IpAddr>> {
    let prefixes = tree(items, family, verb);
    let mut units = Vec::new();
    let mut around: Vec<u128> = Vec::new();
    let mut maps: Vec<PortMap> = Vec::new();
    let mut hidden_until: Option<u128> = None;
    for prefix in prefixes {
        while around.pop_if(|last| *last < prefix.first).is_some() {
            maps.pop();
        }
        if hidden_until.is_some_and(|last| prefix.first <= last) {
            continue;
        }
        if prefix.stands_in {
            hidden_until = Some(prefix.last);
            continue;
        }
        let map = if maps.is_empty() {
            PortMap::everything().with(&prefix.boxes, items, work)
        } else {
            ports::within(&maps, &prefix.boxes, items, work)
        };
        if let Some(free) = prefix.free {
            units.extend(map.0.iter().map(|segment| Unit {
                segment: segment.clone(),
                witness: family.address(free),
            }));
        }
        around.push(prefix.last);
        maps.push(map);
    }
    units
}

/// Every prefix of a family in order, outer ones first, each with an address of its own if it has one. The first is that of
/// all addresses.
fn tree(items: &Items<Target>, family: Family, verb: Verb) -> Vec<Prefix> {
    let mut sorted: BTreeMap<(u128, u8), (Vec<u32>, bool)> = BTreeMap::new();
    sorted.entry((0, 0)).or_default();
    for (item, target) in items.numbered() {
        if let Target::Address(endpoint) = target
            && family.has(endpoint)
        {
            let key = (bits(endpoint), endpoint.prefix_len);
            sorted.entry(key).or_default().0.push(item);
        }
    }
    for (first, prefix_len) in family.stand_ins(verb) {
        sorted.entry((first, prefix_len)).or_default().1 = true;
    }
    let mut prefixes: Vec<Prefix> = Vec::new();
    let mut around: Vec<usize> = Vec::new();
    for ((first, prefix_len), (boxes, stands_in)) in sorted {
        let last = last_of(family, first, prefix_len);
        close(&mut prefixes, &mut around, family, first);
        if let Some(parent) = around.last().and_then(|&at| prefixes.get_mut(at)) {
            parent.leave(family, first.checked_sub(1), last.checked_add(1));
        }
        around.push(prefixes.len());
        prefixes.push(Prefix {
            first,
            last,
            boxes,
            stands_in,
            next: Some(first),
            free: None,
        });
    }
    while let Some(at) = around.pop() {
        if let Some(prefix) = prefixes.get_mut(at) {
            prefix.leave(family, Some(prefix.last), None);
        }
    }
    prefixes
}

/// Ends the prefixes that an address is no longer in.
fn close(prefixes: &mut [Prefix], around: &mut Vec<usize>, family: Family, address: u128) {
    while let Some(prefix) = around.last().and_then(|&at| prefixes.get_mut(at)) {
        if prefix.last >= address {
            return;
        }
        prefix.leave(family, Some(prefix.last), None);
        around.pop();
    }
}
