//! Refusals that hold for the files of today only.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{Effect, FileAccess, Subject};

use artifact::filesystem::path;

use super::Context;
use super::context::beneath;

/// How many grants are compared with one glob. Beyond that only the directories above it are asked.
const NEAR_MAX: usize = 64;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let mut written: Vec<&str> = context
        .grants()
        .filter(|grant| grant.accesses.contains(&FileAccess::Write))
        .filter_map(|grant| grant.literal())
        .collect();
    written.sort_unstable_by(|left, right| path::compare(left, right));
    for rule in context
        .own()
        .filter(|rule| rule.effect >= Effect::Deny && !rule.permit_degraded)
    {
        let (Subject::File { targets, .. } | Subject::Hide { targets }) = &rule.subject else {
            continue;
        };
        for (index, target) in targets.iter().enumerate() {
            if matches!(target, PathPattern::Glob(_)) && can_be_made(context, target, &written) {
                found.push(context.target(rule, index).found(|span| {
                    Diagnostic::warning(
                        Code::LaterFiles,
                        span,
                        "this refusal does not hold for files that the run creates or renames later",
                    )
                    .label("matched when the run starts, in a tree that the run can write")
                    .help("name the paths, refuse `write` on a directory, or use an ephemeral workspace, where what is kept is matched at the end; a host that enforces it only partly refuses the run unless the rule says `permit degraded because \"…\"`")
                }));
            }
        }
    }
}

fn can_be_made(context: &Context<'_>, glob: &PathPattern, written: &[&str]) -> bool {
    let prefix = glob.fixed_prefix();
    if context
        .granted_file(FileAccess::Write, &beneath(&prefix))
        .is_some()
    {
        return true;
    }
    let first = written.partition_point(|path| path::compare(path, &prefix).is_lt());
    written
        .iter()
        .skip(first)
        .take(NEAR_MAX)
        .take_while(|path| path::covers(&prefix, path))
        .any(|path| glob.intersects(&PathPattern::Literal((*path).to_owned())).holds())
}
