//! The kernel decides as [`artifact::network::decide`] does, and names the same rule: for tables and accesses that
//! proptest makes up, each access really made. A UDP connect sends nothing, and in the test's network namespace
//! every address is this machine's.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

#[path = "support/network.rs"]
mod support;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use artifact::network::{
    NetworkTables, PortInterval, PrefixEntry, Protocol, Verb, carried, decide, network, order,
};
use artifact::{Effect, RuleId};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use support::{RECORD_ALL, Rules, Scene};

fn addresses() -> impl Strategy<Value = IpAddr> {
    // Few bits that differ, so that prefixes nest.
    let v4 = (0..4_u32, 0..4_u32, 0..4_u32, any::<u8>())
        .prop_map(|(a, b, c, d)| Ipv4Addr::from((10 + a) << 24 | b << 16 | c << 8 | u32::from(d)));
    let v6 = (0..4_u16, 0..4_u16, any::<u16>())
        .prop_map(|(a, b, c)| Ipv6Addr::new(0x2001, 0xdb8, a, 0, 0, 0, b, c));
    prop_oneof![
        4 => v4.prop_map(IpAddr::from),
        4 => v6.prop_map(IpAddr::from),
        1 => Just(IpAddr::from(Ipv4Addr::UNSPECIFIED)),
        1 => Just(IpAddr::from(Ipv6Addr::UNSPECIFIED)),
        1 => Just(IpAddr::from(Ipv4Addr::LOCALHOST)),
        1 => Just(IpAddr::from(Ipv6Addr::LOCALHOST)),
    ]
}

fn prefixes() -> impl Strategy<Value = (IpAddr, u8)> {
    (addresses(), 0..=128_u8, 0..4_u8).prop_map(|(address, len, kind)| {
        let most = if address.is_ipv4() { 32 } else { 128 };
        let len = match kind {
            0 => most,
            1 => most - 8,
            2 => len % (most + 1),
            _ => most / 4,
        };
        (network(address, len), len)
    })
}

fn ports() -> impl Strategy<Value = u16> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(80),
        Just(443),
        Just(32768),
        Just(65534),
        Just(65535),
        any::<u16>()
    ]
}

fn lists() -> impl Strategy<Value = Vec<PortInterval>> {
    let effect = prop_oneof![
        Just(Effect::Allow),
        Just(Effect::Allow),
        Just(Effect::Deny),
        Just(Effect::Forbid)
    ];
    let interval = (ports(), ports(), effect, 1..50_u32);
    proptest::collection::vec(interval, 0..6).prop_map(|mut intervals| {
        intervals.sort_by_key(|(first, last, ..)| (*first).min(*last));
        let mut free = 0_u32;
        intervals
            .into_iter()
            .filter_map(|(one, other, effect, rule)| {
                let (first, last) = (u32::from(one.min(other)).max(free), u32::from(one.max(other)));
                (first <= last).then(|| {
                    free = last + 1;
                    PortInterval {
                        first: u16::try_from(first).unwrap(),
                        last: u16::try_from(last).unwrap(),
                        effect,
                        rule: RuleId(rule),
                    }
                })
            })
            .collect()
    })
}

fn tables() -> impl Strategy<Value = NetworkTables> {
    let lists = proptest::collection::vec(lists(), 1..8);
    let prefixes = proptest::collection::vec((prefixes(), [0..8_u32, 0..8, 0..8, 0..8]), 0..24);
    (lists, prefixes).prop_map(|(mut port_lists, prefixes)| {
        port_lists.insert(0, Vec::new());
        let count = u32::try_from(port_lists.len()).unwrap();
        let sorted: BTreeMap<_, _> = prefixes
            .into_iter()
            .map(|((address, prefix_len), lists)| (order(address, prefix_len), lists))
            .collect();
        NetworkTables {
            prefixes: sorted
                .into_iter()
                .map(|((_, prefix_len, address), lists)| PrefixEntry {
                    address,
                    prefix_len,
                    lists: lists.map(|list| list % count),
                })
                .collect(),
            port_lists,
            ..NetworkTables::default()
        }
    })
}

/// An address near one that a prefix begins or ends with, in one of the forms it can be written.
fn near(tables: &NetworkTables, any: IpAddr, choice: u8, form: u8) -> IpAddr {
    let prefixes = &tables.prefixes;
    let address = match prefixes.get(usize::from(choice) % (prefixes.len() + 1)) {
        None => any,
        Some(entry) => match entry.address {
            IpAddr::V4(v4) => {
                let size = 1_u64 << (32 - entry.prefix_len);
                let ends = [0, size - 1, size];
                let offset = u32::try_from(ends[usize::from(form) % 3] & 0xffff_ffff).unwrap();
                IpAddr::from(Ipv4Addr::from(u32::from(v4).wrapping_add(offset)))
            }
            IpAddr::V6(v6) => {
                let size = 1_u128.checked_shl(128 - u32::from(entry.prefix_len)).unwrap_or(0);
                let ends = [0, size.wrapping_sub(1), size];
                IpAddr::from(Ipv6Addr::from(
                    u128::from(v6).wrapping_add(ends[usize::from(form) % 3]),
                ))
            }
        },
    };
    // What the kernel refuses before it asks.
    let address = if address.is_multicast() || is_reserved(address) {
        any
    } else {
        address
    };
    let IpAddr::V4(v4) = address else { return address };
    let bits = u128::from(u32::from(v4));
    match form / 3 % 4 {
        0 => address,
        1 => IpAddr::from(v4.to_ipv6_mapped()),
        2 => IpAddr::from(Ipv6Addr::from(0x64_ff9b << 96 | bits)),
        _ => IpAddr::from(Ipv6Addr::from(0x2002 << 112 | bits << 80 | 1)),
    }
}

fn is_reserved(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.octets()[0] >= 224 || v4.octets()[0] == 0 && !v4.is_unspecified(),
        // Link-local addresses need an interface.
        IpAddr::V6(v6) => v6.segments()[0] >= 0xfe00,
    }
}

/// Makes the access; what the kernel says and records is what the tables decide.
fn compare(
    scene: &mut Scene,
    tables: &NetworkTables,
    verb: Verb,
    protocol: Protocol,
    (address, port): (IpAddr, u16),
) -> (Effect, RuleId) {
    let (effect, rule) = decide(tables, verb, protocol, address, port);
    let what = if verb == Verb::Connect { "connect" } else { "bind" };
    let kind = if protocol == Protocol::Tcp { "tcp" } else { "udp" };
    let line = format!("{what} {kind} {}", SocketAddr::new(address, port));
    let answer = scene.ask(&line);
    let decisions = scene.decisions();
    let context = || {
        let small = tables.prefixes.len() < 100;
        let tables = if small {
            format!("{tables:#?}")
        } else {
            String::new()
        };
        format!("{line}: {answer}, model {effect:?} by {rule:?}\n{decisions:?}\n{tables}")
    };
    assert_eq!(answer == "EPERM", effect != Effect::Allow, "{}", context());
    assert_eq!(decisions.len(), 1, "{}", context());
    assert_eq!(decisions[0].allowed, effect == Effect::Allow, "{}", context());
    assert_eq!(decisions[0].rule, rule.0, "{}", context());
    assert_eq!(
        decisions[0].address.map(carried),
        decisions[0].address,
        "{}",
        context()
    );
    (effect, rule)
}

#[test]
fn the_kernel_decides_as_the_tables_say() {
    let mut scene = Scene::new(&Rules::new().build());
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::default()
    });
    let strategy = (
        tables(),
        proptest::collection::vec(((addresses(), ports(), any::<bool>()), any::<[u8; 3]>()), 24),
    );
    let (mut allowed, mut refused, mut named) = (0, 0, 0);
    for _ in 0..60 {
        let (tables, accesses) = strategy.new_tree(&mut runner).unwrap().current();
        scene.run.replace(&tables, RECORD_ALL).unwrap();
        for ((any, any_port, edge), [choice, form, port]) in accesses {
            let address = near(&tables, any, choice, form);
            let intervals: Vec<_> = tables.port_lists.iter().flatten().collect();
            let port = match intervals.get(usize::from(port) % (intervals.len() + 1)) {
                None => any_port,
                Some(interval) if edge => interval.first.wrapping_sub(u16::from(port & 1)),
                Some(interval) => interval.last.wrapping_add(u16::from(port & 1)),
            };
            for (protocol, verb) in [
                (Protocol::Udp, Verb::Connect),
                (Protocol::Tcp, Verb::Connect),
                (Protocol::Udp, Verb::Bind),
                (Protocol::Tcp, Verb::Bind),
            ] {
                let (effect, rule) = compare(&mut scene, &tables, verb, protocol, (address, port));
                if effect == Effect::Allow {
                    allowed += 1
                } else {
                    refused += 1
                }
                named += u32::from(rule != RuleId::DEFAULT && effect != Effect::Allow);
            }
        }
    }
    println!("{allowed} allowed, {refused} refused, {named} of them by a rule");
    assert!(allowed > 300 && named > 100, "the samples mean something");
}

/// As many prefixes and ports as take several steps to search, in either family.
#[test]
fn the_kernel_decides_alike_by_tables_of_many_nodes() {
    let interval = |first: u16, last: u16, number: u32| PortInterval {
        first,
        last,
        effect: if number.is_multiple_of(3) {
            Effect::Deny
        } else {
            Effect::Allow
        },
        rule: RuleId(number + 1),
    };
    let mut tables = NetworkTables {
        port_lists: vec![Vec::new()],
        ..NetworkTables::default()
    };
    tables.port_lists.push(
        (0..3000_u16)
            .map(|number| interval(number * 20, number * 20 + 9, number.into()))
            .collect(),
    );
    tables
        .port_lists
        .extend((0..500_u16).map(|number| vec![interval(number, number + 1000, number.into())]));
    let mut sorted = BTreeMap::new();
    let mut add = |address: IpAddr, prefix_len: u8, list: u32| {
        let address = network(address, prefix_len);
        sorted.insert(order(address, prefix_len), (address, prefix_len, list));
    };
    let spread = |number: u32| number.wrapping_mul(2_654_435_761);
    for number in 0..20_000_u32 {
        let address = 0x0a00_0000 | spread(number) >> 9;
        add(
            Ipv4Addr::from(address).into(),
            12 + u8::try_from(number % 21).unwrap(),
            number % 502,
        );
    }
    for number in 0..3_000_u32 {
        let word = u128::from(spread(number));
        let address = 0x2001_0db8 << 96 | (word >> 20) << 80 | word << 40 | (word & 7) << 3;
        add(
            Ipv6Addr::from(address).into(),
            33 + u8::try_from(number % 96).unwrap(),
            number % 502,
        );
    }
    tables.prefixes = sorted
        .into_values()
        .map(|(address, prefix_len, list)| PrefixEntry {
            address,
            prefix_len,
            lists: [list, list, list, 0],
        })
        .collect();
    let mut scene = Scene::new(&tables);
    assert!(scene.host.nodes().unwrap() > 20);
    let (mut allowed, mut refused) = (0, 0);
    for number in 0..400_u32 {
        let entry = &tables.prefixes[usize::try_from(spread(number)).unwrap() % tables.prefixes.len()];
        let [choice, form, port] =
            [0, 8, 16].map(|shift| u8::try_from(spread(number) >> shift & 0xff).unwrap());
        let one = NetworkTables {
            prefixes: vec![entry.clone()],
            ..NetworkTables::default()
        };
        let address = near(&one, entry.address, choice, form);
        let list = &tables.port_lists[usize::try_from(entry.lists[0]).unwrap()];
        let near_port = list.get(usize::from(port) * 12 % list.len().max(1));
        let port = near_port.map_or(9, |interval| interval.first + u16::from(port % 12));
        let verb = if number % 5 == 0 {
            Verb::Bind
        } else {
            Verb::Connect
        };
        let protocol = if verb == Verb::Bind {
            Protocol::Tcp
        } else {
            Protocol::Udp
        };
        let (effect, _) = compare(&mut scene, &tables, verb, protocol, (address, port));
        if effect == Effect::Allow {
            allowed += 1;
        } else {
            refused += 1;
        }
    }
    println!("{allowed} allowed, {refused} refused");
    assert!(allowed > 50 && refused > 50, "{allowed} {refused}");
}
