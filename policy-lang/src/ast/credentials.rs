//! Statements of `credentials`.

use super::{Spanned, Suffix, Text, Value};
use crate::policy::Effect;
use crate::source::Span;

/// A statement of `credentials`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialStatement {
    /// `pass "PATH", "LANG"`, `deny pass "AWS_*"`
    Pass {
        /// The statement.
        span: Span,
        /// Absent: `allow`.
        effect: Option<Spanned<Effect>>,
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
    /// `broker "NPM_TOKEN" for "registry.npmjs.org:443" as bearer from env "NPM_TOKEN" ttl 15m`
    Broker(Box<Broker>),
}

/// `broker "NPM_TOKEN" for "registry.npmjs.org:443" as bearer from env "NPM_TOKEN" ttl 15m`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// The statement.
    pub span: Span,
    /// What the credential is called.
    pub name: Text,
    /// Whom it is for.
    pub destination: Text,
    /// How it is presented.
    pub scheme: BrokerScheme,
    /// Where it is.
    pub source: BrokerSource,
    /// For how long.
    pub ttl: Option<Value>,
    /// What follows.
    pub suffix: Suffix,
}

/// What follows `as`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokerScheme {
    /// `bearer`
    Bearer,
    /// `basic`
    Basic,
    /// `header "X-Api-Key"`
    Header(Text),
}

/// What follows `from`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokerSource {
    /// `env "NPM_TOKEN"`
    Env(Text),
    /// `file "~/.config/token"`
    File(Text),
}
