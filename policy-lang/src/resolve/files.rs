//! `include` and `within`: which files a policy is made of.
//!
//! Everything is bounded: each file is read once, at most [`MAX_FILES`] of them, nested at most [`MAX_DEPTH`] deep.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::rc::Rc;

use super::groups::{Group, GroupTable};
use super::parameters::Bound;
use super::{Place, Resolver};
use crate::ast::{Ast, Item, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::loader::{LoadError, MAX_DEPTH, MAX_FILES, MAX_LAYERS};
use crate::parse::FileKind;
use crate::policy::LayerId;
use crate::source::FileId;

/// A syntax tree: the caller's, or one that was read.
#[derive(Debug, Clone)]
pub(super) enum Tree<'a> {
    Given(&'a Ast),
    Read(Rc<Ast>),
}

impl Deref for Tree<'_> {
    type Target = Ast;

    fn deref(&self) -> &Ast {
        match self {
            Self::Given(ast) => ast,
            Self::Read(ast) => ast,
        }
    }
}

/// One policy of a chain of ceilings, before it is resolved.
pub(super) struct LayerTree<'a> {
    pub(super) id: LayerId,
    pub(super) file: FileId,
    pub(super) tree: Tree<'a>,
    /// Every group that its files define.
    pub(super) groups: GroupTable<'a>,
    /// The `within` that named it.
    pub(super) asked: Option<Place>,
    /// Those that it uses. Like the parameters, known when all files are read.
    pub(super) used: Vec<Group<'a>>,
    pub(super) parameters: BTreeMap<String, Bound>,
}

/// What a walk through `include` statements has seen.
struct Walk<'a> {
    /// Files whose includes are being read.
    open: Vec<String>,
    seen: BTreeSet<String>,
    groups: GroupTable<'a>,
}

impl<'a> Resolver<'a> {
    /// The policy and its ceilings, innermost first.
    pub(super) fn read_layers(&mut self, root: Tree<'a>) -> Vec<LayerTree<'a>> {
        let mut layers: Vec<LayerTree<'a>> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut next = Some((FileId::default(), root, None));
        while let Some((file, tree, asked)) = next.take() {
            let groups = self.read_groups(file, &tree);
            if let Some((asked, name)) = self.ceiling(&tree, &names, layers.len() + 1) {
                if let Some((file, tree)) = self.read(&name, FileKind::Policy, asked) {
                    next = Some((file, tree, Some(asked)));
                }
                names.push(name);
            }
            layers.push(LayerTree {
                id: LayerId(u8::try_from(layers.len()).unwrap_or(u8::MAX)),
                file,
                tree,
                groups,
                asked,
                used: Vec::new(),
                parameters: BTreeMap::new(),
            });
        }
        layers
    }

    /// The groups of a file and of those it includes.
    pub(super) fn read_groups(&mut self, file: FileId, root: &Tree<'a>) -> GroupTable<'a> {
        let mut walk = Walk {
            open: Vec::new(),
            seen: BTreeSet::new(),
            groups: GroupTable::new(),
        };
        self.define(file, root, &mut walk.groups);
        self.read_includes(file, root, &mut walk);
        self.file = file;
        walk.groups
    }

    /// The ceiling that a policy names, if it can be one.
    fn ceiling(&mut self, tree: &Tree<'_>, names: &[String], layers: usize) -> Option<(Place, String)> {
        let mut found = None;
        for item in tree.policy.iter().flat_map(|policy| &policy.items) {
            let Item::Within(span, text) = item else { continue };
            if let Some((first, _)) = found {
                self.repeated(*span, first, "a policy has one ceiling");
                continue;
            }
            found = Some((self.here(*span), text));
        }
        let (_, text) = found?;
        let asked = self.here(text.span);
        let name = self.file_name(text)?;
        if names.contains(&name) {
            self.report(
                Diagnostic::error(
                    Code::FileCycle,
                    text.span,
                    format!("`{name}` is a ceiling of itself"),
                )
                .label("this ceiling was named before in the chain")
                .help("end the chain at a policy without `within`"),
            );
            return None;
        }
        if layers >= MAX_LAYERS {
            self.report(
                Diagnostic::error(
                    Code::TooManyFiles,
                    text.span,
                    format!("a policy has at most {} ceilings", MAX_LAYERS - 1),
                )
                .label("one ceiling too many")
                .help("write the rules of neighbouring ceilings into one"),
            );
            return None;
        }
        Some((asked, name))
    }

    fn read_includes(&mut self, file: FileId, tree: &Tree<'a>, walk: &mut Walk<'a>) {
        let mut here = BTreeSet::new();
        for include in &tree.includes {
            self.file = file;
            let Some(name) = self.file_name(&include.path) else {
                continue;
            };
            let at = include.path.span;
            if walk.open.contains(&name) {
                let way = walk
                    .open
                    .iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>();
                self.report(
                    Diagnostic::error(Code::FileCycle, at, format!("`{name}` includes itself"))
                        .label("this file is being read already")
                        .note(format!("the way here: {}", way.join(" includes ")))
                        .help("remove this `include`; the groups of every file that is read are known everywhere"),
                );
                continue;
            }
            if !here.insert(name.clone()) {
                self.report(
                    Diagnostic::error(Code::Repeated, at, format!("`{name}` is included twice"))
                        .label("this is the second")
                        .help("remove it")
                        .suggest(include.span, ""),
                );
                continue;
            }
            if walk.open.len() >= MAX_DEPTH {
                self.report(
                    Diagnostic::error(
                        Code::TooManyFiles,
                        at,
                        format!("`include` is nested deeper than {MAX_DEPTH} files"),
                    )
                    .label("one level too many")
                    .help("include this file from the policy instead"),
                );
                continue;
            }
            if !walk.seen.insert(name.clone()) {
                continue;
            }
            let asked = self.here(at);
            let Some((id, tree)) = self.read(&name, FileKind::Groups, asked) else {
                continue;
            };
            self.define(id, &tree, &mut walk.groups);
            walk.open.push(name);
            self.read_includes(id, &tree, walk);
            walk.open.pop();
        }
    }

    /// A file of the policy root, from its first reading.
    fn read(&mut self, name: &str, kind: FileKind, asked: Place) -> Option<(FileId, Tree<'a>)> {
        let key = (name.to_owned(), kind);
        if let Some(found) = self.read.get(&key) {
            return Some(found.clone());
        }
        if self.read.len() >= MAX_FILES {
            if std::mem::replace(&mut self.failed_to_read, true) {
                return None;
            }
            self.report_in(
                asked.file,
                Diagnostic::error(
                    Code::TooManyFiles,
                    asked.span,
                    format!("a policy is made of at most {MAX_FILES} files"),
                )
                .label("one file too many")
                .help("put groups that are used together into one file"),
            );
            return None;
        }
        let source = match self.inputs.files.load(name) {
            Ok(source) => source,
            Err(error) => {
                self.failed_to_read = true;
                self.report_in(asked.file, refused(name, &error, asked));
                return None;
            }
        };
        let id = self.add_file(source);
        let tree = Tree::Read(Rc::new(self.parse_file(id, kind)));
        self.read.insert(key, (id, tree.clone()));
        Some((id, tree))
    }

    /// The name of a file beneath the policy root, normalised.
    fn file_name(&mut self, text: &Text) -> Option<String> {
        let written = self.fixed(text, "the name of a file")?;
        let mistake = if written.starts_with('/') || written.starts_with('~') {
            Some((
                "files are named from the policy root on",
                "write the path from the policy root, without a `/` before it; `--root` names another root",
            ))
        } else if written.split('/').any(|part| part == "..") {
            Some((
                "a file name cannot contain `..`",
                "write the path from the policy root on; what lies outside it cannot be read",
            ))
        } else if written.ends_with('/') || written.split('/').all(|part| matches!(part, "" | ".")) {
            Some(("this names a directory", "name the file in it"))
        } else {
            None
        };
        if let Some((message, help)) = mistake {
            self.report(
                Diagnostic::error(Code::BadFileName, text.span, message)
                    .label("not a file of the policy root")
                    .help(help),
            );
            return None;
        }
        let parts: Vec<&str> = written
            .split('/')
            .filter(|part| !matches!(*part, "" | "."))
            .collect();
        Some(parts.join("/"))
    }
}

fn refused(name: &str, error: &LoadError, asked: Place) -> Diagnostic {
    let (code, help) = match error {
        LoadError::Missing => (
            Code::UnreadableFile,
            "names count from the policy root: the directory of the policy, or the nearest one above it with a \
             `.remit-root`, or what `--root` says",
        ),
        LoadError::Outside => (
            Code::FileOutsideRoot,
            "put the file itself beneath the policy root, so that a review of the root is a review of the policy",
        ),
        LoadError::NotAFile => (Code::UnreadableFile, "name a regular file"),
        LoadError::NoRoot => (
            Code::UnreadableFile,
            "a policy that is not read from a file can only use the groups of the language",
        ),
        LoadError::Unreadable(_) => (Code::UnreadableFile, "make it readable for who reads the policy"),
    };
    Diagnostic::error(
        code,
        asked.span,
        format!("`{}` cannot be read: {error}", name.escape_debug()),
    )
    .label("asked for here")
    .help(help)
}
