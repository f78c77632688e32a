//! Addresses, prefixes and host names as text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::parameters::Mistake;
use crate::diagnostic::Code;
use crate::pattern::host::name as host_name;

/// What a host is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostText {
    /// An address.
    Address(IpAddr),
    /// A name, as rules compare it.
    Name(String),
}

/// An address or a host name, and nothing around it.
pub(super) fn host(text: &str) -> Option<HostText> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(HostText::Address(address));
    }
    host_name(text).ok().map(HostText::Name)
}

/// `address/length`, or an address alone; host bits zero, no IPv4 address inside an IPv6 one.
pub(super) fn prefix(text: &str) -> Result<(IpAddr, u8), (Code, Mistake)> {
    let (address, len) = match text.split_once('/') {
        Some((address, len)) => (address, Some(len)),
        None => (text, None),
    };
    let Ok(address) = address.parse::<IpAddr>() else {
        return Err((
            Code::BadAddress,
            Mistake::new(
                format!("`{}` is not an address", text.escape_debug()),
                "write an IPv4 or IPv6 address, with `/` and a prefix length for more than one",
            ),
        ));
    };
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let len = match len {
        None => longest,
        Some(len) => match len.parse::<u8>() {
            Ok(number) if number <= longest && number.to_string() == len => number,
            _ => {
                return Err((
                    Code::BadAddress,
                    Mistake::new(
                        format!("`/{}` is not a prefix length", len.escape_debug()),
                        format!("write a number from 0 to {longest}"),
                    ),
                ));
            }
        },
    };
    if let Some((inner, inner_len)) = embedded(address, len) {
        let better = if inner_len == 32 {
            inner.to_string()
        } else {
            format!("{inner}/{inner_len}")
        };
        let mistake = Mistake::new(
            format!("{address} stands for the IPv4 address {inner}"),
            format!("write `{better}`: a rule on an IPv4 address covers its IPv6 forms"),
        )
        .better(better);
        return Err((Code::EmbeddedAddress, mistake));
    }
    let network = network(address, len);
    if network != address {
        let mistake = Mistake::new(
            format!("`{}` has bits set behind its prefix length", text.escape_debug()),
            format!("write `{network}/{len}` for the network, or `{address}` for the one address"),
        )
        .better(format!("{network}/{len}"));
        return Err((Code::HostBits, mistake));
    }
    Ok((address, len))
}

/// The address with its host bits zero.
pub(super) fn network(address: IpAddr, len: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(len.min(32))).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(len.min(128))).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

/// IPv6 blocks that carry an IPv4 address: first bits, their number, and where the IPv4 address begins.
///
/// IPv4-mapped (RFC 4291), NAT64 (RFC 6052, and RFC 8215 with the address at the end), 6to4 (RFC 3056).
const CARRIERS: &[(u128, u8, u8)] = &[
    (0xffff << 32, 96, 96),
    (0x0064_ff9b << 96, 96, 96),
    (0x0064_ff9b_0001 << 80, 48, 96),
    (0x2002 << 112, 16, 16),
];

/// The IPv4 prefix that an IPv6 prefix stands for, if it lies in such a block.
pub(super) fn embedded(address: IpAddr, len: u8) -> Option<(Ipv4Addr, u8)> {
    let IpAddr::V6(address) = address else { return None };
    let bits = address.to_bits();
    for (block, block_len, offset) in CARRIERS {
        let mask = u128::MAX << (128 - u32::from(*block_len));
        if len < *block_len || bits & mask != *block {
            continue;
        }
        let shift = 96 - u32::from(*offset);
        let inner =
            Ipv4Addr::from_bits(u32::try_from((bits >> shift) & u128::from(u32::MAX)).unwrap_or_default());
        let inner_len = len.saturating_sub(*offset).min(32);
        let IpAddr::V4(inner) = network(IpAddr::V4(inner), inner_len) else {
            return None;
        };
        return Some((inner, inner_len));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv4_address_is_found_in_its_ipv6_forms() {
        let inside = |text: &str, len| {
            embedded(text.parse().unwrap(), len).map(|(inner, len)| format!("{inner}/{len}"))
        };
        assert_eq!(inside("::ffff:10.0.0.1", 128).as_deref(), Some("10.0.0.1/32"));
        assert_eq!(inside("::ffff:0:0", 96).as_deref(), Some("0.0.0.0/0"));
        assert_eq!(inside("64:ff9b::a00:1", 128).as_deref(), Some("10.0.0.1/32"));
        assert_eq!(inside("64:ff9b:1::a00:1", 128).as_deref(), Some("10.0.0.1/32"));
        assert_eq!(
            inside("2002:a9fe:a9fe::1", 128).as_deref(),
            Some("169.254.169.254/32")
        );
        assert_eq!(inside("2002:a00::", 24).as_deref(), Some("10.0.0.0/8"));
        assert_eq!(inside("::", 0), None);
        assert_eq!(inside("2001:db8::", 32), None);
        assert_eq!(inside("::1", 128), None);
    }

    #[test]
    fn a_host_name_is_letters_digits_and_hyphens() {
        assert!(host_name("registry.npmjs.org").is_ok());
        assert!(host_name("localhost").is_ok());
        for text in [
            "",
            ".",
            "a..b",
            "-a",
            "a-",
            "*.a",
            "1.2.3",
            "10.0.0.300",
            "a:80",
            "a/b",
            "é",
        ] {
            assert!(host_name(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_prefix_is_exact() {
        assert_eq!(prefix("10.0.0.0/8").unwrap(), ("10.0.0.0".parse().unwrap(), 8));
        assert_eq!(prefix("0.0.0.0/0").unwrap().1, 0);
        assert_eq!(prefix("::/0").unwrap().1, 0);
        assert_eq!(
            prefix("10.0.0.1/8").unwrap_err().1.better.as_deref(),
            Some("10.0.0.0/8")
        );
        for text in [
            "10.0.0.0/33",
            "10.0.0.0/08",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "010.0.0.1",
            "fe80::1%eth0",
        ] {
            assert!(prefix(text).is_err(), "{text}");
        }
    }
}
