//! Why the other rules did not decide, the same wherever a decision is explained.

use compiler::why::LayerReasons;
use policy_lang::policy::Policy;
use serde::Serialize;

use super::rule::RuleReference;

/// What one policy of the chain says.
#[derive(Debug, Serialize)]
pub(crate) struct LayerReport {
    pub(crate) layer: String,
    pub(crate) effect: &'static str,
    pub(crate) decided_by: Option<RuleReference>,
    pub(crate) losers: Vec<LoserReport>,
}

/// A rule that matches and does not decide.
#[derive(Debug, Serialize)]
pub(crate) struct LoserReport {
    #[serde(flatten)]
    pub(crate) rule: RuleReference,
    /// A sentence without its subject.
    pub(crate) lost: String,
}

impl LayerReport {
    pub(crate) fn new(policy: &Policy, layer: &LayerReasons) -> Self {
        let name = policy.layers.get(usize::from(layer.layer.0));
        let losers = layer.losers.iter().filter_map(|loser| {
            Some(LoserReport {
                rule: RuleReference::of(policy, loser.rule)?,
                lost: loser.lost.sentence(policy),
            })
        });
        Self {
            layer: name.map(|layer| layer.name.clone()).unwrap_or_default(),
            effect: layer.decision.effect.word(),
            decided_by: RuleReference::of(policy, layer.decision.rule),
            losers: losers.collect(),
        }
    }
}

/// One line for each rule that lost, and under ceilings one for each policy of the chain.
pub(crate) fn lines(layers: &[LayerReport]) -> Vec<String> {
    let mut lines = Vec::new();
    for layer in layers {
        if layers.len() > 1 {
            let by = layer.decided_by.as_ref().map(RuleReference::short);
            lines.push(format!(
                "in \"{}\": {} by {}",
                layer.layer,
                layer.effect,
                by.unwrap_or_default()
            ));
        }
        // That a rule was stronger than the default is no news.
        let rules = layer.losers.iter().filter(|loser| loser.rule.rule != 0);
        lines.extend(rules.map(|loser| format!("not by {}, which {}", loser.rule.short(), loser.lost)));
    }
    lines
}
