//! A rule as a sentence.

use policy_lang::Span;
use policy_lang::ast::{CredentialStatement, FileStatement, Item, ProcessStatement};
use policy_lang::policy::{Effect, FileAccess, Rule, Subject, Verb};

use crate::server::state::Place;

/// The statement at a place, if it is one that makes rules.
pub(super) fn statement_at(place: &Place<'_>) -> Option<Span> {
    let ast = &place.analysis.ast;
    let groups = ast.groups.iter().flat_map(|group| &group.items);
    let items = ast.policy.iter().flat_map(|policy| &policy.items).chain(groups);
    let mut spans = items.flat_map(statements);
    spans.find(|span| span.start <= place.offset && place.offset < span.end)
}

fn statements(item: &Item) -> Vec<Span> {
    match item {
        Item::Filesystem(_, statements) => statements
            .iter()
            .map(|statement| match statement {
                FileStatement::Rule(rule) => rule.span,
                FileStatement::Scratch { span, .. } | FileStatement::Hide { span, .. } => *span,
            })
            .collect(),
        Item::Network(_, rules) => rules.iter().map(|rule| rule.span).collect(),
        Item::Credentials(_, statements) => statements
            .iter()
            .map(|statement| match statement {
                CredentialStatement::Pass { span, .. } | CredentialStatement::Set { span, .. } => *span,
                CredentialStatement::Broker(broker) => broker.span,
            })
            .collect(),
        Item::Process(_, statements) => statements
            .iter()
            .map(|statement| match statement {
                ProcessStatement::Syscall(rule) => rule.span,
                ProcessStatement::Identity { span, .. } | ProcessStatement::Limit { span, .. } => *span,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The rule as it was resolved, and what it does.
pub(super) fn meaning(rule: &Rule) -> String {
    let mut text = format!("```remit\n{}\n```\n{}", rule.text, sentence(rule));
    if let Some(because) = &rule.because {
        text.push_str(&format!("\n\nReason: {because}"));
    }
    if let Some(via) = &rule.via {
        text.push_str(&format!("\n\nFrom the group `{via}`"));
    }
    text
}

fn sentence(rule: &Rule) -> String {
    let does = match rule.effect {
        Effect::Allow => "Allows",
        Effect::Ask => "Asks before it allows",
        Effect::Deny => "Refuses",
        Effect::Forbid => "Refuses, whatever another rule says,",
    };
    let unless = match rule.effect {
        Effect::Deny => ", unless a rule on less allows it",
        Effect::Allow => ", unless a rule on less or as much refuses it",
        Effect::Ask | Effect::Forbid => "",
    };
    match &rule.subject {
        Subject::Everything => format!("{does} everything that no rule speaks of."),
        Subject::File { accesses, targets } => {
            let accesses: Vec<&str> = accesses.iter().map(|access| file_access(*access)).collect();
            let beneath = if targets.len() == 1 {
                "what lies beneath it"
            } else {
                "what lies beneath them"
            };
            format!(
                "{does} {} these files and {beneath}{unless}.",
                accesses.join(", ")
            )
        }
        Subject::Hide { .. } => {
            format!("{does} every access to these files, whose names are absent from the run's view.")
        }
        Subject::Network { verbs, protocols, .. } => {
            let verbs: Vec<&str> = verbs.iter().map(|verb| network_verb(*verb)).collect();
            let protocols: Vec<String> = protocols
                .iter()
                .map(|protocol| protocol.word().to_uppercase())
                .collect();
            format!(
                "{does} {} with {}{unless}.",
                verbs.join(" and "),
                protocols.join(" and ")
            )
        }
        Subject::Pass { .. } => format!("{does} the run to see these variables of the caller."),
        Subject::Set { name, .. } => format!("Gives the variable `{name}` this value."),
        Subject::Broker(broker) => format!(
            "Adds the credential `{}` to requests outside the run, which never holds it.",
            broker.name
        ),
        Subject::Syscall { targets } => {
            let calls: usize = targets.iter().map(|target| target.names.len()).sum();
            let calls = if calls == 1 {
                "one system call".to_owned()
            } else {
                format!("{calls} system calls")
            };
            format!("{does} {calls}{unless}.")
        }
        Subject::Scratch { .. } => "An empty directory in memory, gone with the run.".to_owned(),
        Subject::Identity(_) => "Whom the run's processes belong to. None has a privilege.".to_owned(),
        Subject::Limit { .. } => "No more than this of the resource.".to_owned(),
    }
}

const fn file_access(access: FileAccess) -> &'static str {
    match access {
        FileAccess::Read => "reading",
        FileAccess::Write => "changing",
        FileAccess::Execute => "starting",
    }
}

const fn network_verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Connect => "connecting and sending",
        Verb::Bind => "binding",
    }
}
