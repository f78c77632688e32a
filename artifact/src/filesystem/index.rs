//! Which rules speak of a path, and which of them decides.

use std::collections::HashMap;

use super::glob::Glob;
use super::{FileAccess, FilesystemPlan, PathPattern, PathRule, Rights, path};
use crate::rule::{Effect, RuleId};

/// A plan arranged for look-ups: one hash probe for each directory above a path, and each glob once.
#[derive(Debug, Clone)]
pub struct FileIndex<'p> {
    plan: &'p FilesystemPlan,
    literals: HashMap<&'p str, Vec<u32>>,
    /// Rules with the same glob share an entry.
    globs: Vec<(Glob, Vec<u32>)>,
}

impl<'p> FileIndex<'p> {
    /// Arranges `plan`. A glob that does not parse matches everything if its rule refuses and nothing if it
    /// grants; validation never lets one get here.
    #[must_use]
    pub fn new(plan: &'p FilesystemPlan) -> Self {
        let mut literals: HashMap<&str, Vec<u32>> = HashMap::new();
        let mut globs: HashMap<&str, usize> = HashMap::new();
        let mut parsed: Vec<(Glob, Vec<u32>)> = Vec::new();
        for (rule, index) in plan.rules.iter().zip(0_u32..) {
            match &rule.pattern {
                PathPattern::Literal(path) => literals.entry(path).or_default().push(index),
                PathPattern::Glob(text) => {
                    if let Some((_, rules)) = globs.get(text.as_str()).and_then(|at| parsed.get_mut(*at)) {
                        rules.push(index);
                    } else if let Ok(glob) = Glob::parse(text) {
                        globs.insert(text, parsed.len());
                        parsed.push((glob, vec![index]));
                    } else if rule.effect > Effect::Allow {
                        literals.entry("/").or_default().push(index);
                    }
                }
            }
        }
        Self {
            plan,
            literals,
            globs: parsed,
        }
    }

    /// The effect and the deciding rule: among the rules that match and yield to no other that matches, the
    /// strictest, and of those the one written first. A forbidding rule yields to nothing.
    #[must_use]
    pub fn decide(&self, access: FileAccess, path: &str) -> (Effect, RuleId) {
        self.decide_among(access, &self.matching(path))
    }

    /// What is granted at `path`.
    #[must_use]
    pub fn rights(&self, path: &str) -> Rights {
        let matching = self.matching(path);
        let granted = |access| self.decide_among(access, &matching).0 == Effect::Allow;
        Rights {
            read: granted(FileAccess::Read),
            write: granted(FileAccess::Write),
            execute: granted(FileAccess::Execute),
        }
    }

    /// The rules whose pattern is exactly this literal.
    pub(super) fn exactly(&self, path: &str) -> impl Iterator<Item = &'p PathRule> {
        let rules = self.literals.get(path).map(Vec::as_slice).unwrap_or_default();
        rules.iter().filter_map(|index| self.rule(*index))
    }

    /// Every literal in the plan.
    pub(super) fn literals(&self) -> impl Iterator<Item = &'p str> {
        self.literals.keys().copied()
    }

    fn matching(&self, path: &str) -> Vec<u32> {
        let mut matching = Vec::new();
        for ancestor in path::ancestors(path) {
            matching.extend(self.literals.get(ancestor).into_iter().flatten());
        }
        for (glob, rules) in &self.globs {
            if glob.covers(path) {
                matching.extend(rules);
            }
        }
        matching
    }

    fn decide_among(&self, access: FileAccess, matching: &[u32]) -> (Effect, RuleId) {
        let mut decision: Option<(Effect, RuleId)> = None;
        for rule in matching.iter().filter_map(|index| self.rule(*index)) {
            if rule.access != access {
                continue;
            }
            // Few rules match a path; many may lie inside one rule.
            let yields = matching
                .iter()
                .any(|other| rule.yields_to.binary_search(other).is_ok());
            if yields && rule.effect != Effect::Forbid {
                continue;
            }
            let stricter = decision
                .is_none_or(|(effect, id)| rule.effect > effect || (rule.effect == effect && rule.rule < id));
            if stricter {
                decision = Some((rule.effect, rule.rule));
            }
        }
        decision.unwrap_or((Effect::Deny, RuleId::DEFAULT))
    }

    fn rule(&self, index: u32) -> Option<&'p PathRule> {
        self.plan.rules.get(usize::try_from(index).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(id: u32, effect: Effect, path: &str, yields_to: &[u32]) -> PathRule {
        PathRule {
            rule: RuleId(id),
            effect,
            access: FileAccess::Read,
            pattern: PathPattern::Literal(path.to_owned()),
            if_present: false,
            yields_to: yields_to.to_vec(),
        }
    }

    #[test]
    fn the_innermost_rule_wins_and_a_forbid_never_yields() {
        let plan = FilesystemPlan {
            rules: vec![
                rule(1, Effect::Allow, "/w", &[1, 3]),
                rule(2, Effect::Deny, "/w/.env", &[2]),
                rule(3, Effect::Allow, "/w/.env/public", &[]),
                rule(4, Effect::Forbid, "/w/f", &[4]),
                rule(5, Effect::Allow, "/w/f/g", &[]),
            ],
            scratch: Vec::new(),
        };
        let decided = |path| super::super::decide(&plan, FileAccess::Read, path);
        assert_eq!(decided("/w/a"), (Effect::Allow, RuleId(1)));
        assert_eq!(decided("/w/.env"), (Effect::Deny, RuleId(2)));
        assert_eq!(decided("/w/.env/public/x"), (Effect::Allow, RuleId(3)));
        assert_eq!(decided("/w/f/g"), (Effect::Forbid, RuleId(4)));
        assert_eq!(decided("/x"), (Effect::Deny, RuleId::DEFAULT));
    }

    #[test]
    fn equal_sets_resolve_to_the_stricter_and_then_to_the_first() {
        let plan = FilesystemPlan {
            rules: vec![
                rule(3, Effect::Deny, "/w", &[]),
                rule(2, Effect::Deny, "/w", &[]),
                rule(1, Effect::Allow, "/w", &[]),
            ],
            scratch: Vec::new(),
        };
        let decided = super::super::decide(&plan, FileAccess::Read, "/w");
        assert_eq!(decided, (Effect::Deny, RuleId(2)));
    }
}
