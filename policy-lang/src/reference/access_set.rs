//! The set of accesses that an elementary rule denotes: what is in it, and which set lies inside which.

use std::borrow::Cow;
use std::net::IpAddr;

use super::{Access, address};
use crate::inclusion::Proof;
use crate::pattern::{self, PathPattern, variable};
use crate::policy::{Endpoint, FileAccess, HostEndpoint, Protocol, Subject, Verb};
use crate::syscall::{SyscallSet, table};

/// An access with everything looked up that does not depend on a rule.
pub(super) enum Concrete<'a> {
    File(FileAccess, &'a str),
    Network(Verb, Protocol, IpAddr, u16),
    /// No name: a text that is no host name, which only rules on every address match.
    Host(Verb, Protocol, Option<String>, Option<IpAddr>, u16),
    Variable(&'a str),
    /// No name: a number the table does not know, which only the default matches.
    Call(Option<&'static str>, &'a [u64; 6]),
}

impl<'a> Concrete<'a> {
    pub(super) fn of(access: &'a Access) -> Self {
        match access {
            Access::File { access, path } => Self::File(*access, path),
            Access::Network {
                verb,
                protocol,
                address,
                port,
            } => Self::Network(*verb, *protocol, address::judged_as(*verb, *address), *port),
            Access::Host {
                verb,
                protocol,
                host,
                address,
                port,
            } => {
                let address = address.map(|address| address::judged_as(*verb, address));
                Self::Host(*verb, *protocol, pattern::host::name(host).ok(), address, *port)
            }
            Access::Environment { name } => Self::Variable(name),
            Access::Syscall {
                architecture,
                number,
                arguments,
            } => Self::Call(table::name(*number, *architecture), arguments),
        }
    }
}

/// The accesses of one elementary rule.
pub(super) enum AccessSet<'a> {
    Everything,
    Files(FileAccess, Cow<'a, PathPattern>),
    Endpoints(Verb, Protocol, Endpoint),
    Hosts(Verb, Protocol, &'a HostEndpoint),
    Variables(&'a str),
    Calls(&'a SyscallSet),
}

impl<'a> AccessSet<'a> {
    /// One set for each combination of verb, protocol and target. Identity and limits speak of no access.
    pub(super) fn of(subject: &'a Subject) -> Vec<Self> {
        match subject {
            Subject::Everything => vec![Self::Everything],
            Subject::File { accesses, targets } => accesses
                .iter()
                .flat_map(|&access| {
                    targets
                        .iter()
                        .map(move |target| Self::Files(access, Cow::Borrowed(target)))
                })
                .collect(),
            Subject::Network {
                verbs,
                protocols,
                targets,
                hosts,
            } => verbs
                .iter()
                .flat_map(|&verb| protocols.iter().map(move |&protocol| (verb, protocol)))
                .flat_map(|(verb, protocol)| {
                    let endpoints = targets.iter().map(move |&to| Self::Endpoints(verb, protocol, to));
                    endpoints.chain(hosts.iter().map(move |to| Self::Hosts(verb, protocol, to)))
                })
                .collect(),
            Subject::Hide { targets } => [FileAccess::Read, FileAccess::Write, FileAccess::Execute]
                .into_iter()
                .flat_map(|access| {
                    targets
                        .iter()
                        .map(move |path| Self::Files(access, Cow::Borrowed(path)))
                })
                .collect(),
            Subject::Pass { names } => names.iter().map(|name| Self::Variables(name)).collect(),
            Subject::Set { name, .. } => vec![Self::Variables(name)],
            Subject::Syscall { targets } => targets.iter().map(Self::Calls).collect(),
            // A scratch directory is written and read, and nothing in it starts.
            Subject::Scratch { path, .. } => [FileAccess::Read, FileAccess::Write]
                .map(|access| Self::Files(access, Cow::Owned(PathPattern::Literal(path.clone()))))
                .into(),
            // A credential opens no way to the one it is for.
            Subject::Broker(_) | Subject::Identity(_) | Subject::Limit { .. } => Vec::new(),
        }
    }

    pub(super) fn contains(&self, access: &Concrete<'_>) -> bool {
        match (self, access) {
            (Self::Everything, _) => true,
            (Self::Files(own, pattern), Concrete::File(access, path)) => {
                own == access && pattern.covers(path)
            }
            (
                Self::Endpoints(own_verb, own_protocol, endpoint),
                Concrete::Network(verb, protocol, address, port),
            ) => {
                own_verb == verb
                    && own_protocol == protocol
                    && address::endpoint_contains(endpoint, *address, *port)
            }
            // An address rule speaks of a flow whose address is known. One on every address speaks of any flow.
            (
                Self::Endpoints(own_verb, own_protocol, endpoint),
                Concrete::Host(verb, protocol, _, address, port),
            ) => {
                own_verb == verb
                    && own_protocol == protocol
                    && match address {
                        Some(address) => address::endpoint_contains(endpoint, *address, *port),
                        None => endpoint.prefix_len == 0 && address::ports_contain(endpoint, *port),
                    }
            }
            (
                Self::Hosts(own_verb, own_protocol, to),
                Concrete::Host(verb, protocol, Some(host), _, port),
            ) => {
                own_verb == verb
                    && own_protocol == protocol
                    && to.pattern.covers(host)
                    && (to.first_port..=to.last_port).contains(port)
            }
            (Self::Variables(own), Concrete::Variable(name)) => variable::covers(own, name),
            (Self::Calls(set), Concrete::Call(Some(name), arguments)) => set.matches(name, arguments),
            _ => false,
        }
    }

    /// Whether every access of this set is in `outer`, and `outer` has one more.
    ///
    /// What cannot be decided within bounds counts as no, so that `outer` stands and the stricter effect wins.
    pub(super) fn is_strictly_inside(&self, outer: &Self) -> bool {
        match (self, outer) {
            (Self::Everything, _) => false,
            (_, Self::Everything) => true,
            (Self::Files(own, inner), Self::Files(access, outer)) => {
                own == access && outer.includes(inner).holds() && inner.includes(outer) == Proof::Fails
            }
            (Self::Endpoints(own_verb, own_protocol, inner), Self::Endpoints(verb, protocol, outer)) => {
                own_verb == verb
                    && own_protocol == protocol
                    && inner != outer
                    && address::endpoint_includes(outer, inner)
            }
            (Self::Hosts(own_verb, own_protocol, inner), Self::Hosts(verb, protocol, outer)) => {
                own_verb == verb
                    && own_protocol == protocol
                    && inner != outer
                    && outer.pattern.includes(&inner.pattern)
                    && outer.first_port <= inner.first_port
                    && inner.last_port <= outer.last_port
            }
            // Whatever addresses a name has, they lie inside every address.
            (Self::Hosts(own_verb, own_protocol, inner), Self::Endpoints(verb, protocol, outer)) => {
                own_verb == verb
                    && own_protocol == protocol
                    && outer.prefix_len == 0
                    && outer.first_port <= inner.first_port
                    && inner.last_port <= outer.last_port
            }
            (Self::Variables(inner), Self::Variables(outer)) => {
                variable::includes(outer, inner) && !variable::includes(inner, outer)
            }
            (Self::Calls(inner), Self::Calls(outer)) => {
                outer.includes(inner).holds() && inner.includes(outer) == Proof::Fails
            }
            // Sets that have nothing in common.
            _ => false,
        }
    }
}
