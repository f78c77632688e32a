//! The resolved policy: parameters filled in, names checked, paths absolute, built-in rules included.
//!
//! This is what every later stage reads. The syntax tree is gone but for the origin of each rule.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;

use crate::pattern::PathPattern;
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
    /// Every rule. [`Rule::id`] is its index here.
    pub rules: Vec<Rule>,
    /// `identity`, and the rule that says so.
    pub identity: (Identity, RuleId),
    /// `require` clauses.
    pub requirements: Vec<Requirement>,
    /// `audit { record … }`.
    pub record: Record,
    /// `test` blocks of the file.
    pub tests: Vec<Test>,
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
    /// Grants after an approval. Not enforceable yet: resolving a rule with it is an error.
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
        /// At least one. `*` as an address is two of these, one for each family.
        targets: Vec<Endpoint>,
    },
    /// `pass`.
    Pass {
        /// Variable names.
        names: Vec<String>,
    },
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
}

/// A `test` block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Test {
    /// The quoted name.
    pub name: String,
    /// Its lines.
    pub expectations: Vec<Expectation>,
}

/// One line of a `test` block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Expectation {
    /// The access.
    pub access: crate::reference::Access,
    /// Whether it is expected to be allowed (or present).
    pub allowed: bool,
    /// `by filesystem` and the like, as written.
    pub by: Option<String>,
    /// Where.
    pub origin: Origin,
}
