//! Which rules are looked at side by side.
//!
//! A *cell* is one layer of one policy: the rules among which precedence is decided. A comparison has the cells of both
//! policies, a look at a chain of ceilings those of one. Where some refusal permits degradation, each layer has a second
//! cell without such refusals: what it allows is refused only where the host can.

use std::borrow::Cow;
use std::cell::{Cell as Flag, RefCell};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use policy_lang::inclusion::Proof;
use policy_lang::policy::{Effect, LayerId, Policy, Rule, RuleId, Subject};

/// The cells of one or two policies.
pub(crate) struct View<'a> {
    pub(super) sides: Vec<Side<'a>>,
    /// Cells that are equal where both policies say the same. Absent if their layers cannot be paired.
    pub(super) pairs: Option<Vec<(u16, u16)>>,
    /// Where each of these has a cell that refuses, nobody asks for more.
    pub(super) groups: Vec<Range<u16>>,
}

/// One policy of a view.
pub(crate) struct Side<'a> {
    pub(super) policy: &'a Policy,
    layers: u16,
    first: u16,
    /// Whether there are cells without the refusals that permit degradation.
    has_firm: bool,
}

impl<'a> View<'a> {
    pub(super) fn of_both(old: &'a Policy, new: &'a Policy) -> Self {
        let has_firm = [old, new].iter().any(|policy| policy.rules.iter().any(may_fail));
        let old = Side::new(old, 0, has_firm);
        let new = Side::new(new, old.cells().end, has_firm);
        let pairs = (old.layers == new.layers).then(|| old.cells().zip(new.cells()).collect());
        let groups = [&old, &new].into_iter().flat_map(|side| {
            let firm = side.firm_layers();
            std::iter::once(side.layers()).chain(firm)
        });
        Self {
            pairs,
            groups: groups.collect(),
            sides: vec![old, new],
        }
    }

    pub(crate) fn of_layers(policy: &'a Policy) -> Self {
        let side = Side::new(policy, 0, false);
        let ceiling = side.layers().end.saturating_sub(1);
        Self {
            pairs: None,
            // What every layer beneath the outermost refuses is granted by none that has a ceiling.
            groups: (side.layers().start..ceiling)
                .map(|cell| cell..cell + 1)
                .collect(),
            sides: vec![side],
        }
    }
}

impl<'a> Side<'a> {
    fn new(policy: &'a Policy, first: u16, has_firm: bool) -> Self {
        Self {
            policy,
            layers: u16::try_from(policy.layers.len())
                .unwrap_or(u16::MAX)
                .clamp(1, 255),
            first,
            has_firm,
        }
    }

    pub(super) fn cells(&self) -> Range<u16> {
        let per_layer = if self.has_firm { 2 } else { 1 };
        self.first..self.first + per_layer * self.layers
    }

    /// One cell for each layer, innermost first.
    pub(super) fn layers(&self) -> Range<u16> {
        self.first..self.first + self.layers
    }

    /// The same without the refusals that permit degradation.
    pub(super) fn firm_layers(&self) -> Option<Range<u16>> {
        self.has_firm.then(|| self.layers().end..self.cells().end)
    }

    fn cells_of(&self, rule: &Rule) -> impl Iterator<Item = u16> {
        let layers = self.layers();
        let own = move |cells: Range<u16>, rule: Option<LayerId>| {
            let start = cells.start;
            cells.filter(move |cell| rule.is_none_or(|layer| u16::from(layer.0) == cell - start))
        };
        let layer = rule.layer;
        let firm = self.firm_layers().filter(|_| !may_fail(rule));
        own(layers, layer).chain(firm.into_iter().flat_map(move |cells| own(cells, layer)))
    }
}

/// Whether a host may leave the rule's refusals out. An `ask` that a host cannot ask is refused.
fn may_fail(rule: &Rule) -> bool {
    rule.permit_degraded && matches!(rule.effect, Effect::Deny | Effect::Forbid)
}

/// A set of accesses that an elementary rule denotes.
pub(super) trait Set: Eq + Hash + Clone {
    /// Whether every access of this set is in `outer`, and `outer` has one more: the relation of the reference.
    fn strictly_inside(&self, outer: &Self) -> Proof;

    /// Whether asking costs so much that the answer is worth keeping.
    fn is_costly(&self, other: &Self) -> bool;
}

/// What is said of sets, and which lies strictly inside which.
pub(super) trait Order {
    fn sayings(&self, item: u32) -> &[Saying];

    fn strictly_inside(&self, inner: u32, outer: u32) -> bool;
}

/// What one cell says of a set: the strictest effect, and the first rule with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Saying {
    pub(super) cell: u16,
    pub(super) effect: Effect,
    pub(super) rule: RuleId,
    /// The rule is a `scratch`: what it grants is memory of the run's own.
    pub(super) is_private: bool,
}

/// The different sets of a domain, and who says what of them.
pub(super) struct Items<S> {
    pub(super) sets: Vec<S>,
    sayings: Vec<Vec<Saying>>,
    common: Vec<bool>,
    known: RefCell<HashMap<(u32, u32), bool>>,
    /// Two sets could not be compared within bounds.
    pub(super) unsure: Flag<bool>,
}

impl<S: Set> Items<S> {
    pub(super) fn collect<'a>(view: &View<'a>, sets_of: impl Fn(&'a Subject) -> Vec<S>) -> Self {
        let mut index: HashMap<S, usize> = HashMap::new();
        let mut sets = Vec::new();
        let mut sayings: Vec<Vec<Saying>> = Vec::new();
        for side in &view.sides {
            for rule in &side.policy.rules {
                for set in sets_of(&rule.subject) {
                    let at = *index.entry(set).or_insert_with_key(|set| {
                        sets.push(set.clone());
                        sayings.push(Vec::new());
                        sets.len() - 1
                    });
                    if let Some(own) = sayings.get_mut(at) {
                        for cell in side.cells_of(rule) {
                            say(own, cell, rule);
                        }
                    }
                }
            }
        }
        let common = sayings.iter().map(|own| is_common(view, own)).collect();
        Self {
            sets,
            sayings,
            common,
            known: RefCell::default(),
            unsure: Flag::new(false),
        }
    }

    pub(super) fn set(&self, item: u32) -> Option<&S> {
        self.sets.get(item as usize)
    }

    /// Whether both policies say the same of it.
    pub(super) fn is_common(&self, item: u32) -> bool {
        self.common.get(item as usize).copied().unwrap_or(false)
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (u32, &S)> {
        (0..).zip(&self.sets)
    }
}

impl<S: Set> Order for Items<S> {
    fn sayings(&self, item: u32) -> &[Saying] {
        self.sayings.get(item as usize).map_or(&[], Vec::as_slice)
    }

    fn strictly_inside(&self, inner: u32, outer: u32) -> bool {
        let (Some(own), Some(other)) = (self.set(inner), self.set(outer)) else {
            return false;
        };
        if !own.is_costly(other) {
            return own.strictly_inside(other).holds();
        }
        if let Some(&known) = self.known.borrow().get(&(inner, outer)) {
            return known;
        }
        let proof = own.strictly_inside(other);
        if proof == Proof::Undecided {
            self.unsure.set(true);
        }
        self.known.borrow_mut().insert((inner, outer), proof.holds());
        proof.holds()
    }
}

fn say(sayings: &mut Vec<Saying>, cell: u16, rule: &Rule) {
    let new = Saying {
        cell,
        effect: rule.effect,
        rule: rule.id,
        is_private: matches!(rule.subject, Subject::Scratch { .. }),
    };
    match sayings.iter_mut().find(|saying| saying.cell == cell) {
        None => sayings.push(new),
        Some(old) if new.effect > old.effect => *old = new,
        // A scratch directory hides the host's, whichever rule is written first.
        Some(old) if new.effect == old.effect => {
            let is_private = old.is_private || new.is_private;
            if new.rule < old.rule {
                *old = new;
            }
            old.is_private = is_private;
        }
        Some(_) => {}
    }
}

fn is_common(view: &View<'_>, sayings: &[Saying]) -> bool {
    let meaning = |cell: u16| {
        sayings
            .iter()
            .find(|saying| saying.cell == cell)
            .map(|saying| (saying.effect, saying.is_private))
    };
    view.pairs
        .as_ref()
        .is_some_and(|pairs| pairs.iter().all(|&(old, new)| meaning(old) == meaning(new)))
}

impl<S: Set> Set for Cow<'_, S> {
    fn strictly_inside(&self, outer: &Self) -> Proof {
        self.as_ref().strictly_inside(outer.as_ref())
    }

    fn is_costly(&self, other: &Self) -> bool {
        self.as_ref().is_costly(other.as_ref())
    }
}
