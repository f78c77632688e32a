//! Why an access is decided as it is: the deciding rule, and for every rule that speaks of the access too, what it
//! lost to.
//!
//! The decision is that of the reference semantics; this module only puts its reasons in order, layer by layer.

mod compiled;
pub mod event;
mod path;
mod placement;
pub mod proposal;
pub mod query;
mod wish;

pub use compiled::{Compiled, compiled, concerns, record};

use policy_lang::policy::{Effect, LayerId, Origin, Policy, Rule, RuleId};
use policy_lang::reference::{Access, Decision, Standing, decide, decide_in, standings};

/// A decision with its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasons {
    /// What holds.
    pub decision: Decision,
    /// The layer that decides; of several that say the same, the one whose rule is named.
    pub layer: LayerId,
    /// Every layer, innermost first.
    pub layers: Vec<LayerReasons>,
}

/// What one layer says, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerReasons {
    /// Which.
    pub layer: LayerId,
    /// What this layer alone decides.
    pub decision: Decision,
    /// The other rules that match the access, in source order, each once.
    pub losers: Vec<Loser>,
}

/// A rule that matches the access and does not decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loser {
    /// Which.
    pub rule: RuleId,
    /// To what it lost.
    pub lost: Lost,
}

/// Why a rule that matches does not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// That rule's set lies strictly inside its own.
    LessSpecific(RuleId),
    /// That rule is stricter, and neither set lies inside the other.
    Laxer(RuleId),
    /// That rule has the same effect and was written first.
    Later(RuleId),
}

/// Decides an access, with reasons.
#[must_use]
pub fn reasons(policy: &Policy, access: &Access) -> Reasons {
    let decision = decide(policy, access);
    let standings = standings(policy, access);
    // The default matches everything and is written before all else, so it begins each layer.
    let by_layer = standings.chunk_by(|_, next| next.0 != RuleId::DEFAULT);
    let layers: Vec<LayerReasons> = (0..)
        .map(LayerId)
        .zip(by_layer)
        .map(|(layer, matching)| layer_reasons(policy, access, layer, matching))
        .collect();
    let layer = layers
        .iter()
        .find(|reasons| reasons.decision == decision)
        .map_or(LayerId::INNERMOST, |reasons| reasons.layer);
    Reasons {
        decision,
        layer,
        layers,
    }
}

fn layer_reasons(
    policy: &Policy,
    access: &Access,
    layer: LayerId,
    matching: &[(RuleId, Standing)],
) -> LayerReasons {
    let decision = decide_in(layer, policy, access);
    let mut losers: Vec<Loser> = Vec::new();
    // A rule may have two sets of which one lies inside the other: that is no reason.
    let others = matching
        .iter()
        .filter(|(rule, standing)| *rule != decision.rule && *standing != Standing::YieldsTo(*rule));
    for (rule, standing) in others {
        let effect = policy.rule(*rule).map(|rule| rule.effect);
        let lost = match standing {
            Standing::YieldsTo(stronger) => Lost::LessSpecific(*stronger),
            Standing::Decides | Standing::Outranked if effect == Some(decision.effect) => {
                Lost::Later(decision.rule)
            }
            Standing::Decides | Standing::Outranked => Lost::Laxer(decision.rule),
        };
        match losers.iter_mut().find(|loser| loser.rule == *rule) {
            // Of a rule's several sets, the one that came furthest says why it lost.
            Some(loser) if matches!(loser.lost, Lost::LessSpecific(_)) => loser.lost = lost,
            Some(_) => {}
            None => losers.push(Loser { rule: *rule, lost }),
        }
    }
    LayerReasons {
        layer,
        decision,
        losers,
    }
}

impl Lost {
    /// A sentence without its subject: "`deny read "/w"` …".
    #[must_use]
    pub fn sentence(self, policy: &Policy) -> String {
        let (Self::LessSpecific(to) | Self::Laxer(to) | Self::Later(to)) = self;
        let Some(rule) = policy.rule(to) else {
            return "lost".to_owned();
        };
        let by = place(rule);
        match self {
            Self::LessSpecific(_) => format!("yields to {by}, which is more specific"),
            Self::Laxer(_) if rule.effect == Effect::Forbid => {
                format!("loses to {by}: nothing opens a forbid")
            }
            Self::Laxer(_) => format!("loses to {by}: neither is more specific, and that one is stricter"),
            Self::Later(_) => format!("says the same as {by}, which was written first"),
        }
    }
}

/// Where a rule was written, on one line: `file:line`, or what it is where it is built in.
#[must_use]
pub fn place(rule: &Rule) -> String {
    match &rule.origin {
        Origin::BuiltIn if rule.id == RuleId::DEFAULT => "the default".to_owned(),
        Origin::BuiltIn => rule.label.clone().unwrap_or_else(|| "built-in".to_owned()),
        Origin::Source { file, line, .. } => format!("{file}:{line}"),
    }
}

#[cfg(test)]
mod tests;
