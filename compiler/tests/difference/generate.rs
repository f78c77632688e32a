//! Small worlds: few names, few addresses, few numbers, so that random rules overlap in every way.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use policy_lang::policy::{Effect, Endpoint, FileAccess, HostEndpoint, Protocol, Subject, Verb};
use policy_lang::reference::Access;
use policy_lang::syscall::{Architecture, Comparison, Condition, SyscallSet, Width, table};
use proptest::prelude::*;

use super::rules::{Written, host, path};

const ACCESSES: [FileAccess; 3] = [FileAccess::Read, FileAccess::Write, FileAccess::Execute];
/// Two addresses of each of a few nested prefixes, and one outside.
const V4: [u32; 6] = [
    0x0a00_0000,
    0x0a00_0001,
    0x0a00_0002,
    0x0a01_0000,
    0x0b00_0000,
    0xa9fe_a9fe,
];

fn effects() -> impl Strategy<Value = Effect> {
    prop_oneof![
        3 => Just(Effect::Allow),
        1 => Just(Effect::Ask),
        3 => Just(Effect::Deny),
        1 => Just(Effect::Forbid)
    ]
}

fn file_subjects() -> impl Strategy<Value = Subject> {
    let name = prop::sample::select(vec![
        "a", "b", "ab", "*", "a*", "*b", "**", "?", "[ab]", "[!a]*", "?b*",
    ]);
    let text = prop::collection::vec(name, 1..4).prop_map(|names| format!("/{}", names.join("/")));
    let accesses = prop::sample::subsequence(ACCESSES.to_vec(), 1..=2);
    let subject = (accesses, prop::collection::vec(text, 1..3)).prop_map(|(accesses, texts)| Subject::File {
        accesses,
        targets: texts.iter().map(|text| path(text)).collect(),
    });
    let scratch = prop::sample::select(vec!["/a", "/a/b", "/b"]).prop_map(|path| Subject::Scratch {
        path: path.to_owned(),
        size_bytes: 1,
    });
    prop_oneof![8 => subject, 1 => scratch]
}

fn ports() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![
        3 => (0_u16..4, 0_u16..4).prop_map(|(one, two)| (one.min(two), one.max(two))),
        1 => Just((0, u16::MAX))
    ]
}

fn endpoints() -> impl Strategy<Value = Endpoint> {
    let v4 = (
        prop::sample::select(V4.to_vec()),
        prop::sample::select(vec![0_u8, 8, 16, 30, 31, 32]),
    )
        .prop_map(|(address, len)| {
            let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
            (IpAddr::from(Ipv4Addr::from_bits(address & mask)), len)
        });
    let v6 = (0_u128..3, prop::sample::select(vec![0_u8, 32, 127, 128])).prop_map(|(low, len)| {
        let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
        let address = (0x2001_0db8_u128 << 96 | low) & mask;
        (IpAddr::from(Ipv6Addr::from_bits(address)), len)
    });
    (prop_oneof![3 => v4, 1 => v6], ports()).prop_map(|((address, prefix_len), (first_port, last_port))| {
        Endpoint {
            address,
            prefix_len,
            first_port,
            last_port,
        }
    })
}

fn hosts() -> impl Strategy<Value = HostEndpoint> {
    let names = vec!["a.x", "b.a.x", "x", "*.x", "*.a.x", "*.b.a.x", "y"];
    (prop::sample::select(names), ports())
        .prop_map(|(name, (first, last))| host(&format!("{name}:{first}-{last}")))
}

fn network_subjects() -> impl Strategy<Value = Subject> {
    let verbs = prop::sample::subsequence(vec![Verb::Connect, Verb::Bind], 1..=2);
    let targets = prop_oneof![
        2 => prop::collection::vec(endpoints(), 1..3).prop_map(|targets| (targets, Vec::new())),
        1 => prop::collection::vec(hosts(), 1..3).prop_map(|hosts| (Vec::new(), hosts)),
        1 => (prop::collection::vec(endpoints(), 1..2), prop::collection::vec(hosts(), 1..2))
    ];
    (verbs, targets).prop_map(|(verbs, (targets, hosts))| Subject::Network {
        verbs,
        protocols: vec![Protocol::Tcp],
        targets,
        hosts,
    })
}

fn variable_subjects() -> impl Strategy<Value = Subject> {
    let name = prop::sample::select(vec!["A", "B", "AB", "A*", "*B", "*", "*A*", "A*B"]);
    let pass = prop::collection::vec(name, 1..3).prop_map(|names| Subject::Pass {
        names: names.into_iter().map(str::to_owned).collect(),
    });
    let set = prop::sample::select(vec!["A", "B"]).prop_map(|name| Subject::Set {
        name: name.to_owned(),
        value: "v".to_owned(),
    });
    prop_oneof![4 => pass, 1 => set]
}

fn conditions() -> impl Strategy<Value = Condition> {
    let comparison = (0_u64..8, 0_u64..8, 0_u8..8).prop_map(|(value, mask, kind)| match kind {
        0 => Comparison::Equal(value),
        1 => Comparison::NotEqual(value),
        2 => Comparison::Less(value),
        3 => Comparison::LessOrEqual(value),
        4 => Comparison::Greater(value),
        5 => Comparison::GreaterOrEqual(value),
        6 => Comparison::MaskedEqual {
            mask,
            value: value & mask,
        },
        _ => Comparison::MaskedNotEqual {
            mask,
            value: value & mask,
        },
    });
    let width = prop_oneof![Just(Width::Bits32), Just(Width::Bits64)];
    (0_u8..2, width, comparison).prop_map(|(argument, width, comparison)| Condition {
        argument,
        width,
        comparison,
    })
}

fn call_subjects() -> impl Strategy<Value = Subject> {
    let call = |name: &'static str| {
        prop::collection::vec(conditions(), 0..3).prop_map(move |conditions| SyscallSet {
            conditions,
            ..SyscallSet::call(name).unwrap()
        })
    };
    let group = prop::sample::select(vec!["@system-service", "@file-system", "@known"])
        .prop_map(|group| SyscallSet::group(group).unwrap());
    let set = prop_oneof![3 => call("ioctl"), 2 => call("getpid"), 1 => group];
    prop::collection::vec(set, 1..3).prop_map(|targets| Subject::Syscall { targets })
}

fn subjects() -> impl Strategy<Value = Subject> {
    prop_oneof![
        4 => file_subjects(),
        4 => network_subjects(),
        2 => variable_subjects(),
        3 => call_subjects()
    ]
}

/// Rules of one domain meet more often than rules of all.
pub(crate) fn rules(layers: u8) -> impl Strategy<Value = Vec<Written>> {
    let written = move |subject: BoxedStrategy<Subject>| {
        (0..layers, effects(), subject, prop::bool::weighted(0.1)).prop_map(
            |(layer, effect, subject, degraded)| {
                let grants = matches!(subject, Subject::Set { .. } | Subject::Scratch { .. });
                Written {
                    layer,
                    effect: if grants { Effect::Allow } else { effect },
                    subject,
                    degraded,
                }
            },
        )
    };
    let some = move |subject| prop::collection::vec(written(subject), 0..9);
    prop_oneof![
        3 => some(file_subjects().boxed()),
        3 => some(network_subjects().boxed()),
        2 => some(variable_subjects().boxed()),
        2 => some(call_subjects().boxed()),
        2 => some(subjects().boxed())
    ]
}

pub(crate) fn accesses() -> impl Strategy<Value = Access> {
    let name = prop::sample::select(vec!["a", "b", "ab", "ba", "c", "bb"]);
    let path = prop::collection::vec(name, 0..5).prop_map(|names| format!("/{}", names.join("/")));
    let file = (prop::sample::select(ACCESSES.to_vec()), path)
        .prop_map(|(access, path)| Access::File { access, path });
    let address = prop_oneof![
        3 => prop::sample::select(V4.to_vec()).prop_map(|bits| IpAddr::from(Ipv4Addr::from_bits(bits))),
        1 => (0_u128..4).prop_map(|low| IpAddr::from(Ipv6Addr::from_bits(0x2001_0db8_u128 << 96 | low))),
        1 => Just(IpAddr::from(Ipv4Addr::UNSPECIFIED))
    ];
    let verb = prop_oneof![Just(Verb::Connect), Just(Verb::Bind)];
    let names = vec![
        "a.x", "b.a.x", "c.b.a.x", "x", "z.x", "y", "q.y", "no name", "A.X.",
    ];
    let network = (
        verb,
        address,
        0_u16..5,
        prop::option::of(prop::sample::select(names)),
        any::<bool>(),
    )
        .prop_map(|(verb, address, port, name, known)| match name {
            None => Access::Network {
                verb,
                protocol: Protocol::Tcp,
                address,
                port,
            },
            Some(host) => Access::Host {
                verb,
                protocol: Protocol::Tcp,
                host: host.to_owned(),
                address: known.then_some(address),
                port,
            },
        });
    let variable =
        prop::sample::select(vec!["A", "B", "AB", "BA", "AAB", "C", "ACB", "CAB"]).prop_map(|name| {
            Access::Environment {
                name: name.to_owned(),
            }
        });
    let call = prop::sample::select(vec!["ioctl", "getpid", "openat", "ptrace"]);
    let register = prop_oneof![0_u64..9, (0_u64..9).prop_map(|low| 1 << 32 | low)];
    let syscall = (call, register.clone(), register).prop_map(|(name, one, two)| Access::Syscall {
        architecture: Architecture::X86_64,
        number: table::number(name, Architecture::X86_64).unwrap(),
        arguments: [one, two, 0, 0, 0, 0],
    });
    prop_oneof![3 => file, 4 => network, 1 => variable, 2 => syscall]
}

/// Every access of a small world of each domain.
pub(crate) fn small_world() -> Vec<Access> {
    let mut all = Vec::new();
    let mut paths = vec![String::new()];
    for _ in 0..3 {
        let longer = paths
            .iter()
            .flat_map(|path| ["a", "b", "ab", "c"].map(|name| format!("{path}/{name}")));
        let longer: Vec<String> = longer.collect();
        paths.extend(longer);
    }
    paths.sort();
    paths.dedup();
    for path in paths {
        let path = if path.is_empty() { "/".to_owned() } else { path };
        all.extend(ACCESSES.map(|access| Access::File {
            access,
            path: path.clone(),
        }));
    }
    for name in ["A", "B", "AB", "BA", "C", "ACB", "CB", "AC"] {
        all.push(Access::Environment {
            name: name.to_owned(),
        });
    }
    for one in (0..9).chain([1 << 32]) {
        for two in (0..9).chain([1 << 32]) {
            all.push(Access::Syscall {
                architecture: Architecture::X86_64,
                number: table::number("ioctl", Architecture::X86_64).unwrap(),
                arguments: [one, two, 0, 0, 0, 0],
            });
        }
    }
    for port in 0..5 {
        for bits in V4 {
            let address = IpAddr::from(Ipv4Addr::from_bits(bits));
            all.push(Access::Network {
                verb: Verb::Connect,
                protocol: Protocol::Tcp,
                address,
                port,
            });
            for host in ["a.x", "b.a.x", "x", "z.x", "q"] {
                all.push(Access::Host {
                    verb: Verb::Connect,
                    protocol: Protocol::Tcp,
                    host: host.to_owned(),
                    address: Some(address),
                    port,
                });
            }
        }
    }
    all
}
