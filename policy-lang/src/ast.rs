//! The syntax tree: what was written, with spans, before anything is known to make sense.
//!
//! Words with a closed meaning (effects, verbs, resources) are enums already, since the grammar knows no others.
//! Names, numbers, paths and addresses are text until [`resolve`](crate::resolve::resolve) judges them.

use crate::policy::{Effect, FileAccess, Protocol, Resource, Verb};
use crate::source::Span;

mod process;
mod text;

pub use process::{
    Condition, IdentityWord, Limit, Operand, OperandTerm, Operator, ProcessStatement, SyscallRule,
    SyscallTarget, SyscallTargetName,
};
pub use text::{Name, Piece, Quantity, Spanned, Text, Value};

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ast {
    /// The one policy of the file.
    pub policy: PolicyBlock,
    /// Its tests, in source order.
    pub tests: Vec<TestBlock>,
    /// Whether everything in the file is in this tree. A tree with holes is good for more diagnostics, and never
    /// becomes a policy.
    pub complete: bool,
}

/// `policy "name" { … }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyBlock {
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
    Filesystem(Vec<FileStatement>),
    /// `network { … }`
    Network(Vec<NetworkRule>),
    /// `credentials { … }`
    Credentials(Vec<CredentialStatement>),
    /// `process { … }`
    Process(Vec<ProcessStatement>),
    /// `workspace { … }`
    Workspace(Vec<WorkspaceStatement>),
    /// `audit { record … }`
    Audit(Vec<Spanned<RecordWord>>),
    /// `require …`
    Require(Vec<Requirement>),
    /// `unlock … because "…"`
    Unlock(Span),
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
    Hide(Span),
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

/// A statement of `credentials`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialStatement {
    /// `pass "PATH", "LANG"`
    Pass {
        /// The statement.
        span: Span,
        /// At least one.
        names: Vec<Text>,
        /// What follows.
        suffix: Suffix,
    },
    /// `set "CI" = "true"`
    Set {
        /// The statement.
        span: Span,
        /// The variable.
        name: Text,
        /// Its value.
        value: Text,
        /// What follows.
        suffix: Suffix,
    },
    /// `broker …`
    Broker(Span),
}

/// A statement of `workspace`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceStatement {
    /// `from "…"`
    From(Span),
    /// `mode ephemeral`
    ModeEphemeral(Span),
    /// `mode in-place`
    ModeInPlace(Span),
    /// `keep review`
    Keep(Span),
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
    /// `is denied`
    Denied,
    /// `is present`
    Present,
    /// `is absent`
    Absent,
}

impl Resource {
    /// The word of the language.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Cpu => "cpu",
            Self::OpenFiles => "open-files",
            Self::Wall => "wall",
        }
    }
}

impl Effect {
    /// The word of the language.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Forbid => "forbid",
        }
    }
}

impl FileAccess {
    /// The word of the language.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Execute => "execute",
        }
    }
}

impl Verb {
    /// The word of the language.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Bind => "bind",
        }
    }
}

impl Protocol {
    /// The word of the language.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}
