//! The resolved policy: parameters filled in, names checked, paths absolute, built-in rules included.
//!
//! This is what every later stage reads. The syntax tree is gone but for the origin of each rule.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;

use crate::pattern::{HostPattern, PathPattern};
use crate::syscall::SyscallSet;

/// A policy whose meaning is fixed. `rules[0]` is the built-in default, then the floor, then the file's rules
/// in source order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// The quoted name after `policy`.
    pub name: String,
    /// The `summary` statement.
    pub summary: Option<String>,
    /// Parameters as bound, as text.
    pub parameters: BTreeMap<String, String>,
    /// This policy, then its ceiling, then that one's: never empty. [`LayerId`] is an index here.
    pub layers: Vec<Layer>,
    /// Every rule of every layer. [`Rule::id`] is its index here.
    pub rules: Vec<Rule>,
    /// What every layer opened of the floor.
    pub unlocks: Vec<Unlock>,
    /// `identity`, and the rule that says so.
    pub identity: (Identity, RuleId),
    /// `require` clauses.
    pub requirements: Vec<Requirement>,
    /// `audit { record … }`.
    pub record: Record,
    /// `workspace { … }`.
    pub workspace: Option<Workspace>,
    /// `test` blocks of the file.
    pub tests: Vec<Test>,
}

impl Policy {
    /// A policy with nothing but the built-in rules: it allows nothing.
    #[must_use]
    pub fn built_in(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            layers: vec![Layer {
                name: name.clone(),
                file: String::new(),
            }],
            name,
            summary: None,
            parameters: BTreeMap::new(),
            rules: crate::floor::rules(),
            unlocks: Vec::new(),
            identity: (Identity::Dynamic, RuleId::DEFAULT),
            requirements: Vec::new(),
            record: Record::default(),
            workspace: None,
            tests: Vec::new(),
        }
    }

    /// The rule with an id.
    #[must_use]
    pub fn rule(&self, id: RuleId) -> Option<&Rule> {
        usize::try_from(id.0).ok().and_then(|at| self.rules.get(at))
    }
}

/// Index into [`Policy::layers`]. 0 is the policy itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LayerId(pub u8);

impl LayerId {
    /// The policy itself.
    pub const INNERMOST: Self = Self(0);
}

/// One policy of a chain of ceilings. An access is allowed when every layer allows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// The quoted name after `policy`.
    pub name: String,
    /// The file as the loader named it.
    pub file: String,
}

/// A part of the floor that this policy opens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unlock {
    /// The label of the built-in rule, without `built-in:`.
    pub name: String,
    /// Why.
    pub because: String,
    /// Where the innermost layer says so.
    pub origin: Origin,
}

/// Where a run works, and what becomes of its changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Workspace {
    /// The directory it is made from: absolute, resolved.
    pub from: Option<String>,
    /// `ephemeral`, or `in-place` where nothing is said.
    pub mode: WorkspaceMode,
    /// What is kept of its changes.
    pub keep: Keep,
    /// Where.
    pub origin: Origin,
}

/// How a workspace relates to its source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceMode {
    /// The run changes the files themselves.
    #[default]
    InPlace,
    /// The run changes a copy that is gone at its end.
    Ephemeral,
}

/// What is kept of a workspace's changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Nothing.
    None,
    /// What a person chooses.
    #[default]
    Review,
    /// Everything that may be kept.
    All,
    /// What these globs match, relative to the workspace.
    Matching(Vec<String>),
}

/// Index into [`Policy::rules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RuleId(pub u32);

impl RuleId {
    /// Nothing is allowed that no rule allows.
    pub const DEFAULT: Self = Self(0);
}

/// From lax to strict, so that the greatest is the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Effect {
    /// Grants.
    Allow,
    /// Grants after an approval. Stricter than a grant: whatever cannot ask refuses.
    Ask,
    /// Refuses, yields to a more specific rule.
    Deny,
    /// Refuses, yields to nothing.
    Forbid,
}

/// One rule as written (or built in).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Its index.
    pub id: RuleId,
    /// What it does. `pass`, `set`, `scratch`, `identity` and `limit` are `Allow`.
    pub effect: Effect,
    /// What it speaks of.
    pub subject: Subject,
    /// The formatted text on one line, parameters filled in.
    pub text: String,
    /// Its label.
    pub label: Option<String>,
    /// Its reason.
    pub because: Option<String>,
    /// Where it was written.
    pub origin: Origin,
    /// The layer it belongs to. Absent: built in, and part of every layer.
    pub layer: Option<LayerId>,
    /// The group it came from, if `use` brought it.
    pub via: Option<String>,
    /// `if present` was written.
    pub if_present: bool,
    /// `permit degraded` was written.
    pub permit_degraded: bool,
}

/// Where a rule was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Origin {
    /// The default and the floor.
    BuiltIn,
    /// A position that counts from 1, columns in characters.
    Source {
        /// The file as the loader named it.
        file: String,
        /// Line.
        line: u32,
        /// Column.
        column: u32,
    },
}

/// The set of accesses a rule denotes.
///
/// A rule with several verbs, protocols or targets stands for one *elementary* rule for each combination; the
/// precedence of the language compares elementary rules. A syscall group is one target: a set of calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Subject {
    /// The built-in default: everything.
    Everything,
    /// `filesystem` rules.
    File {
        /// At least one; a rule without verbs has all three.
        accesses: Vec<FileAccess>,
        /// At least one.
        targets: Vec<PathPattern>,
    },
    /// `network` rules.
    Network {
        /// At least one; a rule without verbs has both.
        verbs: Vec<Verb>,
        /// At least one; a rule without protocols has both.
        protocols: Vec<Protocol>,
        /// `*` as an address is two of these, one for each family.
        targets: Vec<Endpoint>,
        /// Targets by name. Together with `targets` at least one.
        hosts: Vec<HostEndpoint>,
    },
    /// `pass`, and its stricter siblings.
    Pass {
        /// Variable names; `*` stands for any characters.
        names: Vec<String>,
    },
    /// `hide`: refused, and absent from the run's view.
    Hide {
        /// At least one.
        targets: Vec<PathPattern>,
    },
    /// `broker`: the run uses a credential that it never holds.
    Broker(Broker),
    /// `set`.
    Set {
        /// Variable name.
        name: String,
        /// Its value.
        value: String,
    },
    /// `allow syscall …` and its stricter siblings.
    Syscall {
        /// At least one.
        targets: Vec<SyscallSet>,
    },
    /// `scratch`.
    Scratch {
        /// Absolute path.
        path: String,
        /// Limit in bytes.
        size_bytes: u64,
    },
    /// `identity`.
    Identity(Identity),
    /// One item of a `limit` statement.
    Limit {
        /// What is limited.
        resource: Resource,
        /// In the unit of [`Resource`].
        value: u64,
    },
}

/// Accesses to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum FileAccess {
    /// Open for reading, list.
    Read,
    /// Change contents, names or attributes.
    Write,
    /// Start, or map as code.
    Execute,
}

/// Verbs of the network domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Verb {
    /// Connect, or send a datagram.
    Connect,
    /// Bind.
    Bind,
}

/// Protocols of the network domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// A box of addresses and ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Endpoint {
    /// Network address, host bits zero. Never an IPv4-mapped, NAT64 or 6to4 form.
    pub address: IpAddr,
    /// Prefix length, up to 32 or 128.
    pub prefix_len: u8,
    /// First port.
    pub first_port: u16,
    /// Last port, inclusive.
    pub last_port: u16,
}

/// A host pattern and ports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct HostEndpoint {
    /// A name, or `*.` and a name: one or more labels before it.
    pub pattern: HostPattern,
    /// First port.
    pub first_port: u16,
    /// Last port, inclusive.
    pub last_port: u16,
}

/// A credential that is added to requests outside the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Broker {
    /// What it is called.
    pub name: String,
    /// Whom it is for: a name or an address, with its port.
    pub destination: Destination,
    /// How it is presented.
    pub scheme: Scheme,
    /// Where the enforcer finds it.
    pub source: SecretSource,
    /// For how long a run may use it.
    pub ttl_seconds: Option<u64>,
}

/// One host, by name or by address, and ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Destination {
    /// By name.
    Host(HostEndpoint),
    /// By address.
    Address(Endpoint),
}

/// How a credential is presented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// `Authorization: Bearer …`
    Bearer,
    /// `Authorization: Basic …`
    Basic,
    /// A header of this name.
    Header(String),
}

/// Where a credential comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretSource {
    /// A variable of the caller.
    Env(String),
    /// A file: absolute.
    File(String),
}

/// The run's ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Identity {
    /// The caller's.
    User,
    /// Fixed ids.
    Ids {
        /// User.
        uid: u32,
        /// Group.
        gid: u32,
    },
    /// Allocated for the run; also what a policy without an `identity` statement means.
    Dynamic,
}

/// Limited resources and their units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Resource {
    /// Bytes.
    Memory,
    /// Processes and threads.
    Processes,
    /// Hundredths of a CPU.
    Cpu,
    /// Descriptors of each process.
    OpenFiles,
    /// Seconds.
    Wall,
}

/// A `require` clause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// What is required.
    pub feature: Feature,
    /// As written.
    pub text: String,
}

/// What `require` can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Feature {
    /// `landlock >= N`.
    Landlock(u32),
    /// `seccomp`.
    Seccomp,
    /// `cgroup-bpf`.
    CgroupBpf,
    /// `memory-controller`.
    MemoryController,
    /// `pids-controller`.
    PidsController,
    /// `cpu-controller`.
    CpuController,
    /// `audit`.
    Audit,
}

/// Which allowed accesses are recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Record {
    /// `exec`.
    pub exec: bool,
    /// `connect`.
    pub connect: bool,
    /// `bind`.
    pub bind: bool,
    /// `read`.
    pub read: bool,
    /// `write`.
    pub write: bool,
}

/// A `test` block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Test {
    /// The quoted name.
    pub name: String,
    /// Its lines.
    pub expectations: Vec<Expectation>,
}

/// What a line of a `test` block expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpectedOutcome {
    /// `allowed`, `present`.
    Allowed,
    /// `asked`: allowed once somebody approves.
    Asked,
    /// `denied`, `absent`: by a `deny` or a `forbid`.
    Denied,
}

/// One line of a `test` block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Expectation {
    /// The access.
    pub access: crate::reference::Access,
    /// What is expected.
    pub outcome: ExpectedOutcome,
    /// `by filesystem` and the like, as written.
    pub by: Option<String>,
    /// Where.
    pub origin: Origin,
}
