//! Rules on addresses and names. What covers a box has a shorter prefix of the same address; what covers a name, a
//! domain above it. Ports are intervals.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use policy_lang::pattern::HostPattern;
use policy_lang::policy::{Effect, Endpoint, LayerId, Policy, Protocol, Rule, RuleId, Subject, Verb};

use super::cover::Cover;
use super::{Part, Standing, among_twins};
use crate::check::Context;
use crate::check::written;

/// Addresses of one prefix, or names of one pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Place {
    Prefix(bool, u8, u128),
    Hosts(HostPattern),
}

type Kind = (Verb, Protocol);
type Interval = (u16, u16, RuleId);

/// Rules of one place.
#[derive(Default)]
struct There {
    by_effect: HashMap<Effect, Cover>,
    /// Without those on every port: a rule on every port of a larger prefix yields to any rule inside.
    partial: HashMap<Effect, Cover>,
    equal: HashMap<(u16, u16), Vec<(Effect, RuleId)>>,
}

struct Index<'a> {
    policy: &'a Policy,
    places: HashMap<(Kind, Place), There>,
    /// Lengths of prefixes that occur, longest first.
    lengths: BTreeSet<std::cmp::Reverse<u8>>,
}

pub(super) fn judge(context: &Context<'_>) -> Vec<Part> {
    let near = |rule: &&Rule| rule.layer.is_none_or(|layer| layer == LayerId::INNERMOST);
    let mut intervals: HashMap<(Kind, Place), Vec<(Effect, Interval)>> = HashMap::new();
    let mut lengths = BTreeSet::new();
    for rule in context.policy.rules.iter().filter(near) {
        for (kind, place, first, last, _) in boxes(rule) {
            if let Place::Prefix(_, len, _) = place {
                lengths.insert(std::cmp::Reverse(len));
            }
            let there = intervals.entry((kind, place)).or_default();
            there.push((rule.effect, (first, last, rule.id)));
        }
    }
    let places = intervals
        .into_iter()
        .map(|(key, there)| (key, There::new(&there)))
        .collect();
    let index = Index {
        policy: context.policy,
        places,
        lengths,
    };
    let mut parts = Vec::new();
    for rule in context.own() {
        let boxes = boxes(rule);
        if boxes.is_empty() {
            continue;
        }
        let strings = written::of(rule);
        for (kind, place, first, last, number) in boxes {
            let string = match place {
                Place::Prefix(..) => strings.endpoints.get(number),
                Place::Hosts(_) => strings.hosts.get(number),
            };
            parts.push(Part {
                rule: rule.id,
                string: string.copied().unwrap_or(number),
                standing: index.standing(rule, kind, &place, first, last),
            });
        }
    }
    parts
}

/// Elementary rules: kind, place, ports, and which of the endpoints or hosts it is.
fn boxes(rule: &Rule) -> Vec<(Kind, Place, u16, u16, usize)> {
    let Subject::Network {
        verbs,
        protocols,
        targets,
        hosts,
    } = &rule.subject
    else {
        return Vec::new();
    };
    let kinds = verbs
        .iter()
        .flat_map(|verb| protocols.iter().map(move |protocol| (*verb, *protocol)));
    let mut boxes = Vec::new();
    for kind in kinds {
        for (number, target) in targets.iter().enumerate() {
            boxes.push((
                kind,
                prefix(target, target.prefix_len),
                target.first_port,
                target.last_port,
                number,
            ));
        }
        for (number, host) in hosts.iter().enumerate() {
            let place = Place::Hosts(host.pattern.clone());
            boxes.push((kind, place, host.first_port, host.last_port, number));
        }
    }
    boxes
}

fn prefix(target: &Endpoint, len: u8) -> Place {
    let keep = |bits: u128, width: u32| {
        bits.checked_shr(width.saturating_sub(u32::from(len)))
            .unwrap_or(0)
    };
    match target.address {
        IpAddr::V4(address) => Place::Prefix(false, len, keep(u128::from(address.to_bits()), 32)),
        IpAddr::V6(address) => Place::Prefix(true, len, keep(address.to_bits(), 128)),
    }
}

impl There {
    fn new(all: &[(Effect, Interval)]) -> Self {
        let mut there = Self::default();
        for effect in [Effect::Allow, Effect::Ask, Effect::Deny, Effect::Forbid] {
            let of_effect = || {
                all.iter()
                    .filter(|(own, _)| *own == effect)
                    .map(|(_, interval)| *interval)
            };
            let every = |(first, last, _): &Interval| *first == 0 && *last == u16::MAX;
            there.by_effect.insert(effect, Cover::new(of_effect().collect()));
            let partial = of_effect().filter(|interval| !every(interval)).collect();
            there.partial.insert(effect, Cover::new(partial));
        }
        for (effect, (first, last, id)) in all {
            there
                .equal
                .entry((*first, *last))
                .or_default()
                .push((*effect, *id));
        }
        there
    }
}

impl Index<'_> {
    fn standing(&self, rule: &Rule, kind: Kind, place: &Place, first: u16, last: u16) -> Standing {
        let at = |place: &Place| self.places.get(&(kind, place.clone()));
        let above = self.above(place);
        if rule.effect != Effect::Forbid {
            let forbids = std::iter::once(place)
                .chain(&above)
                .filter_map(at)
                .filter_map(|there| there.by_effect.get(&Effect::Forbid))
                .find_map(|cover| cover.contains(first, last));
            if let Some(by) = forbids {
                return Standing::Dead(by);
            }
        }
        let twins = at(place).and_then(|there| there.equal.get(&(first, last)));
        let twins = twins.into_iter().flatten().filter(|(_, id)| *id != rule.id);
        if let Some(standing) = among_twins(self.policy, rule, twins.copied()) {
            return standing;
        }
        // A refusal may keep grants away that lie across it; those are not looked for.
        if !matches!(rule.effect, Effect::Allow | Effect::Forbid) {
            return Standing::Alive;
        }
        let others = [Effect::Allow, Effect::Ask, Effect::Deny]
            .into_iter()
            .filter(|effect| *effect != rule.effect && rule.effect != Effect::Forbid);
        let others: Vec<Effect> = others.collect();
        let mut by = None;
        for (level, there) in std::iter::once(place).chain(&above).map(at).enumerate() {
            let Some(there) = there else { continue };
            let contains = |cover: &Cover| {
                if level == 0 {
                    cover.contains_strictly(first, last)
                } else {
                    cover.contains(first, last)
                }
            };
            // Once a rule was found that covers this one, those on every port of more addresses yield to it.
            let covers = if by.is_some() {
                &there.partial
            } else {
                &there.by_effect
            };
            if others
                .iter()
                .filter_map(|effect| covers.get(effect))
                .any(|cover| contains(cover).is_some())
            {
                return Standing::Alive;
            }
            by = by.or_else(|| there.by_effect.get(&rule.effect).and_then(contains));
        }
        by.map_or(Standing::Alive, Standing::Redundant)
    }

    /// Places that include this one, the nearest first.
    fn above(&self, place: &Place) -> Vec<Place> {
        match place {
            Place::Prefix(v6, own, bits) => self
                .lengths
                .iter()
                .map(|std::cmp::Reverse(len)| *len)
                .filter(|len| len < own)
                .map(|len| Place::Prefix(*v6, len, bits.checked_shr(u32::from(own - len)).unwrap_or(0)))
                .collect(),
            Place::Hosts(HostPattern::Name(name) | HostPattern::Beneath(name)) => {
                let parents = std::iter::successors(Some(name.as_str()), |name| {
                    name.split_once('.').map(|(_, parent)| parent)
                });
                parents
                    .skip(1)
                    .map(|parent| Place::Hosts(HostPattern::Beneath(parent.to_owned())))
                    .collect()
            }
        }
    }
}
