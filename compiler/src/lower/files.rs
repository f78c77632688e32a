//! File rules to elementary rules, and which of them yields to which.

mod grants;
mod nesting;
mod order;

use std::borrow::Cow;
use std::collections::HashMap;

use artifact::bounds;
use artifact::filesystem::glob::Glob;
use artifact::filesystem::{FilesystemPlan, PathRule, Scratch, path};
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{FileAccess, Policy, Rule, Subject};

use super::vocabulary;
use crate::error::{LowerError, Reason};

pub(super) use grants::Grants;

/// A scratch is for data: nothing in it starts unless a rule of its own says so.
const SCRATCH: [FileAccess; 2] = [FileAccess::Read, FileAccess::Write];

/// What is hidden is refused in every way.
const HIDDEN: [FileAccess; 3] = [FileAccess::Read, FileAccess::Write, FileAccess::Execute];

pub(super) fn lower(policy: &Policy, errors: &mut Vec<LowerError>) -> FilesystemPlan {
    let mut elementary = Elementary::default();
    for rule in &policy.rules {
        let mut add = |accesses: &[FileAccess], target| {
            if let Err(reason) = elementary.add(policy, rule, accesses, target) {
                errors.push(LowerError::about(rule, reason));
            }
        };
        match &rule.subject {
            Subject::File { accesses, targets } => {
                targets
                    .iter()
                    .for_each(|target| add(accesses, Cow::Borrowed(target)));
            }
            Subject::Hide { targets } => {
                targets
                    .iter()
                    .for_each(|target| add(&HIDDEN, Cow::Borrowed(target)));
            }
            Subject::Scratch { path, .. } => add(&SCRATCH, Cow::Owned(PathPattern::Literal(path.clone()))),
            _ => {}
        }
    }
    let mut rules = elementary.rules;
    let outermost = vocabulary::outermost(policy);
    order::order(
        &mut rules,
        &elementary.pattern_of,
        &elementary.patterns,
        outermost,
    );
    FilesystemPlan {
        rules,
        outermost,
        scratch: scratches(policy),
    }
}

/// Of several in one layer at one path the smallest counts, and of those the first.
fn scratches(policy: &Policy) -> Vec<Scratch> {
    let mut scratches: Vec<Scratch> = Vec::new();
    for rule in &policy.rules {
        let Subject::Scratch { path, size_bytes } = &rule.subject else {
            continue;
        };
        let this = Scratch {
            rule: vocabulary::rule_id(rule.id),
            layer: vocabulary::layer(policy, rule),
            path: path.clone(),
            size_bytes: *size_bytes,
        };
        let same = |other: &&mut Scratch| other.path == this.path && other.layer == this.layer;
        match scratches.iter_mut().find(same) {
            Some(other) if this.size_bytes < other.size_bytes => *other = this,
            Some(_) => {}
            None => scratches.push(this),
        }
    }
    scratches
}

/// Elementary rules as they are collected, and the distinct patterns they are on.
#[derive(Default)]
struct Elementary<'p> {
    rules: Vec<PathRule>,
    /// For each rule the number of its pattern.
    pattern_of: Vec<u32>,
    patterns: Vec<Cow<'p, PathPattern>>,
    numbers: HashMap<Cow<'p, PathPattern>, u32>,
}

impl<'p> Elementary<'p> {
    fn add(
        &mut self,
        policy: &Policy,
        rule: &Rule,
        accesses: &[FileAccess],
        target: Cow<'p, PathPattern>,
    ) -> Result<(), Reason> {
        let pattern = vocabulary::pattern(&target);
        let number = match self.numbers.get(&target) {
            Some(number) => *number,
            None => {
                check(&target)?;
                let number = u32::try_from(self.patterns.len()).unwrap_or(u32::MAX);
                self.patterns.push(target.clone());
                self.numbers.insert(target, number);
                number
            }
        };
        for access in accesses {
            self.pattern_of.push(number);
            self.rules.push(PathRule {
                rule: vocabulary::rule_id(rule.id),
                effect: vocabulary::effect(rule.effect),
                layer: vocabulary::layer(policy, rule),
                access: vocabulary::access(*access),
                pattern: pattern.clone(),
                if_present: rule.if_present,
                yields_to: Vec::new(),
            });
        }
        Ok(())
    }
}

/// Whether the enforcer will match the pattern as the language means it.
fn check(target: &PathPattern) -> Result<(), Reason> {
    let (pattern, why) = match target {
        PathPattern::Literal(literal) if !path::is_normal(literal) => {
            (literal, "it is not an absolute, normalised path".to_owned())
        }
        PathPattern::Literal(text) | PathPattern::Glob(text) if text.len() > bounds::PATH_BYTES => {
            (text, format!("it is longer than {} bytes", bounds::PATH_BYTES))
        }
        PathPattern::Literal(literal)
            if path::components(literal).any(|name| name.len() > bounds::NAME_BYTES) =>
        {
            (
                literal,
                format!("a name in it is longer than {} bytes", bounds::NAME_BYTES),
            )
        }
        PathPattern::Literal(_) => return Ok(()),
        PathPattern::Glob(glob) => match Glob::parse(glob) {
            Ok(_) => return Ok(()),
            Err(error) => (glob, error.to_string()),
        },
    };
    Err(Reason::Pattern {
        pattern: pattern.clone(),
        why,
    })
}
