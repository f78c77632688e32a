//! The syntax tree: what was written, with spans, before anything is known to make sense.
//!
//! Words with a closed meaning (effects, verbs, resources) are enums already, since the grammar knows no others.
//! Names, numbers, paths and addresses are text until [`resolve`](crate::resolve::resolve) judges them.

use crate::policy::{Effect, FileAccess, Protocol, Verb, WorkspaceMode};
use crate::source::Span;

mod credentials;
mod process;
mod text;
mod words;

pub use credentials::{Broker, BrokerScheme, BrokerSource, CredentialStatement};

pub use process::{
    Condition, IdentityWord, Limit, Operand, OperandTerm, Operator, ProcessStatement, SyscallRule,
    SyscallTarget, SyscallTargetName,
};
pub use text::{Name, Piece, Quantity, Spanned, Text, Value};

/// A whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ast {
    /// `include` statements, in source order.
    pub includes: Vec<Include>,
    /// `group` blocks, in source order.
    pub groups: Vec<GroupBlock>,
    /// The policy of the file. A file of groups or of tests has none.
    pub policy: Option<PolicyBlock>,
    /// Its tests, in source order.
    pub tests: Vec<TestBlock>,
    /// Whether everything in the file is in this tree. A tree with holes is good for more diagnostics, and never
    /// becomes a policy.
    pub complete: bool,
}

/// `include "org/groups.remit"`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// The statement.
    pub span: Span,
    /// The file, relative to the policy root.
    pub path: Text,
}

/// `group org::build { … }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupBlock {
    /// All of it.
    pub span: Span,
    /// Its name. Empty if it could not be read.
    pub name: Name,
    /// Statements in source order: summaries, uses, and the blocks that hold rules.
    pub items: Vec<Item>,
}

/// `policy "name" { … }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyBlock {
    /// All of it.
    pub span: Span,
    /// The quoted name.
    pub name: Text,
    /// Statements in source order.
    pub items: Vec<Item>,
}

/// A statement of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// `summary "…"`
    Summary(Span, Text),
    /// `within "…"`
    Within(Span, Text),
    /// `use std::git`
    Use(Span, Vec<Name>),
    /// `param name: type = default`
    Param(Param),
    /// `filesystem { … }`
    Filesystem(Span, Vec<FileStatement>),
    /// `network { … }`
    Network(Span, Vec<NetworkRule>),
    /// `credentials { … }`
    Credentials(Span, Vec<CredentialStatement>),
    /// `process { … }`
    Process(Span, Vec<ProcessStatement>),
    /// `workspace { … }`
    Workspace(Span, Vec<WorkspaceStatement>),
    /// `audit { record … }`
    Audit(Span, Vec<Spanned<RecordWord>>),
    /// `require …`
    Require(Span, Vec<Requirement>),
    /// `unlock … because "…"`
    Unlock(Unlock),
}

/// `unlock io-uring because "…"`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlock {
    /// The statement.
    pub span: Span,
    /// Rules of the floor, at least one.
    pub names: Vec<Name>,
    /// Why.
    pub because: Text,
}

/// `param name: type = default`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// The statement.
    pub span: Span,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub kind: Spanned<ParamType>,
    /// The members of `string of "a", "b"`.
    pub members: Vec<Text>,
    /// The default.
    pub default: Option<Value>,
}

/// Types of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParamType {
    /// A path: the start of a path.
    Path,
    /// A host name or an address.
    Host,
    /// An address prefix.
    Cidr,
    /// A port.
    Port,
    /// A duration.
    Duration,
    /// A size.
    Size,
    /// One of a closed set.
    String,
}

/// What may follow any rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suffix {
    /// `label "…"`
    pub label: Option<Text>,
    /// `because "…"`
    pub because: Option<Text>,
    /// `if present`
    pub if_present: Option<Span>,
    /// `permit degraded`
    pub permit_degraded: Option<Span>,
}

/// A statement of `filesystem`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileStatement {
    /// `deny read "…"`
    Rule(FileRule),
    /// `scratch "…" 512MiB`
    Scratch {
        /// The statement.
        span: Span,
        /// Where.
        path: Text,
        /// How much.
        size: Value,
        /// What follows.
        suffix: Suffix,
    },
    /// `hide "…"`
    Hide {
        /// The statement.
        span: Span,
        /// At least one.
        targets: Vec<Text>,
        /// What follows.
        suffix: Suffix,
    },
}

/// `deny read, write "…", "…"`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRule {
    /// The statement.
    pub span: Span,
    /// What it does.
    pub effect: Spanned<Effect>,
    /// Empty: all of them.
    pub accesses: Vec<Spanned<FileAccess>>,
    /// At least one.
    pub targets: Vec<Text>,
    /// What follows.
    pub suffix: Suffix,
}

/// `allow connect tcp "…"`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRule {
    /// The statement.
    pub span: Span,
    /// What it does.
    pub effect: Spanned<Effect>,
    /// Empty: all of them.
    pub verbs: Vec<Spanned<Verb>>,
    /// Empty: all of them.
    pub protocols: Vec<Spanned<Protocol>>,
    /// At least one.
    pub targets: Vec<Text>,
    /// What follows.
    pub suffix: Suffix,
}

/// A statement of `workspace`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceStatement {
    /// `from "…"`
    From(Span, Text),
    /// `mode ephemeral`
    Mode(Span, WorkspaceMode),
    /// `keep review`
    Keep(Span, KeepClause),
}

/// What follows `keep`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeepClause {
    /// `none`
    None,
    /// `review`
    Review,
    /// `all`
    All,
    /// Globs, at least one.
    Matching(Vec<Text>),
}

/// What `record` can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordWord {
    /// Refusals; they are always recorded.
    Denied,
    /// Programs started.
    Exec,
    /// Connections made.
    Connect,
    /// Ports bound.
    Bind,
    /// Files opened for reading.
    Read,
    /// Files opened for writing.
    Write,
}

/// `landlock >= 3`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The clause.
    pub span: Span,
    /// The feature.
    pub feature: Name,
    /// The number after `>=`.
    pub at_least: Option<Quantity>,
}

/// `test "name" { … }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestBlock {
    /// All of it.
    pub span: Span,
    /// The quoted name.
    pub name: Text,
    /// Its lines.
    pub expectations: Vec<Expectation>,
}

/// `read "/etc/shadow" is denied by filesystem`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The line.
    pub span: Span,
    /// The access.
    pub access: ExpectedAccess,
    /// `is …`
    pub outcome: Spanned<Outcome>,
    /// `by …`: a domain as a bare word, or a label in quotes.
    pub by: Option<Spanned<String>>,
}

/// The access of an expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedAccess {
    /// `read "…"`
    File(FileAccess, Text),
    /// `connect udp "…"`; TCP unless it says so.
    Network(Verb, Protocol, Text),
    /// `env "…"`
    Environment(Text),
    /// `syscall "ioctl" where request == TIOCSTI`
    Syscall(Text, Vec<Condition>),
}

/// What is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// `is allowed`
    Allowed,
    /// `is asked`
    Asked,
    /// `is denied`
    Denied,
    /// `is present`
    Present,
    /// `is absent`
    Absent,
}
