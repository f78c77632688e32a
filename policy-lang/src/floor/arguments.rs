//! The part of the floor that looks at arguments.

use std::collections::BTreeSet;

use super::{built_in, syscalls};
use crate::policy::{Effect, Rule};
use crate::syscall::{Comparison, Condition, SyscallSet, Width};

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`. In clone(2) the bit of
/// `CLONE_NEWTIME` is part of the exit signal.
const CLONE_NEW: u64 = 0x7e02_0000;

const AF_UNIX: u64 = 1;
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;
const AF_NETLINK: u64 = 16;
const NETLINK_ROUTE: u64 = 0;

const S_ISUID: u64 = 0o4000;
const S_ISGID: u64 = 0o2000;
const O_CREAT: u64 = 0o100;
/// `__O_TMPFILE`, the bit that `O_TMPFILE` has and `O_DIRECTORY` has not.
const O_TMPFILE: u64 = 0o20_000_000;

const SOCK_TYPE_MASK: u64 = 0xf;
const SOCK_STREAM: u64 = 1;
const SOCK_DGRAM: u64 = 2;
const SOCK_RAW: u64 = 3;

const IPPROTO_IP: u64 = 0;
const IPPROTO_TCP: u64 = 6;
const IPPROTO_UDP: u64 = 17;
const IPPROTO_IPV6: u64 = 41;

const IP_OPTIONS: u64 = 4;
const IPV6_2292RTHDR: u64 = 5;
const IPV6_2292PKTOPTIONS: u64 = 6;
const IPV6_RTHDR: u64 = 57;

const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
const TIOCSETD: u64 = 0x5423;

/// Rules on arguments. Each is a set of calls that the kernel would otherwise take.
pub(super) fn rules() -> Vec<Rule> {
    let domain = |comparison| low(0, comparison);
    vec![
        set_id_bits(),
        built_in(
            Effect::Forbid,
            syscalls(vec![one(
                "clone",
                vec![Condition {
                    argument: 0,
                    width: Width::Bits64,
                    comparison: Comparison::MaskedNotEqual {
                        mask: CLONE_NEW,
                        value: 0,
                    },
                }],
            )]),
            "forbid syscall \"clone\" where flags & CLONE_NEW* != 0",
            "new-namespaces",
            "a new user namespace brings the whole kernel's attack surface back",
        ),
        built_in(
            Effect::Forbid,
            syscalls(
                [TIOCSTI, TIOCLINUX, TIOCSETD]
                    .into_iter()
                    .map(|request| one("ioctl", vec![low(1, Comparison::Equal(request))]))
                    .collect(),
            ),
            "forbid syscall \"ioctl\" where request == TIOCSTI, TIOCLINUX, TIOCSETD",
            "terminal-injection",
            "typing into the caller's terminal runs commands outside the remit",
        ),
        built_in(
            Effect::Forbid,
            syscalls(vec![one(
                "socket",
                [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]
                    .into_iter()
                    .map(|family| domain(Comparison::NotEqual(family)))
                    .collect(),
            )]),
            "forbid syscall \"socket\" where domain is not AF_UNIX, AF_INET, AF_INET6 or AF_NETLINK",
            "socket-families",
            "no network rule speaks of these sockets",
        ),
        built_in(
            Effect::Forbid,
            syscalls(vec![one(
                "socket",
                vec![
                    domain(Comparison::Equal(AF_NETLINK)),
                    low(2, Comparison::NotEqual(NETLINK_ROUTE)),
                ],
            )]),
            "forbid syscall \"socket\" where domain == AF_NETLINK and protocol != NETLINK_ROUTE",
            "netlink-families",
            "kernel configuration interfaces are not the run's",
        ),
        built_in(
            Effect::Forbid,
            syscalls([AF_INET, AF_INET6].into_iter().flat_map(not_tcp_or_udp).collect()),
            "forbid syscall \"socket\" where domain is AF_INET or AF_INET6 and it is neither TCP nor UDP",
            "transports",
            "network rules speak of TCP and UDP; raw sockets, ping, SCTP and MPTCP would pass them by",
        ),
        built_in(
            Effect::Forbid,
            syscalls(
                [
                    (IPPROTO_IP, IP_OPTIONS),
                    (IPPROTO_IPV6, IPV6_RTHDR),
                    (IPPROTO_IPV6, IPV6_2292RTHDR),
                    (IPPROTO_IPV6, IPV6_2292PKTOPTIONS),
                ]
                .into_iter()
                .map(|(level, option)| {
                    let conditions = vec![
                        low(1, Comparison::Equal(level)),
                        low(2, Comparison::Equal(option)),
                    ];
                    one("setsockopt", conditions)
                })
                .collect(),
            ),
            "forbid syscall \"setsockopt\" where it sets a source route",
            "source-routes",
            "a source route sends packets to another address than the one that was judged",
        ),
        built_in(
            Effect::Forbid,
            syscalls(vec![one(
                "socketpair",
                vec![domain(Comparison::NotEqual(AF_UNIX))],
            )]),
            "forbid syscall \"socketpair\" where domain != AF_UNIX",
            "socket-pairs",
            "no network rule speaks of these sockets",
        ),
        built_in(
            Effect::Deny,
            syscalls(vec![
                one("socket", vec![domain(Comparison::Equal(AF_UNIX))]),
                // One end of a datagram pair can be sent from to any other socket. Streams cannot leave their pair.
                one(
                    "socketpair",
                    vec![
                        domain(Comparison::Equal(AF_UNIX)),
                        kind(Comparison::MaskedEqual {
                            mask: SOCK_TYPE_MASK,
                            value: SOCK_DGRAM,
                        }),
                    ],
                ),
                one(
                    "socketpair",
                    vec![
                        domain(Comparison::Equal(AF_UNIX)),
                        kind(Comparison::MaskedEqual {
                            mask: SOCK_TYPE_MASK,
                            value: SOCK_RAW,
                        }),
                    ],
                ),
            ]),
            "deny syscall \"socket\" where domain == AF_UNIX, \"socketpair\" where type is SOCK_DGRAM",
            "unix-sockets",
            "daemons behind UNIX sockets act outside the remit",
        ),
    ]
}

/// A set-user-ID file that a run leaves behind would give the run's powers, or those of whoever owns the workspace, to
/// any user of the host. The argument numbers are those of both architectures.
fn set_id_bits() -> Rule {
    let bits = |argument| {
        low(
            argument,
            Comparison::MaskedNotEqual {
                mask: S_ISUID | S_ISGID,
                value: 0,
            },
        )
    };
    let changes = [
        ("chmod", 1),
        ("fchmod", 1),
        ("fchmodat", 2),
        ("fchmodat2", 2),
        ("mknod", 1),
        ("mknodat", 2),
        ("creat", 1),
    ]
    .map(|(call, mode)| one(call, vec![bits(mode)]));
    // The mode means nothing, and can be anything, where no file is created.
    let creates = [("open", 1, 2), ("openat", 2, 3)]
        .into_iter()
        .flat_map(|(call, flags, mode)| {
            [O_CREAT, O_TMPFILE].map(|flag| {
                let creates = low(flags, Comparison::MaskedNotEqual { mask: flag, value: 0 });
                one(call, vec![creates, bits(mode)])
            })
        });
    built_in(
        Effect::Deny,
        syscalls(changes.into_iter().chain(creates).collect()),
        "deny syscall \"chmod\", \"mknod\", \"open\" and their kin where mode & (S_ISUID | S_ISGID) != 0",
        "set-id-bits",
        "a set-user-ID file outlives the run and its remit",
    )
}

/// Sockets of a family whose type or protocol makes them anything but TCP or UDP.
fn not_tcp_or_udp(family: u64) -> [SyscallSet; 2] {
    let domain = low(0, Comparison::Equal(family));
    let unlike = |value| {
        kind(Comparison::MaskedNotEqual {
            mask: SOCK_TYPE_MASK,
            value,
        })
    };
    let protocols =
        [IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP].map(|protocol| low(2, Comparison::NotEqual(protocol)));
    [
        one("socket", vec![domain, unlike(SOCK_STREAM), unlike(SOCK_DGRAM)]),
        one("socket", [domain].into_iter().chain(protocols).collect()),
    ]
}

/// On the type of a socket.
fn kind(comparison: Comparison) -> Condition {
    low(1, comparison)
}

fn low(argument: u8, comparison: Comparison) -> Condition {
    Condition {
        argument,
        width: Width::Bits32,
        comparison,
    }
}

fn one(name: &str, conditions: Vec<Condition>) -> SyscallSet {
    SyscallSet {
        names: BTreeSet::from([name.to_owned()]),
        conditions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syscall::table;

    #[test]
    fn constants_have_the_values_of_the_tables() {
        for (name, value) in [
            ("AF_UNIX", AF_UNIX),
            ("AF_INET", AF_INET),
            ("AF_INET6", AF_INET6),
            ("AF_NETLINK", AF_NETLINK),
            ("NETLINK_ROUTE", NETLINK_ROUTE),
            ("TIOCSTI", TIOCSTI),
            ("TIOCLINUX", TIOCLINUX),
            ("TIOCSETD", TIOCSETD),
            ("O_CREAT", O_CREAT),
            ("SOCK_TYPE_MASK", SOCK_TYPE_MASK),
            ("SOCK_STREAM", SOCK_STREAM),
            ("SOCK_DGRAM", SOCK_DGRAM),
            ("SOCK_RAW", SOCK_RAW),
            ("IPPROTO_IP", IPPROTO_IP),
            ("IPPROTO_TCP", IPPROTO_TCP),
            ("IPPROTO_UDP", IPPROTO_UDP),
            ("IPPROTO_IPV6", IPPROTO_IPV6),
            ("IP_OPTIONS", IP_OPTIONS),
            ("IPV6_RTHDR", IPV6_RTHDR),
            ("IPV6_2292RTHDR", IPV6_2292RTHDR),
            ("IPV6_2292PKTOPTIONS", IPV6_2292PKTOPTIONS),
        ] {
            assert_eq!(table::constant(name), Some(value), "{name}");
        }
        let namespaces = [
            "NEWNS",
            "NEWCGROUP",
            "NEWUTS",
            "NEWIPC",
            "NEWUSER",
            "NEWPID",
            "NEWNET",
        ];
        let flags = namespaces.map(|name| table::constant(&format!("CLONE_{name}")).unwrap());
        assert_eq!(flags.into_iter().fold(0, |all, flag| all | flag), CLONE_NEW);
    }
}
