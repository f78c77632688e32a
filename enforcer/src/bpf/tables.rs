//! An artifact's network tables as the keys and values of the two prefix tables.

use std::net::IpAddr;

use artifact::Effect;
use artifact::network::{self, NetworkTables};
use ebpf::layout::{KEY_BITS, NO_LIST, PortKey, PortValue, PrefixKey, PrefixValue};

use super::CgroupId;
use super::error::BpfError;

/// One generation of a run's tables, as it is or shall be in the kernel.
#[derive(Debug, Default)]
pub(super) struct Elements {
    pub(super) prefix_keys: Vec<PrefixKey>,
    pub(super) prefix_values: Vec<PrefixValue>,
    pub(super) port_keys: Vec<PortKey>,
    pub(super) port_values: Vec<PortValue>,
}

/// Lowers tables for a cgroup.
///
/// The artifact was verified, but whether it was compiled well is not taken on trust: what the look-up in the
/// kernel would decide differently than [`network::decide`] is refused.
pub(super) fn elements(
    tables: &NetworkTables,
    cgroup: CgroupId,
    generation: u32,
) -> Result<Elements, BpfError> {
    let cgroup = cgroup.0.to_ne_bytes();
    let mut elements = Elements::default();
    for (index, list) in tables.port_lists.iter().enumerate() {
        let list_number = number(index)?;
        let mut free: u32 = 0;
        for interval in list {
            let (first, last) = (u32::from(interval.first), u32::from(interval.last));
            if first < free || last < first {
                return Err(BpfError::Tables(format!(
                    "port list {index} is not sorted at {first}-{last}"
                )));
            }
            free = last + 1;
            for (port, bits) in Blocks::new(interval.first, interval.last) {
                elements.port_keys.push(PortKey {
                    prefix_len: KEY_BITS + bits,
                    cgroup,
                    generation,
                    list: list_number,
                    port: port.to_be_bytes(),
                    reserved: [0; 2],
                });
                elements.port_values.push(PortValue {
                    allow: u32::from(interval.effect == Effect::Allow),
                    rule: interval.rule.0,
                });
            }
        }
    }
    for entry in &tables.prefixes {
        let (family, address, most) = match entry.address {
            IpAddr::V4(v4) => {
                let mut address = [0; 16];
                address[..4].copy_from_slice(&v4.octets());
                (4, address, 32)
            }
            IpAddr::V6(v6) => (6, v6.octets(), 128),
        };
        if entry.prefix_len > most || network::network(entry.address, entry.prefix_len) != entry.address {
            return Err(BpfError::Tables(format!(
                "{}/{} is not a prefix",
                entry.address, entry.prefix_len
            )));
        }
        let mut lists = [NO_LIST; 4];
        for (to, index) in lists.iter_mut().zip(entry.lists) {
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            let list = tables
                .port_lists
                .get(index)
                .ok_or_else(|| BpfError::Tables(format!("{} names port list {index}", entry.address)))?;
            if !list.is_empty() {
                *to = number(index)?;
            }
        }
        elements.prefix_keys.push(PrefixKey {
            prefix_len: KEY_BITS + u32::from(entry.prefix_len),
            cgroup,
            generation,
            family,
            address,
        });
        elements.prefix_values.push(PrefixValue { lists });
    }
    Ok(elements)
}

/// The number of a port list in the kernel: zero is [`NO_LIST`].
fn number(index: usize) -> Result<u32, BpfError> {
    u32::try_from(index)
        .ok()
        .and_then(|index| index.checked_add(1))
        .ok_or_else(|| BpfError::Tables("too many port lists".to_owned()))
}

/// The aligned blocks that an interval of ports is made of: first port, and how many of its bits are fixed.
struct Blocks {
    next: u32,
    end: u32,
}

impl Blocks {
    fn new(first: u16, last: u16) -> Self {
        Self {
            next: first.into(),
            end: u32::from(last) + 1,
        }
    }
}

impl Iterator for Blocks {
    type Item = (u16, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let left = self.end.checked_sub(self.next).filter(|left| *left > 0)?;
        // The largest power of two that `next` is a multiple of and that fits into what is left.
        let free_bits = self.next.trailing_zeros().min(left.ilog2()).min(16);
        let port = u16::try_from(self.next).ok()?;
        self.next += 1 << free_bits;
        Some((port, 16 - free_bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use artifact::RuleId;
    use artifact::network::{PortInterval, PrefixEntry};

    #[test]
    fn blocks_cover_their_interval_and_nothing_else() {
        for (first, last) in [
            (0, 65535),
            (0, 0),
            (65535, 65535),
            (1, 65534),
            (443, 443),
            (3000, 3999),
            (1, 2),
            (32768, 60999),
        ] {
            let mut covered = Vec::new();
            let blocks: Vec<_> = Blocks::new(first, last).collect();
            assert!(blocks.len() <= 30, "{first}-{last} takes {}", blocks.len());
            for (port, bits) in blocks {
                let size = 1_u32 << (16 - bits);
                assert_eq!(u32::from(port) % size, 0, "{port}/{bits} is aligned");
                covered.extend(u32::from(port)..u32::from(port) + size);
            }
            let wanted: Vec<_> = (u32::from(first)..=u32::from(last)).collect();
            assert_eq!(covered, wanted, "{first}-{last}");
        }
    }

    fn one(address: &str, prefix_len: u8, lists: [u32; 4], list: Vec<PortInterval>) -> NetworkTables {
        NetworkTables {
            prefixes: vec![PrefixEntry {
                address: address.parse().unwrap(),
                prefix_len,
                lists,
            }],
            port_lists: vec![Vec::new(), list],
            ..NetworkTables::default()
        }
    }

    fn interval(first: u16, last: u16) -> PortInterval {
        PortInterval {
            first,
            last,
            effect: Effect::Allow,
            rule: RuleId(1),
        }
    }

    #[test]
    fn tables_that_the_kernel_would_read_differently_are_refused() {
        let refused =
            |tables: &NetworkTables| matches!(elements(tables, CgroupId(7), 1), Err(BpfError::Tables(_)));
        assert!(!refused(&one(
            "10.0.0.0",
            8,
            [1; 4],
            vec![interval(1, 2), interval(3, 3)]
        )));
        assert!(refused(&one("10.0.0.1", 8, [1; 4], vec![])), "host bits");
        assert!(refused(&one("10.0.0.0", 33, [1; 4], vec![])), "length");
        assert!(refused(&one("10.0.0.0", 8, [2; 4], vec![])), "unknown list");
        assert!(
            refused(&one("::", 0, [1; 4], vec![interval(1, 5), interval(5, 6)])),
            "overlap"
        );
        assert!(refused(&one("::", 0, [1; 4], vec![interval(9, 5)])), "backwards");
    }

    #[test]
    fn an_empty_list_is_no_list() {
        let elements = elements(&one("::", 0, [0, 1, 0, 0], vec![interval(1, 1)]), CgroupId(7), 3).unwrap();
        assert_eq!(elements.prefix_values[0].lists, [NO_LIST, 2, NO_LIST, NO_LIST]);
        assert_eq!(elements.prefix_keys[0].prefix_len, KEY_BITS);
        assert_eq!(elements.port_keys[0].prefix_len, KEY_BITS + 16);
    }
}
