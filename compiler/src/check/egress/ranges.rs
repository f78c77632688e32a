//! Ranges of addresses that belong to somebody's own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use policy_lang::policy::Endpoint;

/// A range, and an address in it that nobody names.
pub(super) struct Range {
    pub(super) name: &'static str,
    pub(super) prefix: IpAddr,
    pub(super) len: u8,
    pub(super) witness: IpAddr,
}

/// RFC 1918, RFC 6598 (shared by carriers and some clouds), link-local, ULA.
pub(super) const PRIVATE: &[Range] = &[
    v4("10.0.0.0/8", [10, 0, 0, 0], 8, [10, 79, 23, 5]),
    v4("172.16.0.0/12", [172, 16, 0, 0], 12, [172, 23, 79, 5]),
    v4("192.168.0.0/16", [192, 168, 0, 0], 16, [192, 168, 79, 5]),
    v4("169.254.0.0/16", [169, 254, 0, 0], 16, [169, 254, 79, 5]),
    v4("100.64.0.0/10", [100, 64, 0, 0], 10, [100, 79, 23, 5]),
    v6("[fc00::]/7", 0xfc00, 7, 0xfd79),
    v6("[fe80::]/10", 0xfe80, 10, 0xfe80),
];

/// This machine.
pub(super) const LOOPBACK: &[Range] = &[
    v4("127.0.0.0/8", [127, 0, 0, 0], 8, [127, 0, 0, 1]),
    Range {
        name: "[::1]",
        prefix: IpAddr::V6(Ipv6Addr::LOCALHOST),
        len: 128,
        witness: IpAddr::V6(Ipv6Addr::LOCALHOST),
    },
];

const fn v4(name: &'static str, prefix: [u8; 4], len: u8, witness: [u8; 4]) -> Range {
    let [a, b, c, d] = prefix;
    let [e, f, g, h] = witness;
    Range {
        name,
        prefix: IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        len,
        witness: IpAddr::V4(Ipv4Addr::new(e, f, g, h)),
    }
}

const fn v6(name: &'static str, prefix: u16, len: u8, witness: u16) -> Range {
    Range {
        name,
        prefix: IpAddr::V6(Ipv6Addr::new(prefix, 0, 0, 0, 0, 0, 0, 0)),
        len,
        witness: IpAddr::V6(Ipv6Addr::new(witness, 0, 0, 0, 0x79, 0, 0, 5)),
    }
}

impl Range {
    /// Whether the box lies in the range as a whole.
    pub(super) fn holds(&self, target: &Endpoint) -> bool {
        target.prefix_len >= self.len
            && prefix_of(target.address, self.len) == prefix_of(self.prefix, self.len)
    }

    /// Whether the range lies in the box as a whole, whatever the ports.
    pub(super) fn lies_in(&self, target: &Endpoint) -> bool {
        target.prefix_len <= self.len
            && prefix_of(self.prefix, target.prefix_len) == prefix_of(target.address, target.prefix_len)
    }
}

/// The first bits of an address, and its family.
fn prefix_of(address: IpAddr, len: u8) -> (bool, u128) {
    let keep = |bits: u128, width: u32| {
        let dropped = width.saturating_sub(u32::from(len));
        bits.checked_shr(dropped).unwrap_or(0)
    };
    match address {
        IpAddr::V4(address) => (false, keep(u128::from(address.to_bits()), 32)),
        IpAddr::V6(address) => (true, keep(address.to_bits(), 128)),
    }
}
