//! Network rules to longest-prefix decisions.
//!
//! An address matches exactly the rules whose prefix covers its longest matching prefix, so each distinct prefix
//! gets the whole decision for its ports. It is worked out from the enclosing prefix: what survived there
//! survives here too, except what yields to a rule of this prefix; and no rule of this prefix yields to one of an
//! enclosing prefix, whose set is never inside its own.
//!
//! Each layer is worked out by itself, on the prefixes of all of them; what is written down is the strictest decision for
//! each port.

mod strictest;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use artifact::network::{HostRule, PortInterval, Protocol, Verb, network, slot};
use artifact::rule::Effect;
use artifact::{LayerId, RuleId};
use policy_lang::policy::{Policy, Subject};

use super::vocabulary;
use crate::plan::{NetworkPlan, PrefixPlan};
use strictest::Strictest;

/// More ports than this are left to cgroup BPF alone.
const LANDLOCK_PORTS: usize = 64;

/// Family, network address, and the length that puts a prefix before those inside it.
type Key = (bool, IpAddr, u8);

/// One rule on the ports of one prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Claim {
    first: u16,
    last: u16,
    effect: Effect,
    rule: RuleId,
    layer: Option<LayerId>,
}

/// A run of ports and the claims on it that yield to no other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    first: u16,
    last: u16,
    claims: Vec<Claim>,
}

/// What survives on a prefix, and the decisions that follow from it.
#[derive(Debug, Clone)]
struct Survivors {
    segments: Rc<[Segment]>,
    decided: Rc<[PortInterval]>,
}

pub(super) fn lower(policy: &Policy) -> NetworkPlan {
    let claims = claims(policy);
    let nothing = Survivors {
        segments: Rc::new([]),
        decided: Rc::new([]),
    };
    let layers: Vec<LayerId> = (0..=vocabulary::outermost(policy).0).map(LayerId).collect();
    // By layer, then by slot.
    let nothing = vec![[(); 4].map(|()| nothing.clone()); layers.len()];
    let mut open: Vec<(Key, Vec<[Survivors; 4]>)> = Vec::new();
    let mut strictest = Strictest::default();
    let mut prefixes = Vec::with_capacity(claims.len());
    for (key, own) in claims {
        while open.pop_if(|(outer, _)| !covers(*outer, key)).is_some() {}
        let mut lists = open
            .last()
            .map_or_else(|| nothing.clone(), |(_, outer)| outer.clone());
        for (layer, lists) in layers.iter().zip(&mut lists) {
            for (survivors, claims) in lists.iter_mut().zip(&own) {
                let own = claims
                    .iter()
                    .filter(|claim| claim.layer.is_none_or(|own| own == *layer));
                let own: Vec<Claim> = own.copied().collect();
                if !own.is_empty() {
                    *survivors = inherit(&survivors.segments, &own);
                }
            }
        }
        prefixes.push(PrefixPlan {
            address: key.1,
            prefix_len: key.2,
            lists: strictest.of(lists
                .iter()
                .map(|lists| lists.each_ref().map(|list| Rc::clone(&list.decided)))),
        });
        open.push((key, lists));
    }
    NetworkPlan {
        landlock_connect_ports: landlock_ports(&prefixes, slot(Protocol::Tcp, Verb::Connect)),
        landlock_bind_ports: landlock_ports(&prefixes, slot(Protocol::Tcp, Verb::Bind)),
        prefixes,
        hosts: hosts(policy),
    }
}

/// Rules on names. They are no part of the tables, which speak of addresses.
fn hosts(policy: &Policy) -> Vec<HostRule> {
    let mut elementary = Vec::new();
    for rule in &policy.rules {
        let Subject::Network {
            verbs,
            protocols,
            hosts,
            ..
        } = &rule.subject
        else {
            continue;
        };
        for host in hosts {
            for (verb, protocol) in verbs
                .iter()
                .flat_map(|verb| protocols.iter().map(move |p| (verb, p)))
            {
                elementary.push(HostRule {
                    rule: vocabulary::rule_id(rule.id),
                    effect: vocabulary::effect(rule.effect),
                    layer: vocabulary::layer(policy, rule),
                    verb: vocabulary::verb(*verb),
                    protocol: vocabulary::protocol(*protocol),
                    pattern: host.pattern.to_string(),
                    first_port: host.first_port,
                    last_port: host.last_port,
                });
            }
        }
    }
    elementary
}

/// Every elementary rule by prefix and slot.
fn claims(policy: &Policy) -> BTreeMap<Key, [Vec<Claim>; 4]> {
    let mut claims: BTreeMap<Key, [Vec<Claim>; 4]> = BTreeMap::new();
    for rule in &policy.rules {
        let Subject::Network {
            verbs,
            protocols,
            targets,
            ..
        } = &rule.subject
        else {
            continue;
        };
        for target in targets {
            let key = (target.address.is_ipv6(), target.address, target.prefix_len);
            let slots = claims.entry(key).or_default();
            for (verb, protocol) in verbs
                .iter()
                .flat_map(|verb| protocols.iter().map(move |p| (verb, p)))
            {
                let at = slot(vocabulary::protocol(*protocol), vocabulary::verb(*verb));
                if let Some(list) = slots.get_mut(at) {
                    list.push(Claim {
                        first: target.first_port,
                        last: target.last_port,
                        effect: vocabulary::effect(rule.effect),
                        rule: vocabulary::rule_id(rule.id),
                        layer: vocabulary::layer(policy, rule),
                    });
                }
            }
        }
    }
    claims
}

fn covers(outer: Key, inner: Key) -> bool {
    outer.0 == inner.0 && outer.2 <= inner.2 && network(inner.1, outer.2) == outer.1
}

/// Splits the ports wherever the set of claims can change, and keeps in each part what yields to nothing.
fn inherit(outer: &[Segment], own: &[Claim]) -> Survivors {
    let mut starts: Vec<u32> = vec![0];
    let bounds = outer.iter().map(|segment| (segment.first, segment.last));
    for (first, last) in bounds.chain(own.iter().map(|claim| (claim.first, claim.last))) {
        starts.extend([u32::from(first), u32::from(last) + 1]);
    }
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|start| *start <= u32::from(u16::MAX));

    // Claims enter in the order of their first port and leave once their last is behind.
    let mut waiting: Vec<&Claim> = own.iter().collect();
    waiting.sort_by_key(|claim| Reverse((claim.first, claim.last, claim.rule)));
    let mut active: Vec<&Claim> = Vec::new();
    let mut outer = outer.iter().peekable();
    let mut segments = Vec::with_capacity(starts.len());
    for (at, start) in starts.iter().enumerate() {
        let first = port(*start);
        let last = starts.get(at + 1).map_or(u16::MAX, |next| port(next - 1));
        active.retain(|claim| claim.last >= first);
        while let Some(claim) = waiting.pop_if(|claim| claim.first <= first) {
            active.push(claim);
        }
        while outer.next_if(|segment| segment.last < first).is_some() {}
        let inherited = outer
            .peek()
            .filter(|segment| segment.first <= first)
            .map(|segment| segment.claims.as_slice())
            .unwrap_or_default();
        let claims = unyielding(inherited, &active);
        if !claims.is_empty() {
            segments.push(Segment { first, last, claims });
        }
    }
    let decided = decided(&segments).into();
    Survivors {
        segments: segments.into(),
        decided,
    }
}

/// An inherited claim lies on a larger prefix, so it yields to any claim here that its ports include; a claim here
/// yields to another here whose ports are fewer. A forbidding claim stays.
fn unyielding(inherited: &[Claim], own: &[&Claim]) -> Vec<Claim> {
    let includes = |outer: &Claim, inner: &Claim| outer.first <= inner.first && inner.last <= outer.last;
    let same = |left: &Claim, right: &Claim| left.first == right.first && left.last == right.last;
    let inherited = inherited
        .iter()
        .filter(|claim| claim.effect == Effect::Forbid || !own.iter().any(|inner| includes(claim, inner)))
        .copied();
    let own_unyielding = own.iter().filter(|claim| {
        claim.effect == Effect::Forbid
            || !own
                .iter()
                .any(|inner| includes(claim, inner) && !same(claim, inner))
    });
    inherited.chain(own_unyielding.map(|claim| **claim)).collect()
}

/// The strictest claim of each segment, of equally strict ones the first written; neighbours that agree are one.
fn decided(segments: &[Segment]) -> Vec<PortInterval> {
    let mut intervals: Vec<PortInterval> = Vec::with_capacity(segments.len());
    for segment in segments {
        let Some(claim) = segment
            .claims
            .iter()
            .max_by_key(|claim| (claim.effect, Reverse(claim.rule)))
        else {
            continue;
        };
        append(
            &mut intervals,
            segment.first,
            segment.last,
            claim.effect,
            claim.rule,
        );
    }
    intervals
}

/// Adds an interval behind the others, to the last one where they agree.
fn append(intervals: &mut Vec<PortInterval>, first: u16, last: u16, effect: Effect, rule: RuleId) {
    match intervals.last_mut() {
        Some(before)
            if before.last.checked_add(1) == Some(first)
                && (before.effect, before.rule) == (effect, rule) =>
        {
            before.last = last;
        }
        _ => intervals.push(PortInterval {
            first,
            last,
            effect,
            rule,
        }),
    }
}

/// Ports that are allowed for any address, or nothing if they are too many.
fn landlock_ports(prefixes: &[PrefixPlan], slot: usize) -> Option<Vec<u16>> {
    let mut ports = std::collections::BTreeSet::new();
    let mut seen: Option<&Rc<[PortInterval]>> = None;
    for list in prefixes.iter().filter_map(|prefix| prefix.lists.get(slot)) {
        if seen.is_some_and(|seen| Rc::ptr_eq(seen, list)) {
            continue;
        }
        seen = Some(list);
        for interval in list.iter().filter(|interval| interval.effect == Effect::Allow) {
            if usize::from(interval.last - interval.first) >= LANDLOCK_PORTS {
                return None;
            }
            ports.extend(interval.first..=interval.last);
            if ports.len() > LANDLOCK_PORTS {
                return None;
            }
        }
    }
    Some(ports.into_iter().collect())
}

/// A port number that is known to be one.
fn port(number: u32) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
