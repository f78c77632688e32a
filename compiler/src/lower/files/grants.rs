//! What the allowing rules of a plan may reach: asked when a rule is explained.

use std::collections::HashSet;

use artifact::LayerId;
use artifact::filesystem::glob::{Glob, GlobIndex};
use artifact::filesystem::{FileAccess, FilesystemPlan, PathPattern, path};
use artifact::rule::Effect;
use policy_lang::pattern;

const ACCESSES: [FileAccess; 3] = [FileAccess::Read, FileAccess::Write, FileAccess::Execute];

/// The grants of each layer, by access.
pub(in crate::lower) struct Grants<'p> {
    layers: Vec<[(FileAccess, Granted<'p>); 3]>,
}

/// What one layer grants of one access.
struct Granted<'p> {
    literals: Tree<'p>,
    globs: GlobIndex,
    /// The text of each glob.
    texts: Vec<&'p str>,
    /// The longest path above every match of each glob.
    prefixes: Tree<'p>,
}

impl<'p> Grants<'p> {
    pub(in crate::lower) fn new(plan: &'p FilesystemPlan) -> Self {
        let layers = (0..=plan.outermost.0).map(LayerId);
        Self {
            layers: layers
                .map(|layer| ACCESSES.map(|access| (access, Granted::new(plan, layer, access))))
                .collect(),
        }
    }

    /// Whether a right may flow down to something that `pattern` matches. Never wrongly no: a right flows only from
    /// where every layer grants it.
    pub(in crate::lower) fn reach(&self, access: FileAccess, pattern: &pattern::PathPattern) -> bool {
        self.of(access).all(|granted| granted.reach(pattern))
    }

    /// Whether each layer has a rule that grants all that `pattern` matches. Others may take it away.
    pub(in crate::lower) fn include(&self, access: FileAccess, pattern: &pattern::PathPattern) -> bool {
        self.of(access).all(|granted| granted.includes(pattern))
    }

    fn of(&self, access: FileAccess) -> impl Iterator<Item = &Granted<'p>> {
        let all = self.layers.iter().flatten();
        all.filter(move |(own, _)| *own == access)
            .map(|(_, granted)| granted)
    }
}

impl<'p> Granted<'p> {
    fn new(plan: &'p FilesystemPlan, layer: LayerId, access: FileAccess) -> Self {
        let rules = plan.rules.iter().filter(|rule| {
            rule.effect == Effect::Allow && rule.access == access && rule.layer.is_none_or(|own| own == layer)
        });
        let mut literals = Vec::new();
        let mut globs = GlobIndex::default();
        let mut texts: Vec<&str> = Vec::new();
        let mut prefixes = Vec::new();
        for rule in rules {
            match &rule.pattern {
                PathPattern::Literal(literal) => literals.push(literal.as_str()),
                PathPattern::Glob(text) => {
                    if let Ok(glob) = Glob::parse(text) {
                        prefixes.push(above(text, &glob.fixed_prefix()));
                        texts.push(text);
                        globs.insert(glob);
                    }
                }
            }
        }
        Self {
            literals: Tree::new(literals),
            globs,
            texts,
            prefixes: Tree::new(prefixes),
        }
    }

    fn reach(&self, pattern: &pattern::PathPattern) -> bool {
        match pattern {
            pattern::PathPattern::Literal(literal) => {
                self.literals.has_above(literal) || !self.globs.covering(literal).is_empty()
            }
            pattern::PathPattern::Glob(text) => {
                let Ok(glob) = Glob::parse(text) else { return true };
                let prefix = glob.fixed_prefix();
                self.literals.has_above(&prefix)
                    || self.prefixes.has_above(&prefix)
                    || self.prefixes.beneath(&prefix).next().is_some()
                    || self
                        .literals
                        .beneath(&prefix)
                        .any(|literal| may_match_beneath(&glob, literal))
            }
        }
    }

    fn includes(&self, pattern: &pattern::PathPattern) -> bool {
        let Some(example) = pattern.example() else {
            return false;
        };
        let mut literals = path::ancestors(&example).filter(|above| self.literals.has(above));
        let including = |outer: pattern::PathPattern| outer.includes(pattern).holds();
        literals.any(|above| including(pattern::PathPattern::Literal(above.to_owned())))
            || self.globs.covering(&example).into_iter().any(|glob| {
                let text = usize::try_from(glob).ok().and_then(|at| self.texts.get(at));
                text.is_some_and(|text| including(pattern::PathPattern::Glob((*text).to_owned())))
            })
    }
}

/// Paths, by name and in the order of the tree.
struct Tree<'p> {
    known: HashSet<&'p str>,
    sorted: Vec<&'p str>,
}

impl<'p> Tree<'p> {
    fn new(mut paths: Vec<&'p str>) -> Self {
        paths.sort_unstable_by(|left, right| path::compare(left, right));
        paths.dedup();
        Self {
            known: paths.iter().copied().collect(),
            sorted: paths,
        }
    }

    fn has(&self, path: &str) -> bool {
        self.known.contains(path)
    }

    /// Whether the path or a directory above it is among them.
    fn has_above(&self, path: &str) -> bool {
        path::ancestors(path).any(|above| self.has(above))
    }

    /// Those that are the directory or lie beneath it.
    fn beneath(&self, top: &str) -> impl Iterator<Item = &'p str> {
        let start = self
            .sorted
            .partition_point(|path| path::compare(path, top).is_lt());
        let from = self.sorted.get(start..).unwrap_or_default();
        from.iter()
            .copied()
            .take_while(move |path| path::covers(top, path))
    }
}

/// The beginning of a glob that is its fixed part, where the glob has no escapes in it; else the root, above everything.
fn above<'p>(glob: &'p str, prefix: &str) -> &'p str {
    glob.get(..prefix.len())
        .filter(|start| *start == prefix)
        .unwrap_or("/")
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
