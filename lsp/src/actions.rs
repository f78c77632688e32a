//! Quick fixes: the replacement that a finding proposes.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Range, TextEdit, WorkspaceEdit,
};
use policy_lang::diagnostic::Suggestion;

use crate::diagnostics::converted;
use crate::server::state::Place;

/// The fixes of findings that touch the range.
pub(crate) fn of(place: &Place<'_>, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let wanted = params.context.only.as_deref();
    let quick_fixes = |kinds: &[CodeActionKind]| {
        // An empty kind is the parent of every other.
        kinds.iter().any(|kind| matches!(kind.as_str(), "" | "quickfix"))
    };
    if !wanted.is_none_or(quick_fixes) {
        return Vec::new();
    }
    let own = place
        .analysis
        .diagnostics
        .iter()
        .filter(|found| found.file == place.analysis.own);
    own.filter_map(|found| {
        let suggestion = found.suggestion.as_ref()?;
        let range = place.range(found.span);
        touches(range, params.range).then(|| {
            CodeActionOrCommand::CodeAction(CodeAction {
                title: title(place, suggestion),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![converted(place, found, range)]),
                edit: Some(edit(place, suggestion)),
                is_preferred: Some(true),
                ..CodeAction::default()
            })
        })
    })
    .collect()
}

fn touches(one: Range, other: Range) -> bool {
    one.start <= other.end && other.start <= one.end
}

fn title(place: &Place<'_>, suggestion: &Suggestion) -> String {
    let there = place.slice(suggestion.span);
    let replacement = suggestion.replacement.trim();
    match (there.is_empty(), replacement.is_empty()) {
        (true, _) => format!("Insert `{replacement}`"),
        (false, true) => format!("Remove `{there}`"),
        (false, false) => format!("Replace `{there}` by `{replacement}`"),
    }
}

#[allow(
    clippy::mutable_key_type,
    reason = "the protocol's type; an address caches nothing that its hash looks at"
)]
fn edit(place: &Place<'_>, suggestion: &Suggestion) -> WorkspaceEdit {
    let edit = TextEdit::new(place.range(suggestion.span), suggestion.replacement.clone());
    WorkspaceEdit::new(HashMap::from([(place.document.uri.clone(), vec![edit])]))
}
