//! The words people read for the artifact's terms. Those that events use too come from there.

use artifact::rule::{Domain, Mechanism, Need, Origin};

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
        Need::Approvals => "approvals".to_owned(),
        Need::HostNames => "host names".to_owned(),
        Need::Hide => "hidden names".to_owned(),
        Need::Broker => "credential broker".to_owned(),
        Need::Workspace => "workspace copies".to_owned(),
        Need::FileAccessRecords => "file access records".to_owned(),
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
