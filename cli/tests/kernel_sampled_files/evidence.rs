//! Every refusal that has to be on record has an event of its own, and every event names the rule that decides.

use std::path::Path;

use policy_lang::policy::{FileAccess, Policy};
use policy_lang::reference::{Access, decide};
use serde_json::Value;

use crate::attempts::Attempt;
use crate::sampled::{Disagreements, as_recorded, recorded};
use crate::tree::{Kind, Tree};

fn word(access: FileAccess) -> &'static str {
    match access {
        FileAccess::Read => "read",
        FileAccess::Write => "write",
        FileAccess::Execute => "execute",
    }
}

fn accesses(event: &Value) -> Vec<FileAccess> {
    let named = event["details"]["access"].as_array().expect("accesses");
    [FileAccess::Read, FileAccess::Write, FileAccess::Execute]
        .into_iter()
        .filter(|access| named.iter().any(|one| *one == word(*access)))
        .collect()
}

pub(crate) fn path(event: &Value) -> &str {
    event["details"]["path"].as_str().expect("a path")
}

/// Whether an event may be the record of an attempt.
fn is_about(tree: &Tree, attempt: &Attempt, event: &Value) -> bool {
    let path = path(event);
    if event["mechanism"] == "mount-mask" {
        // What was looked at, which may be above, and was before the kernel knew what for.
        let below = |(_, needed): &(FileAccess, String)| Path::new(needed).starts_with(path);
        return attempt.needs.iter().any(below);
    }
    // Landlock names the file, and for a change of names the directory.
    let is_directory = tree.get(Path::new(path)) == Some(&Kind::Directory);
    let accesses = accesses(event);
    let meant = accesses.contains(&attempt.verb)
        || attempt.verb == FileAccess::Execute && accesses.contains(&FileAccess::Read);
    meant
        && (is_directory || !attempt.is_of_names())
        && attempt.needs.iter().any(|(_, needed)| needed == path)
}

/// Gives each attempt an event of its own, by augmenting paths. Returns those for which there is none.
fn without_event<'a>(tree: &Tree, attempts: &[&'a Attempt], events: &[Value]) -> Vec<&'a Attempt> {
    let candidates: Vec<Vec<usize>> = attempts
        .iter()
        .map(|attempt| {
            (0..events.len())
                .filter(|at| is_about(tree, attempt, &events[*at]))
                .collect()
        })
        .collect();
    let mut owner: Vec<Option<usize>> = vec![None; events.len()];
    let lonely = |at: &usize| !assign(*at, &candidates, &mut owner, &mut vec![false; events.len()]);
    let lonely: Vec<usize> = (0..attempts.len()).filter(lonely).collect();
    lonely.into_iter().map(|at| attempts[at]).collect()
}

fn assign(
    attempt: usize,
    candidates: &[Vec<usize>],
    owner: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for &event in &candidates[attempt] {
        if std::mem::replace(&mut tried[event], true) {
            continue;
        }
        let free = owner[event].is_none_or(|other| assign(other, candidates, owner, tried));
        if free {
            owner[event] = Some(attempt);
            return true;
        }
    }
    false
}

/// Compares. Returns how many events name a rule of the file.
pub(crate) fn compare(
    policy: &Policy,
    tree: &Tree,
    attempts: &[&Attempt],
    events: &[Value],
    wrong: &mut Disagreements,
) -> usize {
    for attempt in without_event(tree, attempts, events) {
        wrong.add(format!("{}: EACCES without an event", attempt.request));
    }
    for event in events {
        let path = path(event).to_owned();
        let decided = |access| {
            as_recorded(decide(
                policy,
                &Access::File {
                    access,
                    path: path.clone(),
                },
            ))
        };
        if !accesses(event)
            .into_iter()
            .map(decided)
            .any(|decision| decision == recorded(event))
        {
            wrong.add(format!(
                "an event names another rule than the one that decides: {event}"
            ));
        }
    }
    events.iter().filter(|event| event["rule"]["id"] != 0).count()
}
