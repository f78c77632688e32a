//! Decides classes on both sides, and gathers those that differ by the rules that decide.

use std::collections::{BTreeSet, HashMap};

use policy_lang::policy::{Effect, Policy};
use policy_lang::reference::{Access, decide};

use super::Undecided;
use super::cells::Cells;
use super::change::{Change, Domain, Judged, Outcome};
use super::classes::{Class, Classes};
use super::view::{Side, View};

/// Examples beside the witness.
const EXAMPLES: usize = 4;

type Key = (Domain, Judged, Judged);

pub(super) struct Gathered<'a> {
    view: &'a View<'a>,
    old: &'a Policy,
    new: &'a Policy,
    domain: Domain,
    verb: String,
    /// By the rules that were named. Where the names are not those of the reference, apart.
    index: HashMap<(Key, bool), usize>,
    changes: Vec<(Change, bool)>,
    undecided: Vec<Undecided>,
}

/// Looks at rules for the sake of their names alone.
const ASKED_MAX: usize = 100_000;

impl<'a> Gathered<'a> {
    pub(super) fn new(view: &'a View<'a>, old: &'a Policy, new: &'a Policy) -> Self {
        Self {
            view,
            old,
            new,
            domain: Domain::Files,
            verb: String::new(),
            index: HashMap::new(),
            changes: Vec::new(),
            undecided: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> (Vec<Change>, Vec<Undecided>) {
        let (old, new) = (self.old, self.new);
        let mut index: HashMap<Key, usize> = HashMap::new();
        let mut merged: Vec<Change> = Vec::new();
        // Walking lets go of rules that no longer matter for the outcome, the one to be named among them. Asking the
        // reference costs a look at every rule for every change.
        let rules = old.rules.len().saturating_add(new.rules.len());
        let ask = self.changes.len().saturating_mul(rules) <= ASKED_MAX;
        for (mut change, is_named) in self.changes {
            if ask || !is_named {
                change.before.rule = decide(old, &change.witness).rule;
                change.after.rule = decide(new, &change.witness).rule;
            }
            debug_assert!(is_confirmed(old, &change.witness, change.before), "{change:?}");
            debug_assert!(is_confirmed(new, &change.witness, change.after), "{change:?}");
            let key = (change.domain, change.before, change.after);
            let known = index.get(&key).and_then(|&at| merged.get_mut(at));
            match known {
                Some(known) => absorb(known, change),
                None => {
                    index.insert(key, merged.len());
                    merged.push(change);
                }
            }
        }
        (merged, self.undecided)
    }
}

impl Classes for Gathered<'_> {
    fn enter(&mut self, domain: Domain, verb: &str) {
        self.domain = domain;
        verb.clone_into(&mut self.verb);
    }

    fn class(&mut self, class: &Class<'_>, witness: &dyn Fn() -> Access) {
        let [old, new] = self.view.sides.as_slice() else {
            return;
        };
        let (before, after) = (judge(old, class.cells), judge(new, class.cells));
        if before.outcome == after.outcome {
            return;
        }
        let key = ((self.domain, before, after), class.is_named);
        let at = *self.index.entry(key).or_insert(self.changes.len());
        match self.changes.get_mut(at) {
            Some((change, _)) => {
                change.places += 1;
                if !change.verbs.contains(&self.verb) {
                    change.verbs.insert(self.verb.clone());
                }
                if change.examples.len() < EXAMPLES {
                    change.examples.push(witness());
                }
            }
            None => {
                let change = Change {
                    domain: self.domain,
                    verbs: BTreeSet::from([self.verb.clone()]),
                    before,
                    after,
                    witness: witness(),
                    examples: Vec::new(),
                    places: 1,
                };
                self.changes.push((change, class.is_named));
            }
        }
    }

    fn undecided(&mut self, reason: &str) {
        let undecided = Undecided {
            domain: self.domain,
            reason: reason.to_owned(),
        };
        if !self.undecided.contains(&undecided) {
            self.undecided.push(undecided);
        }
    }
}

fn absorb(known: &mut Change, other: Change) {
    known.places += other.places;
    known.verbs.extend(other.verbs);
    let more = std::iter::once(other.witness).chain(other.examples);
    let room = EXAMPLES.saturating_sub(known.examples.len());
    known.examples.extend(more.take(room));
}

fn judge(side: &Side<'_>, cells: &Cells) -> Judged {
    let decision = cells.decide(side.layers());
    let outcome = match decision.effect {
        Effect::Ask => Outcome::Asked,
        Effect::Allow => {
            if side.layers().any(|cell| cells.is_private(cell)) {
                Outcome::Private
            } else {
                Outcome::Allowed
            }
        }
        Effect::Deny | Effect::Forbid => {
            let firm = side.firm_layers().map(|cells_of| cells.decide(cells_of).effect);
            if firm.is_some_and(|effect| effect < Effect::Deny) {
                Outcome::RefusedIfPossible
            } else {
                Outcome::Refused
            }
        }
    };
    Judged {
        outcome,
        rule: decision.rule,
    }
}

/// Whether the reference says so too.
fn is_confirmed(policy: &Policy, witness: &Access, judged: Judged) -> bool {
    let decision = decide(policy, witness);
    let effect_fits = match judged.outcome {
        Outcome::Allowed | Outcome::Private => decision.effect == Effect::Allow,
        Outcome::Asked => decision.effect == Effect::Ask,
        Outcome::RefusedIfPossible | Outcome::Refused => decision.effect >= Effect::Deny,
    };
    effect_fits && decision.rule == judged.rule
}
