//! The reference semantics: what a policy means, in as little code as it takes.
//!
//! Everything that enforces is tested against [`decide`]; it shares no code with the backends.

use std::net::IpAddr;

use serde::Serialize;

use crate::policy::{Effect, FileAccess, Policy, Protocol, RuleId, Verb};
use crate::syscall::Architecture;

mod access_set;
mod address;

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

/// Decides an access. Nothing is allowed that no rule allows.
///
/// Of the elementary rules that match, those that yield to another matching one are dropped; the strictest effect
/// that is left decides. A `forbid` yields to nothing. The order of rules decides only which of several rules with
/// the deciding effect is named.
#[must_use]
pub fn decide(policy: &Policy, access: &Access) -> Decision {
    let mut matching = matching(policy, access);
    matching.sort_by_key(|rule| (std::cmp::Reverse(rule.effect), rule.id));
    let deciding = matching.iter().find(|rule| yields_to(rule, &matching).is_none());
    deciding.map_or(
        Decision {
            effect: Effect::Deny,
            rule: RuleId::DEFAULT,
        },
        |rule| Decision {
            effect: rule.effect,
            rule: rule.id,
        },
    )
}

/// What became of a rule that matches an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Standing {
    /// It decides.
    Decides,
    /// It yields to a more specific rule that matches too.
    YieldsTo(RuleId),
    /// It yields to none, but a stricter rule, or an earlier one with the same effect, decides.
    Outranked,
}

/// Every rule that matches an access, in source order, and what became of it. The default is among them.
///
/// A rule that stands for several elementary rules is listed once for each of them that matches.
#[must_use]
pub fn standings(policy: &Policy, access: &Access) -> Vec<(RuleId, Standing)> {
    let decision = decide(policy, access);
    let matching = matching(policy, access);
    let mut decided = false;
    let standing = |rule: &Elementary<'_>| match yields_to(rule, &matching) {
        Some(stronger) => Standing::YieldsTo(stronger),
        None if rule.id == decision.rule && !std::mem::replace(&mut decided, true) => Standing::Decides,
        None => Standing::Outranked,
    };
    let standings: Vec<Standing> = matching.iter().map(standing).collect();
    matching.iter().map(|rule| rule.id).zip(standings).collect()
}

/// One combination of verb, protocol and target of a rule.
struct Elementary<'a> {
    id: RuleId,
    effect: Effect,
    set: AccessSet<'a>,
}

fn matching<'a>(policy: &'a Policy, access: &Access) -> Vec<Elementary<'a>> {
    let access = Concrete::of(access);
    let mut matching = Vec::new();
    for rule in &policy.rules {
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
