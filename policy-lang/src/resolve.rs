//! [`Ast`] to [`Policy`]: names checked, parameters filled in, paths absolute and free of symbolic links.

use std::collections::BTreeMap;

use crate::ast::Ast;
use crate::diagnostic::Diagnostic;
use crate::policy::Policy;
use crate::source::SourceFile;

/// What resolving needs from outside the file.
pub struct Inputs<'a> {
    /// Values for `param`s, as text (`--param name=value`).
    pub parameters: BTreeMap<String, String>,
    /// What `~` stands for: an absolute path.
    pub home: String,
    /// What relative paths are relative to: an absolute path.
    pub working_directory: String,
    /// Finds symbolic links and absent files.
    pub paths: &'a dyn PathResolver,
}

/// The loader's view of the file tree.
pub trait PathResolver {
    /// Follows every symbolic link of an absolute, normalised path.
    fn resolve(&self, path: &str) -> Resolution;
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// It exists.
    Present {
        /// The same file without a symbolic link in its path.
        path: String,
        /// Whether the last component of the path that was asked for is itself a symbolic link.
        link: bool,
    },
    /// It does not exist.
    Absent {
        /// As far as it exists, without a symbolic link; the rest as it was asked for.
        path: String,
    },
    /// It cannot be known.
    Unknown {
        /// Why, for people.
        reason: String,
    },
}

/// Takes every path as it is: for tests, and where no file tree is to be consulted.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsWritten;

impl PathResolver for AsWritten {
    fn resolve(&self, path: &str) -> Resolution {
        Resolution::Present {
            path: path.to_owned(),
            link: false,
        }
    }
}

/// What resolving gives: no policy if there is an error.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Present if no diagnostic is an error.
    pub policy: Option<Policy>,
    /// In source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves a syntax tree.
#[must_use]
pub fn resolve(_ast: &Ast, _source: &SourceFile, _inputs: &Inputs<'_>) -> Resolved {
    Resolved {
        policy: None,
        diagnostics: Vec::new(),
    }
}
