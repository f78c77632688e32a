//! The words people read for the kernel's and the artifact's terms. One table each, so that no two pages differ.

use artifact::Effect;
use artifact::rule::{Domain, Mechanism, Need, Origin};

/// What does the work, in the word that events use.
pub(crate) const fn mechanism(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::LandlockFs => "landlock-fs",
        Mechanism::LandlockNet => "landlock-net",
        Mechanism::LandlockScope => "landlock-scope",
        Mechanism::MountAttributes => "mount-attributes",
        Mechanism::MountMask => "mount-mask",
        Mechanism::PrivateMount => "private-mount",
        Mechanism::Seccomp => "seccomp",
        Mechanism::CgroupBpf => "cgroup-bpf",
        Mechanism::Environment => "environment",
        Mechanism::CgroupController => "cgroup-controller",
        Mechanism::Rlimit => "rlimit",
        Mechanism::Credentials => "credentials",
        Mechanism::Supervisor => "supervisor",
    }
}

/// What a mechanism depends on.
pub(crate) fn need(need: Need) -> String {
    match need {
        Need::Landlock(abi) => format!("Landlock ABI {abi}"),
        Need::Seccomp => "seccomp with logging".to_owned(),
        Need::CgroupBpf => "cgroup BPF".to_owned(),
        Need::MountNamespace => "mount_setattr".to_owned(),
        Need::PidNamespace => "PID namespaces".to_owned(),
        Need::MemoryController => "memory controller".to_owned(),
        Need::PidsController => "pids controller".to_owned(),
        Need::CpuController => "cpu controller".to_owned(),
        Need::Audit => "audit multicast".to_owned(),
    }
}

/// The block of the language a rule stands in.
pub(crate) const fn domain(domain: Domain) -> &'static str {
    match domain {
        Domain::Filesystem => "filesystem",
        Domain::Network => "network",
        Domain::Credentials => "credentials",
        Domain::Process => "process",
    }
}

/// As the language spells it.
pub(crate) const fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Ask => "ask",
        Effect::Deny => "deny",
        Effect::Forbid => "forbid",
    }
}

/// `file:line`, or `built-in`.
pub(crate) fn origin(origin: &Origin) -> String {
    match origin {
        Origin::BuiltIn => "built-in".to_owned(),
        Origin::Policy { file, line, .. } => format!("{file}:{line}"),
    }
}

/// Whether what a mechanism refuses leaves no event that names the rule, though a program notices.
///
/// A read-only or `noexec` mount answers before anything that keeps records is asked, and what a private mount does not
/// have is not refused but absent.
pub(crate) const fn is_unrecorded(mechanism: Mechanism) -> bool {
    matches!(mechanism, Mechanism::MountAttributes | Mechanism::PrivateMount)
}
