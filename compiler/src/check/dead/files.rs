//! Rules on files. Literals are nested or have nothing in common, so a walk up the directories finds what covers one.

use std::cell::Cell;
use std::collections::HashMap;

use artifact::filesystem::path;
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{Effect, FileAccess, LayerId, Policy, Rule, RuleId, Subject};

use super::{Part, Standing, among_twins};
use crate::check::Context;
use crate::check::context::fixed_prefix;
use crate::check::place::{Kind, tokens};

/// How many globs a part is compared with. Beyond that it counts as alive.
const GLOBS_MAX: usize = 64;
/// How much is spent on such comparisons for a policy, so that many globs over many paths cost no more than some
/// milliseconds. Text is matched with text quickly; anything else needs automata.
const WORK_MAX: usize = 20_000;
const TEXT: usize = 1;
const AUTOMATON: usize = 16;

const ALL: [FileAccess; 3] = [FileAccess::Read, FileAccess::Write, FileAccess::Execute];
const SCRATCH: [FileAccess; 2] = [FileAccess::Read, FileAccess::Write];

/// A rule as the others see it.
#[derive(Clone, Copy)]
struct Seen<'a> {
    id: RuleId,
    effect: Effect,
    pattern: &'a PathPattern,
    /// Not a rule on the host's files.
    special: bool,
}

/// Rules on one literal: who, with what effect, and whether it is special as in [`Seen`].
type There = Vec<(RuleId, Effect, bool)>;

/// What stands where, for one access each.
#[derive(Default)]
struct Index<'a> {
    literals: HashMap<(FileAccess, &'a str), There>,
    globs: HashMap<(FileAccess, String), Vec<Seen<'a>>>,
    any_glob: bool,
    work: Cell<usize>,
}

pub(super) fn judge(context: &Context<'_>) -> Vec<Part> {
    let mut index = Index::default();
    let near = |rule: &&Rule| rule.layer.is_none_or(|layer| layer == LayerId::INNERMOST);
    for rule in context.policy.rules.iter().filter(near) {
        index.add(rule);
    }
    let mut parts = Vec::new();
    for rule in context.own() {
        let Subject::File { accesses, targets } = &rule.subject else {
            continue;
        };
        for (string, pattern) in targets.iter().enumerate() {
            let mut written = None;
            for access in accesses {
                let mut standing = index.standing(context.policy, rule, *access, pattern);
                if standing != Standing::Alive
                    && *written.get_or_insert_with(|| is_link(rule, string, pattern))
                {
                    standing = Standing::Alive;
                }
                parts.push(Part {
                    rule: rule.id,
                    string,
                    standing,
                });
            }
        }
    }
    parts
}

/// Whether the target was written as another path, which leads to this one through a symbolic link. On another host it
/// may not, so that nothing is said about it.
fn is_link(rule: &Rule, string: usize, pattern: &PathPattern) -> bool {
    let strings = tokens(&rule.text, 0).filter(|token| token.kind == Kind::Text);
    let written = strings.map(|token| token.text.trim_matches('"')).nth(string);
    match (written, pattern) {
        (Some(written), PathPattern::Literal(path)) => written.starts_with('/') && written != path,
        _ => false,
    }
}

impl<'a> Index<'a> {
    fn add(&mut self, rule: &'a Rule) {
        let (accesses, targets, special): (&[FileAccess], &[PathPattern], bool) = match &rule.subject {
            Subject::File { accesses, targets } => (accesses, targets, false),
            Subject::Hide { targets } => (&ALL, targets, true),
            Subject::Scratch { path, .. } => {
                for access in SCRATCH {
                    let there = self.literals.entry((access, path)).or_default();
                    there.push((rule.id, Effect::Allow, true));
                }
                return;
            }
            _ => return,
        };
        for pattern in targets {
            for access in accesses {
                match pattern {
                    PathPattern::Literal(path) => {
                        let there = self.literals.entry((*access, path)).or_default();
                        there.push((rule.id, rule.effect, special));
                    }
                    PathPattern::Glob(_) => {
                        self.any_glob = true;
                        let there = self.globs.entry((*access, pattern.fixed_prefix())).or_default();
                        there.push(Seen {
                            id: rule.id,
                            effect: rule.effect,
                            pattern,
                            special,
                        });
                    }
                }
            }
        }
    }

    fn standing(&self, policy: &Policy, rule: &Rule, access: FileAccess, pattern: &PathPattern) -> Standing {
        let anchor = fixed_prefix(pattern);
        let Some(globs) = self.globs_above(rule, access, pattern, &anchor) else {
            return Standing::Alive;
        };
        if rule.effect != Effect::Forbid
            && let Some(by) = self.forbidden(access, &anchor, &globs)
        {
            return Standing::Dead(by);
        }
        let equal = match pattern {
            PathPattern::Literal(path) => self
                .literals
                .get(&(access, path.as_str()))
                .cloned()
                .unwrap_or_default(),
            PathPattern::Glob(_) => globs
                .iter()
                .filter(|seen| seen.pattern == pattern)
                .map(|seen| (seen.id, seen.effect, seen.special))
                .collect(),
        };
        let twins = equal
            .iter()
            .filter(|(id, _, special)| *id != rule.id && !special)
            .map(|(id, effect, _)| (*effect, *id));
        if let Some(standing) = among_twins(policy, rule, twins) {
            return standing;
        }
        if equal.iter().any(|(_, _, special)| *special) {
            return Standing::Alive;
        }
        self.redundant(rule.effect, access, pattern, &anchor, &globs)
    }

    /// Globs that include the pattern. None if there are too many to look at.
    fn globs_above(
        &self,
        rule: &Rule,
        access: FileAccess,
        pattern: &PathPattern,
        anchor: &str,
    ) -> Option<Vec<Seen<'a>>> {
        if !self.any_glob {
            return Some(Vec::new());
        }
        let near: Vec<Seen<'a>> = path::ancestors(anchor)
            .filter_map(|above| self.globs.get(&(access, above.to_owned())))
            .flatten()
            .filter(|seen| seen.id != rule.id)
            .take(GLOBS_MAX + 1)
            .copied()
            .collect();
        let work = near.iter().map(|seen| match (seen.pattern, pattern) {
            (PathPattern::Glob(glob), PathPattern::Literal(_)) if !glob.contains(['[', '\\']) => TEXT,
            _ => AUTOMATON,
        });
        self.work.set(self.work.get() + work.sum::<usize>());
        if near.len() > GLOBS_MAX || self.work.get() > WORK_MAX {
            return None;
        }
        let includes = |seen: &Seen<'a>| seen.pattern.includes(pattern).holds();
        Some(near.into_iter().filter(includes).collect())
    }

    fn forbidden(&self, access: FileAccess, anchor: &str, globs: &[Seen<'_>]) -> Option<RuleId> {
        let literal = path::ancestors(anchor)
            .filter_map(|above| self.literals.get(&(access, above)))
            .flatten()
            .find(|(_, effect, _)| *effect == Effect::Forbid)
            .map(|(id, ..)| *id);
        let glob = || {
            globs
                .iter()
                .find(|seen| seen.effect == Effect::Forbid)
                .map(|seen| seen.id)
        };
        literal.or_else(glob)
    }

    /// Whether the next rule above says the same, and nothing that this rule keeps away comes in between.
    fn redundant(
        &self,
        effect: Effect,
        access: FileAccess,
        pattern: &PathPattern,
        anchor: &str,
        globs: &[Seen<'_>],
    ) -> Standing {
        // A stricter rule may keep globs away that lie across it; those are not looked for.
        if globs.iter().any(|seen| seen.effect != effect) || (effect > Effect::Allow && self.any_glob) {
            return Standing::Alive;
        }
        let itself = matches!(pattern, PathPattern::Literal(_));
        let above = path::ancestors(anchor)
            .skip(usize::from(itself))
            .filter_map(|above| self.literals.get(&(access, above)));
        let mut above = above.map(|there| {
            let strictest = there
                .iter()
                .max_by_key(|(id, effect, _)| (*effect, std::cmp::Reverse(*id)));
            (strictest, there.iter().any(|(_, _, special)| *special))
        });
        match above.next() {
            Some((Some((id, strictest, _)), false)) if *strictest == effect => Standing::Redundant(*id),
            _ => Standing::Alive,
        }
    }
}
