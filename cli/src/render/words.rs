//! The words people read for the kernel's and the artifact's terms. One table each, so that no two pages differ.

use artifact::Effect;
use artifact::rule::{Domain, Mechanism, Need, Origin};

/// What does the work.
pub(crate) const fn mechanism(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::LandlockFs => "Landlock file rules",
        Mechanism::LandlockNet => "Landlock TCP port rules",
        Mechanism::LandlockScope => "Landlock scopes",
        Mechanism::MountAttributes => "mount attributes",
        Mechanism::MountMask => "a mask over the path",
        Mechanism::PrivateMount => "a private mount",
        Mechanism::Seccomp => "seccomp",
        Mechanism::CgroupBpf => "cgroup BPF",
        Mechanism::Environment => "the environment made for the run",
        Mechanism::CgroupController => "a cgroup controller",
        Mechanism::Rlimit => "a resource limit of each process",
        Mechanism::Credentials => "user and group ids",
        Mechanism::Supervisor => "the supervisor's clock",
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

/// Whether what a mechanism refuses leaves an event that names the rule.
///
/// A read-only or `noexec` mount answers before anything that keeps records is asked, and what is simply not there (a
/// variable, a file of a private mount) is not refused at all.
pub(crate) const fn is_recorded(mechanism: Mechanism) -> bool {
    match mechanism {
        Mechanism::LandlockFs
        | Mechanism::LandlockNet
        | Mechanism::LandlockScope
        | Mechanism::MountMask
        | Mechanism::Seccomp
        | Mechanism::CgroupBpf
        | Mechanism::Supervisor => true,
        Mechanism::MountAttributes
        | Mechanism::PrivateMount
        | Mechanism::Environment
        | Mechanism::CgroupController
        | Mechanism::Rlimit
        | Mechanism::Credentials => false,
    }
}
