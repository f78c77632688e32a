//! What can stand next, from the words before the cursor.
//!
//! A file that is being typed is rarely one that can be read, so this looks at tokens and not at the tree.

use lsp_types::{CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, TextEdit};
use policy_lang::Span;

use crate::hover::word_meaning;
use crate::server::state::Place;
use crate::tokens::{Kind, Token, tokens};

mod context;
mod names;
mod next;

use context::Context;

/// A thing that can be inserted.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) label: String,
    pub(crate) kind: CompletionItemKind,
    pub(crate) detail: Option<String>,
}

impl Item {
    pub(crate) fn new(label: impl Into<String>, kind: CompletionItemKind) -> Self {
        Self {
            label: label.into(),
            kind,
            detail: None,
        }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

/// Everything that can stand at a place.
pub(crate) fn at(place: &Place<'_>) -> Vec<CompletionItem> {
    let text = place.text();
    let Some(before) = text.get(..place.offset) else {
        return Vec::new();
    };
    let mut tokens = tokens(before);
    let partial = tokens.pop_if(|last| last.span.end == before.len() && !is_whole(last, before));
    let context = Context::new(&tokens, before);
    let (start, items) = match partial {
        None => (place.offset, next::words(place, &context)),
        Some(Token {
            kind: Kind::Comment, ..
        }) => return Vec::new(),
        Some(Token {
            kind: Kind::Word,
            span,
        }) => (span.start, next::words(place, &context)),
        Some(Token {
            kind: Kind::Parameter,
            span,
        }) => (span.start + 2, names::parameters(place)),
        Some(token) => in_text(place, &context, token.inner()),
    };
    let span = Span::new(start.min(place.offset), place.offset);
    let range = place.range(span);
    items
        .into_iter()
        .map(|item| CompletionItem {
            documentation: word_meaning(&item.label).map(|meaning| Documentation::String(meaning.to_owned())),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, item.label.clone()))),
            label: item.label,
            kind: Some(item.kind),
            detail: item.detail,
            ..CompletionItem::default()
        })
        .collect()
}

/// Whether nothing can be added to the last token before the cursor.
fn is_whole(token: &Token, before: &str) -> bool {
    match token.kind {
        Kind::Mark | Kind::Text { closed: true } => true,
        Kind::Text { closed: false } | Kind::Word => false,
        Kind::Parameter => before.ends_with('}'),
        Kind::Comment => before.ends_with("*/"),
    }
}

/// Inside a string: a parameter after `${`, and else what that string names.
fn in_text(place: &Place<'_>, context: &Context<'_>, inner: Span) -> (usize, Vec<Item>) {
    let typed = place.slice(Span::new(inner.start, place.offset));
    if let Some(open) = typed
        .rfind("${")
        .filter(|open| !typed.get(*open..).unwrap_or_default().contains('}'))
    {
        return (inner.start + open + 2, names::parameters(place));
    }
    match context.last() {
        Some("include" | "within") => {
            let folder = typed.rfind('/').map_or(0, |slash| slash + 1);
            let items = names::files(place, typed.get(..folder).unwrap_or_default());
            (inner.start + folder, items)
        }
        Some("by") => (inner.start, names::labels(place)),
        _ if context.names_syscall() => (inner.start, names::syscalls()),
        _ => (place.offset, Vec::new()),
    }
}
