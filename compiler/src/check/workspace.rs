//! Which grants are likely a checkout that people work in.
//!
//! The language has no word for it: a run may write many directories. One that a parameter names as a whole, that the
//! `workspace` block names, or whose name is that of no output or cache, is taken for one.

use policy_lang::policy::FileAccess;

use super::Context;
use super::context::Grant;

/// Names of directories that tools fill.
const OUTPUTS: &[&str] = &[
    "build",
    "cache",
    "data",
    "dist",
    "input",
    "log",
    "logs",
    "node_modules",
    "out",
    "output",
    "shm",
    "target",
    "tmp",
    "pts",
    "venv",
];

/// Trees in which nobody keeps a checkout.
const ELSEWHERE: &[&str] = &[
    "/dev",
    "/proc",
    "/sys",
    "/run",
    "/usr",
    "/etc",
    "/var/cache",
    "/var/lib",
    "/var/log",
];

/// Granted trees that are written and look like a checkout, or hold everybody's.
pub(super) fn all<'a>(context: &Context<'a>) -> Vec<Grant<'a>> {
    let writes = |grant: &Grant<'a>| grant.accesses.contains(&FileAccess::Write);
    // The language's own groups write caches and records, as their tests hold.
    let of_the_language = |grant: &Grant<'a>| {
        grant
            .rule
            .via
            .as_ref()
            .is_some_and(|via| via.starts_with("std::"))
    };
    context
        .grants()
        .filter(writes)
        .filter(|grant| !of_the_language(grant))
        .filter(|grant| is_one(context, grant))
        .collect()
}

fn is_one(context: &Context<'_>, grant: &Grant<'_>) -> bool {
    let Some(path) = grant.literal() else {
        return false;
    };
    let workspace = context.policy.workspace.as_ref();
    if workspace.is_some_and(|workspace| workspace.from.as_deref() == Some(path)) {
        return true;
    }
    let written = context.written_target(grant);
    if written == "." || (written.starts_with("${") && written.ends_with('}')) {
        return true;
    }
    let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    let name = last(path);
    let is_file = name.contains('.') || last(&written).contains('.');
    let elsewhere = |tree: &&str| artifact::filesystem::path::covers(tree, path);
    !name.is_empty() && !is_file && !OUTPUTS.contains(&name.as_str()) && !ELSEWHERE.iter().any(elsewhere)
}
