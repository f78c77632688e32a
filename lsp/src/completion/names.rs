//! Names that exist: in the file, in the policy root, in the language, in the kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use lsp_types::CompletionItemKind;
use policy_lang::floor;
use policy_lang::loader::STD_GROUPS;
use policy_lang::source::FileId;
use policy_lang::syscall::table;

use super::Item;
use crate::definition;
use crate::server::state::Place;
use crate::tokens::{Kind, tokens};

/// More files of a folder are not offered.
const MOST_FILES: usize = 500;

/// Parameters, also those of a file that cannot be read yet.
pub(super) fn parameters(place: &Place<'_>) -> Vec<Item> {
    let text = place.text();
    let words: Vec<&str> = tokens(text)
        .iter()
        .filter(|token| token.kind != Kind::Comment)
        .map(|token| token.text(text))
        .collect();
    let mut seen = BTreeSet::new();
    words
        .windows(4)
        .filter_map(|window| match window {
            ["param", name, ":", kind] if seen.insert(*name) => {
                Some(Item::new(*name, CompletionItemKind::VARIABLE).detail(*kind))
            }
            _ => None,
        })
        .collect()
}

/// Groups of the files that were read, and those of the language.
pub(super) fn groups(place: &Place<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    for (index, file) in place.analysis.files.iter().enumerate() {
        let Ok(id) = u16::try_from(index) else { break };
        // Those of the language come below, used or not.
        let Some(ast) = definition::tree(place, FileId(id)).filter(|_| !crate::analysis::is_standard(file))
        else {
            continue;
        };
        for group in ast.groups.iter().filter(|group| !group.name.text.is_empty()) {
            let item = Item::new(group.name.text.clone(), CompletionItemKind::MODULE);
            items.push(match definition::summary(&group.items) {
                Some(summary) => item.detail(summary),
                None => item,
            });
        }
    }
    let standard = STD_GROUPS
        .iter()
        .map(|(name, _)| Item::new(format!("std::{name}"), CompletionItemKind::MODULE));
    items.extend(standard);
    items
}

/// Parts of the floor that can be unlocked.
pub(super) fn floor() -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for rule in floor::rules() {
        let name = rule
            .label
            .as_deref()
            .and_then(|label| label.strip_prefix("built-in:"));
        if let Some(name) = name.filter(|name| !items.iter().any(|item| item.label == *name)) {
            let item = Item::new(name, CompletionItemKind::CONSTANT);
            items.push(match &rule.because {
                Some(because) => item.detail(because.clone()),
                None => item,
            });
        }
    }
    items
}

/// Labels of the policy's rules, also those of a file that cannot be read yet.
pub(super) fn labels(place: &Place<'_>) -> Vec<Item> {
    let rules = place.analysis.policy.iter().flat_map(|policy| &policy.rules);
    let mut found: BTreeMap<String, Option<String>> = rules
        .filter_map(|rule| Some((rule.label.clone()?, Some(rule.text.clone()))))
        .collect();
    let text = place.text();
    for pair in tokens(text).windows(2) {
        if let [word, label] = pair
            && word.text(text) == "label"
            && label.kind == (Kind::Text { closed: true })
        {
            found.entry(place.slice(label.inner()).to_owned()).or_default();
        }
    }
    found
        .into_iter()
        .map(|(label, rule)| Item {
            detail: rule,
            ..Item::new(label, CompletionItemKind::CONSTANT)
        })
        .collect()
}

pub(super) fn syscalls() -> Vec<Item> {
    table::names()
        .map(|name| Item::new(name, CompletionItemKind::FUNCTION))
        .collect()
}

pub(super) fn syscall_groups() -> Vec<Item> {
    let count = |name: &str| table::group(name).map_or(0, |members| members.len());
    table::group_names()
        .map(|name| {
            Item::new(name, CompletionItemKind::MODULE).detail(format!("{} system calls", count(name)))
        })
        .collect()
}

/// The arguments of a call.
pub(super) fn arguments(call: &str) -> Vec<Item> {
    let named = table::argument_names(call).map(str::to_owned);
    let numbered = (0..6).map(|index| format!("arg{index}"));
    named
        .chain(numbered)
        .map(|name| Item::new(name, CompletionItemKind::FIELD))
        .collect()
}

pub(super) fn constants() -> Vec<Item> {
    table::constant_names()
        .map(|name| {
            let value = table::constant(name).unwrap_or_default();
            Item::new(name, CompletionItemKind::CONSTANT).detail(format!("{value:#x}"))
        })
        .collect()
}

/// Folders and policy files beneath a folder of the policy root.
pub(super) fn files(place: &Place<'_>, folder: &str) -> Vec<Item> {
    let Some(root) = &place.analysis.root else {
        return Vec::new();
    };
    // As in the language: nothing outside the root.
    if folder.starts_with('/') || folder.split('/').any(|part| part == "..") {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(root.join(folder)) else {
        return Vec::new();
    };
    let mut items: Vec<Item> = entries
        .take(MOST_FILES)
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let kind = entry.file_type().ok()?;
            match name {
                name if name.starts_with('.') => None,
                name if kind.is_dir() => Some(Item::new(format!("{name}/"), CompletionItemKind::FOLDER)),
                name if kind.is_file() && name.ends_with(".remit") => {
                    Some(Item::new(name, CompletionItemKind::FILE))
                }
                _ => None,
            }
        })
        .collect();
    items.sort_by(|one, two| one.label.cmp(&two.label));
    items
}
