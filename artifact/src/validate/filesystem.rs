//! The files domain.

use super::{Check, Invalid, Rules, ascending, at_most, have_a_common_layer};
use crate::bounds;
use crate::filesystem::glob::Glob;
use crate::filesystem::{FilesystemPlan, PathPattern, PathRule, Scratch, path};
use crate::rule::{Domain, Effect};

pub(super) fn check(plan: &FilesystemPlan, rules: Rules<'_>) -> Check {
    at_most("filesystem.rules", plan.rules.len(), bounds::PATH_RULES)?;
    for (number, rule) in plan.rules.iter().enumerate() {
        let at = || format!("filesystem.rules[{number}]");
        rules.agrees(rule.rule, Domain::Filesystem, rule.effect, at)?;
        rules.is_of_layer(rule.rule, rule.layer, plan.outermost, at)?;
        check_pattern(&rule.pattern).map_err(|problem| Invalid::new(at(), problem))?;
        check_yields(plan, rule).map_err(|problem| Invalid::new(format!("{}.yields_to", at()), problem))?;
    }
    at_most("filesystem.scratch", plan.scratch.len(), bounds::SCRATCHES)?;
    for (number, scratch) in plan.scratch.iter().enumerate() {
        let at = || format!("filesystem.scratch[{number}]");
        rules.agrees(scratch.rule, Domain::Filesystem, Effect::Allow, at)?;
        rules.is_of_layer(scratch.rule, scratch.layer, plan.outermost, at)?;
        check_scratch(scratch).map_err(|problem| Invalid::new(at(), problem))?;
    }
    let mut mounts: Vec<_> = plan
        .scratch
        .iter()
        .map(|scratch| (scratch.path.as_str(), scratch.layer))
        .collect();
    mounts.sort_unstable();
    if !ascending(mounts) {
        let problem = "two of one layer are at the same path";
        return Err(Invalid::new("filesystem.scratch", problem));
    }
    Ok(())
}

fn check_scratch(scratch: &Scratch) -> Result<(), String> {
    check_path(&scratch.path)?;
    if scratch.path == "/" {
        return Err("a scratch cannot replace the whole tree".to_owned());
    }
    if scratch.size_bytes == 0 {
        return Err("its size is zero, which a tmpfs takes for no limit".to_owned());
    }
    Ok(())
}

fn check_pattern(pattern: &PathPattern) -> Result<(), String> {
    match pattern {
        PathPattern::Literal(literal) => check_path(literal),
        PathPattern::Glob(glob) => {
            if glob.len() > bounds::PATH_BYTES {
                return Err(format!("the glob is longer than {} bytes", bounds::PATH_BYTES));
            }
            Glob::parse(glob).map(|_| ()).map_err(|error| error.to_string())
        }
    }
}

fn check_path(literal: &str) -> Result<(), String> {
    if !path::is_normal(literal) {
        return Err(format!("{literal:?} is not an absolute, normalised path"));
    }
    if literal.len() > bounds::PATH_BYTES {
        return Err(format!("the path is longer than {} bytes", bounds::PATH_BYTES));
    }
    if path::components(literal).any(|name| name.len() > bounds::NAME_BYTES) {
        return Err(format!(
            "a name in the path is longer than {} bytes",
            bounds::NAME_BYTES
        ));
    }
    Ok(())
}

/// A rule yields only to sets inside its own. For globs only what is cheap to see is checked: a wrong claim between
/// two globs is the compiler's to exclude, and the digest's to protect.
fn check_yields(plan: &FilesystemPlan, rule: &PathRule) -> Result<(), String> {
    if !ascending(&rule.yields_to) {
        return Err("it is not sorted, or has duplicates".to_owned());
    }
    let glob = match &rule.pattern {
        PathPattern::Glob(glob) => Some(Glob::parse(glob).map_err(|error| error.to_string())?),
        PathPattern::Literal(_) => None,
    };
    for index in &rule.yields_to {
        let other = usize::try_from(*index)
            .ok()
            .and_then(|index| plan.rules.get(index))
            .ok_or_else(|| format!("there is no rule {index}"))?;
        let inside = match (&rule.pattern, &glob, &other.pattern) {
            (PathPattern::Literal(outer), _, PathPattern::Literal(inner)) => {
                outer != inner && path::covers(outer, inner)
            }
            (_, Some(glob), PathPattern::Literal(inner)) => glob.covers(inner),
            (PathPattern::Literal(_) | PathPattern::Glob(_), _, PathPattern::Glob(_)) => {
                rule.pattern != other.pattern
            }
            (PathPattern::Glob(_), None, PathPattern::Literal(_)) => false,
        };
        if other.access != rule.access || !inside {
            return Err(format!("rule {index} is not strictly inside it"));
        }
        if !have_a_common_layer(rule.layer, other.layer) {
            return Err(format!("rule {index} is of another layer"));
        }
    }
    Ok(())
}
