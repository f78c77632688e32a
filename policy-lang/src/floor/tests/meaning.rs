//! What the floor means under the laxest policy that can be written.

use crate::pattern::PathPattern;
use crate::policy::{Effect, Endpoint, FileAccess, Origin, Policy, Protocol, Rule, RuleId, Subject, Verb};
use crate::reference::{Access, decide};
use crate::syscall::{Architecture, SyscallSet, table};

/// Everything is allowed that a rule can allow.
fn laxest() -> Policy {
    let every = |address: &str| Endpoint {
        address: address.parse().unwrap(),
        prefix_len: 0,
        first_port: 0,
        last_port: u16::MAX,
    };
    let mut rules = super::super::rules();
    for subject in [
        Subject::File {
            accesses: vec![FileAccess::Read, FileAccess::Write, FileAccess::Execute],
            targets: vec![PathPattern::Literal("/".into())],
        },
        Subject::Network {
            verbs: vec![Verb::Connect, Verb::Bind],
            protocols: vec![Protocol::Tcp, Protocol::Udp],
            hosts: Vec::new(),
            targets: vec![every("0.0.0.0"), every("::")],
        },
        Subject::Syscall {
            targets: vec![SyscallSet::group("@known").unwrap()],
        },
    ] {
        rules.push(Rule {
            id: RuleId(rules.len() as u32),
            effect: Effect::Allow,
            subject,
            text: String::new(),
            label: None,
            because: None,
            origin: Origin::BuiltIn,
            layer: None,
            via: None,
            if_present: false,
            permit_degraded: false,
        });
    }
    Policy {
        rules,
        ..Policy::built_in("laxest")
    }
}

fn call(name: &str, arguments: &[u64]) -> Effect {
    let mut registers = [0; 6];
    registers[..arguments.len()].copy_from_slice(arguments);
    let effects: Vec<Effect> = Architecture::ALL
        .into_iter()
        .filter_map(|architecture| Some((architecture, table::number(name, architecture)?)))
        .map(|(architecture, number)| {
            decide(
                &laxest(),
                &Access::Syscall {
                    architecture,
                    number,
                    arguments: registers,
                },
            )
            .effect
        })
        .collect();
    assert!(!effects.is_empty(), "{name}");
    assert!(
        effects.iter().all(|effect| *effect == effects[0]),
        "{name}: {effects:?}"
    );
    effects[0]
}

fn network(verb: Verb, address: &str) -> Effect {
    let address = address.parse().unwrap();
    decide(
        &laxest(),
        &Access::Network {
            verb,
            protocol: Protocol::Tcp,
            address,
            port: 80,
        },
    )
    .effect
}

const AF_UNIX: u64 = 1;
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;
const AF_NETLINK: u64 = 16;
const STREAM: u64 = 1;
const DGRAM: u64 = 2;
const CLOEXEC: u64 = 0o2_000_000;

#[test]
fn p1_kernel_surface_is_forbidden_even_where_everything_is_allowed() {
    for name in [
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "clone3",
        "unshare",
        "setns",
        "mount",
        "umount2",
        "pivot_root",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "move_mount",
        "open_tree",
        "open_tree_attr",
        "mount_setattr",
        "bpf",
        "userfaultfd",
        "keyctl",
        "add_key",
        "request_key",
        "perf_event_open",
        "init_module",
        "finit_module",
        "delete_module",
        "kexec_load",
        "kexec_file_load",
        "reboot",
        "swapon",
        "swapoff",
        "acct",
        "settimeofday",
        "clock_settime",
        "open_by_handle_at",
        "fanotify_init",
        "iopl",
        "ioperm",
    ] {
        assert_eq!(call(name, &[]), Effect::Forbid, "{name}");
    }
}

#[test]
fn p1_numbers_with_the_x32_bit_fall_to_the_default() {
    for number in [0x4000_0000, 0x4000_0000 + 59, 0x4000_0000 + 520] {
        let access = Access::Syscall {
            architecture: Architecture::X86_64,
            number,
            arguments: [0; 6],
        };
        assert_eq!(decide(&laxest(), &access).rule, RuleId::DEFAULT);
    }
}

#[test]
fn p1_clone_makes_processes_and_threads_and_no_namespaces() {
    assert_eq!(call("clone", &[0x0120_0011]), Effect::Allow);
    assert_eq!(call("clone", &[0x003d_0f00]), Effect::Allow);
    for bit in [
        0x0002_0000,
        0x0200_0000,
        0x0400_0000,
        0x0800_0000,
        0x1000_0000,
        0x2000_0000,
        0x4000_0000,
    ] {
        assert_eq!(call("clone", &[bit | 17]), Effect::Forbid, "{bit:#x}");
        assert_eq!(
            call("clone", &[0xffff_ffff_0000_0000 | bit]),
            Effect::Forbid,
            "{bit:#x}"
        );
    }
}

#[test]
fn p3_terminal_injection_is_forbidden_and_job_control_is_not() {
    for request in [0x5412, 0x541c, 0x5423, 0x1_0000_5412] {
        assert_eq!(call("ioctl", &[0, request]), Effect::Forbid, "{request:#x}");
    }
    for request in [0x5401, 0x5410, 0x5413, 0x540e] {
        assert_eq!(call("ioctl", &[0, request]), Effect::Allow, "{request:#x}");
    }
}

#[test]
fn n2_only_tcp_udp_and_route_netlink_sockets_can_be_made() {
    for family in [AF_INET, AF_INET6] {
        for (kind, protocol) in [
            (STREAM, 0),
            (STREAM, 6),
            (DGRAM, 0),
            (DGRAM, 17),
            (STREAM | CLOEXEC, 6),
        ] {
            assert_eq!(
                call("socket", &[family, kind, protocol]),
                Effect::Allow,
                "{family} {kind} {protocol}"
            );
        }
        // Raw, ping, SCTP by type and by protocol, MPTCP, DCCP, UDP-Lite, SOCK_PACKET.
        for (kind, protocol) in [
            (3, 255),
            (3, 1),
            (3 | CLOEXEC, 17),
            (DGRAM, 1),
            (DGRAM, 58),
            (5, 132),
            (5, 0),
            (STREAM, 132),
            (STREAM, 262),
            (6, 33),
            (DGRAM, 136),
            (10, 768),
        ] {
            assert_eq!(
                call("socket", &[family, kind, protocol]),
                Effect::Forbid,
                "{family} {kind} {protocol}"
            );
        }
    }
    assert_eq!(call("socket", &[AF_NETLINK, 3, 0]), Effect::Allow);
    for protocol in [4, 9, 12, 15, 16, 21] {
        assert_eq!(
            call("socket", &[AF_NETLINK, 3, protocol]),
            Effect::Forbid,
            "netlink {protocol}"
        );
    }
    // Packet, vsock, ALG, Bluetooth, CAN, KCM, TIPC, XDP, SMC, and a family that high bits try to hide.
    for family in [17, 40, 38, 31, 29, 41, 30, 44, 43, 0x1_0000_0011] {
        assert_eq!(
            call("socket", &[family, STREAM, 0]),
            Effect::Forbid,
            "family {family}"
        );
    }
}

#[test]
fn n10_unix_sockets_are_denied_and_stream_pairs_are_not() {
    assert_eq!(call("socket", &[AF_UNIX, STREAM, 0]), Effect::Deny);
    assert_eq!(call("socket", &[AF_UNIX, DGRAM, 0]), Effect::Deny);
    assert_eq!(call("socketpair", &[AF_UNIX, STREAM | CLOEXEC, 0]), Effect::Allow);
    assert_eq!(call("socketpair", &[AF_UNIX, 5, 0]), Effect::Allow);
    assert_eq!(call("socketpair", &[AF_UNIX, DGRAM | CLOEXEC, 0]), Effect::Deny);
    assert_eq!(call("socketpair", &[AF_UNIX, 3, 0]), Effect::Deny);
    assert_eq!(call("socketpair", &[30, STREAM, 0]), Effect::Forbid);
}

#[test]
fn source_routes_are_forbidden_and_other_options_are_not() {
    assert_eq!(call("setsockopt", &[3, 0, 4]), Effect::Forbid);
    assert_eq!(call("setsockopt", &[3, 41, 57]), Effect::Forbid);
    assert_eq!(call("setsockopt", &[3, 1, 4]), Effect::Allow);
    assert_eq!(call("setsockopt", &[3, 6, 1]), Effect::Allow);
}

#[test]
fn n8_metadata_services_are_forbidden_in_every_spelling() {
    for address in [
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::169.254.169.254",
        "2002:a9fe:a9fe::1",
        "fd00:ec2::254",
        "fe80::a9fe:a9fe",
        "168.63.129.16",
        "100.100.100.200",
        "::ffff:100.100.100.200",
        "169.254.170.2",
        "169.254.170.23",
        "192.0.0.192",
        "fd20:ce::254",
    ] {
        assert_eq!(network(Verb::Connect, address), Effect::Forbid, "{address}");
    }
    assert_eq!(network(Verb::Connect, "169.254.169.253"), Effect::Allow);
}

#[test]
fn the_enforcers_state_is_out_of_reach() {
    let file = |access, path: &str| {
        decide(
            &laxest(),
            &Access::File {
                access,
                path: path.into(),
            },
        )
        .effect
    };
    assert_eq!(file(FileAccess::Read, "/run/remit/x"), Effect::Forbid);
    assert_eq!(file(FileAccess::Read, "/sys/fs/bpf/x"), Effect::Forbid);
    assert_eq!(
        file(FileAccess::Write, "/sys/fs/cgroup/unified/cgroup.procs"),
        Effect::Forbid
    );
    assert_eq!(file(FileAccess::Read, "/sys/fs/cgroup/cpu.max"), Effect::Allow);
}
