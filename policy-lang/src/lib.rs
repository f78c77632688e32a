//! The policy language: text to [`ast`], [`ast`] to [`policy::Policy`], and the reference semantics.
//!
//! Everything here is pure. Files come from an explicit loader, the home directory and the working directory
//! from the caller.

pub mod pattern;
pub mod policy;
pub mod reference;
pub mod syscall;
