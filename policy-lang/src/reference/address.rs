//! Boxes of addresses and ports, and the IPv6 addresses that are another way to write an IPv4 one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::policy::{Endpoint, Verb};

/// The address that rules are compared with.
///
/// IPv4-mapped (`::ffff:0:0/96`, RFC 4291), NAT64 (`64:ff9b::/96`, RFC 6052) and 6to4 (`2002::/16`, RFC 3056)
/// addresses are judged as the IPv4 address they carry. As a destination the unspecified address is this machine:
/// the kernel connects to loopback instead, so that is judged.
#[must_use]
pub fn judged_as(verb: Verb, address: IpAddr) -> IpAddr {
    match (verb, carried(address)) {
        (Verb::Connect, IpAddr::V4(v4)) if v4.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        (Verb::Connect, IpAddr::V6(v6)) if v6.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        (_, carried) => carried,
    }
}

fn carried(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let v4 = |high: u16, low: u16| {
        let ([one, two], [three, four]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(one, two, three, four))
    };
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => v4(g, h),
        [0x2002, high, low, ..] => v4(high, low),
        _ => address,
    }
}

/// Whether the box contains an address, as [`judged_as`] gives it, and a port.
pub(super) fn endpoint_contains(endpoint: &Endpoint, address: IpAddr, port: u16) -> bool {
    ports_contain(endpoint, port) && prefix_contains(endpoint.address, endpoint.prefix_len, address)
}

/// Whether the box has a port, whatever the address.
pub(super) fn ports_contain(endpoint: &Endpoint, port: u16) -> bool {
    (endpoint.first_port..=endpoint.last_port).contains(&port)
}

/// Whether every address and port of `inner` is in `outer`.
pub(super) fn endpoint_includes(outer: &Endpoint, inner: &Endpoint) -> bool {
    outer.prefix_len <= inner.prefix_len
        && prefix_contains(outer.address, outer.prefix_len, inner.address)
        && outer.first_port <= inner.first_port
        && inner.last_port <= outer.last_port
}

fn prefix_contains(network: IpAddr, prefix_len: u8, address: IpAddr) -> bool {
    let (network, address, width) = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            (u128::from(network.to_bits()), u128::from(address.to_bits()), 32)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => (network.to_bits(), address.to_bits(), 128_u32),
        _ => return false,
    };
    let host_bits = width.saturating_sub(u32::from(prefix_len));
    (network ^ address).checked_shr(host_bits).unwrap_or(0) == 0
}
