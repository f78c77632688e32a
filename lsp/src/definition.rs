//! Where a name was introduced: parameters, labels, groups, files.

use lsp_types::{Location, Uri};
use policy_lang::Span;
use policy_lang::ast::{Ast, Item};
use policy_lang::loader::std_group;
use policy_lang::parse::FileKind;
use policy_lang::policy::Origin;
use policy_lang::source::FileId;

use crate::rename;
use crate::server::state::Place;
use crate::tokens::{Kind, Token, tokens};

/// The scheme of files that come with the language.
const SCHEME: &str = "remit-std:///";

/// Where the name at a place was introduced.
pub(crate) fn at(place: &Place<'_>) -> Option<Location> {
    if let Some(name) = rename::parameter_at(place) {
        let declared = rename::declaration(place, place.slice(name))?;
        return place.location(place.analysis.own, declared);
    }
    let tokens = tokens(place.text());
    let index = tokens
        .iter()
        .position(|token| token.span.start <= place.offset && place.offset <= token.span.end)?;
    let (before, token) = (tokens.get(..index)?, tokens.get(index)?);
    let previous = before.iter().rev().find(|token| token.kind != Kind::Comment)?;
    match (token.kind, previous.text(place.text())) {
        (Kind::Text { .. }, "include" | "within") => file(place, place.slice(token.inner())),
        (Kind::Text { .. }, "by") => label(place, place.slice(token.inner())),
        (Kind::Word, _) if follows("use", before, place.text()) => group(place, token.text(place.text())),
        _ => None,
    }
}

/// Whether what follows some tokens is one of the names after a word that takes a list of them.
pub(crate) fn follows(word: &str, before: &[Token], text: &str) -> bool {
    let mut back = before.iter().rev().filter(|token| token.kind != Kind::Comment);
    loop {
        match back.next().map(|token| token.text(text)) {
            Some(found) if found == word => return true,
            // A comma stands behind another name.
            Some(",") if back.next().is_some_and(|name| name.kind == Kind::Word) => {}
            _ => return false,
        }
    }
}

fn file(place: &Place<'_>, name: &str) -> Option<Location> {
    let path = place.analysis.root.as_deref()?.join(name);
    let index = place
        .analysis
        .files
        .iter()
        .position(|file| std::path::Path::new(&file.name) == path)?;
    place.location(FileId(u16::try_from(index).ok()?), Span::new(0, 0))
}

fn label(place: &Place<'_>, label: &str) -> Option<Location> {
    let policy = place.analysis.policy.as_ref()?;
    let rule = policy
        .rules
        .iter()
        .find(|rule| rule.label.as_deref() == Some(label))?;
    let Origin::Source { file, line, column } = &rule.origin else {
        return None;
    };
    let index = place
        .analysis
        .files
        .iter()
        .position(|source| source.name == *file)?;
    let start = place.analysis.files.get(index)?.offset(*line, *column)?;
    let file = FileId(u16::try_from(index).ok()?);
    match place.location(file, Span::new(start, start)) {
        Some(location) => Some(location),
        None => standard(place, file, Span::new(start, start)),
    }
}

/// A group's definition: in a file that was read, or in the language.
fn group(place: &Place<'_>, name: &str) -> Option<Location> {
    let (file, span) = group_name(place, name)?;
    place.location(file, span).or_else(|| standard(place, file, span))
}

/// The file of a group, and where its name stands in it.
pub(crate) fn group_name(place: &Place<'_>, name: &str) -> Option<(FileId, Span)> {
    place.analysis.files.iter().enumerate().find_map(|(index, file)| {
        let ast = policy_lang::parse::parse_as(file, FileKind::Any).ast?;
        let group = ast.groups.iter().find(|group| group.name.text == name)?;
        Some((FileId(u16::try_from(index).ok()?), group.name.span))
    })
}

/// An address that the client asks us for, if it can.
fn standard(place: &Place<'_>, file: FileId, span: Span) -> Option<Location> {
    let source = place.analysis.source(file)?;
    let name = source
        .name
        .strip_prefix("std/")
        .filter(|_| place.settings.standard_groups)?;
    let uri: Uri = format!("{SCHEME}{name}").parse().ok()?;
    Some(Location::new(uri, place.range_in(&source.text, span)))
}

/// The text of a file that comes with the language, by its address.
pub(crate) fn standard_text(address: &str) -> Option<String> {
    let name = address.strip_prefix(SCHEME)?.strip_suffix(".remit")?;
    std_group(name).map(|source| source.text)
}

/// The summary of a block's statements.
pub(crate) fn summary(items: &[Item]) -> Option<&str> {
    items.iter().find_map(|item| match item {
        Item::Summary(_, text) => text.literal(),
        _ => None,
    })
}

/// The tree of a file that was read.
pub(crate) fn tree(place: &Place<'_>, file: FileId) -> Option<Ast> {
    policy_lang::parse::parse_as(place.analysis.source(file)?, FileKind::Any).ast
}
