//! `group` and `use`: named rules, and where they are used.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::files::Tree;
use super::{Place, Resolver};
use crate::ast::{GroupBlock, Item, Name};
use crate::diagnostic::{Code, Diagnostic};
use crate::loader::{MAX_DEPTH, STD_GROUPS, std_group};
use crate::parse::FileKind;
use crate::source::FileId;
use crate::suggest::nearest;

/// Groups by name.
pub(super) type GroupTable<'a> = BTreeMap<String, Group<'a>>;

/// A group that is defined somewhere.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    pub(super) name: String,
    pub(super) file: FileId,
    tree: Tree<'a>,
    index: usize,
}

impl Group<'_> {
    fn block(&self) -> Option<&GroupBlock> {
        self.tree.groups.get(self.index)
    }

    pub(super) fn items(&self) -> &[Item] {
        self.block().map_or(&[], |group| &group.items)
    }
}

/// What a walk through `use` statements has seen.
struct Walk<'a> {
    /// Groups whose own `use` statements are being followed.
    open: Vec<String>,
    seen: BTreeSet<String>,
    found: Vec<Group<'a>>,
}

impl<'a> Resolver<'a> {
    /// Adds a file's groups to a table.
    pub(super) fn define(&mut self, file: FileId, tree: &Tree<'a>, groups: &mut GroupTable<'a>) {
        let before = std::mem::replace(&mut self.file, file);
        for (index, block) in tree.groups.iter().enumerate() {
            let name = block.name.text.clone();
            // Without a name it was refused by the parser.
            if name.is_empty() {
                continue;
            }
            if name == "std" || name.starts_with("std::") {
                self.report(
                    Diagnostic::error(
                        Code::GroupName,
                        block.name.span,
                        "groups under `std::` belong to the language",
                    )
                    .label("a reserved name")
                    .help("give it a name of your own, as in `org::build`"),
                );
                continue;
            }
            if let Some(first) = groups.get(&name) {
                let at = first.block().map_or(block.name.span, |first| first.name.span);
                let found = Diagnostic::error(
                    Code::GroupName,
                    block.name.span,
                    format!("the group `{name}` is defined twice"),
                )
                .label("this is the second")
                .also_in(first.file, at, "the first")
                .help("rename one of them, or remove it");
                self.report(found);
                continue;
            }
            groups.insert(
                name.clone(),
                Group {
                    name,
                    file,
                    tree: tree.clone(),
                    index,
                },
            );
        }
        self.file = before;
    }

    /// The groups that statements use, and those that these use, each once. The first used comes first.
    pub(super) fn used(&mut self, items: &[Item], groups: &GroupTable<'a>) -> Vec<Group<'a>> {
        let mut walk = Walk {
            open: Vec::new(),
            seen: BTreeSet::new(),
            found: Vec::new(),
        };
        self.follow(items, groups, &mut walk);
        walk.found
    }

    /// The groups that a file defines, with those that they use.
    pub(super) fn every_group(&mut self, tree: &Tree<'a>, groups: &GroupTable<'a>) -> Vec<Group<'a>> {
        let mut walk = Walk {
            open: Vec::new(),
            seen: BTreeSet::new(),
            found: Vec::new(),
        };
        for block in &tree.groups {
            if groups.contains_key(&block.name.text) {
                self.follow_one(&block.name, groups, &mut walk);
            }
        }
        walk.found
    }

    fn follow(&mut self, items: &[Item], groups: &GroupTable<'a>, walk: &mut Walk<'a>) {
        let mut here: BTreeMap<&str, Place> = BTreeMap::new();
        for item in items {
            let Item::Use(_, names) = item else { continue };
            for name in names {
                if let Some(first) = here.insert(&name.text, self.here(name.span)) {
                    self.repeated(name.span, first, format!("`{}` is used already", name.text));
                    continue;
                }
                self.follow_one(name, groups, walk);
            }
        }
    }

    fn follow_one(&mut self, name: &Name, groups: &GroupTable<'a>, walk: &mut Walk<'a>) {
        if walk.open.contains(&name.text) {
            self.report(
                Diagnostic::error(
                    Code::GroupCycle,
                    name.span,
                    format!("the group `{}` uses itself", name.text),
                )
                .label("this group is being used already")
                .note(format!("the way here: {}", walk.open.join(", then ")))
                .help("remove this `use`"),
            );
            return;
        }
        if walk.open.len() >= MAX_DEPTH {
            self.report(
                Diagnostic::error(
                    Code::TooManyFiles,
                    name.span,
                    format!("groups use each other deeper than {MAX_DEPTH} levels"),
                )
                .label("one level too many")
                .help("use this group from the policy instead"),
            );
            return;
        }
        if !walk.seen.insert(name.text.clone()) {
            return;
        }
        let Some(group) = groups
            .get(&name.text)
            .cloned()
            .or_else(|| self.standard(&name.text))
        else {
            self.unknown_group(name, groups);
            return;
        };
        walk.found.push(group.clone());
        walk.open.push(group.name.clone());
        let before = std::mem::replace(&mut self.file, group.file);
        self.follow(group.items(), groups, walk);
        self.file = before;
        walk.open.pop();
    }

    /// A group of the language.
    fn standard(&mut self, name: &str) -> Option<Group<'a>> {
        let own = name.strip_prefix("std::")?;
        let (file, tree) = match self.standard.get(name) {
            Some(found) => found.clone(),
            None => {
                let id = self.add_file(std_group(own)?);
                let tree = Tree::Read(Rc::new(self.parse_file(id, FileKind::Groups)));
                self.standard.insert(name.to_owned(), (id, tree.clone()));
                (id, tree)
            }
        };
        let index = tree.groups.iter().position(|group| group.name.text == name)?;
        Some(Group {
            name: name.to_owned(),
            file,
            tree,
            index,
        })
    }

    fn unknown_group(&mut self, name: &Name, groups: &GroupTable<'_>) {
        // Its definition may stand in a part that could not be read, or in a file that could not.
        if !self.complete || self.failed_to_read {
            self.failed = true;
            return;
        }
        let standard: Vec<String> = STD_GROUPS
            .iter()
            .map(|(name, _)| format!("std::{name}"))
            .collect();
        let known = groups.keys().map(String::as_str);
        let candidates: Vec<&str> = known.chain(standard.iter().map(String::as_str)).collect();
        let bare = candidates
            .iter()
            .find(|known| known.rsplit("::").next() == Some(name.text.as_str()));
        let near = bare
            .copied()
            .or_else(|| nearest(&name.text, candidates.iter().copied()));
        let found = Diagnostic::error(
            Code::UnknownRuleGroup,
            name.span,
            format!("no group of rules is called `{}`", name.text),
        );
        let found = match near {
            Some(near) => found
                .label(format!("did you mean `{near}`?"))
                .help(format!("write `use {near}`"))
                .suggest(name.span, near),
            None => found.label("not defined in this policy's files").help(format!(
                "define it with `group`, `include` the file that does, or use one of the language: {}",
                standard.join(", ")
            )),
        };
        self.report(found);
    }
}
