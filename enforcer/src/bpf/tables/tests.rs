use std::net::{Ipv4Addr, Ipv6Addr};

use artifact::RuleId;
use artifact::network::{PortInterval, PrefixEntry, Protocol, Verb, decide, judged, network, order, slot};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

use super::*;

/// As `judge` in the programs does it.
fn look_up(nodes: &[Node], verb: Verb, protocol: Protocol, address: IpAddr, port: u16) -> (bool, u32) {
    let (root, mut words) = match judged(verb, address) {
        IpAddr::V4(v4) => (0, vec![v4.to_bits()]),
        IpAddr::V6(v6) => (1, words_of(v6.to_bits()).to_vec()),
    };
    let mut value = nodes[0].roots[root];
    let mut key = words.remove(0);
    for _ in 0..value::STEPS_MAX {
        match value >> 30 {
            0 => return (value & 1 == 1, value >> 1),
            2 => key = words.remove(0),
            3 => key = value::port_key(slot(protocol, verb).try_into().unwrap(), port),
            _ => {}
        }
        let part = |shift: u32, mask: u32| usize::try_from(value >> shift & mask).unwrap();
        let node = &nodes[part(15, 0x7fff)];
        let (first, groups, entries) = (part(6, 0x1ff), part(3, 7), part(0, 7));
        assert_eq!(
            first % (1 << entries),
            0,
            "a span begins at a multiple of its size"
        );
        let group = interval_of(&node.fences, first / 16, groups, key);
        let group = &node.groups[group];
        value = group.values[interval_of(&group.last, first % 16, entries, key)];
    }
    panic!("too many steps");
}

fn interval_of(last: &[u32], first: usize, log: usize, key: u32) -> usize {
    let mut at = first;
    for halved in 1..=log {
        let step = 1 << (log - halved);
        if last[at + step - 1] < key {
            at += step;
        }
    }
    at
}

fn interval(first: u16, last: u16, effect: Effect, rule: u32) -> PortInterval {
    PortInterval {
        first,
        last,
        effect,
        rule: RuleId(rule),
    }
}

fn allowed(first: u16, last: u16) -> PortInterval {
    interval(first, last, Effect::Allow, 1)
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

#[test]
fn tables_that_the_kernel_would_read_differently_are_refused() {
    let refused = |tables: &NetworkTables| matches!(nodes(tables), Err(BpfError::Tables(_)));
    assert!(!refused(&one(
        "10.0.0.0",
        8,
        [1; 4],
        vec![allowed(1, 2), allowed(3, 3)]
    )));
    assert!(refused(&one("10.0.0.1", 8, [1; 4], vec![])), "host bits");
    assert!(refused(&one("10.0.0.0", 33, [1; 4], vec![])), "length");
    assert!(refused(&one("10.0.0.0", 8, [2; 4], vec![])), "unknown list");
    assert!(
        refused(&one("::", 0, [1; 4], vec![allowed(1, 5), allowed(5, 6)])),
        "overlap"
    );
    assert!(refused(&one("::", 0, [1; 4], vec![allowed(9, 5)])), "backwards");
    let large = interval(1, 1, Effect::Allow, value::RULES_MAX);
    assert!(refused(&one("::", 0, [1; 4], vec![large])), "rule");
    let mut twice = one("10.0.0.0", 8, [1; 4], vec![allowed(1, 2)]);
    twice.prefixes.push(twice.prefixes[0].clone());
    assert!(refused(&twice), "twice");
}

#[test]
fn a_policy_of_ordinary_size_is_one_node() {
    let mut tables = one("::", 0, [1, 0, 1, 0], vec![allowed(1, 500), allowed(8080, 8090)]);
    for number in 0..60_u8 {
        tables.prefixes.push(PrefixEntry {
            address: [10, number, 0, 0].into(),
            prefix_len: 16,
            lists: [0, 1, 0, 0],
        });
    }
    assert_eq!(nodes(&tables).unwrap().len(), 1);
    assert_eq!(nodes(&NetworkTables::default()).unwrap().len(), 1);
}

/// More ports, and more prefixes, than a node has entries, twice over; and every word of an address told apart.
#[test]
fn what_does_not_fit_into_a_node_is_searched_from_above() {
    let alternating = |ports: u32| -> Vec<PortInterval> {
        (0..ports)
            .map(|at| {
                let port = u16::try_from(at).unwrap();
                let effect = if at % 3 == 0 { Effect::Deny } else { Effect::Allow };
                interval(port, port, effect, at + 1)
            })
            .collect()
    };
    let mut tables = NetworkTables {
        port_lists: vec![Vec::new(), alternating(65_536), alternating(300)],
        ..NetworkTables::default()
    };
    let mut add = |address: IpAddr, prefix_len: u8, list: u32| {
        tables.prefixes.push(PrefixEntry {
            address: network(address, prefix_len),
            prefix_len,
            lists: [list, 0, 0, 0],
        });
    };
    for number in 0..70_000_u32 {
        add(Ipv4Addr::from(number << 8).into(), 24, number % 3);
    }
    for len in 0..=128_u8 {
        add(Ipv6Addr::from(u128::MAX).into(), len, u32::from(len) % 3);
    }
    for number in 0..300_u128 {
        add(Ipv6Addr::from(number << 100).into(), 32, 1);
        add(Ipv6Addr::from(number).into(), 128, 2);
    }
    tables
        .prefixes
        .sort_by_key(|entry| order(entry.address, entry.prefix_len));
    tables
        .prefixes
        .dedup_by_key(|entry| order(entry.address, entry.prefix_len));
    let nodes = nodes(&tables).unwrap();
    let same = |address: IpAddr, port| {
        let (effect, rule) = decide(&tables, Verb::Connect, Protocol::Tcp, address, port);
        assert_eq!(
            look_up(&nodes, Verb::Connect, Protocol::Tcp, address, port),
            (effect == Effect::Allow, rule.0),
            "{address} {port}"
        );
    };
    for number in (0..70_010_u32).step_by(7) {
        same(
            Ipv4Addr::from(number << 8 | 5).into(),
            u16::try_from(number % 65_536).unwrap(),
        );
    }
    for port in (0..=65_535).step_by(11) {
        same(Ipv4Addr::new(0, 0, 1, 1).into(), port);
        same(Ipv4Addr::new(0, 0, 2, 1).into(), port);
    }
    for bits in 0..128 {
        same(Ipv6Addr::from(u128::MAX ^ 1 << bits).into(), 200);
        same(Ipv6Addr::from(1 << bits).into(), 200);
    }
    for number in 0..310_u128 {
        same(Ipv6Addr::from(number << 100 | 77).into(), 77);
        same(Ipv6Addr::from(number).into(), 77);
    }
}

fn addresses_near() -> impl Strategy<Value = IpAddr> {
    // Few bits that differ, so that prefixes nest and meet.
    let v4 = any::<[bool; 6]>().prop_map(|bits| {
        let shifts = [31, 30, 16, 8, 1, 0];
        let bits = bits.into_iter().zip(shifts).map(|(bit, at)| u32::from(bit) << at);
        IpAddr::from(Ipv4Addr::from(bits.sum::<u32>()))
    });
    let v6 = any::<[bool; 10]>().prop_map(|bits| {
        let shifts = [127, 97, 96, 95, 64, 63, 33, 31, 1, 0];
        let bits = bits
            .into_iter()
            .zip(shifts)
            .map(|(bit, at)| u128::from(bit) << at);
        IpAddr::from(Ipv6Addr::from(bits.sum::<u128>()))
    });
    prop_oneof![v4, v6, Just(IpAddr::from(Ipv4Addr::BROADCAST))]
}

fn tables_near() -> impl Strategy<Value = NetworkTables> {
    let list = proptest::collection::btree_set(prop_oneof![0..8_u16, 65_530..=65_535_u16], 0..8);
    let lists = proptest::collection::vec((list, any::<[bool; 4]>()), 1..4);
    let lens = prop_oneof![0..=128_u8, Just(0), Just(32), Just(64), Just(96), Just(128)];
    let prefixes = proptest::collection::vec((addresses_near(), lens, any::<[u8; 4]>()), 0..40);
    (lists, prefixes).prop_map(|(lists, prefixes)| {
        let mut tables = NetworkTables {
            port_lists: vec![Vec::new()],
            ..NetworkTables::default()
        };
        for (ports, effects) in lists {
            // Each port begins an interval that ends before the next, or at once.
            let ports: Vec<u16> = ports.into_iter().collect();
            let mut rules = 1..;
            let list = ports.windows(2).zip(effects.into_iter().cycle());
            let list = list.map(|(two, allow)| {
                let effect = if allow { Effect::Allow } else { Effect::Forbid };
                let last = if two[0] % 2 == 0 { two[1] - 1 } else { two[0] };
                interval(two[0], last, effect, rules.next().unwrap())
            });
            tables.port_lists.push(list.collect());
        }
        let count = u32::try_from(tables.port_lists.len()).unwrap();
        let mut sorted = BTreeMap::new();
        for (address, len, lists) in prefixes {
            let prefix_len = if address.is_ipv4() { len.min(32) } else { len };
            let address = network(address, prefix_len);
            let entry = PrefixEntry {
                address,
                prefix_len,
                lists: lists.map(|list| u32::from(list) % count),
            };
            sorted.insert(order(address, prefix_len), entry);
        }
        tables.prefixes = sorted.into_values().collect();
        tables
    })
}

proptest! {
    #[test]
    fn nodes_decide_as_the_tables_do(
        tables in tables_near(),
        accesses in proptest::collection::vec((addresses_near(), prop_oneof![0..9_u16, 65_529..=65_535_u16]), 40),
    ) {
        let nodes = nodes(&tables).unwrap();
        for (address, port) in accesses {
            for protocol in [Protocol::Tcp, Protocol::Udp] {
                for verb in [Verb::Connect, Verb::Bind] {
                    let address = judged(verb, address);
                    let (effect, rule) = decide(&tables, verb, protocol, address, port);
                    let found = look_up(&nodes, verb, protocol, address, port);
                    assert_eq!(found, (effect == Effect::Allow, rule.0), "{address} {port}");
                }
            }
        }
    }
}
