//! What something means, in words.
//!
//! What a rule is enforced by comes from the compiler's own lowering, so it is what a run would do.

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use policy_lang::Span;
use policy_lang::ast::{Item, Param};
use policy_lang::policy::Rule;
use policy_lang::syscall::{Architecture, table};

use crate::definition;
use crate::rename;
use crate::server::state::Place;
use crate::tokens::{Kind, Token, tokens};

mod mechanism;
mod rule;
mod words;

pub(crate) use words::meaning as word_meaning;

/// More names than these are counted.
const MOST_NAMES: usize = 120;

/// What is under the cursor, and the rule that it is part of.
pub(crate) fn at(place: &Place<'_>) -> Option<Hover> {
    let tokens = tokens(place.text());
    let touches = |token: &&Token| token.span.start <= place.offset && place.offset < token.span.end;
    let token = tokens
        .iter()
        .find(touches)
        .filter(|token| token.kind != Kind::Comment)?;
    let (span, mut parts) = match rename::parameter_at(place) {
        Some(name) => (name, parameter(place, name).into_iter().collect::<Vec<_>>()),
        None => (token.span, name(place, &tokens, token).into_iter().collect()),
    };
    let statement = rule::statement_at(place);
    if let Some(statement) = statement {
        parts.extend(rules(place, statement));
    }
    if parts.is_empty() {
        return None;
    }
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: parts.join("\n\n---\n\n"),
        }),
        range: Some(place.range(span)),
    })
}

/// The rules of a statement. There is more than one where a statement limits several resources.
fn rules(place: &Place<'_>, statement: Span) -> Vec<String> {
    let rules = place.analysis.rules_in(statement);
    rules.into_iter().map(|rule| one_rule(place, rule)).collect()
}

fn one_rule(place: &Place<'_>, rule: &Rule) -> String {
    let mut text = rule::meaning(rule);
    let record = place.analysis.plan().and_then(|plan| {
        let index = usize::try_from(rule.id.0).ok()?;
        plan.rules.get(index)
    });
    if let Some(record) = record {
        text.push_str("\n\n");
        text.push_str(&mechanism::describe(&record.lowering));
    }
    text
}

fn parameter(place: &Place<'_>, name: Span) -> Option<String> {
    let name = place.slice(name);
    let items = place.analysis.ast.policy.iter().flat_map(|policy| &policy.items);
    let param: &Param = items
        .filter_map(|item| match item {
            Item::Param(param) => Some(param),
            _ => None,
        })
        .find(|param| param.name.text == name)?;
    let mut text = format!(
        "```remit\n{}\n```\n{}",
        place.slice(param.span),
        words::parameter_type(param.kind.value)
    );
    if let Some(value) = place
        .analysis
        .policy
        .as_ref()
        .and_then(|policy| policy.parameters.get(name))
    {
        let note = if param.default.is_none() && !place.settings.parameters.contains_key(name) {
            " (it has no default; this stands for it in the editor)"
        } else {
            ""
        };
        text.push_str(&format!("\n\nHere: `{value}`{note}"));
    }
    Some(text)
}

/// A name with a meaning of its own: a group, a call, a constant, a word of the language.
fn name(place: &Place<'_>, tokens: &[Token], token: &Token) -> Option<String> {
    let source = place.text();
    let text = token.text(source);
    let index = tokens.iter().position(|other| other.span == token.span)?;
    let before = tokens.get(..index)?;
    match token.kind {
        Kind::Word if text.starts_with('@') => syscall_group(text),
        Kind::Word if definition::follows("use", before, source) => rule_group(place, text),
        Kind::Word if definition::follows("unlock", before, source) => floor_rule(text),
        Kind::Text { closed: true } if in_syscall(before, source) => syscall(place.slice(token.inner())),
        Kind::Word if in_condition(before, source) => table::constant(text)
            .map(|value| format!("`{text}` = {value} = {value:#x}"))
            .or_else(|| argument(before, text, source)),
        Kind::Word => words::meaning(text).map(|meaning| format!("`{text}`: {meaning}")),
        _ => None,
    }
}

fn syscall_group(name: &str) -> Option<String> {
    let members = table::group(name)?;
    let listed: Vec<&str> = members.iter().take(MOST_NAMES).map(String::as_str).collect();
    let more = members.len().saturating_sub(listed.len());
    let more = if more > 0 {
        format!(", and {more} others")
    } else {
        String::new()
    };
    Some(format!(
        "`{name}`: {} system calls\n\n{}{more}",
        members.len(),
        listed.join(", ")
    ))
}

fn syscall(name: &str) -> Option<String> {
    if !table::is_known(name) {
        return None;
    }
    let arguments: Vec<&str> = table::argument_names(name).collect();
    let mut text = format!("`{name}({})`", arguments.join(", "));
    for architecture in Architecture::ALL {
        let number =
            table::number(name, architecture).map_or("not there".to_owned(), |number| number.to_string());
        text.push_str(&format!("\n\n{}: {number}", architecture.name()));
    }
    let groups: Vec<&str> = table::group_names()
        .filter(|group| {
            *group != "@known" && table::group(group).is_some_and(|members| members.contains(name))
        })
        .collect();
    if !groups.is_empty() {
        text.push_str(&format!("\n\nIn {}", groups.join(", ")));
    }
    Some(text)
}

/// An argument of the call that the condition is about.
fn argument(before: &[Token], name: &str, source: &str) -> Option<String> {
    let call = before
        .iter()
        .rev()
        .find(|token| matches!(token.kind, Kind::Text { .. }))?;
    let inner = call.inner();
    let call = source.get(inner.start..inner.end)?;
    let argument = table::argument(call, name)?;
    Some(format!(
        "`{name}`: argument {} of `{call}`, of which the kernel looks at {} bits",
        argument.index,
        argument.width.bits()
    ))
}

fn rule_group(place: &Place<'_>, name: &str) -> Option<String> {
    let (file, _) = definition::group_name(place, name)?;
    let ast = definition::tree(place, file)?;
    let group = ast.groups.iter().find(|group| group.name.text == name)?;
    let source = place.analysis.source(file)?;
    let mut text = format!("**{name}**");
    if let Some(summary) = definition::summary(&group.items) {
        text.push_str(&format!("\n\n{summary}"));
    }
    let block: String = source.slice(group.span).chars().take(4000).collect();
    text.push_str(&format!("\n\n```remit\n{block}\n```\n{}", source.name));
    Some(text)
}

/// What an `unlock` would open.
fn floor_rule(name: &str) -> Option<String> {
    let label = format!("built-in:{name}");
    let opened: Vec<String> = policy_lang::floor::rules()
        .iter()
        .filter(|rule| rule.label.as_deref() == Some(label.as_str()))
        .map(|rule| {
            let because = rule.because.as_deref().unwrap_or_default();
            format!("```remit\n{}\n```\n{because}", rule.text)
        })
        .collect();
    (!opened.is_empty()).then(|| format!("Opens this part of the floor:\n\n{}", opened.join("\n\n")))
}

/// Whether what follows some tokens is the name of a system call.
pub(crate) fn in_syscall(before: &[Token], source: &str) -> bool {
    let words = before
        .iter()
        .rev()
        .filter(|token| matches!(token.kind, Kind::Word));
    let heads = [
        "syscall", "allow", "deny", "ask", "forbid", "because", "label", "by", "is", "pass", "set",
    ];
    let last = words
        .map(|token| token.text(source))
        .find(|word| heads.contains(word));
    last == Some("syscall")
}

/// Whether what follows some tokens stands behind `where`.
pub(crate) fn in_condition(before: &[Token], source: &str) -> bool {
    let back = before
        .iter()
        .rev()
        .take_while(|token| !matches!(token.kind, Kind::Text { .. }));
    back.filter(|token| token.kind == Kind::Word)
        .any(|token| token.text(source) == "where")
}
