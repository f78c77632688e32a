//! What the layers of a policy mean together.
//!
//! Rules stay in their layers, and each access is judged in all of them. What is no rule on accesses is joined here: the
//! strictest of what is said holds, and what a ceiling does not permit is an error where it is said. Whether a ceiling
//! permits each *grant* needs inclusion, and is checked by the compiler.

use std::collections::BTreeMap;

use super::layer::Facts;
use super::{Place, Resolver};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{
    Identity, Layer, LayerId, Policy, Record, Requirement, Rule, RuleId, Subject, Test, Unlock,
};

impl Resolver<'_> {
    /// The policy, of everything that was gathered. Innermost layer first.
    pub(super) fn join(&mut self, layers: Vec<Option<Facts>>, tests: Vec<Test>) -> Option<Policy> {
        let layers: Vec<Facts> = layers.into_iter().collect::<Option<_>>()?;
        let (inner, ceilings) = layers.split_first()?;
        for ceiling in ceilings {
            self.identity_within(inner, ceiling);
        }
        self.limits_within(&layers);
        self.values_within(&layers);
        let unlocks = self.unlocks_within(inner, ceilings);
        let workspace = self.joined_workspace(&layers);
        let name = inner.name.clone()?;
        let mut named = Vec::new();
        for layer in &layers {
            named.push(Layer {
                name: layer.name.clone()?,
                file: self
                    .files
                    .get(usize::from(layer.file.0))
                    .map(|source| source.name.clone())?,
            });
        }
        let brokered = self.brokered();
        let (identity, rules) = self.renumbered(&unlocks, inner);
        let policy = Policy {
            name,
            summary: inner.header.summary.clone(),
            parameters: inner
                .parameters
                .iter()
                .map(|(name, bound)| (name.clone(), bound.text()))
                .collect(),
            layers: named,
            rules,
            unlocks,
            identity,
            requirements: requirements(&layers),
            record: record(&layers),
            workspace,
            tests,
        };
        self.brokers_within(&policy, inner, ceilings, &brokered);
        Some(policy)
    }

    /// Without the part of the floor that was opened, and without the credentials that ceilings broker: those are the
    /// ceilings' runs'. Rules keep their order, and get the ids of their new places.
    fn renumbered(&mut self, unlocks: &[Unlock], inner: &Facts) -> ((Identity, RuleId), Vec<Rule>) {
        let opened: Vec<String> = unlocks
            .iter()
            .map(|unlock| format!("built-in:{}", unlock.name))
            .collect();
        let (mut identity, identified) = match inner.said.identity {
            Some((_, (identity, id))) => ((identity, id), true),
            None => ((Identity::Dynamic, RuleId::DEFAULT), false),
        };
        let mut rules = std::mem::take(&mut self.rules);
        rules.retain(|rule| match rule.layer {
            None => !rule.label.as_ref().is_some_and(|label| opened.contains(label)),
            Some(layer) => layer == LayerId::INNERMOST || !matches!(rule.subject, Subject::Broker(_)),
        });
        let before = identity.1;
        for (index, rule) in rules.iter_mut().enumerate() {
            let id = RuleId(u32::try_from(index).unwrap_or(u32::MAX));
            if identified && rule.id == before {
                identity.1 = id;
            }
            rule.id = id;
        }
        (identity, rules)
    }

    fn identity_within(&mut self, inner: &Facts, ceiling: &Facts) {
        let own = inner
            .said
            .identity
            .map_or(Identity::Dynamic, |(_, (identity, _))| identity);
        let outer = ceiling
            .said
            .identity
            .map_or(Identity::Dynamic, |(_, (identity, _))| identity);
        if own == Identity::Dynamic || outer == Identity::User || own == outer {
            return;
        }
        let Some((at, _)) = inner.said.identity else {
            return;
        };
        let there = ceiling.said.identity.map_or(ceiling.named, |(at, _)| at);
        let says = match outer {
            Identity::Ids { uid, gid } => format!("this ceiling says `identity {uid}:{gid}`"),
            Identity::Dynamic | Identity::User => "this ceiling permits `identity dynamic` alone".to_owned(),
        };
        self.report_in(
            at.file,
            Diagnostic::error(
                Code::CeilingIdentity,
                at.span,
                "a ceiling does not permit this identity",
            )
            .label("refused by a ceiling")
            .also_in(there.file, there.span, says)
            .help("write `identity dynamic`, which every ceiling permits, or have the ceiling say the same identity"),
        );
    }

    /// Says so where a lower limit of a ceiling makes one meaningless.
    fn limits_within(&mut self, layers: &[Facts]) {
        let Some((inner, ceilings)) = layers.split_first() else {
            return;
        };
        for (resource, (at, value)) in &inner.said.limits {
            let lowest = ceilings
                .iter()
                .filter_map(|ceiling| ceiling.said.limits.get(resource))
                .min_by_key(|(_, value)| *value);
            let Some((there, _)) = lowest.filter(|(_, lower)| lower < value) else {
                continue;
            };
            self.report_in(
                at.file,
                Diagnostic::warning(
                    Code::CeilingLimit,
                    at.span,
                    format!("a ceiling limits `{}` to less", resource.word()),
                )
                .label("has no effect")
                .also_in(there.file, there.span, "this limit holds")
                .help("write a lower limit, or leave it to the ceiling"),
            );
        }
    }

    /// Two layers that give a variable different values leave it without one.
    fn values_within(&mut self, layers: &[Facts]) {
        let mut values: BTreeMap<&String, (usize, &String, Place)> = BTreeMap::new();
        for (depth, layer) in layers.iter().enumerate() {
            for (name, said) in &layer.said.variables {
                for variable in said {
                    let Some(value) = &variable.value else { continue };
                    let (own, first, at) = *values.entry(name).or_insert((depth, value, variable.at));
                    // Within a layer it was reported where it was said.
                    if own == depth || first == value {
                        continue;
                    }
                    self.report_in(
                        at.file,
                        Diagnostic::error(
                            Code::CeilingSetsOtherwise,
                            at.span,
                            format!("a ceiling sets `{name}` to another value"),
                        )
                        .label("refused by a ceiling")
                        .also_in(variable.at.file, variable.at.span, "this ceiling's value")
                        .help("remove this one, or set the same value"),
                    );
                }
            }
        }
    }

    /// What every layer opens. What the innermost opens alone is an error: it would stay shut.
    fn unlocks_within(&mut self, inner: &Facts, ceilings: &[Facts]) -> Vec<Unlock> {
        let mut unlocks = Vec::new();
        for (name, opened) in &inner.opened {
            match ceilings.iter().find(|ceiling| !ceiling.opened.contains_key(name)) {
                None => unlocks.push(Unlock {
                    name: name.clone(),
                    because: opened.because.clone(),
                    origin: opened.origin.clone(),
                }),
                Some(ceiling) => self.report_in(
                    opened.at.file,
                    Diagnostic::error(
                        Code::CeilingRefuses,
                        opened.at.span,
                        format!("a ceiling keeps `{name}` shut"),
                    )
                    .label("refused by a ceiling")
                    .also_in(
                        ceiling.named.file,
                        ceiling.named.span,
                        "this ceiling does not unlock it",
                    )
                    .help("remove it; only what every ceiling unlocks is open"),
                ),
            }
        }
        unlocks
    }
}

/// Each once, in the order of the layers.
fn requirements(layers: &[Facts]) -> Vec<Requirement> {
    let mut all: Vec<Requirement> = Vec::new();
    for requirement in layers.iter().flat_map(|layer| &layer.header.requirements) {
        if !all.contains(requirement) {
            all.push(requirement.clone());
        }
    }
    all
}

fn record(layers: &[Facts]) -> Record {
    layers
        .iter()
        .map(|layer| layer.header.record)
        .fold(Record::default(), |all, own| Record {
            exec: all.exec || own.exec,
            connect: all.connect || own.connect,
            bind: all.bind || own.bind,
            read: all.read || own.read,
            write: all.write || own.write,
        })
}
