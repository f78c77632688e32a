//! The outline of a file.

use lsp_types::{DocumentSymbol, SymbolKind};
use policy_lang::Span;
use policy_lang::ast::{CredentialStatement, FileStatement, Item, ProcessStatement, WorkspaceStatement};

use crate::server::state::Place;

/// Policies, groups and tests with what is in them.
pub(crate) fn of(place: &Place<'_>) -> Vec<DocumentSymbol> {
    let ast = &place.analysis.ast;
    let mut found = Vec::new();
    for include in &ast.includes {
        found.push(symbol(
            place,
            include.span,
            include.path.span,
            SymbolKind::FILE,
            Vec::new(),
        ));
    }
    for group in &ast.groups {
        let children = items(place, &group.items);
        found.push(symbol(
            place,
            group.span,
            group.name.span,
            SymbolKind::MODULE,
            children,
        ));
    }
    if let Some(policy) = &ast.policy {
        let children = items(place, &policy.items);
        found.push(symbol(
            place,
            policy.span,
            policy.name.span,
            SymbolKind::CLASS,
            children,
        ));
    }
    for test in &ast.tests {
        let lines = test.expectations.iter();
        let lines = lines.map(|line| symbol(place, line.span, line.span, SymbolKind::EVENT, Vec::new()));
        found.push(symbol(
            place,
            test.span,
            test.name.span,
            SymbolKind::METHOD,
            lines.collect(),
        ));
    }
    found.sort_by_key(|symbol| symbol.range.start);
    found
}

fn items(place: &Place<'_>, items: &[Item]) -> Vec<DocumentSymbol> {
    let mut found = Vec::new();
    for item in items {
        let block = |span: &Span, rules: Vec<Span>| {
            let rules = rules.into_iter();
            let rules = rules.map(|rule| symbol(place, rule, rule, SymbolKind::PROPERTY, Vec::new()));
            let head = Span::new(span.start, span.start + word(place, *span));
            symbol(place, *span, head, SymbolKind::NAMESPACE, rules.collect())
        };
        found.push(match item {
            Item::Param(param) => symbol(
                place,
                param.span,
                param.name.span,
                SymbolKind::VARIABLE,
                Vec::new(),
            ),
            Item::Filesystem(span, rules) => block(span, rules.iter().map(file_statement).collect()),
            Item::Network(span, rules) => block(span, rules.iter().map(|rule| rule.span).collect()),
            Item::Credentials(span, rules) => block(span, rules.iter().map(credential_statement).collect()),
            Item::Process(span, rules) => block(span, rules.iter().map(process_statement).collect()),
            Item::Workspace(span, rules) => block(span, rules.iter().map(workspace_statement).collect()),
            Item::Audit(span, _) => block(span, Vec::new()),
            Item::Summary(span, _) | Item::Within(span, _) | Item::Use(span, _) | Item::Require(span, _) => {
                symbol(place, *span, *span, SymbolKind::CONSTANT, Vec::new())
            }
            Item::Unlock(unlock) => symbol(place, unlock.span, unlock.span, SymbolKind::KEY, Vec::new()),
        });
    }
    found
}

/// The length of the first word.
fn word(place: &Place<'_>, span: Span) -> usize {
    let text = place.slice(span);
    text.find(|next: char| !next.is_ascii_alphabetic())
        .unwrap_or(text.len())
}

fn file_statement(statement: &FileStatement) -> Span {
    match statement {
        FileStatement::Rule(rule) => rule.span,
        FileStatement::Scratch { span, .. } | FileStatement::Hide { span, .. } => *span,
    }
}

fn credential_statement(statement: &CredentialStatement) -> Span {
    match statement {
        CredentialStatement::Pass { span, .. } | CredentialStatement::Set { span, .. } => *span,
        CredentialStatement::Broker(broker) => broker.span,
    }
}

fn process_statement(statement: &ProcessStatement) -> Span {
    match statement {
        ProcessStatement::Syscall(rule) => rule.span,
        ProcessStatement::Identity { span, .. } | ProcessStatement::Limit { span, .. } => *span,
    }
}

fn workspace_statement(statement: &WorkspaceStatement) -> Span {
    match statement {
        WorkspaceStatement::From(span, _)
        | WorkspaceStatement::Mode(span, _)
        | WorkspaceStatement::Keep(span, _) => *span,
    }
}

#[allow(deprecated, reason = "the protocol's type has a field that is deprecated")]
fn symbol(
    place: &Place<'_>,
    span: Span,
    name: Span,
    kind: SymbolKind,
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    let text = place.slice(name).split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = text.chars().take(80).collect();
    DocumentSymbol {
        // The protocol forbids an empty name.
        name: if shown.is_empty() { "?".to_owned() } else { shown },
        detail: None,
        kind,
        tags: None,
        deprecated: None,
        range: place.range(span.to(name)),
        selection_range: place.range(name),
        children: (!children.is_empty()).then_some(children),
    }
}
