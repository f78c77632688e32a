//! What enforces a rule, and what that needs of the kernel.

use artifact::rule::{Lowering, Mechanism, Need};

/// A line for each mechanism.
pub(super) fn describe(lowering: &[Lowering]) -> String {
    let mut text = "Enforced by".to_owned();
    for mechanism in lowering {
        let needs: Vec<String> = mechanism.needs.iter().map(|need| need_words(*need)).collect();
        text.push_str(&format!("\n- {}", mechanism_words(mechanism.mechanism)));
        if !needs.is_empty() {
            text.push_str(&format!(" (needs {})", needs.join(", ")));
        }
        if let Some(gap) = &mechanism.gap {
            text.push_str(&format!("; only partly: {gap}"));
        }
        if let Some(note) = &mechanism.note {
            text.push_str(&format!("; {note}"));
        }
    }
    text
}

const fn mechanism_words(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::LandlockFs => "Landlock, on files",
        Mechanism::LandlockNet => "Landlock, on TCP ports",
        Mechanism::LandlockScope => "Landlock scopes",
        Mechanism::MountAttributes => "read-only and `noexec` mounts",
        Mechanism::MountMask => "a mask over the path",
        Mechanism::PrivateMount => "a private file system",
        Mechanism::Seccomp => "the seccomp filter",
        Mechanism::CgroupBpf => "cgroup BPF programs",
        Mechanism::Environment => "the environment, built from nothing",
        Mechanism::CgroupController => "a cgroup controller",
        Mechanism::Rlimit => "a resource limit",
        Mechanism::Credentials => "user and group ids without capabilities",
        Mechanism::Supervisor => "the supervisor's clock",
        Mechanism::Broker => "the enforcer, which holds the credential",
    }
}

fn need_words(need: Need) -> String {
    match need {
        Need::Landlock(abi) => format!("Landlock ABI {abi}"),
        Need::Seccomp => "seccomp with logging, Linux 4.14".to_owned(),
        Need::CgroupBpf => "cgroup v2 with BPF links".to_owned(),
        Need::MountNamespace => "mount_setattr, Linux 5.12".to_owned(),
        Need::PidNamespace => "PID namespaces".to_owned(),
        Need::MemoryController => "the memory controller".to_owned(),
        Need::PidsController => "the pids controller".to_owned(),
        Need::CpuController => "the cpu controller".to_owned(),
        Need::Audit => "audit records by multicast".to_owned(),
        Need::Approvals => "approvals".to_owned(),
        Need::HostNames => "enforcement of host names".to_owned(),
        Need::Hide => "hidden names".to_owned(),
        Need::Broker => "a credential broker".to_owned(),
        Need::Workspace => "workspaces that are copies".to_owned(),
        Need::FileAccessRecords => "records of file accesses".to_owned(),
    }
}
