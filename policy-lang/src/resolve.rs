//! [`Ast`] to [`Policy`]: files read, groups expanded, names checked, parameters filled in, paths absolute and free of
//! symbolic links.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::Ast;
use crate::diagnostic::{Diagnostic, Label};
use crate::floor;
use crate::loader::Loader;
use crate::parse::{FileKind, MAX_GATHERED, parse, parse_as, truncate};
use crate::policy::{LayerId, Policy, Rule};
use crate::source::{EMPTY, FileId, SourceFile, Span};

mod address;
mod broker;
mod ceilings;
mod credentials;
mod endpoint;
mod expectations;
mod files;
mod filesystem;
mod glob;
mod groups;
mod header;
mod layer;
mod network;
mod parameters;
mod path;
mod process;
mod quantity;
mod rules;
mod syscalls;
mod text;
mod unlock;
mod workspace;

use files::Tree;
pub use glob::escaped;
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
    /// Finds the files that `include` and `within` name.
    pub files: &'a dyn Loader,
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
    /// File by file, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// Every file that was read: [`FileId`] is an index here. The first is the policy's own.
    pub files: Vec<SourceFile>,
}

/// Resolves a syntax tree, with the files that it names.
///
/// A tree with holes in it is resolved for its diagnostics, and gives no policy.
#[must_use]
pub fn resolve(ast: &Ast, source: &SourceFile, inputs: &Inputs<'_>) -> Resolved {
    resolve_with_tests(ast, source, &[], inputs)
}

/// Parses and resolves: all that is wrong with a policy file and those that it names, in source order.
#[must_use]
pub fn check(source: &SourceFile, inputs: &Inputs<'_>) -> Resolved {
    check_with_tests(source, &[], inputs)
}

/// The same, with files of tests: their `test` blocks follow those of the policy, and see its parameters and labels.
#[must_use]
pub fn check_with_tests(source: &SourceFile, tests: &[SourceFile], inputs: &Inputs<'_>) -> Resolved {
    let parsed = parse(source);
    let Some(ast) = parsed.ast else {
        let mut diagnostics = parsed.diagnostics;
        in_order(&mut diagnostics);
        return Resolved {
            policy: None,
            diagnostics,
            files: vec![source.clone()],
        };
    };
    let mut resolved = resolve_with_tests(&ast, source, tests, inputs);
    resolved.diagnostics.extend(parsed.diagnostics);
    in_order(&mut resolved.diagnostics);
    resolved
}

/// Parses a file of groups and resolves each of them, as a policy that uses it would.
#[must_use]
pub fn check_groups(source: &SourceFile, inputs: &Inputs<'_>) -> Resolved {
    let parsed = parse_as(source, FileKind::Groups);
    let mut diagnostics = parsed.diagnostics;
    let mut files = vec![source.clone()];
    if let Some(ast) = &parsed.ast {
        let mut resolver = Resolver::new(source, inputs, ast.complete);
        resolver.library(Tree::Given(ast));
        diagnostics.extend(resolver.diagnostics);
        files = resolver.files;
    }
    in_order(&mut diagnostics);
    Resolved {
        policy: None,
        diagnostics,
        files,
    }
}

fn resolve_with_tests(ast: &Ast, source: &SourceFile, tests: &[SourceFile], inputs: &Inputs<'_>) -> Resolved {
    let mut resolver = Resolver::new(source, inputs, ast.complete);
    let policy = resolver.policy(ast, tests);
    let sound = resolver.complete && !resolver.failed;
    let mut diagnostics = resolver.diagnostics;
    in_order(&mut diagnostics);
    Resolved {
        policy: policy.filter(|_| sound),
        diagnostics,
        files: resolver.files,
    }
}

fn in_order(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by(|one, two| {
        (one.file, one.span, one.code)
            .cmp(&(two.file, two.span, two.code))
            .then_with(|| one.message.cmp(&two.message))
    });
    diagnostics.dedup();
    truncate(diagnostics);
}

/// A span and its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    file: FileId,
    span: Span,
}

/// What has been gathered so far.
struct Resolver<'a> {
    inputs: &'a Inputs<'a>,
    /// Every file that was read.
    files: Vec<SourceFile>,
    /// The one that is being resolved.
    file: FileId,
    /// The layer that is being resolved.
    layer: LayerId,
    /// The group that is being expanded.
    via: Option<String>,
    /// Whether no tree has holes: a name that seems unknown may stand in one.
    complete: bool,
    /// Files that were read for `include`, `within` and `use`, so that each is read once.
    read: BTreeMap<(String, FileKind), (FileId, Tree<'a>)>,
    /// The same for groups of the language.
    standard: BTreeMap<String, (FileId, Tree<'a>)>,
    /// Whether a file is missing: a group that seems unknown may stand in it.
    failed_to_read: bool,
    /// Of the layer.
    parameters: BTreeMap<String, Bound>,
    /// Of the layer: labels, and where they were given.
    labels: BTreeMap<String, Place>,
    /// Of every layer.
    every_label: BTreeSet<String>,
    /// Trees that are private to the run by a `scratch` statement of any layer.
    scratches: Vec<String>,
    rules: Vec<Rule>,
    diagnostics: Vec<Diagnostic>,
    /// Whether there was an error, also one that is not kept.
    failed: bool,
    errors: usize,
    warnings: usize,
}

impl<'a> Resolver<'a> {
    fn new(source: &SourceFile, inputs: &'a Inputs<'a>, complete: bool) -> Self {
        Self {
            inputs,
            files: vec![source.clone()],
            file: FileId::default(),
            layer: LayerId::INNERMOST,
            via: None,
            complete,
            read: BTreeMap::new(),
            standard: BTreeMap::new(),
            failed_to_read: false,
            parameters: BTreeMap::new(),
            labels: BTreeMap::new(),
            every_label: BTreeSet::new(),
            scratches: Vec::new(),
            rules: floor::rules(),
            diagnostics: Vec::new(),
            failed: false,
            errors: 0,
            warnings: 0,
        }
    }

    /// The file that is being resolved.
    fn source(&self) -> &SourceFile {
        self.source_of(self.file)
    }

    fn source_of(&self, file: FileId) -> &SourceFile {
        self.files.get(usize::from(file.0)).unwrap_or(&EMPTY)
    }

    fn here(&self, span: Span) -> Place {
        Place {
            file: self.file,
            span,
        }
    }

    /// Reports a finding in the file that is being resolved.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.report_in(self.file, diagnostic);
    }

    fn report_in(&mut self, file: FileId, mut diagnostic: Diagnostic) {
        diagnostic.file = file;
        for Label { file: other, .. } in &mut diagnostic.secondary {
            *other = other.filter(|other| *other != file);
        }
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

    fn policy(&mut self, ast: &'a Ast, tests: &[SourceFile]) -> Option<Policy> {
        let mut layers = self.read_layers(Tree::Given(ast));
        // Every layer's, before any path is looked up: what lies beneath one is private to the run.
        for layer in &mut layers {
            self.prepare(layer);
        }
        let mut facts = Vec::new();
        for layer in &layers {
            facts.push(self.resolve_layer(layer));
        }
        if let Some(innermost) = layers.first() {
            self.enter(innermost);
        }
        let mut found = self.tests(&ast.tests);
        for source in tests {
            found.extend(self.test_file(source));
        }
        self.join(facts, found)
    }

    /// Every group of a file, for what is wrong with it.
    fn library(&mut self, tree: Tree<'a>) {
        let groups = self.read_groups(FileId::default(), &tree);
        let own = self.every_group(&tree, &groups);
        for group in &own {
            self.file = group.file;
            self.find_scratches(group.items());
        }
        for group in own {
            self.file = group.file;
            self.via = Some(group.name.clone());
            self.labels.clear();
            self.summary_of(group.items());
            self.blocks(group.items(), &mut rules::Said::default());
        }
    }

    /// The tests of a file of their own.
    fn test_file(&mut self, source: &SourceFile) -> Vec<crate::policy::Test> {
        let id = self.add_file(source.clone());
        let tree = self.parse_file(id, FileKind::Tests);
        let before = std::mem::replace(&mut self.file, id);
        let tests = self.tests(&tree.tests);
        self.file = before;
        tests
    }

    /// Keeps a file, and gives it its number.
    fn add_file(&mut self, source: SourceFile) -> FileId {
        let id = FileId(u16::try_from(self.files.len()).unwrap_or(u16::MAX));
        self.files.push(source);
        id
    }

    /// Parses a file that was read, and keeps what is wrong with it.
    fn parse_file(&mut self, id: FileId, kind: FileKind) -> Ast {
        let source = self.files.get(usize::from(id.0)).unwrap_or(&EMPTY);
        let parsed = parse_as(source, kind);
        for diagnostic in parsed.diagnostics {
            self.report_in(id, diagnostic);
        }
        let ast = parsed.ast.unwrap_or_default();
        self.complete &= ast.complete;
        ast
    }
}
