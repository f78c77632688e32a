//! What the allowing rules of a plan may reach: asked when a rule is explained.

use std::collections::HashSet;

use artifact::LayerId;
use artifact::filesystem::glob::Glob;
use artifact::filesystem::{FileAccess, FilesystemPlan, PathPattern, path};
use artifact::rule::Effect;
use policy_lang::pattern;

/// The grants of each layer.
pub(in crate::lower) struct Grants<'p> {
    layers: Vec<LayerGrants<'p>>,
}

#[derive(Default)]
struct LayerGrants<'p> {
    literals: HashSet<(FileAccess, &'p str)>,
    globs: Vec<(FileAccess, Glob, String)>,
}

impl<'p> Grants<'p> {
    pub(in crate::lower) fn new(plan: &'p FilesystemPlan) -> Self {
        let layers = (0..=plan.outermost.0).map(LayerId);
        Self {
            layers: layers.map(|layer| LayerGrants::new(plan, layer)).collect(),
        }
    }

    /// Whether a right may flow down to something that `pattern` matches. Never wrongly no: a right flows only from
    /// where every layer grants it.
    pub(in crate::lower) fn reach(&self, access: FileAccess, pattern: &pattern::PathPattern) -> bool {
        self.layers.iter().all(|layer| layer.reach(access, pattern))
    }
}

impl<'p> LayerGrants<'p> {
    fn new(plan: &'p FilesystemPlan, layer: LayerId) -> Self {
        let mut grants = Self::default();
        let own = |own: Option<LayerId>| own.is_none_or(|own| own == layer);
        for rule in &plan.rules {
            if rule.effect != Effect::Allow || !own(rule.layer) {
                continue;
            }
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

    fn reach(&self, access: FileAccess, pattern: &pattern::PathPattern) -> bool {
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

fn near(left: &str, right: &str) -> bool {
    path::covers(left, right) || path::covers(right, left)
}
