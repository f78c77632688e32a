//! The decisions of several layers as one list: for each port the strictest.

use std::collections::HashMap;
use std::rc::Rc;

use artifact::RuleId;
use artifact::network::PortInterval;
use artifact::rule::Effect;

/// The lists of a prefix by slot.
type Lists = [Rc<[PortInterval]>; 4];

/// Decisions of several layers as one. Neighbouring prefixes share most of their lists.
#[derive(Default)]
pub(super) struct Strictest {
    /// By address: the inner list, the outer and what they make. Kept here, the addresses stay theirs.
    known: HashMap<[*const PortInterval; 2], [Rc<[PortInterval]>; 3]>,
}

impl Strictest {
    /// What all layers together decide in each slot.
    pub(super) fn of(&mut self, layers: impl IntoIterator<Item = Lists>) -> Lists {
        let combined = layers.into_iter().reduce(|mut inner, outer| {
            for (inner, outer) in inner.iter_mut().zip(&outer) {
                *inner = self.of_two(inner, outer);
            }
            inner
        });
        combined.unwrap_or_else(|| [(); 4].map(|()| Rc::new([]) as Rc<[PortInterval]>))
    }

    fn of_two(&mut self, inner: &Rc<[PortInterval]>, outer: &Rc<[PortInterval]>) -> Rc<[PortInterval]> {
        // Empty lists may share an address with others, and need no memory of them.
        if inner.is_empty() || outer.is_empty() {
            return strictest(inner, outer).into();
        }
        let make = || {
            let combined = strictest(inner, outer).into();
            [Rc::clone(inner), Rc::clone(outer), combined]
        };
        let addresses = [inner.as_ptr(), outer.as_ptr()];
        let [.., combined] = self.known.entry(addresses).or_insert_with(make);
        Rc::clone(combined)
    }
}

/// The stricter of two decisions for each port. Of equally strict ones an explicit rule is named before the default,
/// and else the inner one. What neither list has is left to the default, as what only the inner or the outer one has
/// and allows.
fn strictest(inner: &[PortInterval], outer: &[PortInterval]) -> Vec<PortInterval> {
    let mut starts: Vec<u32> = inner
        .iter()
        .chain(outer)
        .flat_map(|interval| [u32::from(interval.first), u32::from(interval.last) + 1])
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let at = |list: &[PortInterval], port: u16| {
        let behind = list.partition_point(|interval| interval.last < port);
        match list.get(behind) {
            Some(interval) if interval.first <= port => (interval.effect, interval.rule),
            _ => (Effect::Deny, RuleId::DEFAULT),
        }
    };
    let rank = |(effect, rule): (Effect, RuleId)| (effect, rule != RuleId::DEFAULT);
    let mut combined = Vec::new();
    for (start, next) in starts.iter().zip(starts.iter().skip(1)) {
        let first = super::port(*start);
        let (inner, outer) = (at(inner, first), at(outer, first));
        let (effect, rule) = if rank(outer) > rank(inner) { outer } else { inner };
        if rule != RuleId::DEFAULT {
            super::append(&mut combined, first, super::port(next - 1), effect, rule);
        }
    }
    combined
}
