//! Seccomp profiles of OCI runtimes: a default action, and rules on names with arguments.
//!
//! Source: the runtime specification, `config-linux.md`, and runc's reading of it: conditions of one rule hold together,
//! but those on the same argument stand for one rule each. A run has no capability, so what a profile says for those is
//! known.

use serde_json::Value;

use crate::draft::{Draft, quoted};
use crate::source::{Node, Notes, Table};
use crate::{ImportError, Imported, Options};
use policy_lang::floor;
use policy_lang::policy::{Effect, Subject};
use policy_lang::syscall::{Architecture, table};

pub(crate) fn import(text: &str, options: &Options) -> Result<Imported, ImportError> {
    let value: Value = serde_json::from_str(text).map_err(|error| ImportError::Malformed {
        what: "seccomp profile",
        why: error.to_string(),
    })?;
    let mut notes = Notes::default();
    let mut draft = Draft::new(
        options.name.clone().unwrap_or_else(|| "seccomp".to_owned()),
        "System calls of an OCI seccomp profile. It grants nothing else: put its `process` block into a policy.",
    );
    let mut root = Node::root(value).table()?;
    let default = action(root.take("defaultAction"), "defaultAction")?;
    if default == Action::Allow {
        draft.process("allow syscall @known");
        notes.narrower(
            "defaultAction",
            "calls that are newer than Remit's tables stay refused",
        );
    }
    for node in root.take_list("syscalls")? {
        rule(node.table()?, default, &mut draft, &mut notes)?;
    }
    // Refusing a foreign architecture is part of every policy.
    notes.ignore(
        &mut root,
        &[
            "defaultErrnoRet",
            "defaultErrno",
            "architectures",
            "archMap",
            "flags",
            "listenerPath",
            "listenerMetadata",
        ],
    );
    notes.finish(&mut root);
    Ok(Imported {
        policy: draft.text(),
        left: notes.close(options.relax)?,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Allow,
    Refuse,
    /// Somebody else decides.
    Delegate,
}

fn action(node: Option<Node>, key: &str) -> Result<Action, ImportError> {
    let Some(node) = node else {
        return Err(ImportError::Type {
            place: key.to_owned(),
            expected: "there, and a profile needs it",
        });
    };
    match node.text()? {
        // Logging is what Remit does with refusals; a call that is only logged is allowed.
        "SCMP_ACT_ALLOW" | "SCMP_ACT_LOG" => Ok(Action::Allow),
        "SCMP_ACT_ERRNO"
        | "SCMP_ACT_KILL"
        | "SCMP_ACT_KILL_THREAD"
        | "SCMP_ACT_KILL_PROCESS"
        | "SCMP_ACT_TRAP" => Ok(Action::Refuse),
        "SCMP_ACT_TRACE" | "SCMP_ACT_NOTIFY" => Ok(Action::Delegate),
        _ => Err(ImportError::Type {
            place: node.place,
            expected: "a seccomp action",
        }),
    }
}

fn rule(mut rule: Table, default: Action, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    let place = rule.place.clone();
    let action = action(rule.take("action"), &format!("{place}.action"))?;
    let mut names = Vec::new();
    for node in rule.take_list("names")? {
        names.push(node.text()?.to_owned());
    }
    names.extend(rule.take_text("name")?);
    let arguments = rule.take_list("args")?;
    let applies = applies(&mut rule)?;
    notes.ignore(&mut rule, &["errnoRet", "errno", "comment"]);
    notes.finish(&mut rule);
    if !applies.without_capabilities {
        return Ok(());
    }
    if action == Action::Delegate {
        notes.narrower(
            &place,
            "a tracer or an agent decides there; Remit has none, so the calls stay refused",
        );
    }
    // What the default says anyway. A refusal is said all the same: it may take something back from a grant.
    if action == Action::Allow && default == Action::Allow {
        return Ok(());
    }
    let conditions = conditions(&arguments)?;
    for name in names {
        let Some(known) = known(&name) else {
            if action == Action::Allow {
                notes.narrower(
                    &place,
                    format!("Remit knows no system call `{}`", name.escape_debug()),
                );
            }
            continue;
        };
        if action == Action::Allow {
            if !applies.architectures.covers(known) {
                notes.narrower(
                    &place,
                    format!("`{name}` is allowed on one architecture only, and a policy speaks of all that have the call"),
                );
                continue;
            }
            if floored(&name) {
                notes.narrower(
                    &place,
                    format!("the built-in floor forbids `{name}`; `unlock` opens it"),
                );
                continue;
            }
        }
        // A profile's refusals stand beside its grants; nothing in it is more specific.
        let effect = if action == Action::Allow {
            "allow"
        } else {
            "forbid"
        };
        if conditions.is_empty() {
            draft.process(format!("{effect} syscall {}", quoted(&name)));
        }
        for condition in &conditions {
            draft.process(format!("{effect} syscall {} where {condition}", quoted(&name)));
        }
    }
    Ok(())
}

/// Where a rule applies.
struct Applies {
    without_capabilities: bool,
    architectures: Architectures,
}

#[derive(Debug, Clone, Copy)]
struct Architectures {
    x86_64: bool,
    aarch64: bool,
}

impl Architectures {
    /// Whether a grant for these may be one for all that have the call.
    fn covers(self, known: Self) -> bool {
        (self.x86_64 || !known.x86_64) && (self.aarch64 || !known.aarch64)
    }
}

fn applies(rule: &mut Table) -> Result<Applies, ImportError> {
    let mut includes = rule.take_table("includes")?;
    let mut excludes = rule.take_table("excludes")?;
    let mut architectures = Architectures {
        x86_64: true,
        aarch64: true,
    };
    let names = |nodes: Vec<Node>| -> Result<Vec<String>, ImportError> {
        nodes.iter().map(|node| node.text().map(str::to_owned)).collect()
    };
    let listed = |names: &[String], one: &[&str]| names.iter().any(|name| one.contains(&name.as_str()));
    if let Some(node) = includes.take("arches") {
        let names = names(node.list()?)?;
        architectures.x86_64 = listed(&names, &["amd64", "x86_64"]);
        architectures.aarch64 = listed(&names, &["arm64", "aarch64"]);
    }
    let excluded = names(excludes.take_list("arches")?)?;
    architectures.x86_64 &= !listed(&excluded, &["amd64", "x86_64"]);
    architectures.aarch64 &= !listed(&excluded, &["arm64", "aarch64"]);
    // A kernel that Remit runs on is newer than any that profiles ask for.
    includes.take("minKernel");
    let needs_capability = !includes.take_list("caps")?.is_empty();
    excludes.take("caps");
    let too_new = excludes.take("minKernel").is_some();
    Ok(Applies {
        without_capabilities: !needs_capability
            && !too_new
            && (architectures.x86_64 || architectures.aarch64),
        architectures,
    })
}

fn known(name: &str) -> Option<Architectures> {
    let known = Architectures {
        x86_64: table::number(name, Architecture::X86_64).is_some(),
        aarch64: table::number(name, Architecture::Aarch64).is_some(),
    };
    (known.x86_64 || known.aarch64).then_some(known)
}

/// Whether the floor forbids every use of a call.
fn floored(name: &str) -> bool {
    floor::rules().iter().any(|rule| match &rule.subject {
        Subject::Syscall { targets } if rule.effect == Effect::Forbid => targets
            .iter()
            .any(|target| target.conditions.is_empty() && target.names.contains(name)),
        _ => false,
    })
}

/// Conjunctions, each as text. Several conditions on one argument stand for a rule each.
fn conditions(arguments: &[Node]) -> Result<Vec<String>, ImportError> {
    let mut written = Vec::new();
    let mut indices = Vec::new();
    for node in arguments {
        let mut argument = node.clone().table()?;
        let place = argument.place.clone();
        let missing = |key: &str| ImportError::Type {
            place: format!("{place}.{key}"),
            expected: "there, and a condition needs it",
        };
        let index = argument.take("index").ok_or_else(|| missing("index"))?.number()?;
        let value = argument.take("value").map_or(Ok(0), |node| node.number())?;
        let second = argument.take("valueTwo").map_or(Ok(0), |node| node.number())?;
        let operator = argument.take("op").ok_or_else(|| missing("op"))?;
        if index > 5 {
            return Err(ImportError::Type {
                place: format!("{place}.index"),
                expected: "an argument's number from 0 to 5",
            });
        }
        let operator = match operator.text()? {
            "SCMP_CMP_NE" => format!("!= {value:#x}"),
            "SCMP_CMP_LT" => format!("< {value:#x}"),
            "SCMP_CMP_LE" => format!("<= {value:#x}"),
            "SCMP_CMP_EQ" => format!("== {value:#x}"),
            "SCMP_CMP_GE" => format!(">= {value:#x}"),
            "SCMP_CMP_GT" => format!("> {value:#x}"),
            "SCMP_CMP_MASKED_EQ" => format!("& {value:#x} == {second:#x}"),
            _ => {
                return Err(ImportError::Type {
                    place: operator.place,
                    expected: "a comparison of seccomp",
                });
            }
        };
        indices.push(index);
        written.push(format!("arg{index} {operator}"));
    }
    let count = indices.len();
    indices.sort_unstable();
    indices.dedup();
    Ok(match count {
        0 => Vec::new(),
        _ if indices.len() < count => written,
        _ => vec![written.join(" and ")],
    })
}
