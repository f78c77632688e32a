//! Credentials that are used outside the run.

use std::collections::BTreeMap;

use policy_lang::policy::{Broker, Destination, LayerId, Policy, Rule, Subject};

use super::{Direction, Setting, Topic};

/// Whether everything that `inner` lets a run do with its credential, `outer` does too.
pub(crate) fn broker_includes(outer: &Broker, inner: &Broker) -> bool {
    let lasts = match (outer.ttl_seconds, inner.ttl_seconds) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(outer), Some(inner)) => inner <= outer,
    };
    let reaches = match (&outer.destination, &inner.destination) {
        (Destination::Host(outer), Destination::Host(inner)) => {
            outer.pattern.includes(&inner.pattern)
                && outer.first_port <= inner.first_port
                && inner.last_port <= outer.last_port
        }
        (outer, inner) => outer == inner,
    };
    lasts && reaches && outer.source == inner.source && outer.scheme == inner.scheme
}

pub(super) fn brokers(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let (before, after) = (brokers_of(old), brokers_of(new));
    for (name, &(broker, rule)) in &before {
        match after.get(name) {
            None => found.push(Setting::of_rules(
                Topic::Broker,
                Some(rule),
                None,
                Direction::Narrower,
            )),
            Some(&(other, _)) if other == broker => {}
            Some(&(other, other_rule)) => {
                let direction = match (broker_includes(broker, other), broker_includes(other, broker)) {
                    (true, _) => Direction::Narrower,
                    (false, true) => Direction::Wider,
                    (false, false) => Direction::Other,
                };
                found.push(Setting::of_rules(
                    Topic::Broker,
                    Some(rule),
                    Some(other_rule),
                    direction,
                ));
            }
        }
    }
    for (name, &(_, rule)) in &after {
        if !before.contains_key(name) {
            found.push(Setting::of_rules(
                Topic::Broker,
                None,
                Some(rule),
                Direction::Wider,
            ));
        }
    }
}

/// The innermost layer's: a ceiling's own are there for those beneath it to use.
fn brokers_of(policy: &Policy) -> BTreeMap<&str, (&Broker, &Rule)> {
    let own = |rule: &&Rule| rule.layer.is_none_or(|layer| layer == LayerId::INNERMOST);
    let brokers = policy
        .rules
        .iter()
        .filter(own)
        .filter_map(|rule| match &rule.subject {
            Subject::Broker(broker) => Some((broker.name.as_str(), (broker, rule))),
            _ => None,
        });
    brokers.collect()
}
