//! The reference semantics: what a policy means, in as little code as it takes.
//!
//! Everything that enforces is tested against [`decide`]; it shares no code with the backends.

use std::net::IpAddr;

use serde::Serialize;

use crate::policy::{Effect, FileAccess, LayerId, Policy, Protocol, RuleId, Verb};
use crate::syscall::Architecture;

mod access_set;
mod address;
mod wording;

use access_set::{AccessSet, Concrete};
pub use address::judged_as;

/// One concrete access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Access {
    /// A file, by its absolute, resolved path.
    File {
        /// What is done.
        access: FileAccess,
        /// Bytes as a string; no `.`, `..` or empty component.
        path: String,
    },
    /// A socket operation.
    Network {
        /// What is done.
        verb: Verb,
        /// With which protocol.
        protocol: Protocol,
        /// Address as the program gave it; mapped forms are judged as the IPv4 address they carry.
        address: IpAddr,
        /// Port.
        port: u16,
    },
    /// A socket operation towards a host known by name.
    Host {
        /// What is done.
        verb: Verb,
        /// With which protocol.
        protocol: Protocol,
        /// The name as the program gave it. What is no host name is matched by no host rule.
        host: String,
        /// The address that was resolved for it. Absent: one that no rule but those on every address speaks of.
        address: Option<IpAddr>,
        /// Port.
        port: u16,
    },
    /// A variable of the caller's environment becoming visible.
    Environment {
        /// Its name.
        name: String,
    },
    /// A system call by number.
    Syscall {
        /// On which architecture.
        architecture: Architecture,
        /// The number.
        number: u32,
        /// The six registers.
        arguments: [u64; 6],
    },
}

/// What is decided, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The effect.
    pub effect: Effect,
    /// The deciding rule: among the strictest, the one written first.
    pub rule: RuleId,
}

impl Decision {
    /// What no rule speaks of.
    const DEFAULT: Self = Self {
        effect: Effect::Deny,
        rule: RuleId::DEFAULT,
    };
}

/// Decides an access. Nothing is allowed that no rule allows.
///
/// Each layer decides for itself, with the built-in rules and its own; the strictest of them decides. Where several
/// layers say the same, an explicit rule is named before the default, and then one of the innermost layer.
#[must_use]
pub fn decide(policy: &Policy, access: &Access) -> Decision {
    let layers = (0..).map(LayerId).take(policy.layers.len().max(1));
    let decisions = layers.map(|layer| decide_in(layer, policy, access));
    let strictest = decisions.reduce(|inner, outer| {
        let rank = |decision: &Decision| (decision.effect, decision.rule != RuleId::DEFAULT);
        if rank(&outer) > rank(&inner) { outer } else { inner }
    });
    strictest.unwrap_or(Decision::DEFAULT)
}

/// What one layer says to an access.
///
/// Of the elementary rules that match, those that yield to another matching one are dropped; the strictest effect
/// that is left decides. A `forbid` yields to nothing. The order of rules decides only which of several rules with
/// the deciding effect is named.
#[must_use]
pub fn decide_in(layer: LayerId, policy: &Policy, access: &Access) -> Decision {
    let mut matching = matching(policy, layer, access);
    matching.sort_by_key(|rule| (std::cmp::Reverse(rule.effect), rule.id));
    let deciding = matching.iter().find(|rule| yields_to(rule, &matching).is_none());
    deciding.map_or(Decision::DEFAULT, |rule| Decision {
        effect: rule.effect,
        rule: rule.id,
    })
}

/// What became of a rule that matches an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Standing {
    /// It decides.
    Decides,
    /// It yields to a more specific rule that matches too.
    YieldsTo(RuleId),
    /// It yields to none, but a stricter rule, or an earlier one with the same effect, decides; perhaps that of
    /// another layer.
    Outranked,
}

/// Every rule that matches an access, layer by layer, and what became of it. The default is among them, once for each
/// layer.
///
/// A rule that stands for several elementary rules is listed once for each of them that matches.
#[must_use]
pub fn standings(policy: &Policy, access: &Access) -> Vec<(RuleId, Standing)> {
    let decision = decide(policy, access);
    let mut decided = false;
    let mut standings = Vec::new();
    for layer in (0..).map(LayerId).take(policy.layers.len().max(1)) {
        let matching = matching(policy, layer, access);
        for rule in &matching {
            let standing = match yields_to(rule, &matching) {
                Some(stronger) => Standing::YieldsTo(stronger),
                None if rule.id == decision.rule && !std::mem::replace(&mut decided, true) => {
                    Standing::Decides
                }
                None => Standing::Outranked,
            };
            standings.push((rule.id, standing));
        }
    }
    standings
}

/// One combination of verb, protocol and target of a rule.
struct Elementary<'a> {
    id: RuleId,
    effect: Effect,
    set: AccessSet<'a>,
}

fn matching<'a>(policy: &'a Policy, layer: LayerId, access: &Access) -> Vec<Elementary<'a>> {
    let access = Concrete::of(access);
    let mut matching = Vec::new();
    for rule in policy
        .rules
        .iter()
        .filter(|rule| rule.layer.is_none_or(|own| own == layer))
    {
        for set in AccessSet::of(&rule.subject) {
            if set.contains(&access) {
                matching.push(Elementary {
                    id: rule.id,
                    effect: rule.effect,
                    set,
                });
            }
        }
    }
    matching
}

/// The first of `matching` to which `rule` yields.
fn yields_to(rule: &Elementary<'_>, matching: &[Elementary<'_>]) -> Option<RuleId> {
    let more_specific = |other: &&Elementary<'_>| other.set.is_strictly_inside(&rule.set);
    if rule.effect == Effect::Forbid {
        None
    } else {
        matching.iter().find(more_specific).map(|other| other.id)
    }
}

#[cfg(test)]
mod tests;
