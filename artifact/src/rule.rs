//! A rule as the enforcer and the events know it: identity, origin, reason, and what it lowered to.

use serde::{Deserialize, Serialize};

/// Index into [`crate::Artifact::rules`]. Zero is the built-in default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RuleId(pub u32);

impl RuleId {
    /// The rule every artifact starts with: nothing is allowed that no rule allows.
    pub const DEFAULT: Self = Self(0);
}

/// Index into [`crate::Artifact::layers`]. Zero is the policy itself, one its ceiling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LayerId(pub u8);

impl LayerId {
    /// The policy itself.
    pub const INNERMOST: Self = Self(0);
}

/// Effects in order of strictness: the greatest is the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// The access happens.
    Allow,
    /// The access waits for an approval.
    Ask,
    /// The access is refused; a more specific rule may open it.
    Deny,
    /// The access is refused and nothing may open it.
    Forbid,
}

/// The boundary a rule belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Domain {
    /// `filesystem` and `scratch`.
    Filesystem,
    /// `network`.
    Network,
    /// `credentials`.
    Credentials,
    /// `process`.
    Process,
}

/// Where a rule was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Origin {
    /// Part of every policy (the default and the floor).
    BuiltIn,
    /// A place in a policy file. Line and column count from 1; columns count characters.
    Policy {
        /// The file as it was named to the compiler, relative to the policy root where there is one.
        file: String,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
    },
}

/// A rule with everything a refusal, an event or `explain` says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleRecord {
    /// Its own index.
    pub id: RuleId,
    /// What it does.
    pub effect: Effect,
    /// Where it applies.
    pub domain: Domain,
    /// The rule as the formatter would print it, on one line, parameters filled in.
    pub text: String,
    /// The rule's label, where it has one.
    pub label: Option<String>,
    /// The `because` clause.
    pub because: Option<String>,
    /// Where it was written.
    pub origin: Origin,
    /// The layer it is a rule of. Absent: of every layer, as the built-in ones are, or of the only one.
    pub layer: Option<LayerId>,
    /// The group that `use` took it from.
    pub via: Option<String>,
    /// The policy says `permit degraded` for this rule.
    pub permit_degraded: bool,
    /// The mechanisms it became. Never empty: a rule that becomes nothing is a compile error.
    pub lowering: Vec<Lowering>,
}

/// One mechanism a rule lowers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lowering {
    /// What does the work.
    pub mechanism: Mechanism,
    /// What the host must offer for that.
    pub needs: Vec<Need>,
    /// What this mechanism cannot do for this rule on any kernel, or nothing when it is exact. A gap makes the rule
    /// partly enforced.
    pub gap: Option<String>,
    /// A side effect on what other rules grant: never less strict than the policy, so no gap.
    pub note: Option<String>,
}

/// The kernel (or launcher) mechanism that enforces a rule. Events name it in the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Mechanism {
    /// A Landlock file rule, or the absence of one.
    LandlockFs,
    /// A Landlock TCP port rule, or the absence of one.
    LandlockNet,
    /// A Landlock scope (abstract UNIX sockets, signals).
    LandlockScope,
    /// Mount attributes in the run's mount namespace (read-only, noexec).
    MountAttributes,
    /// A mask over a denied path in the run's mount namespace.
    MountMask,
    /// A private file system (`/proc`, `/dev`, `/run`, `/tmp`, scratch).
    PrivateMount,
    /// The seccomp filter.
    Seccomp,
    /// A cgroup BPF program and the run's tables.
    CgroupBpf,
    /// The environment the launcher builds from nothing.
    Environment,
    /// A cgroup controller file.
    CgroupController,
    /// A resource limit, see setrlimit(2).
    Rlimit,
    /// User and group ids, emptied capability sets, `no_new_privs`.
    Credentials,
    /// The supervisor's clock.
    Supervisor,
    /// Credentials that the enforcer holds, and adds to requests outside the run.
    Broker,
}

/// A capability of the host that a mechanism depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Need {
    /// Landlock at this ABI or above.
    Landlock(u32),
    /// seccomp filter mode with `SECCOMP_FILTER_FLAG_LOG` (Linux 4.14).
    Seccomp,
    /// cgroup v2 with cgroup BPF programs and links.
    CgroupBpf,
    /// Mount namespaces with mount_setattr(2) (Linux 5.12).
    MountNamespace,
    /// PID namespaces.
    PidNamespace,
    /// The memory controller, v1 or v2.
    MemoryController,
    /// The pids controller, v1 or v2.
    PidsController,
    /// The cpu controller, v1 or v2.
    CpuController,
    /// Landlock and seccomp records on the audit multicast group.
    Audit,
    /// Somebody who can be asked while the run waits.
    Approvals,
    /// Connections judged by the name they are made to.
    HostNames,
    /// A view of the files from which names are absent.
    Hide,
    /// Credentials that are used outside the run.
    Broker,
    /// A workspace that is a copy, and what is kept of it.
    Workspace,
    /// Records of allowed reads and writes.
    FileAccessRecords,
}
