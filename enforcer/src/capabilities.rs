//! What this kernel and this process can enforce: asked once, kept as a value.
//!
//! Every answer carries its evidence (the call that was made and what came back), so that `remit doctor` and a
//! refusal can say *why* something counts as missing. Tests make the value by hand to simulate other hosts.

mod probe;

use std::collections::BTreeMap;

use artifact::rule::Need;

pub use probe::probe;
pub(crate) use probe::probe_beyond;

/// One thing a host may offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub enum Capability {
    /// `CAP_SYS_ADMIN` and the other privileges the launcher uses.
    Privileges,
    /// Landlock, any ABI.
    Landlock,
    /// seccomp filters whose refusals are logged.
    SeccompLog,
    /// A mounted unified hierarchy.
    Cgroup2,
    /// `cgroup.kill` (Linux 5.14).
    CgroupKill,
    /// Cgroup BPF programs and links.
    CgroupBpf,
    /// mount_setattr(2) and mount namespaces (Linux 5.12).
    MountSetattr,
    /// User namespaces, for identity-mapped mounts.
    UserNamespace,
    /// FUSE, for masks.
    Fuse,
    /// PID namespaces.
    PidNamespace,
    /// `vm.memfd_noexec` (Linux 6.3).
    MemfdNoexec,
    /// The memory controller.
    MemoryController,
    /// The pids controller.
    PidsController,
    /// The cpu controller.
    CpuController,
    /// The audit multicast group.
    Audit,
    /// Kernel type information, for the exec, fork and exit events.
    KernelBtf,
    /// The BPF security module; optional, nothing depends on it.
    BpfLsm,
    /// Somebody to ask, for `ask`.
    Approvals,
    /// Connections judged by name.
    HostNames,
    /// Views without names, for `hide`.
    Hide,
    /// The credential broker.
    Broker,
    /// Workspaces that are copies, and what is kept of them.
    Workspace,
    /// Records of allowed reads and writes.
    FileAccessRecords,
}

impl Capability {
    /// All, in the order `remit doctor` lists them.
    pub const ALL: [Self; 23] = [
        Self::Privileges,
        Self::Landlock,
        Self::SeccompLog,
        Self::Cgroup2,
        Self::CgroupKill,
        Self::CgroupBpf,
        Self::MountSetattr,
        Self::UserNamespace,
        Self::Fuse,
        Self::PidNamespace,
        Self::MemfdNoexec,
        Self::MemoryController,
        Self::PidsController,
        Self::CpuController,
        Self::Audit,
        Self::KernelBtf,
        Self::BpfLsm,
        Self::Approvals,
        Self::HostNames,
        Self::Hide,
        Self::Broker,
        Self::Workspace,
        Self::FileAccessRecords,
    ];

    /// Short name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Privileges => "privileges",
            Self::Landlock => "Landlock",
            Self::SeccompLog => "seccomp with logging",
            Self::Cgroup2 => "cgroup v2",
            Self::CgroupKill => "cgroup.kill",
            Self::CgroupBpf => "cgroup BPF",
            Self::MountSetattr => "mount_setattr",
            Self::UserNamespace => "user namespaces",
            Self::Fuse => "FUSE",
            Self::PidNamespace => "PID namespaces",
            Self::MemfdNoexec => "vm.memfd_noexec",
            Self::MemoryController => "memory controller",
            Self::PidsController => "pids controller",
            Self::CpuController => "cpu controller",
            Self::Audit => "audit multicast",
            Self::KernelBtf => "kernel BTF",
            Self::BpfLsm => "BPF LSM",
            Self::Approvals => "approvals",
            Self::HostNames => "host names",
            Self::Hide => "hidden names",
            Self::Broker => "credential broker",
            Self::Workspace => "workspace copies",
            Self::FileAccessRecords => "file access records",
        }
    }

    /// What is lost without it.
    #[must_use]
    pub const fn cost_of_absence(self) -> &'static str {
        match self {
            Self::Privileges => "nothing can run: start remit as root",
            Self::Landlock => {
                "no file rule is enforced, so nothing can run: boot with `lsm=landlock,…` (Linux 5.13)"
            }
            Self::SeccompLog => "system calls are not filtered, so nothing can run (Linux 4.14)",
            Self::Cgroup2 => "nothing can run: mount a cgroup2 file system",
            Self::CgroupKill => "the end of a run kills its processes one by one (Linux 5.14)",
            Self::CgroupBpf => "no network rule is enforced, so nothing can run (Linux 5.10)",
            Self::MountSetattr => "no mount plan, so nothing can run (Linux 5.12)",
            Self::UserNamespace => "identity `dynamic` cannot write to files that others own",
            Self::Fuse => {
                "what is denied inside a grant is hidden without a record, where the rule permits that"
            }
            Self::PidNamespace => "nothing can run: build the kernel with CONFIG_PID_NS",
            Self::MemfdNoexec => {
                "files in memory cannot be kept from executing, so runs are refused memfd_create (Linux 6.3)"
            }
            Self::MemoryController => "`limit memory` is per process only",
            Self::PidsController => "`limit processes` counts per user id only",
            Self::CpuController => "`limit cpu` is refused",
            Self::Audit => "refusals by Landlock and seccomp leave no event, so nothing can run",
            Self::KernelBtf => "program starts and ends leave no event, so nothing can run",
            Self::BpfLsm => "nothing: no rule depends on it",
            Self::Approvals => "a policy with `ask` is refused; where the rule permits it, `ask` refuses",
            Self::HostNames => {
                "a policy with host names in `network` is refused; where the rule permits it, names grant nothing"
            }
            Self::Hide => "a policy with `hide` is refused; where the rule permits it, `hide` denies",
            Self::Broker => {
                "a policy with `broker` is refused; where the rule permits it, the credential is absent"
            }
            Self::Workspace => "a policy with `workspace { from, mode ephemeral, keep }` is refused",
            Self::FileAccessRecords => "a policy with `record read` or `record write` is refused",
        }
    }
}

/// Whether the host has something, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Presence {
    /// It is there.
    pub present: bool,
    /// The question that was asked and the answer.
    pub evidence: String,
}

/// What a host offers.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Capabilities {
    /// `uname -r`.
    pub kernel: String,
    /// Landlock ABI, 0 without Landlock.
    pub landlock_abi: u32,
    /// Landlock errata that this kernel has fixed, as the kernel's bit set. For information only.
    pub landlock_errata: u32,
    /// Everything else. A capability without an entry counts as absent.
    pub found: BTreeMap<Capability, Presence>,
}

impl Capabilities {
    /// Whether the host has it.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        self.found
            .get(&capability)
            .is_some_and(|presence| presence.present)
    }

    /// What is missing for a need, or nothing.
    ///
    /// # Errors
    /// One sentence: the need, what the host has instead, and what to do.
    pub fn satisfies(&self, need: Need) -> Result<(), String> {
        let capability = match need {
            Need::Landlock(abi) => {
                return if self.landlock_abi >= abi {
                    Ok(())
                } else {
                    Err(format!(
                        "Landlock ABI {abi} is needed and this kernel ({}) has {}",
                        self.kernel,
                        if self.landlock_abi == 0 {
                            "none".to_owned()
                        } else {
                            self.landlock_abi.to_string()
                        },
                    ))
                };
            }
            Need::Seccomp => Capability::SeccompLog,
            Need::CgroupBpf => Capability::CgroupBpf,
            Need::MountNamespace => Capability::MountSetattr,
            Need::PidNamespace => Capability::PidNamespace,
            Need::MemoryController => Capability::MemoryController,
            Need::PidsController => Capability::PidsController,
            Need::CpuController => Capability::CpuController,
            Need::Audit => Capability::Audit,
            Need::Approvals => Capability::Approvals,
            Need::HostNames => Capability::HostNames,
            Need::Hide => Capability::Hide,
            Need::Broker => Capability::Broker,
            Need::Workspace => Capability::Workspace,
            Need::FileAccessRecords => Capability::FileAccessRecords,
        };
        self.require(capability)
    }

    /// What is missing when a capability is absent, or nothing.
    ///
    /// # Errors
    /// The same as [`Self::satisfies`].
    pub fn require(&self, capability: Capability) -> Result<(), String> {
        match self.found.get(&capability) {
            Some(presence) if presence.present => Ok(()),
            Some(presence) => Err(format!(
                "{} is missing ({})",
                capability.name(),
                presence.evidence
            )),
            None => Err(format!("{} is missing (not probed)", capability.name())),
        }
    }
}
