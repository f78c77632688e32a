//! Which of the rules that match an access decides: the precedence of the language, over layers.
//!
//! Files and variables are decided by lists of elementary rules that name those they yield to. Both come here.

use crate::rule::{Effect, LayerId, RuleId};

/// What no rule speaks of.
pub(crate) const REFUSED: (Effect, RuleId) = (Effect::Deny, RuleId::DEFAULT);

/// An elementary rule that matches an access, and its index among all of its kind.
#[derive(Clone, Copy)]
pub(crate) struct Matching<'p> {
    pub(crate) index: u32,
    pub(crate) rule: RuleId,
    pub(crate) effect: Effect,
    pub(crate) layer: Option<LayerId>,
    pub(crate) yields_to: &'p [u32],
}

impl Matching<'_> {
    fn is_of(&self, layer: LayerId) -> bool {
        self.layer.is_none_or(|own| own == layer)
    }
}

/// The strictest decision of the layers from 0 to `outermost`. Of layers that agree an explicit rule is named before
/// the default, and then the innermost layer's.
pub(crate) fn decide(matching: &[Matching<'_>], outermost: LayerId) -> (Effect, RuleId) {
    let rank = |(effect, rule): (Effect, RuleId)| (effect, rule != RuleId::DEFAULT);
    let mut strictest = decide_in(LayerId::INNERMOST, matching);
    for layer in (1..=outermost.0).map(LayerId) {
        let outer = decide_in(layer, matching);
        if rank(outer) > rank(strictest) {
            strictest = outer;
        }
    }
    strictest
}

/// Among the rules of one layer that yield to no other, the strictest, and of those the one written first. A
/// forbidding rule yields to nothing.
fn decide_in(layer: LayerId, matching: &[Matching<'_>]) -> (Effect, RuleId) {
    let mut decision: Option<(Effect, RuleId)> = None;
    for rule in matching.iter().filter(|rule| rule.is_of(layer)) {
        // Few rules match an access; many may lie inside one rule.
        let yields = rule.effect != Effect::Forbid
            && matching
                .iter()
                .any(|other| other.is_of(layer) && rule.yields_to.binary_search(&other.index).is_ok());
        if yields {
            continue;
        }
        let stricter = decision
            .is_none_or(|(effect, id)| rule.effect > effect || (rule.effect == effect && rule.rule < id));
        if stricter {
            decision = Some((rule.effect, rule.rule));
        }
    }
    decision.unwrap_or(REFUSED)
}
