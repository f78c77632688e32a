//! [`Ast`] to [`Policy`]: names checked, parameters filled in, paths absolute and free of symbolic links.

use std::collections::BTreeMap;

use crate::ast::Ast;
use crate::diagnostic::Diagnostic;
use crate::floor;
use crate::parse::{MAX_GATHERED, parse, truncate};
use crate::policy::{Identity, Layer, Policy, Rule, RuleId};
use crate::source::{SourceFile, Span};

mod address;
mod credentials;
mod endpoint;
mod expectations;
mod filesystem;
mod glob;
mod header;
mod network;
mod parameters;
mod path;
mod process;
mod quantity;
mod rules;
mod syscalls;
mod text;

use parameters::Bound;
pub use text::{quoted, quoted_path};

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
///
/// A tree with holes in it is resolved for its diagnostics, and gives no policy.
#[must_use]
pub fn resolve(ast: &Ast, source: &SourceFile, inputs: &Inputs<'_>) -> Resolved {
    let mut resolver = Resolver::new(source, inputs, ast.complete);
    let policy = resolver.policy(ast);
    let sound = ast.complete && !resolver.failed;
    let mut diagnostics = resolver.diagnostics;
    diagnostics.sort_by_key(|found| (found.span, found.code));
    diagnostics.dedup();
    truncate(&mut diagnostics);
    Resolved {
        policy: policy.filter(|_| sound),
        diagnostics,
    }
}

/// Parses and resolves: all that is wrong with a file, in source order.
#[must_use]
pub fn check(source: &SourceFile, inputs: &Inputs<'_>) -> Resolved {
    let parsed = parse(source);
    let mut diagnostics = parsed.diagnostics;
    let mut policy = None;
    if let Some(ast) = parsed.ast {
        let resolved = resolve(&ast, source, inputs);
        policy = resolved.policy;
        diagnostics.extend(resolved.diagnostics);
        diagnostics.sort_by_key(|found| (found.span, found.code));
    }
    truncate(&mut diagnostics);
    Resolved { policy, diagnostics }
}

/// What has been gathered so far.
struct Resolver<'a> {
    source: &'a SourceFile,
    inputs: &'a Inputs<'a>,
    /// Whether the tree has no holes: a name that seems unknown may stand in one.
    complete: bool,
    parameters: BTreeMap<String, Bound>,
    rules: Vec<Rule>,
    /// Labels, and where they were given.
    labels: BTreeMap<String, Span>,
    /// Trees that are private to the run by a `scratch` statement.
    scratches: Vec<String>,
    diagnostics: Vec<Diagnostic>,
    /// Whether there was an error, also one that is not kept.
    failed: bool,
    errors: usize,
    warnings: usize,
}

impl<'a> Resolver<'a> {
    fn new(source: &'a SourceFile, inputs: &'a Inputs<'a>, complete: bool) -> Self {
        Self {
            source,
            inputs,
            complete,
            parameters: BTreeMap::new(),
            rules: floor::rules(),
            labels: BTreeMap::new(),
            scratches: Vec::new(),
            diagnostics: Vec::new(),
            failed: false,
            errors: 0,
            warnings: 0,
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        // Each kind has its own bound, so that no number of warnings hides an error.
        let gathered = if diagnostic.is_error() {
            self.failed = true;
            &mut self.errors
        } else {
            &mut self.warnings
        };
        if *gathered < MAX_GATHERED {
            *gathered += 1;
            self.diagnostics.push(diagnostic);
        }
    }

    fn policy(&mut self, ast: &Ast) -> Option<Policy> {
        let name = self.fixed(&ast.policy.name, "the name of a policy");
        self.bind_parameters(&ast.policy);
        let header = self.header(&ast.policy.items);
        self.find_scratches(&ast.policy.items);
        let identity = self.blocks(&ast.policy.items);
        let tests = self.tests(&ast.tests);
        let name = name?;
        Some(Policy {
            layers: vec![Layer {
                name: name.clone(),
                file: self.source.name.clone(),
            }],
            name,
            summary: header.summary,
            parameters: self
                .parameters
                .iter()
                .map(|(name, bound)| (name.clone(), bound.text()))
                .collect(),
            rules: std::mem::take(&mut self.rules),
            unlocks: Vec::new(),
            workspace: None,
            identity: identity.unwrap_or((Identity::Dynamic, RuleId::DEFAULT)),
            requirements: header.requirements,
            record: header.record,
            tests,
        })
    }
}
