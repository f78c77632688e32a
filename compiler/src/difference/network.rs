//! Network: every kind of address, name and port that the rules of a view tell apart.
//!
//! For each verb and protocol the addresses are a tree of prefixes and the names a tree of labels. At each node of them the
//! ports fall into segments on which the same rules match. A flow to a name whose address is known is judged by the
//! rules of both; see [`flows`].

use policy_lang::inclusion::Proof;
use policy_lang::policy::{Endpoint, HostEndpoint, Protocol, Subject, Verb};
use policy_lang::reference::Access;

use super::classes::{Class, Classes};
use super::view::{Items, Set, View};

mod addresses;
mod flows;
mod names;
mod ports;

use addresses::Family;
use ports::{PortMap, Segment};

/// An address rule's box or a host rule's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Target {
    Address(Endpoint),
    Host(HostEndpoint),
}

impl Target {
    fn ports(&self) -> (u16, u16) {
        match self {
            Self::Address(endpoint) => (endpoint.first_port, endpoint.last_port),
            Self::Host(endpoint) => (endpoint.first_port, endpoint.last_port),
        }
    }

    /// Whether it speaks of every address of a family, whatever name led there.
    fn is_everywhere(&self) -> bool {
        matches!(self, Self::Address(endpoint) if endpoint.prefix_len == 0)
    }
}

impl Set for Target {
    fn strictly_inside(&self, outer: &Self) -> Proof {
        let ports = |inner: &Self, outer: &Self| {
            let (inner, outer) = (inner.ports(), outer.ports());
            outer.0 <= inner.0 && inner.1 <= outer.1
        };
        let inside = match (self, outer) {
            (Self::Address(own), Self::Address(other)) => {
                own != other && ports(self, outer) && addresses::has_prefix(other, own)
            }
            (Self::Host(own), Self::Host(other)) => {
                own != other && ports(self, outer) && other.pattern.includes(&own.pattern)
            }
            // Whatever addresses a name has, they lie inside every address.
            (Self::Host(_), Self::Address(other)) => other.prefix_len == 0 && ports(self, outer),
            (Self::Address(_), Self::Host(_)) => false,
        };
        inside.into()
    }

    fn is_costly(&self, _: &Self) -> bool {
        false
    }
}

fn targets(subject: &Subject, verb: Verb, protocol: Protocol) -> Vec<Target> {
    match subject {
        Subject::Network {
            verbs,
            protocols,
            targets,
            hosts,
        } if verbs.contains(&verb) && protocols.contains(&protocol) => {
            let addresses = targets.iter().map(|target| Target::Address(*target));
            addresses.chain(hosts.iter().cloned().map(Target::Host)).collect()
        }
        _ => Vec::new(),
    }
}

/// Segments of ports on which the same rules match, for one kind of address or name.
struct Unit<W> {
    segment: Segment,
    /// An address or a name of that kind.
    witness: W,
}

pub(super) fn explore(view: &View<'_>, verb: Verb, protocol: Protocol, out: &mut dyn Classes) {
    let items = Items::collect(view, |subject| targets(subject, verb, protocol));
    if items.sets.is_empty() {
        return;
    }
    let has_hosts = items.sets.iter().any(|set| matches!(set, Target::Host(_)));
    let mut spent = ports::Work::new(items.sets.len());
    let mut families = Vec::new();
    for family in [Family::V4, Family::V6] {
        let units = addresses::units(&items, family, verb, &mut spent);
        for unit in &units {
            tell(out, &unit.segment, |port| Access::Network {
                verb,
                protocol,
                address: unit.witness,
                port,
            });
        }
        families.push((family, units));
    }
    let everywhere = |family: Option<Family>| {
        let own = |set: &Target| match set {
            Target::Address(endpoint) => family.is_none_or(|family| family.has(endpoint)),
            Target::Host(_) => false,
        };
        let numbered = items.numbered();
        let boxes: Vec<u32> = numbered
            .filter(|(_, set)| set.is_everywhere() && own(set))
            .map(|(item, _)| item)
            .collect();
        boxes
    };
    let base = PortMap::everything().with(&everywhere(None), &items, &mut spent);
    for unit in names::units(&items, base, &mut spent) {
        tell(out, &unit.segment, |port| Access::Host {
            verb,
            protocol,
            host: unit.witness.clone(),
            address: None,
            port,
        });
    }
    if has_hosts {
        for (family, addresses) in &families {
            let base = PortMap::everything().with(&everywhere(Some(*family)), &items, &mut spent);
            let hosts = names::units(&items, base, &mut spent);
            let is_cut = flows::explore(&items, &hosts, addresses, |cells, port, host, address| {
                let class = Class {
                    cells,
                    is_named: true,
                };
                out.class(&class, &|| Access::Host {
                    verb,
                    protocol,
                    host: host.to_owned(),
                    address: Some(address),
                    port,
                });
            });
            if is_cut {
                out.undecided("names and addresses meet in more ways than can be looked at");
            }
        }
    }
    if spent.is_over() {
        out.undecided("ranges of ports overlap in more ways than can be looked at");
    }
}

fn tell(out: &mut dyn Classes, segment: &Segment, access: impl Fn(u16) -> Access) {
    let class = Class {
        cells: &segment.cells,
        is_named: true,
    };
    out.class(&class, &|| access(segment.witness()));
}
