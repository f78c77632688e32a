//! File rules to elementary rules, and which of them yields to which.
//!
//! Literals make a tree, so it is enough that each rule lists the literals next inside it: whatever lies deeper is
//! inside those too, and a path that matches it matches them. Globs are compared with everything near them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use artifact::bounds;
use artifact::filesystem::glob::Glob;
use artifact::filesystem::{FileAccess, FilesystemPlan, PathPattern, PathRule, Scratch, path};
use artifact::rule::Effect;
use policy_lang::inclusion::Proof;
use policy_lang::pattern;
use policy_lang::policy::{self, Policy, Subject};

use super::vocabulary;
use crate::error::{LowerError, Reason};

/// A scratch is for data: nothing in it starts unless a rule of its own says so.
const SCRATCH: [policy::FileAccess; 2] = [policy::FileAccess::Read, policy::FileAccess::Write];

pub(super) fn lower(policy: &Policy, errors: &mut Vec<LowerError>) -> FilesystemPlan {
    let mut plan = FilesystemPlan::default();
    let mut patterns: Vec<Cow<'_, pattern::PathPattern>> = Vec::new();
    for rule in &policy.rules {
        let elementary = match &rule.subject {
            Subject::File { accesses, targets } => targets
                .iter()
                .map(|target| (accesses.as_slice(), Cow::Borrowed(target)))
                .collect(),
            Subject::Scratch { path, size_bytes } => {
                plan.scratch.push(Scratch {
                    rule: vocabulary::rule_id(rule.id),
                    path: path.clone(),
                    size_bytes: *size_bytes,
                });
                let everything_in_it = Cow::Owned(pattern::PathPattern::Literal(path.clone()));
                vec![(SCRATCH.as_slice(), everything_in_it)]
            }
            _ => Vec::new(),
        };
        for (accesses, target) in elementary {
            if let Err(reason) = check(&target) {
                errors.push(LowerError::about(rule, reason));
                continue;
            }
            for access in accesses {
                patterns.push(target.clone());
                plan.rules.push(PathRule {
                    rule: vocabulary::rule_id(rule.id),
                    effect: vocabulary::effect(rule.effect),
                    access: vocabulary::access(*access),
                    pattern: vocabulary::pattern(&target),
                    if_present: rule.if_present,
                    yields_to: Vec::new(),
                });
            }
        }
    }
    for access in [FileAccess::Read, FileAccess::Write, FileAccess::Execute] {
        order_literals(&mut plan.rules, access);
        order_globs(&mut plan.rules, &patterns, access);
    }
    for rule in &mut plan.rules {
        rule.yields_to.sort_unstable();
        rule.yields_to.dedup();
    }
    plan
}

/// Whether the enforcer will match the pattern as the language means it.
fn check(target: &pattern::PathPattern) -> Result<(), Reason> {
    let (pattern, why) = match target {
        pattern::PathPattern::Literal(literal) if !path::is_normal(literal) => {
            (literal, "it is not an absolute, normalised path".to_owned())
        }
        pattern::PathPattern::Literal(text) | pattern::PathPattern::Glob(text)
            if text.len() > bounds::PATH_BYTES =>
        {
            (text, format!("it is longer than {} bytes", bounds::PATH_BYTES))
        }
        pattern::PathPattern::Literal(literal)
            if path::components(literal).any(|name| name.len() > bounds::NAME_BYTES) =>
        {
            (
                literal,
                format!("a name in it is longer than {} bytes", bounds::NAME_BYTES),
            )
        }
        pattern::PathPattern::Literal(_) => return Ok(()),
        pattern::PathPattern::Glob(glob) => match Glob::parse(glob) {
            Ok(_) => return Ok(()),
            Err(error) => (glob, error.to_string()),
        },
    };
    Err(Reason::Pattern {
        pattern: pattern.clone(),
        why,
    })
}

/// Indices of the rules on one literal, by literal in tree order.
fn order_literals(rules: &mut [PathRule], access: FileAccess) {
    let mut groups: BTreeMap<TreeOrder<'_>, Vec<u32>> = BTreeMap::new();
    for (index, rule) in (0..).zip(rules.iter()) {
        if let (PathPattern::Literal(literal), true) = (&rule.pattern, rule.access == access) {
            groups.entry(TreeOrder(literal)).or_default().push(index);
        }
    }
    let mut open: Vec<(&str, &[u32])> = Vec::new();
    let mut yields: Vec<(u32, u32)> = Vec::new();
    for (TreeOrder(literal), group) in &groups {
        while open.pop_if(|(outer, _)| !path::covers(outer, literal)).is_some() {}
        // Rules on one literal match alike, so one of them stands for all.
        if let (Some((_, outer)), Some(inner)) = (open.last(), group.first()) {
            yields.extend(outer.iter().map(|outer| (*outer, *inner)));
        }
        open.push((literal, group));
    }
    record(rules, &yields);
}

/// Compares each glob with every rule whose fixed part lies above or below its own.
fn order_globs(rules: &mut [PathRule], patterns: &[Cow<'_, pattern::PathPattern>], access: FileAccess) {
    let mut globs: Vec<(u32, String)> = Vec::new();
    let mut others: Vec<(u32, String)> = Vec::new();
    for (index, rule) in (0..).zip(rules.iter()) {
        if rule.access != access {
            continue;
        }
        let is_glob = matches!(rule.pattern, PathPattern::Glob(_));
        if let Some(prefix) = fixed_prefix(&rule.pattern) {
            let side = if is_glob { &mut globs } else { &mut others };
            side.push((index, prefix));
        }
    }
    let at = |index: u32| usize::try_from(index).ok().and_then(|at| patterns.get(at));
    let mut yields = Vec::new();
    for (position, (left, left_prefix)) in globs.iter().enumerate() {
        for (right, right_prefix) in globs.iter().skip(position + 1).chain(&others) {
            if !near(left_prefix, right_prefix) {
                continue;
            }
            let (Some(left_set), Some(right_set)) = (at(*left), at(*right)) else {
                continue;
            };
            if is_strictly_inside(right_set, left_set) {
                yields.push((*left, *right));
            } else if is_strictly_inside(left_set, right_set) {
                yields.push((*right, *left));
            }
        }
    }
    record(rules, &yields);
}

fn record(rules: &mut [PathRule], yields: &[(u32, u32)]) {
    for (outer, inner) in yields {
        if let Some(rule) = usize::try_from(*outer).ok().and_then(|at| rules.get_mut(at)) {
            rule.yields_to.push(*inner);
        }
    }
}

/// What cannot be decided within bounds counts as no: the outer rule then stands, and the stricter effect wins.
fn is_strictly_inside(inner: &pattern::PathPattern, outer: &pattern::PathPattern) -> bool {
    outer.includes(inner).holds() && inner.includes(outer) == Proof::Fails
}

fn near(left: &str, right: &str) -> bool {
    path::covers(left, right) || path::covers(right, left)
}

/// The longest path that is above everything the pattern matches.
fn fixed_prefix(pattern: &PathPattern) -> Option<String> {
    match pattern {
        PathPattern::Literal(path) => Some(path.clone()),
        PathPattern::Glob(glob) => Some(Glob::parse(glob).ok()?.fixed_prefix()),
    }
}

/// A path that sorts right before everything beneath it.
#[derive(PartialEq, Eq)]
struct TreeOrder<'a>(&'a str);

impl Ord for TreeOrder<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        path::compare(self.0, other.0)
    }
}

impl PartialOrd for TreeOrder<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What the allowing rules of a plan may reach: asked when a refusing rule is explained.
pub(super) struct Grants<'p> {
    literals: HashSet<(FileAccess, &'p str)>,
    globs: Vec<(FileAccess, Glob, String)>,
}

impl<'p> Grants<'p> {
    pub(super) fn new(plan: &'p FilesystemPlan) -> Self {
        let mut grants = Self {
            literals: HashSet::new(),
            globs: Vec::new(),
        };
        for rule in plan.rules.iter().filter(|rule| rule.effect == Effect::Allow) {
            match &rule.pattern {
                PathPattern::Literal(literal) => {
                    grants.literals.insert((rule.access, literal));
                }
                PathPattern::Glob(glob) => {
                    if let Ok(glob) = Glob::parse(glob) {
                        let prefix = glob.fixed_prefix();
                        grants.globs.push((rule.access, glob, prefix));
                    }
                }
            }
        }
        grants
    }

    /// Whether a right may flow down to something that `pattern` matches. Never wrongly no.
    pub(super) fn reach(&self, access: FileAccess, pattern: &pattern::PathPattern) -> bool {
        match pattern {
            pattern::PathPattern::Literal(literal) => {
                path::ancestors(literal).any(|above| self.has(access, above))
                    || self
                        .globs
                        .iter()
                        .any(|(granted, glob, _)| *granted == access && glob.covers(literal))
            }
            pattern::PathPattern::Glob(text) => {
                let Ok(glob) = Glob::parse(text) else { return true };
                let prefix = glob.fixed_prefix();
                path::ancestors(&prefix).any(|above| self.has(access, above))
                    || self.literals.iter().any(|(granted, literal)| {
                        *granted == access
                            && path::covers(&prefix, literal)
                            && may_match_beneath(&glob, literal)
                    })
                    || self
                        .globs
                        .iter()
                        .any(|(granted, _, other)| *granted == access && near(&prefix, other))
            }
        }
    }

    fn has(&self, access: FileAccess, literal: &str) -> bool {
        self.literals.contains(&(access, literal))
    }
}

/// Whether `glob` can match `literal`, something above it or something beneath it.
fn may_match_beneath(glob: &Glob, literal: &str) -> bool {
    let mut states = glob.start();
    for name in path::components(literal) {
        if glob.is_match(states) {
            return true;
        }
        states = glob.step(states, name);
    }
    !states.is_dead()
}
