//! Which rules speak of a path, and which of them decides.

use std::collections::HashMap;

use super::glob::{Glob, GlobIndex};
use super::{FileAccess, FilesystemPlan, PathPattern, PathRule, Rights, path};
use crate::precedence::{self, Matching};
use crate::rule::{Effect, LayerId, RuleId};

/// A plan arranged for look-ups: one hash probe for each directory above a path, and few for each of its names.
#[derive(Debug, Clone)]
pub struct FileIndex<'p> {
    plan: &'p FilesystemPlan,
    literals: HashMap<&'p str, Vec<u32>>,
    globs: GlobIndex,
    /// The rules on each glob of the index.
    on_glob: Vec<Vec<u32>>,
}

impl<'p> FileIndex<'p> {
    /// Arranges `plan`. A glob that does not parse matches everything if its rule refuses and nothing if it
    /// grants; validation never lets one get here.
    #[must_use]
    pub fn new(plan: &'p FilesystemPlan) -> Self {
        let mut literals: HashMap<&str, Vec<u32>> = HashMap::new();
        let mut globs: HashMap<&str, usize> = HashMap::new();
        let mut parsed = GlobIndex::default();
        let mut on_glob: Vec<Vec<u32>> = Vec::new();
        for (rule, index) in plan.rules.iter().zip(0_u32..) {
            match &rule.pattern {
                PathPattern::Literal(path) => literals.entry(path).or_default().push(index),
                PathPattern::Glob(text) => {
                    if let Some(rules) = globs.get(text.as_str()).and_then(|at| on_glob.get_mut(*at)) {
                        rules.push(index);
                    } else if let Ok(glob) = Glob::parse(text) {
                        globs.insert(text, on_glob.len());
                        parsed.insert(glob);
                        on_glob.push(vec![index]);
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
            on_glob,
        }
    }

    /// The effect and the deciding rule: in each layer among the rules that match and yield to no other that matches,
    /// the strictest, and of those the one written first; of the layers the strictest. A forbidding rule yields to
    /// nothing.
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

    /// Whether a rule grants the host's object at `path` by name.
    pub(super) fn grants_by_name(&self, path: &str) -> bool {
        self.names(path, None)
    }

    /// Whether some layer has a scratch in place of the host's object at `path`: one that it grants nothing in by this
    /// name.
    pub(super) fn is_replaced(&self, path: &str) -> bool {
        let mut scratches = self.plan.scratch.iter();
        scratches.any(|scratch| path::covers(&scratch.path, path) && !self.names(path, scratch.layer))
    }

    fn names(&self, path: &str, layer: Option<LayerId>) -> bool {
        self.exactly(path).any(|rule| {
            let common = layer.is_none() || rule.layer.is_none() || rule.layer == layer;
            rule.effect == Effect::Allow && common
        })
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
        for glob in self.globs.covering(path) {
            let rules = usize::try_from(glob).ok().and_then(|at| self.on_glob.get(at));
            matching.extend(rules.into_iter().flatten());
        }
        matching
    }

    fn decide_among(&self, access: FileAccess, matching: &[u32]) -> (Effect, RuleId) {
        let matching: Vec<Matching<'_>> = matching
            .iter()
            .filter_map(|index| Some((*index, self.rule(*index)?)))
            .filter(|(_, rule)| rule.access == access)
            .map(|(index, rule)| Matching {
                index,
                rule: rule.rule,
                effect: rule.effect,
                layer: rule.layer,
                yields_to: &rule.yields_to,
            })
            .collect();
        precedence::decide(&matching, self.plan.outermost)
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
            layer: None,
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
            ..FilesystemPlan::default()
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
            ..FilesystemPlan::default()
        };
        let decided = super::super::decide(&plan, FileAccess::Read, "/w");
        assert_eq!(decided, (Effect::Deny, RuleId(2)));
    }

    #[test]
    fn the_strictest_layer_decides_and_rules_yield_only_within_theirs() {
        let layered = |id, effect, layer, path, yields_to: &[u32]| PathRule {
            layer: Some(LayerId(layer)),
            ..rule(id, effect, path, yields_to)
        };
        let plan = FilesystemPlan {
            rules: vec![
                layered(1, Effect::Allow, 0, "/w", &[]),
                layered(2, Effect::Allow, 0, "/w/.env/public", &[]),
                layered(3, Effect::Allow, 1, "/w", &[3]),
                layered(4, Effect::Deny, 1, "/w/.env", &[]),
                layered(5, Effect::Allow, 1, "/v", &[]),
            ],
            outermost: LayerId(1),
            ..FilesystemPlan::default()
        };
        let decided = |path| super::super::decide(&plan, FileAccess::Read, path);
        assert_eq!(decided("/w/a"), (Effect::Allow, RuleId(1)));
        assert_eq!(decided("/w/.env/public"), (Effect::Deny, RuleId(4)));
        assert_eq!(decided("/v"), (Effect::Deny, RuleId::DEFAULT));
    }

    #[test]
    fn a_layer_without_rules_allows_nothing() {
        let plan = FilesystemPlan {
            rules: vec![rule(1, Effect::Allow, "/w", &[])],
            ..FilesystemPlan::default()
        };
        assert_eq!(
            super::super::decide(&plan, FileAccess::Read, "/w").0,
            Effect::Allow
        );
        let innermost_only = FilesystemPlan {
            rules: vec![PathRule {
                layer: Some(LayerId::INNERMOST),
                ..rule(1, Effect::Allow, "/w", &[])
            }],
            outermost: LayerId(1),
            ..FilesystemPlan::default()
        };
        let decided = super::super::decide(&innermost_only, FileAccess::Read, "/w");
        assert_eq!(decided, (Effect::Deny, RuleId::DEFAULT));
    }
}
