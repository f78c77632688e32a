//! One mechanism of a rule, with what this host has for it.

use artifact::rule::Lowering;
use enforcer::Capabilities;
use enforcer::event::mechanism_word;
use serde::Serialize;

use super::words;

/// One mechanism of a rule.
#[derive(Debug, Serialize)]
pub(crate) struct MechanismReport {
    pub(crate) mechanism: &'static str,
    pub(crate) needs: Vec<String>,
    /// What this host lacks for it.
    pub(crate) missing: Vec<String>,
    /// What it cannot do for this rule on any host.
    pub(crate) gap: Option<String>,
    /// What is worth knowing and takes nothing away.
    pub(crate) note: Option<String>,
    /// Whether what it refuses leaves an event.
    pub(crate) recorded: bool,
}

impl MechanismReport {
    /// Of a host.
    pub(crate) fn new(lowering: &Lowering, capabilities: &Capabilities) -> Self {
        let missing = lowering
            .needs
            .iter()
            .filter_map(|need| capabilities.satisfies(*need).err());
        Self {
            mechanism: mechanism_word(lowering.mechanism),
            needs: lowering.needs.iter().map(|need| words::need(*need)).collect(),
            missing: missing.collect(),
            gap: lowering.gap.clone(),
            note: lowering.note.clone(),
            recorded: !words::is_unrecorded(lowering.mechanism),
        }
    }

    /// The word that events use, and what is to be known.
    pub(crate) fn line(&self) -> String {
        let mut remarks = self.missing.clone();
        remarks.extend(self.gap.iter().map(|gap| format!("not exact: {gap}")));
        remarks.extend(self.note.clone());
        if !self.recorded {
            remarks.push("refusals leave no record".to_owned());
        }
        if remarks.is_empty() {
            self.mechanism.to_owned()
        } else {
            format!("{} ({})", self.mechanism, remarks.join("; "))
        }
    }
}
