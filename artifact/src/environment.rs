//! The environment: starts empty, then these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::rule::RuleId;

/// What the run's environment is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentPlan {
    /// Variables copied from the caller's environment, where it has them.
    pub pass: BTreeMap<String, RuleId>,
    /// Variables set to a fixed value; these win over `pass`.
    pub set: BTreeMap<String, SetVariable>,
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
