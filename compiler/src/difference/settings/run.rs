//! What a run is started with, and what is kept of it.

use policy_lang::pattern::PathPattern;
use policy_lang::policy::{Feature, Keep, Policy, Rule, Subject, Workspace, WorkspaceMode};

use super::{Direction, Setting, Topic};

/// A path that was hidden and no longer is. What that means to reading it is a matter of accesses.
pub(super) fn hides(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let mut missing = |from: &Policy, to: &Policy, is_old: bool| {
        for (rule, pattern) in hidden(from) {
            let is_there = hidden(to).any(|(_, other)| other.includes(pattern).holds());
            let known = found.iter().any(|setting: &Setting| {
                let own = if is_old {
                    setting.before_rule
                } else {
                    setting.after_rule
                };
                setting.topic == Topic::Hide && own == Some(rule.id)
            });
            if !is_there && !known {
                found.push(if is_old {
                    Setting::of_rules(Topic::Hide, Some(rule), None, Direction::Wider)
                } else {
                    Setting::of_rules(Topic::Hide, None, Some(rule), Direction::Narrower)
                });
            }
        }
    };
    missing(old, new, true);
    missing(new, old, false);
}

fn hidden(policy: &Policy) -> impl Iterator<Item = (&Rule, &PathPattern)> {
    policy.rules.iter().flat_map(|rule| {
        let targets = match &rule.subject {
            Subject::Hide { targets } => targets.as_slice(),
            _ => &[],
        };
        targets.iter().map(move |target| (rule, target))
    })
}

pub(super) fn unlocks(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let has = |policy: &Policy, name: &str| policy.unlocks.iter().any(|unlock| unlock.name == name);
    let text = |name: &str| Some(format!("unlock {name}"));
    for unlock in new.unlocks.iter().filter(|unlock| !has(old, &unlock.name)) {
        found.push(Setting {
            because: Some(unlock.because.clone()),
            ..Setting::plain(Topic::Unlock, None, text(&unlock.name), Direction::Wider)
        });
    }
    for unlock in old.unlocks.iter().filter(|unlock| !has(new, &unlock.name)) {
        found.push(Setting::plain(
            Topic::Unlock,
            text(&unlock.name),
            None,
            Direction::Narrower,
        ));
    }
}

/// Without a requirement a run may start on a host that lacks what was required.
pub(super) fn requirements(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let (before, after) = (required(old), required(new));
    let find = |all: &[(Feature, u32)], feature: &Feature| {
        let same =
            |(other, _): &&(Feature, u32)| std::mem::discriminant(other) == std::mem::discriminant(feature);
        all.iter().find(same).map(|(_, level)| *level)
    };
    for (feature, level) in &before {
        let now = find(&after, feature);
        if now != Some(*level) {
            let direction = if now.is_some_and(|now| now > *level) {
                Direction::Narrower
            } else {
                Direction::Wider
            };
            let after = now.map(|now| text(*feature, now));
            found.push(Setting::plain(
                Topic::Requirement,
                Some(text(*feature, *level)),
                after,
                direction,
            ));
        }
    }
    for (feature, level) in &after {
        if find(&before, feature).is_none() {
            let after = Some(text(*feature, *level));
            found.push(Setting::plain(
                Topic::Requirement,
                None,
                after,
                Direction::Narrower,
            ));
        }
    }
}

/// Each feature once, with the highest level that is asked of it.
fn required(policy: &Policy) -> Vec<(Feature, u32)> {
    let mut all: Vec<(Feature, u32)> = Vec::new();
    for requirement in &policy.requirements {
        let feature = requirement.feature;
        let level = match feature {
            Feature::Landlock(level) => level,
            _ => 0,
        };
        let same = |(other, _): &&mut (Feature, u32)| {
            std::mem::discriminant(other) == std::mem::discriminant(&feature)
        };
        match all.iter_mut().find(same) {
            Some((_, known)) => *known = level.max(*known),
            None => all.push((feature, level)),
        }
    }
    all
}

fn text(feature: Feature, level: u32) -> String {
    match feature {
        Feature::Landlock(_) => format!("require landlock >= {level}"),
        Feature::Seccomp => "require seccomp".to_owned(),
        Feature::CgroupBpf => "require cgroup-bpf".to_owned(),
        Feature::MemoryController => "require memory-controller".to_owned(),
        Feature::PidsController => "require pids-controller".to_owned(),
        Feature::CpuController => "require cpu-controller".to_owned(),
        Feature::Audit => "require audit".to_owned(),
    }
}

/// What is no longer recorded is no longer seen.
pub(super) fn records(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let all = [
        ("exec", old.record.exec, new.record.exec),
        ("connect", old.record.connect, new.record.connect),
        ("bind", old.record.bind, new.record.bind),
        ("read", old.record.read, new.record.read),
        ("write", old.record.write, new.record.write),
    ];
    for (what, before, after) in all {
        let text = |is_there: bool| is_there.then(|| format!("record {what}"));
        if before != after {
            let direction = if before {
                Direction::Wider
            } else {
                Direction::Narrower
            };
            found.push(Setting::plain(
                Topic::Record,
                text(before),
                text(after),
                direction,
            ));
        }
    }
}

pub(super) fn workspace(old: &Policy, new: &Policy, found: &mut Vec<Setting>) {
    let default = (None, WorkspaceMode::InPlace, Keep::Review);
    let own = |policy: &Policy| {
        let parts = |workspace: &Workspace| (workspace.from.clone(), workspace.mode, workspace.keep.clone());
        policy.workspace.as_ref().map_or(default.clone(), parts)
    };
    let (before, after) = (own(old), own(new));
    let is_copy = |mode: WorkspaceMode| mode == WorkspaceMode::Ephemeral;
    let mut different = |before: String, after: String, direction: Direction| {
        found.push(Setting::plain(
            Topic::Workspace,
            Some(before),
            Some(after),
            direction,
        ));
    };
    let mode = |mode| {
        if is_copy(mode) {
            "mode ephemeral"
        } else {
            "mode in-place"
        }
    };
    if before.1 != after.1 {
        let direction = if is_copy(after.1) {
            Direction::Narrower
        } else {
            Direction::Wider
        };
        different(mode(before.1).to_owned(), mode(after.1).to_owned(), direction);
    }
    let from = |from: &Option<String>| {
        from.as_ref().map_or("no `from`".to_owned(), |from| {
            format!("from {}", policy_lang::resolve::quoted(from))
        })
    };
    if before.0 != after.0 {
        different(from(&before.0), from(&after.0), Direction::Other);
    }
    // In place, every change is kept, and nothing is asked.
    if is_copy(before.1) && is_copy(after.1) && before.2 != after.2 {
        different(kept(&before.2), kept(&after.2), keeping(&before.2, &after.2));
    }
}

/// Nothing, then what a person chooses or what globs match, then everything.
fn keeping(before: &Keep, after: &Keep) -> Direction {
    match (before, after) {
        (Keep::All, _) | (_, Keep::None) => Direction::Narrower,
        (Keep::None, _) | (_, Keep::All) => Direction::Wider,
        (Keep::Matching(before), Keep::Matching(after)) => {
            let inside = |inner: &[String], outer: &[String]| inner.iter().all(|glob| outer.contains(glob));
            match (inside(after, before), inside(before, after)) {
                (true, _) => Direction::Narrower,
                (false, true) => Direction::Wider,
                (false, false) => Direction::Other,
            }
        }
        _ => Direction::Other,
    }
}

fn kept(keep: &Keep) -> String {
    match keep {
        Keep::None => "keep none".to_owned(),
        Keep::Review => "keep review".to_owned(),
        Keep::All => "keep all".to_owned(),
        Keep::Matching(globs) => {
            let globs: Vec<String> = globs
                .iter()
                .map(|glob| policy_lang::resolve::quoted(glob))
                .collect();
            format!("keep {}", globs.join(", "))
        }
    }
}
