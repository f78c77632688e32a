//! Policy to plan to artifact.
//!
//! [`lower`] turns what a policy means into what mechanisms can do, and says for every rule what it became.
//! [`emit`] lays that out in the form the enforcer reads. Both are pure: the same policy gives the same bytes.

pub mod check;
pub mod coverage;
pub mod difference;
pub mod guardrails;
pub mod learn;
pub mod plan;
pub mod seccomp;
pub mod testing;
pub mod why;

mod emit;
mod error;
mod lower;

pub use emit::emit;
pub use error::{LowerError, Reason};
pub use lower::lower;
pub use plan::Plan;
