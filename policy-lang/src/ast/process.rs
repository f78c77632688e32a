//! Statements of `process`.

use super::{Name, Quantity, Spanned, Suffix, Text, Value};
use crate::policy::{Effect, Resource};
use crate::source::Span;

/// A statement of `process`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessStatement {
    /// `identity dynamic`
    Identity {
        /// The statement.
        span: Span,
        /// Whose.
        identity: IdentityWord,
        /// What follows.
        suffix: Suffix,
    },
    /// `deny syscall @debug`
    Syscall(SyscallRule),
    /// `limit memory 4GiB, processes 256`
    Limit {
        /// The statement.
        span: Span,
        /// At least one.
        items: Vec<Limit>,
        /// What follows.
        suffix: Suffix,
    },
}

/// What follows `identity`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityWord {
    /// `dynamic`
    Dynamic,
    /// `user`
    User,
    /// `1000:1000`, as written.
    Ids {
        /// Before the colon.
        uid: Quantity,
        /// After it.
        gid: Quantity,
    },
}

/// `memory 4GiB`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The item.
    pub span: Span,
    /// What is limited.
    pub resource: Spanned<Resource>,
    /// To how much.
    pub value: Value,
}

/// `deny syscall @debug, "ioctl" where request == TIOCSTI`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyscallRule {
    /// The statement.
    pub span: Span,
    /// What it does.
    pub effect: Spanned<Effect>,
    /// At least one.
    pub targets: Vec<SyscallTarget>,
    /// What follows.
    pub suffix: Suffix,
}

/// One target of a syscall rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyscallTarget {
    /// All of it.
    pub span: Span,
    /// What is called.
    pub name: SyscallTargetName,
    /// All must hold.
    pub conditions: Vec<Condition>,
}

/// A group or a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyscallTargetName {
    /// `@system-service`, the name with its `@`.
    Group(Name),
    /// `"ioctl"`
    Call(Text),
}

/// `flags & CLONE_NEWUSER == 0`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// All of it.
    pub span: Span,
    /// The argument's name, or `arg0` to `arg5`.
    pub argument: Name,
    /// What follows `&`.
    pub mask: Option<Operand>,
    /// The comparison.
    pub operator: Spanned<Operator>,
    /// The right side.
    pub value: Operand,
}

/// Numbers and constants joined by `|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// All of it.
    pub span: Span,
    /// At least one.
    pub terms: Vec<OperandTerm>,
}

/// One number or constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperandTerm {
    /// `0x5412`
    Number(Quantity),
    /// `TIOCSTI`
    Constant(Name),
}

/// Comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}
