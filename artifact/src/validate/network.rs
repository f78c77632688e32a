//! The network tables.

use std::net::IpAddr;

use super::{Check, Invalid, Rules, ascending, at_most};
use crate::bounds;
use crate::network::{NetworkTables, PortInterval, carried, network, order};
use crate::rule::Domain;

pub(super) fn check(tables: &NetworkTables, rules: Rules<'_>) -> Check {
    at_most("network.prefixes", tables.prefixes.len(), bounds::PREFIXES)?;
    let intervals = tables.port_lists.iter().map(Vec::len).sum();
    at_most("network.port_lists", intervals, bounds::PORT_INTERVALS)?;
    at_most(
        "network.port_lists",
        tables.port_lists.len(),
        bounds::PORT_INTERVALS,
    )?;
    for (number, entry) in tables.prefixes.iter().enumerate() {
        let at = || format!("network.prefixes[{number}]");
        let bits = if entry.address.is_ipv4() { 32 } else { 128 };
        if entry.prefix_len > bits {
            return Err(Invalid::new(at(), format!("its length is more than {bits}")));
        }
        if network(entry.address, entry.prefix_len) != entry.address {
            return Err(Invalid::new(at(), "its host bits are not zero"));
        }
        if is_judged_as_ipv4(entry.address, entry.prefix_len) {
            let problem = "addresses of this form are looked up as the IPv4 address they carry";
            return Err(Invalid::new(at(), problem));
        }
        let present = |list: &u32| usize::try_from(*list).is_ok_and(|list| list < tables.port_lists.len());
        if !entry.lists.iter().all(present) {
            return Err(Invalid::new(at(), "it refers to a port list that is not there"));
        }
    }
    if !ascending(
        tables
            .prefixes
            .iter()
            .map(|entry| order(entry.address, entry.prefix_len)),
    ) {
        return Err(Invalid::new(
            "network.prefixes",
            "they are not sorted, or have duplicates",
        ));
    }
    for (number, list) in tables.port_lists.iter().enumerate() {
        check_list(list, rules, &|| format!("network.port_lists[{number}]"))?;
    }
    for (at, ports) in [
        ("network.landlock_connect_ports", &tables.landlock_connect_ports),
        ("network.landlock_bind_ports", &tables.landlock_bind_ports),
    ] {
        if let Some(ports) = ports {
            at_most(at, ports.len(), bounds::LANDLOCK_PORTS)?;
            if !ascending(ports) {
                return Err(Invalid::new(at, "they are not sorted, or have duplicates"));
            }
        }
    }
    at_most("network.hosts", tables.hosts.len(), bounds::HOSTS)?;
    for (number, host) in tables.hosts.iter().enumerate() {
        let at = || format!("network.hosts[{number}]");
        rules.agrees(host.rule, Domain::Network, host.effect, at)?;
        if rules.get(host.rule, at)?.layer != host.layer {
            return Err(Invalid::new(at(), "its layer is not that of its rule"));
        }
        if !is_host_pattern(&host.pattern) {
            let problem = format!(
                "{:?} is no host name in lower case, or `*.` and one",
                host.pattern
            );
            return Err(Invalid::new(at(), problem));
        }
        if host.last_port < host.first_port {
            return Err(Invalid::new(at(), "its ports end before they start"));
        }
    }
    Ok(())
}

fn is_host_pattern(pattern: &str) -> bool {
    let name = pattern.strip_prefix("*.").unwrap_or(pattern);
    let byte = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    name.len() <= bounds::HOST_BYTES
        && name
            .split('.')
            .all(|label| (1..=63).contains(&label.len()) && label.bytes().all(byte))
}

/// Only a prefix that lies wholly inside such a form is wrong; `::/0` covers them too and is never asked.
fn is_judged_as_ipv4(address: IpAddr, prefix_len: u8) -> bool {
    let fixed = match address {
        IpAddr::V6(v6) if v6.segments().first() == Some(&0x2002) => 16,
        _ => 96,
    };
    prefix_len >= fixed && carried(address) != address
}

fn check_list(list: &[PortInterval], rules: Rules<'_>, at: &dyn Fn() -> String) -> Check {
    let mut free: u32 = 0;
    for interval in list {
        if interval.last < interval.first {
            return Err(Invalid::new(at(), "an interval ends before it starts"));
        }
        if u32::from(interval.first) < free {
            return Err(Invalid::new(at(), "its intervals are not sorted, or overlap"));
        }
        free = u32::from(interval.last) + 1;
        rules.agrees(interval.rule, Domain::Network, interval.effect, at)?;
    }
    Ok(())
}
