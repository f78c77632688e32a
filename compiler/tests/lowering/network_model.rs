//! The network tables against the reference semantics.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use artifact::network as table;
use compiler::{emit, lower};
use policy_lang::policy::{Effect, Protocol, Subject, Verb};
use policy_lang::reference::{Access, decide};
use proptest::prelude::*;

use crate::policies::{effects, host, network, policies};

const PREFIXES: [&str; 14] = [
    "0.0.0.0/0",
    "10.0.0.0/8",
    "10.0.0.0/9",
    "10.1.0.0/16",
    "10.1.2.0/24",
    "10.1.2.3/32",
    "10.1.2.4/31",
    "169.254.169.254/32",
    "255.255.255.255/32",
    "::/0",
    "2001:db8::/32",
    "2001:db8:0:1::/64",
    "2001:db8::1/128",
    "fe80::/10",
];

const PORTS: [u16; 9] = [0, 1, 79, 80, 81, 443, 444, 65534, 65535];

fn targets() -> impl Strategy<Value = Vec<(&'static str, u16, u16)>> {
    let target = (
        proptest::sample::select(&PREFIXES),
        proptest::sample::select(&PORTS),
        proptest::sample::select(&PORTS),
    );
    let target = target.prop_map(|(prefix, one, two)| (prefix, one.min(two), one.max(two)));
    proptest::collection::vec(target, 1..4)
}

pub(crate) fn rule() -> impl Strategy<Value = (Effect, Subject)> {
    let verbs = proptest::sample::subsequence(vec![Verb::Connect, Verb::Bind], 1..=2);
    let protocols = proptest::sample::subsequence(vec![Protocol::Tcp, Protocol::Udp], 1..=2);
    // A name beside the addresses changes nothing for a flow whose name is not known.
    (effects(), verbs, protocols, targets(), any::<bool>()).prop_map(
        |(effect, verbs, protocols, targets, named)| {
            let mut subject = network(&verbs, &protocols, &targets);
            if let (Subject::Network { hosts, .. }, true) = (&mut subject, named) {
                hosts.push(host("*.example.com", 80, 443));
            }
            (effect, subject)
        },
    )
}

/// Both ends of each prefix, what lies just outside, and every form that carries an IPv4 address.
fn addresses() -> Vec<IpAddr> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for prefix in PREFIXES {
        let (address, length) = prefix.split_once('/').unwrap();
        let length: u32 = length.parse().unwrap();
        match address.parse().unwrap() {
            IpAddr::V4(first) => {
                let first = u32::from(first);
                let last = first | u32::MAX.checked_shr(length).unwrap_or(0);
                for v4 in [first.wrapping_sub(1), first, last, last.wrapping_add(1)] {
                    let v4 = Ipv4Addr::from(v4);
                    let [a, b, c, d] = v4.octets().map(u16::from);
                    let (high, low) = (a << 8 | b, c << 8 | d);
                    addresses.push(v4.into());
                    addresses.push(v4.to_ipv6_mapped().into());
                    addresses.push(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low).into());
                    addresses.push(Ipv6Addr::new(0x2002, high, low, 7, 0, 0, 0, 1).into());
                }
            }
            IpAddr::V6(first) => {
                let first = u128::from(first);
                let last = first | u128::MAX.checked_shr(length).unwrap_or(0);
                for v6 in [first.wrapping_sub(1), first, last, last.wrapping_add(1)] {
                    addresses.push(Ipv6Addr::from(v6).into());
                }
            }
        }
    }
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

fn verb(verb: Verb) -> table::Verb {
    match verb {
        Verb::Connect => table::Verb::Connect,
        Verb::Bind => table::Verb::Bind,
    }
}

fn protocol(protocol: Protocol) -> table::Protocol {
    match protocol {
        Protocol::Tcp => table::Protocol::Tcp,
        Protocol::Udp => table::Protocol::Udp,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tables_decide_as_the_reference_does(policy in policies(proptest::collection::vec(rule(), 0..12))) {
        let artifact = emit(&lower(&policy).unwrap());
        for address in addresses() {
            for port in PORTS.into_iter().chain([2, 1024]) {
                for (v, p) in [
                    (Verb::Connect, Protocol::Tcp),
                    (Verb::Connect, Protocol::Udp),
                    (Verb::Bind, Protocol::Tcp),
                    (Verb::Bind, Protocol::Udp),
                ] {
                    let access = Access::Network { verb: v, protocol: p, address, port };
                    let expected = decide(&policy, &access);
                    let (effect, rule) = table::decide(&artifact.network, verb(v), protocol(p), address, port);
                    prop_assert_eq!(
                        (format!("{effect:?}"), rule.0),
                        (format!("{:?}", expected.effect), expected.rule.0),
                        "{:?}",
                        access
                    );
                    let listed = match v {
                        Verb::Connect => &artifact.network.landlock_connect_ports,
                        Verb::Bind => &artifact.network.landlock_bind_ports,
                    };
                    if let (Some(ports), Protocol::Tcp, Effect::Allow) = (listed, p, expected.effect) {
                        prop_assert!(ports.contains(&port), "Landlock would refuse {access:?}");
                    }
                }
            }
        }
    }
}
