//! Grants that a ceiling does not grant.
//!
//! Such a grant would be dead, and a reader would take it for granted. What a ceiling refuses by a rule of its own is what
//! ceilings are for, as long as something of the grant is left. What no rule of the ceiling speaks of, the ceiling's author has
//! not granted, and the grant says too much.
//!
//! A grant counts where its own layer allows by it: what the policy refuses itself needs no ceiling.

use std::collections::BTreeMap;

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Effect, LayerId, Policy, RuleId};
use policy_lang::reference::{Access, decide_in};

use super::context::Context;
use crate::difference::{Class, Classes, Domain, View, each_class};

/// A grant of one layer, and the ceiling that it goes beyond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The grant.
    pub rule: RuleId,
    /// The layer that does not grant it: the innermost one that does not.
    pub ceiling: LayerId,
    /// An access that the grant's layer allows by it.
    pub witness: Access,
    /// The ceiling's rule that refuses all of the grant. Absent: nothing in the ceiling grants the witness.
    pub refused_by: Option<RuleId>,
}

/// What was found, and what could not be looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// One for each grant that goes beyond a ceiling, in the order of rules.
    pub beyond: Vec<Finding>,
    /// Why some grants could not be held against the ceilings. Each access is still judged by all layers.
    pub undecided: Vec<String>,
}

/// Holds every grant of a policy against the ceilings of its layer.
#[must_use]
pub fn ceiling(policy: &Policy) -> Findings {
    if policy.layers.len() < 2 {
        return Findings::default();
    }
    let view = View::of_layers(policy);
    let mut tally = Tally {
        policy,
        grants: BTreeMap::new(),
        undecided: Vec::new(),
    };
    each_class(&view, &mut tally);
    tally.finish()
}

/// What a ceiling made of a grant so far.
#[derive(Default)]
struct Grant {
    /// Something of it is left.
    is_left: bool,
    /// An access of it that no rule of the ceiling speaks of.
    unspoken: Option<Access>,
    /// An access of it that a rule of the ceiling refuses.
    refused: Option<(Access, RuleId)>,
}

struct Tally<'a> {
    policy: &'a Policy,
    grants: BTreeMap<(RuleId, LayerId), Grant>,
    undecided: Vec<String>,
}

impl Classes for Tally<'_> {
    fn enter(&mut self, _: Domain, _: &str) {}

    fn class(&mut self, class: &Class<'_>, witness: &dyn Fn() -> Access) {
        let layers: Vec<LayerId> = (0..).map(LayerId).take(self.policy.layers.len()).collect();
        for (at, &layer) in layers.iter().enumerate() {
            let own = class.cells.decide_in(u16::from(layer.0));
            if own.effect >= Effect::Deny {
                continue;
            }
            let rule = if class.is_named {
                own.rule
            } else {
                decide_in(layer, self.policy, &witness()).rule
            };
            for &ceiling in layers.iter().skip(at + 1) {
                let above = class.cells.decide_in(u16::from(ceiling.0));
                let grant = self.grants.entry((rule, ceiling)).or_default();
                if above.effect < Effect::Deny {
                    grant.is_left = true;
                } else if above.rule == RuleId::DEFAULT {
                    grant.unspoken.get_or_insert_with(witness);
                } else {
                    grant.refused.get_or_insert_with(|| (witness(), above.rule));
                }
            }
        }
    }

    fn undecided(&mut self, reason: &str) {
        if !self.undecided.iter().any(|known| known == reason) {
            self.undecided.push(reason.to_owned());
        }
    }
}

impl Tally<'_> {
    fn finish(self) -> Findings {
        let mut beyond: Vec<Finding> = Vec::new();
        // In the order of rules, and of each rule the innermost ceiling first.
        for ((rule, ceiling), grant) in self.grants {
            if beyond.last().is_some_and(|known| known.rule == rule) {
                continue;
            }
            let (witness, refused_by) = match (grant.unspoken, grant.refused, grant.is_left) {
                (Some(witness), _, _) => (witness, None),
                (None, Some((witness, _)), false) => {
                    let by = decide_in(ceiling, self.policy, &witness).rule;
                    (witness, Some(by))
                }
                _ => continue,
            };
            beyond.push(Finding {
                rule,
                ceiling,
                witness,
                refused_by,
            });
        }
        Findings {
            beyond,
            undecided: self.undecided,
        }
    }
}

/// The family of findings that `remit check`, `compile` and `run` report.
pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let findings = ceiling(context.policy);
    found.extend(findings.beyond.iter().map(|finding| told(context, finding)));
    found.extend(findings.undecided.iter().map(|reason| {
        context
            .places
            .policy()
            .found(|span| Diagnostic::warning(Code::CeilingUndecided, span, "not every grant was held against the ceilings"))
            .label(format!("here {reason}"))
            .help("write fewer patterns that overlap; each access is still judged by every ceiling when the policy runs")
    }));
}

fn told(context: &Context<'_>, finding: &Finding) -> Diagnostic {
    let policy = context.policy;
    let layer = policy.layers.get(usize::from(finding.ceiling.0));
    let name = layer.map_or("?", |layer| layer.name.as_str());
    let Some(rule) = policy.rule(finding.rule) else {
        return context
            .places
            .policy()
            .found(|span| Diagnostic::error(Code::BeyondCeiling, span, "a grant goes beyond its ceiling"));
    };
    let refusing = finding.refused_by.and_then(|by| policy.rule(by));
    let message = match refusing {
        Some(_) => format!("the ceiling \"{name}\" refuses all of this"),
        None => format!("the ceiling \"{name}\" does not grant all of this"),
    };
    let mut diagnostic = context
        .places
        .rule(rule)
        .found(|span| Diagnostic::error(Code::BeyondCeiling, span, message))
        .label(format!("grants `{}`", finding.witness));
    diagnostic = match refusing {
        Some(refusing) => {
            let there = context.places.rule(refusing);
            let diagnostic = diagnostic
                .also_in(there.file, there.span, "this rule of the ceiling refuses it")
                .help(match refusing.effect {
                    Effect::Forbid => "remove the grant: nothing opens what a ceiling forbids",
                    _ => "remove the grant, or have the ceiling allow it by a rule that is more specific",
                });
            match &refusing.because {
                Some(because) => diagnostic.note(format!("because {because}")),
                None => diagnostic,
            }
        }
        None => {
            let file = layer.map_or("?", |layer| layer.file.as_str());
            diagnostic.help(format!(
                "narrow the grant to what \"{name}\" allows, or have {file} allow it too; a ceiling's own denials need no narrowing"
            ))
        }
    };
    if let Some(via) = &rule.via {
        diagnostic = diagnostic.note(format!("the rule comes from `use {via}`"));
    }
    diagnostic
}

#[cfg(test)]
mod tests;
