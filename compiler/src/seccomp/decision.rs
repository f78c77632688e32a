//! What the policy decides about one call, as a graph over its arguments.
//!
//! The precedence of the language is computed here: among the rules that match, those that yield to no other
//! matching rule count, and the strictest of them decides. Which rules match is asked of the arguments one
//! question at a time, only while the answer still matters.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use policy_lang::policy::{Effect, LayerId, RuleId};

use super::facts::Facts;
use super::formula::{Formula, Question};
use super::graph::{Graph, NodeId, Verdict, Word};

/// A decision that takes more states than this is refused. It bounds time and depth: a filter has room for few
/// calls with so many questions.
const MAX_STATES: usize = 1024;

/// One elementary rule, seen from one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The rule it comes from.
    pub(super) rule: RuleId,
    /// Its effect.
    pub(super) effect: Effect,
    /// The layer it is a rule of; of every layer where there is none.
    pub(super) layer: Option<LayerId>,
    /// When it matches: all of these.
    pub(super) conditions: Vec<Formula>,
    /// Positions, in the same list, of the rules it yields to, where that can make a difference: not to a `forbid`,
    /// which decides alone, not to a target of its own rule, and not from one `allow` to another, since what that yields
    /// to, it yields to as well.
    pub(super) yields_to: Vec<usize>,
}

/// What is decided about a call.
#[derive(Debug, Clone)]
pub(super) struct CallDecision {
    /// Where the filter goes for it.
    pub(super) node: NodeId,
    /// Rules that can be the reason for a refusal, the strictest first. The default comes last, and alone
    /// it is left out.
    pub(super) reasons: Vec<RuleId>,
}

impl CallDecision {
    /// No rule speaks of the call.
    pub(super) fn default_rule(graph: &mut Graph) -> Self {
        Self {
            node: graph.leaf(Verdict::Refuse),
            reasons: Vec::new(),
        }
    }
}

/// The conditions of a call's rules take more states than can be filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooManyStates;

/// Decides a call: in each of the layers by itself, and then as the strictest of them does. All layers are asked together,
/// so that no question is asked twice.
pub(super) fn decide_call(
    graph: &mut Graph,
    candidates: &[Candidate],
    layers: usize,
) -> Result<CallDecision, TooManyStates> {
    let mut builder = Builder {
        graph,
        candidates,
        layers,
        refused: BTreeSet::new(),
        seen: HashMap::new(),
        states: 0,
    };
    let node = builder.build(&Facts::default())?;
    let refused = builder.refused;
    let mut reasons: Vec<RuleId> = refused.into_iter().map(|(_, rule)| rule).collect();
    if reasons == [RuleId::DEFAULT] {
        reasons.clear();
    }
    Ok(CallDecision { node, reasons })
}

struct Builder<'a> {
    graph: &'a mut Graph,
    candidates: &'a [Candidate],
    layers: usize,
    /// Strictest first, then in order of writing.
    refused: BTreeSet<(std::cmp::Reverse<Effect>, RuleId)>,
    seen: HashMap<State, NodeId>,
    states: usize,
}

/// All that the rest of a decision depends on.
#[derive(PartialEq, Eq, Hash)]
struct State {
    layers: Vec<Standing>,
    facts: Facts,
}

/// Where a decision stands in one layer: rules that yield to no rule that matches for certain.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Standing {
    /// They match.
    matched: Vec<usize>,
    /// They may match.
    open: Vec<usize>,
}

/// What the filter does at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Happens,
    Refused,
}

impl Builder<'_> {
    fn build(&mut self, facts: &Facts) -> Result<NodeId, TooManyStates> {
        let (matched, open) = self.match_rules(facts);
        // A layer that lets the call happen, whatever is asked from here on, has no more to say.
        let mut layers: Vec<Standing> = Vec::with_capacity(self.layers);
        let mut refused = false;
        for layer in (0..).map(LayerId).take(self.layers) {
            let standing = self.standing(layer, &matched, &open);
            match self.settled(&standing) {
                Some(Outcome::Happens) => continue,
                Some(Outcome::Refused) => refused = true,
                None => {}
            }
            layers.push(standing);
        }
        if layers.is_empty() {
            return Ok(self.graph.leaf(Verdict::Allow));
        }
        if refused {
            return Ok(self.refuse(&layers));
        }
        let open: BTreeSet<usize> = layers.iter().flat_map(|layer| &layer.open).copied().collect();
        let Some(question) = self.next_question(&open, facts) else {
            // Nothing is open and nothing is settled: not possible, and refused if it were.
            return Ok(self.graph.leaf(Verdict::Refuse));
        };
        let state = State {
            facts: facts.about(|word| self.looks_at(&open, word)),
            layers,
        };
        if let Some(node) = self.seen.get(&state) {
            return Ok(*node);
        }
        self.states += 1;
        if self.states > MAX_STATES {
            return Err(TooManyStates);
        }
        let yes = self.build(&facts.with(question, true))?;
        let no = self.build(&facts.with(question, false))?;
        let node = self.graph.fork(question.word, question.test, yes, no);
        self.seen.insert(state, node);
        Ok(node)
    }

    /// What one layer sees of these, without those that yield for certain.
    fn standing(&self, layer: LayerId, matched: &[usize], open: &[usize]) -> Standing {
        let is_of_layer = |position: &&usize| {
            let candidate = self.candidates.get(**position);
            candidate.is_some_and(|candidate| candidate.layer.is_none_or(|own| own == layer))
        };
        let certain: Vec<usize> = matched.iter().filter(is_of_layer).copied().collect();
        let counts = |position: &&usize| {
            self.candidates.get(**position).is_some_and(|candidate| {
                let mut stronger = candidate.yields_to.iter();
                !stronger.any(|stronger| certain.contains(stronger))
            })
        };
        Standing {
            matched: certain.iter().filter(counts).copied().collect(),
            open: open.iter().filter(is_of_layer).filter(counts).copied().collect(),
        }
    }

    /// Rules that match for certain, and rules that may.
    fn match_rules(&self, facts: &Facts) -> (Vec<usize>, Vec<usize>) {
        let (mut matched, mut open) = (Vec::new(), Vec::new());
        for (position, candidate) in self.candidates.iter().enumerate() {
            let mut certain = true;
            let mut possible = true;
            for condition in &candidate.conditions {
                match condition.evaluate(facts) {
                    Some(true) => {}
                    Some(false) => possible = false,
                    None => certain = false,
                }
            }
            match (possible, certain) {
                (true, true) => matched.push(position),
                (true, false) => open.push(position),
                (false, _) => {}
            }
        }
        (matched, open)
    }

    /// A layer's outcome, once no open question can change it.
    fn settled(&self, standing: &Standing) -> Option<Outcome> {
        let effects = |positions: &[usize]| -> BTreeSet<Effect> {
            positions
                .iter()
                .filter_map(|position| Some(self.candidates.get(*position)?.effect))
                .collect()
        };
        let certain = effects(&standing.matched);
        if certain.contains(&Effect::Forbid) {
            return Some(Outcome::Refused);
        }
        let mut all = effects(&standing.open);
        all.extend(certain);
        if standing.matched.is_empty() {
            // The default rule may decide.
            all.insert(Effect::Deny);
        }
        // Open rules may take a matched one's place, so all of them have to agree.
        match (
            all.contains(&Effect::Allow),
            all.iter().any(|effect| *effect != Effect::Allow),
        ) {
            (true, false) => Some(Outcome::Happens),
            (false, _) => Some(Outcome::Refused),
            (true, true) if standing.open.is_empty() => Some(Outcome::Refused),
            (true, true) => None,
        }
    }

    /// A refusal, by one of the rules that stand. One layer refuses for certain; others may do so more strictly.
    fn refuse(&mut self, layers: &[Standing]) -> NodeId {
        let effect = |position: &usize| self.candidates.get(*position).map(|candidate| candidate.effect);
        let only_forbid = layers
            .iter()
            .flat_map(|layer| &layer.matched)
            .any(|position| effect(position) == Some(Effect::Forbid));
        for layer in layers {
            for position in layer.matched.iter().chain(&layer.open) {
                if let Some(candidate) = self.candidates.get(*position)
                    && candidate.effect != Effect::Allow
                    && (!only_forbid || candidate.effect == Effect::Forbid)
                {
                    self.refused
                        .insert((std::cmp::Reverse(candidate.effect), candidate.rule));
                }
            }
            if layer.matched.is_empty() && !only_forbid {
                // Sorted behind everything that was written.
                self.refused
                    .insert((std::cmp::Reverse(Effect::Allow), RuleId::DEFAULT));
            }
        }
        self.graph.leaf(Verdict::Refuse)
    }

    /// Asked of the strictest open rule, the one written first: its answer ends most decisions.
    fn next_question(&self, open: &BTreeSet<usize>, facts: &Facts) -> Option<Question> {
        let mut by_strictness: BTreeMap<(std::cmp::Reverse<Effect>, usize), &Candidate> = BTreeMap::new();
        for position in open {
            let candidate = self.candidates.get(*position)?;
            by_strictness.insert((std::cmp::Reverse(candidate.effect), *position), candidate);
        }
        by_strictness
            .values()
            .flat_map(|candidate| &candidate.conditions)
            .find_map(|condition| condition.open_question(facts))
    }

    fn looks_at(&self, open: &BTreeSet<usize>, wanted: Word) -> bool {
        let mut found = false;
        for condition in open
            .iter()
            .filter_map(|position| self.candidates.get(*position))
            .flat_map(|c| &c.conditions)
        {
            condition.words(&mut |word| found |= word == wanted);
        }
        found
    }
}
