//! Grants on trees that hold more than one task needs.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{Effect, FileAccess, Rule, Subject};

use super::Context;
use super::place::Place;

/// Directories of all users, and root's own.
const HOMES: &[&str] = &["/home", "/root"];
/// What the machine is made of: changing it changes what everybody else runs.
const SYSTEM: &[&str] = &[
    "/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/opt", "/var/lib",
];
/// A name that no rule speaks of, for what is decided "in general" beneath a directory.
const ANYTHING: &str = "no-rule-names-this";

/// One target of a granting rule.
struct Grant<'a> {
    rule: &'a Rule,
    accesses: &'a [FileAccess],
    target: &'a PathPattern,
    place: usize,
}

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for rule in context.own().filter(|rule| rule.effect <= Effect::Ask) {
        let Subject::File { accesses, targets } = &rule.subject else {
            continue;
        };
        for (place, target) in targets.iter().enumerate() {
            let grant = Grant {
                rule,
                accesses,
                target,
                place,
            };
            found.extend(judge(context, &grant));
        }
    }
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
    let of = |context: &Context<'_>| context.places.target(grant.rule, grant.place);
    if grant.covers(context, "/") {
        return Some(whole_tree(of(context), grant));
    }
    let home = context.options.home;
    let homes = HOMES.iter().copied().filter(|tree| *tree != home);
    if let Some(tree) = std::iter::once(home)
        .chain(homes)
        .find(|tree| grant.covers(context, tree))
    {
        return Some(home_granted(of(context), grant, tree, tree == home));
    }
    if grant.accesses.contains(&FileAccess::Write)
        && let Some(tree) = SYSTEM.iter().find(|tree| grant.covers(context, tree))
    {
        return Some(system_writable(of(context), tree));
    }
    ["/sys", "/dev"]
        .iter()
        .find(|tree| grant.covers(context, tree))
        .map(|tree| kernel_tree(of(context), grant, tree))
}

impl Grant<'_> {
    /// Whether it speaks of a whole tree, and is not taken back there by another rule.
    fn covers(&self, context: &Context<'_>, tree: &str) -> bool {
        let inside = format!("{}/{ANYTHING}", tree.trim_end_matches('/'));
        self.target.covers(tree)
            && self
                .accesses
                .iter()
                .any(|access| context.granted_file(*access, &inside).is_some())
    }

    fn words(&self) -> String {
        let words: Vec<&str> = self.accesses.iter().map(|access| access.word()).collect();
        words.join(" and ")
    }
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
    let whose = if own {
        "the home directory"
    } else if tree == "/root" {
        "root's home directory"
    } else {
        "every home directory"
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
    let what = if tree == "/sys" {
        "settings and devices of the machine"
    } else {
        "devices of the machine"
    };
    place.found(|span| {
        Diagnostic::warning(
            Code::KernelTree,
            span,
            format!("the run may {words} all of `{tree}`"),
        )
        .label(what)
        .help(if tree == "/sys" {
            "grant what programs look at, as in `allow read \"/sys/devices/system/cpu\"`"
        } else {
            "grant the devices that programs need, as in `allow read, write \"/dev/null\", \"/dev/tty\"`"
        })
    })
}
