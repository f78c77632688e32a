//! Parameters: every use, and another name for all of them.

use std::collections::HashMap;

use lsp_types::{Location, PrepareRenameResponse, TextEdit, WorkspaceEdit};
use policy_lang::Span;
use policy_lang::ast::Item;
use policy_lang::source::FileId;

use crate::server::requests::Refusal;
use crate::server::state::Place;
use crate::tokens::parameters;

/// The name of the parameter at a place: where it is declared, or inside `${…}`.
pub(crate) fn parameter_at(place: &Place<'_>) -> Option<Span> {
    let touches = |span: &Span| span.start <= place.offset && place.offset <= span.end;
    let uses = parameters(place.text());
    uses.into_iter().chain(declarations(place)).find(touches)
}

fn declarations<'a>(place: &Place<'a>) -> impl Iterator<Item = Span> + use<'a> {
    let analysis = place.analysis;
    let items = analysis.ast.policy.iter().flat_map(|policy| &policy.items);
    items.filter_map(|item| match item {
        Item::Param(param) => Some(param.name.span),
        _ => None,
    })
}

/// Where a parameter is declared.
pub(crate) fn declaration(place: &Place<'_>, name: &str) -> Option<Span> {
    declarations(place).find(|span| place.slice(*span) == name)
}

/// Declaration and uses, in the order of the text.
fn occurrences(place: &Place<'_>, name: &str) -> Vec<Span> {
    let all = declarations(place).chain(parameters(place.text()));
    let mut found: Vec<Span> = all.filter(|span| place.slice(*span) == name).collect();
    found.sort();
    found
}

/// Every place that a parameter is named at.
pub(crate) fn references(place: &Place<'_>) -> Vec<Location> {
    let Some(name) = parameter_at(place) else {
        return Vec::new();
    };
    occurrences(place, place.slice(name))
        .into_iter()
        .filter_map(|span| place.location(place.analysis.own, span))
        .collect()
}

/// What would be renamed, if it can be.
pub(crate) fn prepare(place: &Place<'_>) -> Option<PrepareRenameResponse> {
    let name = parameter_at(place)?;
    declaration(place, place.slice(name))?;
    Some(PrepareRenameResponse::RangeWithPlaceholder {
        range: place.range(name),
        placeholder: place.slice(name).to_owned(),
    })
}

/// Gives a parameter another name, wherever the file names it.
#[allow(
    clippy::mutable_key_type,
    reason = "the protocol's type; an address caches nothing that its hash looks at"
)]
pub(crate) fn rename(place: &Place<'_>, new: &str) -> Result<WorkspaceEdit, Refusal> {
    let name = parameter_at(place).ok_or_else(|| Refusal::failed("there is no parameter here"))?;
    let name = place.slice(name);
    if declaration(place, name).is_none() {
        return Err(Refusal::failed(format!("`{name}` is not declared in this file")));
    }
    if !is_name(new) {
        return Err(Refusal::failed(format!(
            "`{new}` is no name: letters, digits, `_` and `-` after a letter"
        )));
    }
    if new != name && declaration(place, new).is_some() {
        return Err(Refusal::failed(format!("there is a parameter `{new}` already")));
    }
    if let Some(file) = shared_use(place, name) {
        return Err(Refusal::failed(format!(
            "`{name}` is also used in `{file}`, whose groups other policies may use too"
        )));
    }
    let edits = occurrences(place, name).into_iter();
    let edits = edits.map(|span| TextEdit::new(place.range(span), new.to_owned()));
    Ok(WorkspaceEdit::new(HashMap::from([(
        place.document.uri.clone(),
        edits.collect(),
    )])))
}

/// Another file of the policy, not a ceiling, that names the parameter.
fn shared_use(place: &Place<'_>, name: &str) -> Option<String> {
    let files = place.analysis.files.iter().enumerate();
    files
        .filter(|(index, _)| *index != usize::from(place.analysis.own.0))
        .find(|(index, file)| {
            let id = FileId(u16::try_from(*index).unwrap_or(u16::MAX));
            // A ceiling has parameters of its own.
            let is_policy = crate::definition::tree(place, id).is_some_and(|ast| ast.policy.is_some());
            let names = |span: &Span| file.slice(*span) == name;
            !is_policy && parameters(&file.text).iter().any(names)
        })
        .map(|(_, file)| file.name.clone())
}

fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|next| next.is_ascii_alphanumeric() || matches!(next, '_' | '-'))
}
