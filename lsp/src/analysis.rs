//! A policy with the files that it names, as they would be if every open buffer were saved.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use compiler::Plan;
use lsp_types::Uri;
use policy_lang::ast::Ast;
use policy_lang::diagnostic::Code;
use policy_lang::host::{HostPaths, root_of};
use policy_lang::loader::NoFiles;
use policy_lang::parse::FileKind;
use policy_lang::policy::{Origin, Policy, Rule};
use policy_lang::source::FileId;
use policy_lang::{Diagnostic, Inputs, SourceFile, Span};

use crate::documents::{Document, Documents};
use crate::uri;

mod overlay;
mod parameters;
mod refused;
mod settings;

pub(crate) use overlay::Overlay;
pub(crate) use settings::Settings;

/// Begins the names of files that come with the language.
const STANDARD: &str = "std/";

/// What is known of an open buffer.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// Every file that was read: [`FileId`] is an index here.
    pub(crate) files: Vec<SourceFile>,
    /// The buffer itself among them.
    pub(crate) own: FileId,
    /// What its text says, as far as it can be read.
    pub(crate) ast: Ast,
    /// In the buffer and in the files that it names.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// If there is no error.
    pub(crate) policy: Option<Policy>,
    /// The directory that `include` and `within` count from.
    pub(crate) root: Option<PathBuf>,
    /// What the policy becomes; for a file of groups it is made when somebody asks.
    plan: OnceCell<Option<Plan>>,
}

impl Analysis {
    pub(crate) fn new(document: &Document, documents: &Documents, settings: &Settings) -> Self {
        let source = SourceFile::new(name(document), document.text.clone());
        let parsed = policy_lang::parse::parse_as(&source, FileKind::Any);
        let ast = parsed.ast.unwrap_or_default();
        let mut analysis = Self {
            files: vec![source],
            own: FileId::default(),
            diagnostics: parsed.diagnostics,
            policy: None,
            root: document.path.as_deref().map(|path| settings.root(path)),
            plan: OnceCell::new(),
            ast,
        };
        if analysis.ast.policy.is_some() {
            analysis.resolve(documents, settings, document);
        } else if !analysis.ast.groups.is_empty() && analysis.ast.complete {
            analysis.resolve_groups(documents, settings, document);
        }
        analysis
    }

    fn resolve(&mut self, documents: &Documents, settings: &Settings, document: &Document) {
        let Some(source) = self.files.first().cloned() else {
            return;
        };
        let overlay = self.root.as_deref().map(|root| Overlay::new(root, documents));
        let directory = settings.working_directory(document.path.as_deref());
        let inputs = Inputs {
            parameters: parameters::placeholders(&self.ast, settings),
            home: settings.home(),
            working_directory: directory,
            paths: &HostPaths,
            files: match &overlay {
                Some(overlay) => overlay,
                None => &NoFiles,
            },
        };
        let resolved = policy_lang::check(&source, &inputs);
        self.diagnostics = resolved.diagnostics;
        self.files = resolved.files;
        self.policy = resolved.policy;
        let Some(policy) = &self.policy else { return };
        let options = compiler::check::Options {
            files: &self.files,
            home: &inputs.home,
            caller_is_root: false,
        };
        self.diagnostics.extend(compiler::check::check(policy, &options));
        match compiler::lower(policy) {
            Ok(plan) => self.plan = OnceCell::from(Some(plan)),
            Err(errors) => {
                let refused = errors.iter().map(|error| refused::diagnostic(error, &self.files));
                self.diagnostics.extend(refused);
                self.plan = OnceCell::from(None);
            }
        }
        self.diagnostics
            .sort_by_key(|found| (found.file, found.span, found.code));
    }

    /// A file of groups has no meaning of its own. It gets one from a policy that uses them all.
    fn resolve_groups(&mut self, documents: &Documents, settings: &Settings, document: &Document) {
        let (Some(root), Some(path)) = (&self.root, &document.path) else {
            return;
        };
        let Ok(relative) = path.strip_prefix(root) else {
            return;
        };
        let Some(relative) = relative.to_str() else { return };
        let names: Vec<&str> = self
            .ast
            .groups
            .iter()
            .map(|group| group.name.text.as_str())
            .collect();
        let user = format!(
            "include {}\npolicy \"groups\" {{ use {} }}",
            policy_lang::resolve::quoted(relative),
            names.join(", ")
        );
        let source = SourceFile::new("", user);
        let overlay = Overlay::new(root, documents);
        let inputs = Inputs {
            parameters: std::collections::BTreeMap::new(),
            home: settings.home(),
            working_directory: settings.working_directory(Some(path)),
            paths: &HostPaths,
            files: &overlay,
        };
        let resolved = policy_lang::check(&source, &inputs);
        let own = self.files.first().map(|own| own.name.clone()).unwrap_or_default();
        let Some(position) = resolved.files.iter().position(|file| file.name == own) else {
            return;
        };
        self.own = FileId(u16::try_from(position).unwrap_or(u16::MAX));
        // The parameters of a group are those of the policies that use it.
        let unknowable = |code| matches!(code, Code::UnknownParameter | Code::MissingParameter);
        self.diagnostics = resolved
            .diagnostics
            .into_iter()
            .filter(|found| found.file != FileId::default() && !unknowable(found.code))
            .collect();
        self.files = resolved.files;
        self.policy = resolved.policy;
    }

    pub(crate) fn source(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(usize::from(file.0))
    }

    pub(crate) fn own_source(&self) -> Option<&SourceFile> {
        self.source(self.own)
    }

    /// Where a file is kept. Those of the language are kept nowhere.
    pub(crate) fn path(&self, file: FileId) -> Option<PathBuf> {
        let name = &self.source(file)?.name;
        name.starts_with('/').then(|| PathBuf::from(name))
    }

    /// The address of a file: the buffer's own as the client wrote it.
    pub(crate) fn uri(&self, file: FileId, documents: &Documents, own: &Uri) -> Option<Uri> {
        if file == self.own {
            return Some(own.clone());
        }
        let path = self.path(file)?;
        match documents.at(&path) {
            Some(open) => Some(open.uri.clone()),
            None => uri::of(&path),
        }
    }

    /// Whether a change of this file can change what is known.
    pub(crate) fn depends_on(&self, path: &Path) -> bool {
        (0..self.files.len())
            .filter_map(|index| u16::try_from(index).ok())
            .any(|index| self.path(FileId(index)).is_some_and(|found| found == path))
    }

    /// What the policy becomes, if it becomes something.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        let plan = self
            .plan
            .get_or_init(|| compiler::lower(self.policy.as_ref()?).ok());
        plan.as_ref()
    }

    /// Rules that a stretch of the buffer wrote.
    pub(crate) fn rules_in(&self, span: Span) -> Vec<&Rule> {
        let (Some(source), Some(policy)) = (self.own_source(), &self.policy) else {
            return Vec::new();
        };
        let (first, last) = (source.position(span.start), source.position(span.end));
        let inside = |rule: &&Rule| match &rule.origin {
            Origin::Source { file, line, column } => {
                *file == source.name && first <= (*line, *column) && (*line, *column) < last
            }
            Origin::BuiltIn => false,
        };
        policy.rules.iter().filter(inside).collect()
    }
}

/// How a buffer is called among the files of a policy: its path, or what the client calls it.
fn name(document: &Document) -> String {
    match document.path.as_deref().and_then(Path::to_str) {
        Some(path) => path.to_owned(),
        None => document.uri.as_str().to_owned(),
    }
}

/// Whether a file comes with the language.
pub(crate) fn is_standard(source: &SourceFile) -> bool {
    source.name.starts_with(STANDARD)
}

impl Settings {
    /// The policy root of a file.
    fn root(&self, path: &Path) -> PathBuf {
        // The path of a buffer leads through no link, so neither may this.
        let set = self
            .root
            .as_ref()
            .and_then(|root| std::fs::canonicalize(root).ok());
        match set {
            Some(root) if path.starts_with(&root) => root,
            _ => root_of(path),
        }
    }
}
