//! System calls: each part of the floor, and of each group of which the policy refuses something, one call.

use std::collections::BTreeSet;

use policy_lang::policy::{Effect, Origin, Subject as RuleSubject};
use policy_lang::reference::decide;
use policy_lang::syscall::table;

use super::control::Controls;
use super::{Flip, Probe};
use crate::expect::{Expected, Subject, expected};
use crate::operation::Operation;

/// Calls that cannot be made on their own: they return twice on one stack, or never, or wait for somebody.
pub(super) const UNTRIED: [&str; 5] = [
    "vfork",
    "rt_sigreturn",
    "pause",
    "rt_sigsuspend",
    "restart_syscall",
];

/// Calls that kernels of today do not have: with the filter open they would show nothing.
const GONE: [&str; 3] = ["create_module", "lookup_dcookie", "umount"];

const CLONE_NEWUSER: u64 = 0x1000_0000;
const SIGCHLD: u64 = 17;
const S_ISUID: u64 = 0o4000;
const AT_FDCWD: u64 = 0xffff_ff9c;

/// For the parts of the floor that look at arguments: a call that falls under it.
const WITH_ARGUMENTS: [(&str, &str, [u64; 6]); 9] = [
    ("set-id-bits", "fchmodat", [AT_FDCWD, 0, S_ISUID, 0, 0, 0]),
    (
        "new-namespaces",
        "clone",
        [CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0, 0],
    ),
    ("terminal-injection", "ioctl", [0, 0x5412, 0, 0, 0, 0]),
    ("socket-families", "socket", [38, 5, 0, 0, 0, 0]),
    ("netlink-families", "socket", [16, 3, 15, 0, 0, 0]),
    ("transports", "socket", [2, 2, 1, 0, 0, 0]),
    ("source-routes", "setsockopt", [0, 0, 4, 0, 0, 0]),
    ("socket-pairs", "socketpair", [2, 1, 0, 0, 0, 0]),
    ("unix-sockets", "socket", [1, 1, 0, 0, 0, 0]),
];

pub(super) fn probes(subject: Subject<'_>, controls: &Controls) -> Vec<Probe> {
    let mut tried = BTreeSet::new();
    let mut probes = floor(subject, &mut tried);
    probes.extend(groups(subject, &mut tried));
    probes
        .into_iter()
        .map(|probe| probe.with_control(controls.call.as_ref()))
        .collect()
}

fn floor(subject: Subject<'_>, tried: &mut BTreeSet<String>) -> Vec<Probe> {
    let mut probes = Vec::new();
    for rule in policy_lang::floor::rules() {
        let RuleSubject::Syscall { targets } = &rule.subject else {
            continue;
        };
        let Some(label) = rule
            .label
            .as_deref()
            .and_then(|label| label.strip_prefix("built-in:"))
        else {
            continue;
        };
        let given = WITH_ARGUMENTS.iter().find(|(of, ..)| *of == label);
        let operation = match given {
            Some((_, name, arguments)) => Operation::call(name, *arguments),
            None => targets
                .iter()
                .flat_map(|target| &target.names)
                .filter(|name| !GONE.contains(&name.as_str()))
                .find_map(|name| Operation::call(name, [0; 6])),
        };
        let Some(operation) = operation else { continue };
        if let Operation::Call { name, .. } = &operation
            && given.is_none()
        {
            tried.insert(name.clone());
        }
        let because = rule.because.as_deref().unwrap_or_default();
        let boundary = format!("{} is refused: {because}", called(&operation));
        probes.push(call(subject, &format!("floor:{label}"), &boundary, operation));
    }
    probes
}

fn groups(subject: Subject<'_>, tried: &mut BTreeSet<String>) -> Vec<Probe> {
    let mut probes = Vec::new();
    for group in table::group_names() {
        let members = table::group(group).unwrap_or_default();
        let refused = members
            .iter()
            .filter(|name| !UNTRIED.contains(&name.as_str()) && !tried.contains(*name))
            .filter_map(|name| Operation::call(name, [0; 6]))
            .find(|operation| is_refused_by_the_policy(subject, operation));
        if let Some(operation) = refused {
            if let Operation::Call { name, .. } = &operation {
                tried.insert(name.clone());
            }
            let boundary = format!("{} of {group} is refused", called(&operation));
            probes.push(call(subject, &format!("group:{group}"), &boundary, operation));
        }
    }
    probes
}

/// The floor has probes of its own.
fn is_refused_by_the_policy(subject: Subject<'_>, operation: &Operation) -> bool {
    operation.accesses().iter().any(|access| {
        let decision = decide(subject.policy, access);
        let rule = subject.policy.rule(decision.rule);
        decision.effect != Effect::Allow
            && rule.is_some_and(|rule| {
                rule.origin != Origin::BuiltIn || rule.id == policy_lang::policy::RuleId::DEFAULT
            })
    })
}

fn called(operation: &Operation) -> &str {
    match operation {
        Operation::Call { name, .. } => name,
        _ => "",
    }
}

fn call(subject: Subject<'_>, name: &str, boundary: &str, operation: Operation) -> Probe {
    let mut probe = Probe::by_rules(subject, name, boundary, operation, name);
    if probe.flip != Flip::NotNeeded && !can_be_opened(subject, &probe.operation) {
        probe.flip = Flip::Outside { as_root: false };
    }
    probe
}

/// Whether a filter made of the opened policy lets the call pass: one whose flags lie behind a pointer it does not.
pub(super) fn can_be_opened(subject: Subject<'_>, operation: &Operation) -> bool {
    let Ok(open) = crate::open::opened(subject.policy, &operation.accesses()) else {
        return false;
    };
    let Ok(plan) = compiler::lower(&open.policy) else {
        return false;
    };
    let artifact = compiler::emit(&plan);
    let opened = Subject {
        policy: &open.policy,
        artifact: &artifact,
        landlock: subject.landlock,
    };
    expected(opened, operation) == Expected::Done
}
