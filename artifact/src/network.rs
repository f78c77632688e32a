//! The network domain as tables: longest prefix first, then a sorted list of port intervals.
//!
//! Every distinct prefix in the policy is one entry. An address matches exactly the rules whose prefix covers
//! its longest match, so each entry carries the already decided port intervals for each protocol and verb;
//! what no interval covers is refused by the default rule. IPv4-mapped (`::ffff:0:0/96`), NAT64
//! (`64:ff9b::/96`) and 6to4 (`2002::/16`) destinations are looked up as the IPv4 address they carry.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::rule::{Effect, RuleId};

/// The run's tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTables {
    /// Sorted by address family, prefix length and address; no duplicates.
    pub prefixes: Vec<PrefixEntry>,
    /// Port lists, shared between prefixes that decide alike.
    pub port_lists: Vec<Vec<PortInterval>>,
    /// TCP ports that some rule allows to connect to, for Landlock (ABI 4). `None`: too many to list, so
    /// Landlock does not handle the right and cgroup BPF alone decides.
    pub landlock_connect_ports: Option<Vec<u16>>,
    /// The same for bind.
    pub landlock_bind_ports: Option<Vec<u16>>,
}

/// What is decided for addresses whose longest matching prefix is this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefixEntry {
    /// Network address; host bits are zero.
    pub address: IpAddr,
    /// Prefix length in bits, up to 32 or 128.
    pub prefix_len: u8,
    /// Index into [`NetworkTables::port_lists`] by [`slot`].
    pub lists: [u32; 4],
}

/// Transport protocols of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// Verbs of the language. Sending a datagram is `Connect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verb {
    /// connect(2), sendto(2), sendmsg(2), sendmmsg(2), fast open.
    Connect,
    /// bind(2).
    Bind,
}

/// Position of a protocol and verb in [`PrefixEntry::lists`].
#[must_use]
pub const fn slot(protocol: Protocol, verb: Verb) -> usize {
    let protocol = match protocol {
        Protocol::Tcp => 0,
        Protocol::Udp => 1,
    };
    let verb = match verb {
        Verb::Connect => 0,
        Verb::Bind => 1,
    };
    protocol * 2 + verb
}

/// An inclusive range of ports and its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortInterval {
    /// First port.
    pub first: u16,
    /// Last port, not below `first`.
    pub last: u16,
    /// What happens.
    pub effect: Effect,
    /// The deciding rule.
    pub rule: RuleId,
}
