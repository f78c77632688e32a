//! The rules that every policy begins with.
//!
//! The default first: nothing is allowed that no rule allows. Then the floor, which no rule of a policy opens: what an
//! agent on somebody's machine never needs, and what has broken other sandboxes. Last a `deny` that a more specific
//! rule may open.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};

use crate::pattern::PathPattern;
use crate::policy::{Effect, Endpoint, FileAccess, Origin, Protocol, Rule, RuleId, Subject, Verb};
use crate::syscall::SyscallSet;

mod arguments;

/// Where cloud providers answer questions about a machine, credentials among them.
const METADATA: &[(&str, &str)] = &[
    (
        "169.254.169.254",
        "AWS, Azure, Google, DigitalOcean, OpenStack and others",
    ),
    ("fe80::a9fe:a9fe", "OpenStack over IPv6"),
    ("169.254.170.2", "AWS ECS task credentials"),
    ("169.254.170.23", "AWS EKS pod identity"),
    ("fd00:ec2::254", "AWS over IPv6"),
    ("fd00:ec2::23", "AWS EKS pod identity over IPv6"),
    ("168.63.129.16", "Azure's wire server"),
    ("100.100.100.200", "Alibaba Cloud"),
    ("192.0.0.192", "Oracle Cloud"),
    ("fd20:ce::254", "Google over IPv6"),
    ("169.254.0.23", "Tencent Cloud"),
    ("169.254.42.42", "Scaleway"),
    ("fd00:42::42", "Scaleway over IPv6"),
];

/// What no policy opens.
const NEVER_OPENED: &[&str] = &["enforcer", "cgroups"];

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
    rules.extend(arguments::rules());
    for (index, rule) in rules.iter_mut().enumerate() {
        rule.id = RuleId(u32::try_from(index).unwrap_or(u32::MAX));
    }
    rules
}

/// What `unlock` can name: labels of `forbid` rules without `built-in:`, in order. What keeps a run from the enforcer's
/// own state is not among them.
#[must_use]
pub fn openable() -> Vec<String> {
    let forbids = rules().into_iter().filter(|rule| rule.effect == Effect::Forbid);
    let labels = forbids.filter_map(|rule| Some(rule.label?.strip_prefix("built-in:")?.to_owned()));
    labels
        .filter(|label| !NEVER_OPENED.contains(&label.as_str()))
        .collect()
}

fn metadata() -> Rule {
    let targets = METADATA
        .iter()
        .filter_map(|(address, _)| address.parse::<IpAddr>().ok())
        .flat_map(|address| [Some(address), local_nat64(address)])
        .flatten()
        .map(every_port);
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
            hosts: Vec::new(),
        },
        &format!("forbid {}", shown.join(", ")),
        "metadata",
        "cloud metadata services hand out the machine's credentials",
    )
}

/// How a network with a translator of its own writes an IPv4 address (RFC 8215, with the usual length of 96 bits).
/// Unlike the well-known forms this one is not always a translator's, so rules are not judged by what it carries.
fn local_nat64(address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V4(address) = address else { return None };
    let prefix = 0x0064_ff9b_0001_u128 << 80;
    Some(Ipv6Addr::from_bits(prefix | u128::from(address.to_bits())).into())
}

fn every_port(address: IpAddr) -> Endpoint {
    Endpoint {
        address,
        prefix_len: if address.is_ipv4() { 32 } else { 128 },
        first_port: 0,
        last_port: u16::MAX,
    }
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
        layer: None,
        via: None,
        if_present: false,
        permit_degraded: false,
    }
}

#[cfg(test)]
mod tests;
