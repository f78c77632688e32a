//! The policy language: text to [`ast`], [`ast`] to [`policy::Policy`], and the reference semantics.
//!
//! Everything here is pure but for [`host`]. Files come from an explicit loader, the home directory and the working
//! directory from the caller.

pub mod ast;
pub mod diagnostic;
pub mod floor;
pub mod format;
pub mod host;
pub mod inclusion;
pub mod loader;
pub mod parse;
pub mod pattern;
pub mod policy;
pub mod reference;
pub mod resolve;
pub mod source;
pub mod suggest;
pub mod syscall;

pub use diagnostic::Diagnostic;
pub use loader::{LoadError, Loader};
pub use parse::{FileKind, Parsed, kind_of, parse, parse_as};
pub use resolve::{Inputs, PathResolver, Resolved, check, check_groups, check_with_tests, resolve};
pub use source::{SourceFile, Span};
