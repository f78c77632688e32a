//! Who the run is, what it may use up, and which calls it may make.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Effect, Identity, LayerId, Origin, Resource, Rule, Subject};
use policy_lang::reference::Access;
use policy_lang::source::Span;
use policy_lang::syscall::{Architecture, SyscallSet, table};

use super::Context;
use super::context::some_of;
use super::place::{Kind, tokens};

/// Without these three a run can take the machine down, or stay for ever.
const NEEDED: [(Resource, &str); 3] = [
    (Resource::Memory, "memory 4GiB"),
    (Resource::Processes, "processes 512"),
    (Resource::Wall, "wall 1h"),
];

/// Calls that look into other processes.
const INSPECTION: &[&str] = &["ptrace", "pidfd_getfd"];

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    found.extend(root(context));
    found.extend(limits(context));
    scratches(context, found);
    calls(context, found);
    inspection(context, found);
    unlocks(context, found);
}

fn root(context: &Context<'_>) -> Option<Diagnostic> {
    let (identity, rule) = context.policy.identity;
    let is_root = match identity {
        Identity::User => context.options.caller_is_root,
        Identity::Ids { uid, gid } => uid == 0 || gid == 0,
        Identity::Dynamic => false,
    };
    if !is_root {
        return None;
    }
    let place = context.policy.rule(rule).map(|rule| context.place(rule))?;
    Some(place.found(|span| {
        Diagnostic::warning(
            Code::RootIdentity,
            span,
            "started by root, this run has root's user id",
        )
        .label("without a capability, but what root owns is its own")
        .help("write `identity dynamic`, or start it as another user with `sudo -u`")
    }))
}

fn limits(context: &Context<'_>) -> Option<Diagnostic> {
    let limited = |resource: Resource| {
        context
            .policy
            .rules
            .iter()
            .any(|rule| matches!(rule.subject, Subject::Limit { resource: own, .. } if own == resource))
    };
    let missing: Vec<(&str, &str)> = NEEDED
        .into_iter()
        .filter(|(resource, _)| !limited(*resource))
        .map(|(resource, proposal)| (resource.word(), proposal))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let words: Vec<&str> = missing.iter().map(|(word, _)| *word).collect();
    let proposals: Vec<&str> = missing.iter().map(|(_, proposal)| *proposal).collect();
    let place = context.places.policy();
    let mut finding = place.found(|span| {
        Diagnostic::warning(
            Code::MissingLimit,
            span,
            format!("nothing limits {}", some_of(&words)),
        )
        .label("a run that loops takes what others need")
        .help("add limits in `process`, generous ones if need be")
    });
    if let Some((at, in_process)) = insertion(context) {
        let limit = format!("limit {}", proposals.join(", "));
        let text = if in_process {
            format!("\n        {limit}")
        } else {
            format!("\n    process {{\n        {limit}\n    }}")
        };
        finding = finding.suggest(Span::new(at, at), text);
    }
    Some(finding)
}

/// Behind the brace of the `process` block, or of the policy.
fn insertion(context: &Context<'_>) -> Option<(usize, bool)> {
    let source = context.places.file(context.places.policy().file)?;
    let (mut before, mut in_policy, mut of_policy) = ("", false, None);
    for token in tokens(&source.text, 0) {
        match token.text {
            "{" if before == "process" => return Some((token.span.end, true)),
            "{" if in_policy && of_policy.is_none() => of_policy = Some(token.span.end),
            "policy" if token.kind == Kind::Word => in_policy = true,
            _ => {}
        }
        before = token.text;
    }
    of_policy.map(|at| (at, false))
}

/// A scratch lives in memory, and counts against the limit.
fn scratches(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let lowest = |limit: Option<u64>, rule: &Rule| match rule.subject {
        Subject::Limit {
            resource: Resource::Memory,
            value,
        } => Some(limit.map_or(value, |limit| limit.min(value))),
        _ => limit,
    };
    let Some(memory) = context.policy.rules.iter().fold(None, lowest) else {
        return;
    };
    let mut total = 0_u64;
    for rule in context.own() {
        let Subject::Scratch { size_bytes, .. } = rule.subject else {
            continue;
        };
        total = total.saturating_add(size_bytes);
        if total > memory {
            let message = if size_bytes > memory {
                "this scratch is larger than the memory of the run"
            } else {
                "the scratches together are larger than the memory of the run"
            };
            found.push(context.place(rule).found(|span| {
                Diagnostic::warning(Code::ScratchBeyondMemory, span, message)
                    .label(
                        "what lies in it counts against `limit memory`: the run is killed before it is full",
                    )
                    .help("make it smaller, or raise the limit")
            }));
        }
    }
}

fn calls(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(known) = SyscallSet::group("@known") else {
        return;
    };
    for rule in context.own().filter(|rule| rule.effect <= Effect::Ask) {
        let Subject::Syscall { targets } = &rule.subject else {
            continue;
        };
        for (index, target) in targets.iter().enumerate() {
            if target.conditions.is_empty() && target.names.len() >= known.names.len() {
                found.push(context.target(rule, index).found(|span| {
                    Diagnostic::warning(
                        Code::EveryCall,
                        span,
                        "every system call that is known is allowed",
                    )
                    .label("what the floor does not forbid is open, the next kernel bug among it")
                    .help("write `@system-service`, and the calls that are missed besides it")
                }));
            }
        }
    }
}

fn inspection(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let mut by_rule: Vec<(&Rule, Vec<&str>)> = Vec::new();
    for name in INSPECTION {
        let Some(number) = table::number(name, Architecture::X86_64) else {
            continue;
        };
        let access = Access::Syscall {
            architecture: Architecture::X86_64,
            number,
            arguments: [0; 6],
        };
        let Some(rule) = context.granted(&access) else {
            continue;
        };
        match by_rule.iter_mut().find(|(other, _)| other.id == rule.id) {
            Some((_, names)) => names.push(name),
            None => by_rule.push((rule, vec![name])),
        }
    }
    for (rule, names) in by_rule {
        if rule.layer != Some(LayerId::INNERMOST) {
            continue;
        }
        found.push(context.place(rule).found(|span| {
            Diagnostic::remark(
                Code::ProcessInspection,
                span,
                format!(
                    "processes of the run can look into each other: {}",
                    some_of(&names)
                ),
            )
            .label("a helper that holds a secret has no secret from the rest of the run")
            .help("where no debugger is used, add `deny syscall @debug because \"…\"`")
        }));
    }
}

/// Always said, since the floor is what everybody relies on.
fn unlocks(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for unlock in &context.policy.unlocks {
        let place = match context.places.statement(&unlock.origin) {
            Some(statement) => super::place::Place {
                file: statement.file,
                span: statement.head,
            },
            None => context.places.policy(),
        };
        let label = format!("built-in:{}", unlock.name);
        let floor = policy_lang::floor::rules();
        let reason = floor
            .iter()
            .find(|rule| rule.label.as_deref() == Some(&label) && rule.origin == Origin::BuiltIn)
            .and_then(|rule| rule.because.clone());
        let mut finding = place.found(|span| {
            Diagnostic::warning(
                Code::Unlocked,
                span,
                format!(
                    "`{}` is unlocked: a part of the floor does not hold in this policy",
                    unlock.name
                ),
            )
            .label(format!(
                "because \"{}\"",
                unlock.because.replace(char::is_control, " ")
            ))
            .help("keep it only while the reason holds, and allow as little of it as the task needs")
        });
        if let Some(reason) = reason {
            finding = finding.note(format!("it is shut elsewhere because {reason}"));
        }
        found.push(finding);
    }
}
