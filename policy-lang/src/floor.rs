//! The rules that every policy begins with.
//!
//! The default first: nothing is allowed that no rule allows. Then the floor, which no rule of a policy opens: what an
//! agent on somebody's machine never needs, and what has broken other sandboxes. Last a `deny` that a more specific
//! rule may open.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::pattern::PathPattern;
use crate::policy::{Effect, Endpoint, FileAccess, Origin, Protocol, Rule, RuleId, Subject, Verb};
use crate::syscall::{Comparison, Condition, SyscallSet, Width};

/// Where cloud providers answer questions about a machine, credentials among them.
const METADATA: &[(&str, &str)] = &[
    (
        "169.254.169.254",
        "AWS, Azure, Google, DigitalOcean, OpenStack and others",
    ),
    ("169.254.170.2", "AWS ECS task credentials"),
    ("169.254.170.23", "AWS EKS pod identity"),
    ("fd00:ec2::254", "AWS over IPv6"),
    ("fd00:ec2::23", "AWS EKS pod identity over IPv6"),
    ("168.63.129.16", "Azure's wire server"),
    ("100.100.100.200", "Alibaba Cloud"),
    ("192.0.0.192", "Oracle Cloud"),
    ("fd20:ce::254", "Google over IPv6"),
];

/// Label, calls, reason.
const CALLS: &[(&str, &[&str], &str)] = &[
    (
        "kernel-code",
        &[
            "create_module",
            "delete_module",
            "finit_module",
            "init_module",
            "kexec_file_load",
            "kexec_load",
        ],
        "code in the kernel is outside every boundary",
    ),
    ("bpf", &["bpf"], "BPF programs and maps are how a run is confined"),
    (
        "io-uring",
        &["io_uring_enter", "io_uring_register", "io_uring_setup"],
        "operations through io_uring pass the system-call filter by",
    ),
    (
        "userfaultfd",
        &["userfaultfd"],
        "stalling the kernel in a page fault makes its races winnable",
    ),
    (
        "keyring",
        &["add_key", "keyctl", "request_key"],
        "kernel keyrings hold other people's keys and have no namespaces",
    ),
    (
        "perf",
        &["lookup_dcookie", "perf_event_open"],
        "performance events see beyond the run",
    ),
    (
        "mounts",
        &[
            "fsconfig",
            "fsmount",
            "fsopen",
            "fspick",
            "mount",
            "mount_setattr",
            "move_mount",
            "open_tree",
            "open_tree_attr",
            "pivot_root",
            "umount",
            "umount2",
        ],
        "the run's view of the file tree is fixed",
    ),
    (
        "handles",
        &["open_by_handle_at"],
        "a file handle opens a file that no path leads to",
    ),
    (
        "namespaces",
        &["setns", "unshare"],
        "a new user namespace brings the whole kernel's attack surface back",
    ),
    (
        "clone3",
        &["clone3"],
        "its flags lie in memory, where the filter cannot read them; C libraries fall back to clone",
    ),
    (
        "openat2",
        &["openat2"],
        "the mode it creates with lies in memory, where the filter cannot read it; programs fall back to openat",
    ),
    (
        "machine",
        &[
            "acct",
            "adjtimex",
            "clock_adjtime",
            "clock_settime",
            "ioperm",
            "iopl",
            "quotactl",
            "quotactl_fd",
            "reboot",
            "settimeofday",
            "stime",
            "swapoff",
            "swapon",
        ],
        "the machine belongs to its operator",
    ),
    (
        "fanotify",
        &["fanotify_init"],
        "watching whole mounts sees what others do",
    ),
];

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`. In clone(2) the bit of
/// `CLONE_NEWTIME` is part of the exit signal.
const CLONE_NEW: u64 = 0x7e02_0000;

const AF_UNIX: u64 = 1;
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;
const AF_NETLINK: u64 = 16;
const NETLINK_ROUTE: u64 = 0;

const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
const TIOCSETD: u64 = 0x5423;

const S_ISUID: u64 = 0o4000;
const S_ISGID: u64 = 0o2000;
const O_CREAT: u64 = 0o100;
/// `__O_TMPFILE`, the bit that `O_TMPFILE` has and `O_DIRECTORY` has not.
const O_TMPFILE: u64 = 0o20_000_000;

/// The default, the floor, and the built-in denials. Every policy begins with these rules.
#[must_use]
pub fn rules() -> Vec<Rule> {
    let mut rules = vec![built_in(
        Effect::Deny,
        Subject::Everything,
        "deny everything",
        "default",
        "nothing is allowed that no rule allows",
    )];
    rules.push(metadata());
    rules.extend(files());
    for (label, calls, because) in CALLS {
        let names: BTreeSet<String> = calls.iter().map(|call| (*call).to_owned()).collect();
        let shown: Vec<String> = calls.iter().map(|call| format!("\"{call}\"")).collect();
        rules.push(built_in(
            Effect::Forbid,
            syscalls(vec![SyscallSet {
                names,
                conditions: Vec::new(),
            }]),
            &format!("forbid syscall {}", shown.join(", ")),
            label,
            because,
        ));
    }
    rules.extend(arguments());
    for (index, rule) in rules.iter_mut().enumerate() {
        rule.id = RuleId(u32::try_from(index).unwrap_or(u32::MAX));
    }
    rules
}

fn metadata() -> Rule {
    let targets = METADATA
        .iter()
        .filter_map(|(address, _)| address.parse::<IpAddr>().ok())
        .map(|address| Endpoint {
            address,
            prefix_len: if address.is_ipv4() { 32 } else { 128 },
            first_port: 0,
            last_port: u16::MAX,
        });
    let shown: Vec<String> = METADATA
        .iter()
        .map(|(address, _)| {
            if address.contains(':') {
                format!("\"[{address}]:*\"")
            } else {
                format!("\"{address}:*\"")
            }
        })
        .collect();
    built_in(
        Effect::Forbid,
        Subject::Network {
            verbs: vec![Verb::Connect, Verb::Bind],
            protocols: vec![Protocol::Tcp, Protocol::Udp],
            targets: targets.collect(),
        },
        &format!("forbid {}", shown.join(", ")),
        "metadata",
        "cloud metadata services hand out the machine's credentials",
    )
}

fn files() -> [Rule; 2] {
    let tree = |path: &str| PathPattern::Literal(path.to_owned());
    [
        built_in(
            Effect::Forbid,
            Subject::File {
                accesses: vec![FileAccess::Read, FileAccess::Write, FileAccess::Execute],
                targets: vec![tree("/run/remit"), tree("/sys/fs/bpf")],
            },
            "forbid \"/run/remit\", \"/sys/fs/bpf\"",
            "enforcer",
            "the enforcer's own state is not the run's",
        ),
        built_in(
            Effect::Forbid,
            Subject::File {
                accesses: vec![FileAccess::Write],
                targets: vec![tree("/sys/fs/cgroup")],
            },
            "forbid write \"/sys/fs/cgroup\"",
            "cgroups",
            "leaving its cgroup would free a run of its rules",
        ),
    ]
}

/// Rules on arguments. Each is a set of calls that the kernel would otherwise take.
fn arguments() -> Vec<Rule> {
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
            syscalls(vec![one("socket", vec![domain(Comparison::Equal(AF_UNIX))])]),
            "deny syscall \"socket\" where domain == AF_UNIX",
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

fn syscalls(targets: Vec<SyscallSet>) -> Subject {
    Subject::Syscall { targets }
}

fn built_in(effect: Effect, subject: Subject, text: &str, label: &str, because: &str) -> Rule {
    Rule {
        id: RuleId::DEFAULT,
        effect,
        subject,
        text: text.to_owned(),
        label: Some(format!("built-in:{label}")),
        because: Some(because.to_owned()),
        origin: Origin::BuiltIn,
        if_present: false,
        permit_degraded: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syscall::table;

    #[test]
    fn the_floor_names_calls_arguments_and_constants_as_the_tables_do() {
        // Kept although no table of 64-bit calls has them: a kernel that does would be covered.
        let not_in_64_bit = ["stime", "umount", "create_module"];
        for (_, calls, _) in CALLS {
            for call in *calls {
                assert!(table::is_known(call) || not_in_64_bit.contains(call), "{call}");
            }
        }
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

    #[test]
    fn every_built_in_rule_has_its_index_a_reason_and_a_target() {
        for (index, rule) in rules().iter().enumerate() {
            assert_eq!(rule.id, RuleId(u32::try_from(index).unwrap()));
            assert_eq!(rule.origin, Origin::BuiltIn);
            assert!(rule.because.is_some());
            match &rule.subject {
                Subject::Everything => assert_eq!(index, 0),
                Subject::Network { targets, .. } => assert_eq!(targets.len(), METADATA.len()),
                Subject::File { targets, .. } => assert!(!targets.is_empty()),
                Subject::Syscall { targets } => assert!(targets.iter().all(|set| !set.names.is_empty())),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn the_floor_leaves_the_ordinary_groups_alone() {
        let service = table::group("@system-service").unwrap();
        for (label, calls, _) in CALLS {
            for call in *calls {
                // systemd counts reading the clock's state, and asking for a file's handle, as ordinary.
                let expected = matches!(
                    *call,
                    "clone3"
                        | "openat2"
                        | "io_uring_enter"
                        | "io_uring_register"
                        | "io_uring_setup"
                        | "unshare"
                        | "setns"
                        | "add_key"
                        | "keyctl"
                        | "request_key"
                        | "open_by_handle_at"
                        | "userfaultfd"
                        | "adjtimex"
                        | "clock_adjtime"
                );
                assert!(!service.contains(*call) || expected, "{label}: {call}");
            }
        }
    }
}
