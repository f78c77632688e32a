//! The network domain as tables: longest prefix first, then a sorted list of port intervals.
//!
//! Every distinct prefix in the policy is one entry. An address matches exactly the rules whose prefix covers
//! its longest match, so each entry carries the already decided port intervals for each protocol and verb;
//! what no interval covers is refused by the default rule. IPv4-mapped (`::ffff:0:0/96`), NAT64
//! (`64:ff9b::/96`) and 6to4 (`2002::/16`) destinations are looked up as the IPv4 address they carry.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::rule::{Effect, LayerId, RuleId};

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
    /// Rules on names, elementary ones. The tables do not speak of them: they matter for a flow whose name is known.
    pub hosts: Vec<HostRule>,
}

/// One verb, protocol and host pattern with ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRule {
    /// The rule this came from.
    pub rule: RuleId,
    /// Its effect.
    pub effect: Effect,
    /// The layer it is a rule of; of every layer where there is none.
    pub layer: Option<LayerId>,
    /// Its verb.
    pub verb: Verb,
    /// Its protocol.
    pub protocol: Protocol,
    /// A name in lower case without a final dot, or `*.` and a name: one or more labels stand before it.
    pub pattern: String,
    /// First port.
    pub first_port: u16,
    /// Last port, not below `first_port`.
    pub last_port: u16,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// Decides one access: the longest prefix that covers the address, then the interval that holds the port.
#[must_use]
pub fn decide(
    tables: &NetworkTables,
    verb: Verb,
    protocol: Protocol,
    address: IpAddr,
    port: u16,
) -> (Effect, RuleId) {
    const REFUSED: (Effect, RuleId) = (Effect::Deny, RuleId::DEFAULT);
    let Some(entry) = longest_match(tables, judged(verb, address)) else {
        return REFUSED;
    };
    let list = entry
        .lists
        .get(slot(protocol, verb))
        .and_then(|index| tables.port_lists.get(usize::try_from(*index).ok()?));
    let Some(list) = list else { return REFUSED };
    let behind = list.partition_point(|interval| interval.last < port);
    match list.get(behind) {
        Some(interval) if interval.first <= port => (interval.effect, interval.rule),
        _ => REFUSED,
    }
}

/// The address that is judged. As a destination the unspecified address is this machine: the kernel connects to
/// loopback instead.
#[must_use]
pub fn judged(verb: Verb, address: IpAddr) -> IpAddr {
    match (verb, carried(address)) {
        (Verb::Connect, IpAddr::V4(v4)) if v4.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        (Verb::Connect, IpAddr::V6(v6)) if v6.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        (_, carried) => carried,
    }
}

/// The IPv4 address that a mapped, NAT64 or 6to4 form carries, else the address.
#[must_use]
pub fn carried(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else {
        return address;
    };
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let v4 = match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => (g, h),
        (0x2002, _, _, _, _, _) => (b, c),
        _ => return address,
    };
    IpAddr::V4(Ipv4Addr::from(u32::from(v4.0) << 16 | u32::from(v4.1)))
}

/// `address` with all but its first `prefix_len` bits cleared.
#[must_use]
pub fn network(address: IpAddr, prefix_len: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX
                .checked_shl(32_u32.saturating_sub(prefix_len.into()))
                .unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from(u32::from(v4) & mask))
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX
                .checked_shl(128_u32.saturating_sub(prefix_len.into()))
                .unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from(u128::from(v6) & mask))
        }
    }
}

/// Longest prefixes first: one binary search for each length, which the order of the table allows.
fn longest_match(tables: &NetworkTables, address: IpAddr) -> Option<&PrefixEntry> {
    let bits = if address.is_ipv4() { 32 } else { 128 };
    (0..=bits).rev().find_map(|prefix_len| {
        let wanted = order(network(address, prefix_len), prefix_len);
        let at = tables
            .prefixes
            .binary_search_by_key(&wanted, |entry| order(entry.address, entry.prefix_len))
            .ok()?;
        tables.prefixes.get(at)
    })
}

/// The order of [`NetworkTables::prefixes`].
#[must_use]
pub fn order(address: IpAddr, prefix_len: u8) -> (bool, u8, IpAddr) {
    (address.is_ipv6(), prefix_len, address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(first: u16, last: u16, effect: Effect, rule: u32) -> PortInterval {
        PortInterval {
            first,
            last,
            effect,
            rule: RuleId(rule),
        }
    }

    fn tables() -> NetworkTables {
        let entry = |address: &str, prefix_len, list| PrefixEntry {
            address: address.parse().unwrap(),
            prefix_len,
            lists: [list, 0, 0, 0],
        };
        NetworkTables {
            prefixes: vec![
                entry("10.0.0.0", 8, 1),
                entry("10.1.2.3", 32, 2),
                entry("::", 0, 1),
            ],
            port_lists: vec![
                Vec::new(),
                vec![
                    interval(80, 80, Effect::Allow, 1),
                    interval(443, 500, Effect::Allow, 2),
                ],
                vec![interval(0, 65535, Effect::Forbid, 3)],
            ],
            landlock_connect_ports: None,
            landlock_bind_ports: None,
            hosts: Vec::new(),
        }
    }

    #[test]
    fn the_longest_prefix_decides_and_what_no_interval_holds_is_refused() {
        let decided = |address: &str, port| {
            decide(
                &tables(),
                Verb::Connect,
                Protocol::Tcp,
                address.parse().unwrap(),
                port,
            )
        };
        assert_eq!(decided("10.0.0.1", 80), (Effect::Allow, RuleId(1)));
        assert_eq!(decided("10.0.0.1", 500), (Effect::Allow, RuleId(2)));
        assert_eq!(decided("10.0.0.1", 501), (Effect::Deny, RuleId::DEFAULT));
        assert_eq!(decided("10.1.2.3", 80), (Effect::Forbid, RuleId(3)));
        assert_eq!(decided("11.0.0.1", 80), (Effect::Deny, RuleId::DEFAULT));
        assert_eq!(decided("2001:db8::1", 80), (Effect::Allow, RuleId(1)));
    }

    #[test]
    fn forms_that_carry_an_ipv4_address_are_judged_as_it() {
        for form in [
            "::ffff:10.1.2.3",
            "64:ff9b::10.1.2.3",
            "2002:a01:203::1",
            "2002:a01:203:ffff::",
        ] {
            assert_eq!(
                carried(form.parse().unwrap()),
                IpAddr::from([10, 1, 2, 3]),
                "{form}"
            );
        }
        for form in ["::10.1.2.3", "64:ff9b:1::10.1.2.3", "2003:a01:203::1"] {
            assert!(carried(form.parse().unwrap()).is_ipv6(), "{form}");
        }
    }

    #[test]
    fn the_unspecified_address_as_a_destination_is_loopback() {
        for (form, loopback) in [
            ("0.0.0.0", "127.0.0.1"),
            ("::ffff:0.0.0.0", "127.0.0.1"),
            ("::", "::1"),
        ] {
            let form: IpAddr = form.parse().unwrap();
            let loopback: IpAddr = loopback.parse().unwrap();
            assert_eq!(judged(Verb::Connect, form), loopback, "{form}");
            assert!(judged(Verb::Bind, form).is_unspecified(), "{form}");
        }
    }
}
