//! The elementary rules about system calls, and which calls they speak of.
//!
//! Most calls are spoken of by the same rules as many others. Those share one subject, which is decided once.

use std::collections::{BTreeSet, HashMap};

use policy_lang::inclusion::Proof;
use policy_lang::policy::{Effect, LayerId, Policy, RuleId, Subject};
use policy_lang::syscall::SyscallSet;

use super::GenerateError;
use super::decision::{CallDecision, Candidate, decide_call};
use super::formula::Formula;
use super::graph::Graph;

/// Sets up to this size look their names up; larger ones are walked along with the table, both being sorted.
const LOOKED_UP_MAX: usize = 32;

/// One for each target of each rule.
pub(super) struct Targets<'p> {
    list: Vec<Target<'p>>,
    layers: usize,
    /// Whether the set at the first position lies strictly inside the one at the second, once that was asked.
    inside: HashMap<(usize, usize), Option<bool>>,
}

/// One set of calls of one rule.
#[derive(Clone, Copy)]
struct Target<'p> {
    rule: RuleId,
    effect: Effect,
    /// Absent: of every layer.
    layer: Option<LayerId>,
    set: &'p SyscallSet,
}

/// Which targets speak of each call.
pub(super) struct Subjects {
    /// A target, and the subject it was added to. The first is that of calls nothing speaks of.
    list: Vec<Option<(usize, usize)>>,
    /// For each call, its subject.
    of_call: Vec<usize>,
}

/// What is decided about each subject.
pub(super) struct Decided {
    by_subject: Vec<CallDecision>,
    of_call: Vec<usize>,
}

impl<'p> Targets<'p> {
    /// In the order of the rules.
    pub(super) fn of(policy: &'p Policy) -> Self {
        let list = policy
            .rules
            .iter()
            .filter_map(|rule| match &rule.subject {
                Subject::Syscall { targets } => Some((rule, targets)),
                _ => None,
            })
            .flat_map(|(rule, targets)| {
                targets.iter().map(|set| Target {
                    rule: rule.id,
                    effect: rule.effect,
                    layer: rule.layer,
                    set,
                })
            })
            .collect();
        Self {
            list,
            layers: policy.layers.len().max(1),
            inside: HashMap::new(),
        }
    }

    /// Sorts the calls, which are in the order of their names, by the targets that speak of them.
    pub(super) fn sort(&self, calls: &[(&'static str, u32)]) -> Subjects {
        let mut list = vec![None];
        let mut of_call = vec![0; calls.len()];
        for (target, Target { set, .. }) in self.list.iter().enumerate() {
            // Calls of one subject before this target are of one subject after it.
            let mut moved = vec![None; list.len()];
            for row in rows(&set.names, calls) {
                if let Some(subject) = of_call.get_mut(row)
                    && let Some(new) = moved.get_mut(*subject)
                {
                    *subject = *new.get_or_insert_with(|| {
                        list.push(Some((target, *subject)));
                        list.len() - 1
                    });
                }
            }
        }
        Subjects { list, of_call }
    }

    /// Decides every subject that some call has.
    pub(super) fn decide(
        &mut self,
        graph: &mut Graph,
        subjects: &Subjects,
        calls: &[(&'static str, u32)],
    ) -> Result<Decided, GenerateError> {
        let mut names = vec![None; subjects.list.len()];
        for ((name, _), subject) in calls.iter().zip(&subjects.of_call) {
            if let Some(first @ None) = names.get_mut(*subject) {
                *first = Some(*name);
            }
        }
        let mut by_subject = Vec::with_capacity(names.len());
        for (subject, name) in names.into_iter().enumerate() {
            by_subject.push(match name {
                Some(call) => self.decide_subject(graph, &subjects.targets(subject), call)?,
                // All its calls moved on to a later subject.
                None => CallDecision::default_rule(graph),
            });
        }
        Ok(Decided {
            by_subject,
            of_call: subjects.of_call.clone(),
        })
    }

    fn decide_subject(
        &mut self,
        graph: &mut Graph,
        targets: &[usize],
        call: &'static str,
    ) -> Result<CallDecision, GenerateError> {
        let own: Vec<_> = targets
            .iter()
            .filter_map(|target| Some((*target, *self.list.get(*target)?)))
            .collect();
        let too_complex = || GenerateError::TooComplex {
            call,
            rules: own.iter().map(|(_, target)| target.rule).collect(),
        };
        let mut candidates = Vec::with_capacity(own.len());
        for (at, target) in &own {
            let mut yields_to = Vec::new();
            for (position, (other_at, other)) in own.iter().enumerate() {
                if !matters(target, other) {
                    continue;
                }
                let inside = self
                    .inside
                    .entry((*other_at, *at))
                    .or_insert_with(|| lies_strictly_inside(other.set, target.set));
                // A proof that gave up would leave the order of the rules open; better to say so.
                if inside.ok_or_else(too_complex)? {
                    yields_to.push(position);
                }
            }
            candidates.push(Candidate {
                rule: target.rule,
                effect: target.effect,
                layer: target.layer,
                conditions: target
                    .set
                    .conditions
                    .iter()
                    .map(Formula::from_condition)
                    .collect(),
                yields_to,
            });
        }
        decide_call(graph, &candidates, self.layers).map_err(|_| too_complex())
    }
}

impl Subjects {
    /// The targets of a subject, in the order of the rules.
    fn targets(&self, subject: usize) -> Vec<usize> {
        let mut targets = Vec::new();
        let mut at = subject;
        while let Some(Some((target, before))) = self.list.get(at) {
            targets.push(*target);
            at = *before;
        }
        targets.reverse();
        targets
    }
}

impl Decided {
    /// In the order of the calls.
    pub(super) fn each_call(&self) -> impl Iterator<Item = &CallDecision> {
        self.of_call
            .iter()
            .filter_map(|subject| self.by_subject.get(*subject))
    }
}

/// Whether it can make a difference that one yields to the other. Where a `forbid` matches nothing else counts, whoever
/// would yield. Proofs cost more than the rest.
fn matters(target: &Target<'_>, other: &Target<'_>) -> bool {
    let meet = target.layer.is_none() || other.layer.is_none() || target.layer == other.layer;
    let alike = matches!(
        (target.effect, other.effect),
        (Effect::Forbid, _) | (_, Effect::Forbid) | (Effect::Allow, Effect::Allow)
    );
    meet && !alike && target.rule != other.rule
}

/// Positions of these names in the table.
fn rows(names: &BTreeSet<String>, calls: &[(&'static str, u32)]) -> Vec<usize> {
    if names.len() <= LOOKED_UP_MAX {
        let row = |name: &String| {
            calls
                .binary_search_by(|(call, _)| (*call).cmp(name.as_str()))
                .ok()
        };
        return names.iter().filter_map(row).collect();
    }
    let mut rows = Vec::with_capacity(names.len());
    let mut names = names.iter().peekable();
    for (row, (call, _)) in calls.iter().enumerate() {
        while names.next_if(|name| name.as_str() < *call).is_some() {}
        if names.next_if(|name| name.as_str() == *call).is_some() {
            rows.push(row);
        }
    }
    rows
}

/// Whether every call of `inner` is one of `outer`, and not the other way round. `None` if that was not found out.
fn lies_strictly_inside(inner: &SyscallSet, outer: &SyscallSet) -> Option<bool> {
    let forth = outer.includes(inner);
    if forth == Proof::Fails {
        return Some(false);
    }
    match (forth, inner.includes(outer)) {
        (_, Proof::Holds) => Some(false),
        (Proof::Holds, Proof::Fails) => Some(true),
        _ => None,
    }
}
