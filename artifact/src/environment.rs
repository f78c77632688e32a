//! The environment: starts empty, then what these rules let in.
//!
//! A variable's name is the access. One that every layer passes or sets is in the run's environment: with the value
//! that a rule sets, where one does, and else with the caller's, where it has one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::precedence::{self, Matching};
use crate::rule::{Effect, LayerId, RuleId};

/// What the run's environment is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentPlan {
    /// Elementary rules: one name or pattern each.
    pub rules: Vec<VariableRule>,
    /// The last of the layers that decide, with rules or without.
    pub outermost: LayerId,
    /// Values that hold instead of the caller's.
    pub set: BTreeMap<String, SetVariable>,
}

/// One rule on one name or pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableRule {
    /// The rule this came from.
    pub rule: RuleId,
    /// Its effect.
    pub effect: Effect,
    /// The layer it is a rule of; of every layer where there is none.
    pub layer: Option<LayerId>,
    /// A name in which `*` stands for any characters, also none.
    pub pattern: String,
    /// Indices into [`EnvironmentPlan::rules`] of rules with a set of names strictly inside this one's. Ascending.
    pub yields_to: Vec<u32>,
}

/// A fixed variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetVariable {
    /// Its value.
    pub value: String,
    /// The rule that sets it.
    pub rule: RuleId,
}

/// Decides whether a variable may be in the run's environment.
#[must_use]
pub fn decide(plan: &EnvironmentPlan, name: &str) -> (Effect, RuleId) {
    let matching: Vec<Matching<'_>> = (0..)
        .zip(&plan.rules)
        .filter(|(_, rule)| covers(&rule.pattern, name))
        .map(|(index, rule)| Matching {
            index,
            rule: rule.rule,
            effect: rule.effect,
            layer: rule.layer,
            yields_to: &rule.yields_to,
        })
        .collect();
    precedence::decide(&matching, plan.outermost)
}

/// Whether a name matches. Each `*` takes the shortest piece that lets the rest match.
#[must_use]
pub fn covers(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut open) = name.strip_prefix(head) else {
        return false;
    };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return open.ends_with(piece);
        }
        let Some((_, behind)) = open.split_once(piece) else {
            return false;
        };
        open = behind;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters_and_nothing_else_does() {
        for (pattern, name, expected) in [
            ("PATH", "PATH", true),
            ("PATH", "PATHS", false),
            ("LC_*", "LC_ALL", true),
            ("LC_*", "LC_", true),
            ("LC_*", "XLC_ALL", false),
            ("*", "", true),
            ("*_KEY", "A_KEY", true),
            ("*_KEY", "A_KEYS", false),
            ("A*A", "A", false),
            ("A*A", "AA", true),
            ("A*B*C", "AxBxBxC", true),
            ("A*B*C", "AxC", false),
            ("A**C", "AC", true),
            ("?", "A", false),
        ] {
            assert_eq!(covers(pattern, name), expected, "{pattern} {name}");
        }
    }
}
