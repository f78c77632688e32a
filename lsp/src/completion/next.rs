//! Words and names by what stands before them.

use lsp_types::CompletionItemKind as Kind;

use super::Item;
use super::context::{Block, Context};
use super::names;
use crate::server::state::Place;

const SUFFIXES: &[&str] = &["because", "label", "if present", "permit degraded"];
const EFFECTS: &[&str] = &["allow", "ask", "deny", "forbid"];
const ACCESSES: &[&str] = &["read", "write", "execute"];
const VERBS: &[&str] = &["connect", "bind"];
const PROTOCOLS: &[&str] = &["tcp", "udp"];
const TYPES: &[&str] = &["path", "host", "cidr", "port", "duration", "size", "string of"];
const RESOURCES: &[&str] = &["memory", "processes", "cpu", "open-files", "wall"];
const FEATURES: &[&str] = &[
    "landlock >=",
    "seccomp",
    "cgroup-bpf",
    "memory-controller",
    "pids-controller",
    "cpu-controller",
    "audit",
];
const RECORDS: &[&str] = &["denied", "exec", "connect", "bind", "read", "write"];
const DOMAINS: &[&str] = &["filesystem", "network", "credentials", "process"];

/// What can stand next, outside strings.
pub(super) fn words(place: &Place<'_>, context: &Context<'_>) -> Vec<Item> {
    match context.last() {
        Some("if") => return keywords(&["present"]),
        Some("permit") => return keywords(&["degraded"]),
        // What follows is a string.
        Some("because" | "label" | "include" | "within" | "summary") => return Vec::new(),
        _ => {}
    }
    match context.block {
        Block::File | Block::Unknown => keywords(context.block.heads()),
        Block::Policy | Block::Group => header(place, context),
        Block::Filesystem => match context.last() {
            Some(word) if EFFECTS.contains(&word) => keywords(ACCESSES),
            Some(",") if !context.has_text() => keywords(ACCESSES),
            Some("scratch" | "hide" | ",") => Vec::new(),
            Some(word) if ACCESSES.contains(&word) => Vec::new(),
            _ => statement_end(context),
        },
        Block::Network => match context.last() {
            Some(word) if EFFECTS.contains(&word) => both(VERBS, PROTOCOLS),
            Some(",") if !context.has_text() => both(VERBS, PROTOCOLS),
            Some(word) if VERBS.contains(&word) => keywords(PROTOCOLS),
            Some(word) if PROTOCOLS.contains(&word) => Vec::new(),
            Some(",") => Vec::new(),
            _ => statement_end(context),
        },
        Block::Credentials => credentials(context),
        Block::Process => process(context),
        Block::Workspace => match context.last() {
            Some("mode") => keywords(&["in-place", "ephemeral"]),
            Some("keep") => keywords(&["none", "review", "all"]),
            Some("from" | ",") => Vec::new(),
            _ => keywords(context.block.heads()),
        },
        Block::Audit => match context.last() {
            Some("record" | ",") => keywords(RECORDS),
            _ => keywords(context.block.heads()),
        },
        Block::Test => expectation(context),
    }
}

fn header(place: &Place<'_>, context: &Context<'_>) -> Vec<Item> {
    match (context.head(), context.last()) {
        (Some("use"), Some("use" | ",")) => names::groups(place),
        (Some("unlock"), Some("unlock" | ",")) => names::floor(),
        (Some("unlock"), Some(_)) => keywords(&["because"]),
        (Some("require"), Some("require" | ",")) => keywords(FEATURES),
        (Some("param"), Some(":")) => keywords(TYPES),
        (Some("param"), Some("param" | "=" | "of" | ",")) => Vec::new(),
        (Some(word), Some(last)) if word == last && DOMAINS.contains(&word) => Vec::new(),
        _ => keywords(context.block.heads()),
    }
}

fn credentials(context: &Context<'_>) -> Vec<Item> {
    let chain = [
        "broker", "for", "as", "bearer", "basic", "header", "from", "env", "file", "ttl",
    ];
    match (context.head(), context.last_of(&chain)) {
        (Some("broker"), Some(step)) => match (step, context.ends_in_text()) {
            ("broker", true) => keywords(&["for"]),
            ("for", true) => keywords(&["as"]),
            ("as", false) => keywords(&["bearer", "basic", "header"]),
            ("bearer" | "basic", _) | ("header", true) => keywords(&["from"]),
            ("from", false) => keywords(&["env", "file"]),
            ("env" | "file", true) => {
                let mut items = keywords(&["ttl"]);
                items.extend(statement_end(context));
                items
            }
            _ => Vec::new(),
        },
        (Some(effect), None) if EFFECTS.contains(&effect) && context.statement.len() == 1 => {
            keywords(&["pass"])
        }
        _ if matches!(context.last(), Some("pass" | "set" | "," | "=")) => Vec::new(),
        _ => statement_end(context),
    }
}

fn process(context: &Context<'_>) -> Vec<Item> {
    match (context.head(), context.last()) {
        (Some(_), Some(word)) if EFFECTS.contains(&word) => keywords(&["syscall"]),
        (Some("identity"), Some("identity")) => keywords(&["dynamic", "user"]),
        (Some("limit"), Some("limit" | ",")) => keywords(RESOURCES),
        (Some(_), Some("syscall" | ",")) => names::syscall_groups(),
        (Some(_), Some("where" | "and")) => names::arguments(context.last_text().unwrap_or_default()),
        (Some(_), Some("=" | "<" | ">" | "&" | "|")) if context.has("where") => names::constants(),
        (Some(_), Some(_)) if context.ends_in_text() && context.names_syscall() => {
            let mut items = keywords(&["where"]);
            items.extend(statement_end(context));
            items
        }
        (Some(_), Some(_)) if context.has("where") => {
            let mut items = keywords(&["and"]);
            items.extend(statement_end(context));
            items
        }
        _ => statement_end(context),
    }
}

fn expectation(context: &Context<'_>) -> Vec<Item> {
    match context.last() {
        Some("is") if context.head() == Some("env") => keywords(&["present", "absent"]),
        Some("is") => keywords(&["allowed", "asked", "denied"]),
        Some("by") => keywords(DOMAINS),
        Some(word) if VERBS.contains(&word) && !context.has("is") => keywords(PROTOCOLS),
        Some("where" | "and") => names::arguments(context.last_text().unwrap_or_default()),
        Some("=") => names::constants(),
        Some(_) if context.has("by") => keywords(context.block.heads()),
        Some(_) if context.has("is") => both(&["by"], context.block.heads()),
        Some(_) if context.has("where") => keywords(&["and", "is"]),
        Some(_) if context.ends_in_text() && context.head() == Some("syscall") => keywords(&["where", "is"]),
        Some(_) if context.ends_in_text() => keywords(&["is"]),
        Some(_) => Vec::new(),
        None => keywords(context.block.heads()),
    }
}

/// After a whole statement: more of it, or the next.
fn statement_end(context: &Context<'_>) -> Vec<Item> {
    if context.statement.is_empty() {
        return keywords(context.block.heads());
    }
    let suffixes = SUFFIXES.iter().copied();
    let suffixes = suffixes.filter(|suffix| !context.has(suffix.split(' ').next().unwrap_or(suffix)));
    let heads = context.block.heads().iter().copied();
    suffixes.chain(heads).map(keyword).collect()
}

fn both(one: &[&'static str], other: &[&'static str]) -> Vec<Item> {
    one.iter().chain(other).copied().map(keyword).collect()
}

fn keywords(words: &[&'static str]) -> Vec<Item> {
    words.iter().copied().map(keyword).collect()
}

fn keyword(word: &'static str) -> Item {
    Item::new(word, Kind::KEYWORD)
}
