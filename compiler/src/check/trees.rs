//! Grants on trees that hold more than one task needs.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::pattern::PathPattern;
use policy_lang::policy::FileAccess;

use super::Context;
use super::context::{Grant, beneath};
use super::place::Place;

/// Directories of all users, and root's own.
const HOMES: &[&str] = &["/home", "/root"];
/// What the machine is made of: changing it changes what everybody else runs.
const SYSTEM: &[&str] = &[
    "/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/opt", "/var/lib",
];

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    found.extend(context.grants().filter_map(|grant| judge(context, &grant)));
}

/// The broadest thing that is wrong with a grant.
fn judge(context: &Context<'_>, grant: &Grant<'_>) -> Option<Diagnostic> {
    let shallow = |path: &str| path.matches('/').count() <= 2;
    // A deep literal covers none of the trees below, but perhaps the home directory.
    if let PathPattern::Literal(path) = grant.target
        && !shallow(path)
        && !context.options.home.starts_with(path.as_str())
    {
        return None;
    }
    let place = || context.target(grant.rule, grant.index);
    if covers(context, grant, "/") {
        return Some(whole_tree(place(), grant));
    }
    let home = context.options.home;
    if let Some(tree) = HOMES
        .iter()
        .copied()
        .chain([home])
        .find(|tree| covers(context, grant, tree))
    {
        return Some(home_granted(place(), grant, tree, tree == home));
    }
    if grant.accesses.contains(&FileAccess::Write)
        && let Some(tree) = SYSTEM.iter().find(|tree| covers(context, grant, tree))
    {
        return Some(system_writable(place(), tree));
    }
    // Each run has a `/proc` of its own, which is there to be read.
    let writes = grant.accesses.contains(&FileAccess::Write);
    let trees = ["/sys", "/dev"].into_iter().chain(writes.then_some("/proc"));
    let mut trees = trees.filter(|tree| covers(context, grant, tree));
    trees.next().map(|tree| kernel_tree(place(), grant, tree))
}

/// Whether a grant speaks of a whole tree, and is not taken back there by another rule.
fn covers(context: &Context<'_>, grant: &Grant<'_>, tree: &str) -> bool {
    let inside = beneath(tree);
    let granted = |access: &FileAccess| context.granted_file(*access, &inside).is_some();
    grant.target.covers(tree) && grant.accesses.iter().any(granted)
}

fn whole_tree(place: Place, grant: &Grant<'_>) -> Diagnostic {
    let words = grant.words();
    place.found(|span| {
        Diagnostic::warning(
            Code::WholeTree,
            span,
            format!("the run may {words} every file of the host that no other rule refuses"),
        )
        .label("the whole file tree")
        .help("grant the trees that the task needs: `/usr` and the workspace are often all of them; `use std::linux` names what programs need to start")
    })
}

fn home_granted(place: Place, grant: &Grant<'_>, tree: &str, own: bool) -> Diagnostic {
    let words = grant.words();
    let whose = match tree {
        "/home" => "every home directory",
        "/root" if !own => "root's home directory",
        _ => "the home directory",
    };
    place.found(|span| {
        Diagnostic::warning(Code::HomeGranted, span, format!("the run may {words} {whose}"))
            .label("keys, tokens, histories and configuration of other programs are in it")
            .help("grant the workspace and the caches that the task needs, by name")
    })
}

fn system_writable(place: Place, tree: &str) -> Diagnostic {
    place.found(|span| {
        Diagnostic::warning(
            Code::SystemWritable,
            span,
            format!("the run may change `{tree}`, which the whole machine relies on"),
        )
        .label("what it leaves there, others execute and obey")
        .help("grant `write` on the workspace only; for packages, grant a directory of the run's own")
    })
}

fn kernel_tree(place: Place, grant: &Grant<'_>, tree: &str) -> Diagnostic {
    let words = grant.words();
    let (what, help) = match tree {
        "/sys" => (
            "settings and devices of the machine",
            "grant what programs look at, as in `allow read \"/sys/devices/system/cpu\"`",
        ),
        "/proc" => (
            "settings of the kernel are in it",
            "grant `read`; what a program must write, as `/proc/self/oom_score_adj`, by name",
        ),
        _ => (
            "devices of the machine",
            "grant the devices that programs need, as in `allow read, write \"/dev/null\", \"/dev/tty\"`",
        ),
    };
    place.found(|span| {
        Diagnostic::warning(
            Code::KernelTree,
            span,
            format!("the run may {words} all of `{tree}`"),
        )
        .label(what)
        .help(help)
    })
}
