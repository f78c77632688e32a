//! Whether an artifact holds together: every bound kept, every index in range, every order and uniqueness that the
//! look-ups rely on. The enforcer trusts an artifact only after this.

mod filesystem;
mod network;
mod process;
mod rules;
mod seccomp;

use crate::rule::{Domain, Effect, RuleId, RuleRecord};
use crate::{Artifact, bounds};

/// The first thing that is wrong with an artifact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {problem}")]
pub struct Invalid {
    /// Which part, as a path of field names.
    pub at: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Invalid {
    pub(crate) fn new(at: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            at: at.into(),
            problem: problem.into(),
        }
    }
}

type Check = Result<(), Invalid>;

impl Artifact {
    /// Checks the artifact as a whole.
    ///
    /// # Errors
    /// The first part that is out of bounds or contradicts another.
    pub fn validate(&self) -> Check {
        text("policy.name", &self.policy.name)?;
        if let Some(summary) = &self.policy.summary {
            text("policy.summary", summary)?;
        }
        at_most("parameters", self.parameters.len(), bounds::PARAMETERS)?;
        for (name, value) in &self.parameters {
            text("parameters", name)?;
            text("parameters", value)?;
        }
        rules::check(&self.rules)?;
        at_most("requirements", self.requirements.len(), bounds::REQUIREMENTS)?;
        for requirement in &self.requirements {
            text("requirements", &requirement.text)?;
        }
        let rules = Rules(&self.rules);
        filesystem::check(&self.filesystem, rules)?;
        network::check(&self.network, rules)?;
        process::check_environment(&self.environment, rules)?;
        process::check(&self.process, rules)?;
        seccomp::check(&self.seccomp, rules)
    }
}

/// The rules that the other parts refer to.
#[derive(Clone, Copy)]
struct Rules<'a>(&'a [RuleRecord]);

impl<'a> Rules<'a> {
    fn get(self, id: RuleId, at: impl Fn() -> String) -> Result<&'a RuleRecord, Invalid> {
        usize::try_from(id.0)
            .ok()
            .and_then(|index| self.0.get(index))
            .ok_or_else(|| Invalid::new(at(), format!("there is no rule {}", id.0)))
    }

    /// The rule exists, speaks of this domain and has this effect. The default refuses in every domain.
    fn agrees(self, id: RuleId, domain: Domain, effect: Effect, at: impl Fn() -> String) -> Check {
        let rule = self.get(id, &at)?;
        let default = id == RuleId::DEFAULT && effect == Effect::Deny;
        if default || (rule.domain == domain && rule.effect == effect) {
            return Ok(());
        }
        Err(Invalid::new(
            at(),
            format!(
                "rule {} is {:?} in {:?}, not {effect:?} in {domain:?}",
                id.0, rule.effect, rule.domain
            ),
        ))
    }
}

fn at_most(at: &str, len: usize, bound: usize) -> Check {
    if len <= bound {
        Ok(())
    } else {
        Err(Invalid::new(at, format!("{len} entries are more than {bound}")))
    }
}

/// Free text: bounded, and without NUL.
fn text(at: &str, text: &str) -> Check {
    if text.len() > bounds::TEXT_BYTES {
        let problem = format!("{} bytes are more than {}", text.len(), bounds::TEXT_BYTES);
        Err(Invalid::new(at, problem))
    } else if text.contains('\0') {
        Err(Invalid::new(at, "it contains a NUL"))
    } else {
        Ok(())
    }
}

/// Each element is greater than the one before.
fn ascending<T: Ord>(items: impl IntoIterator<Item = T>) -> bool {
    let mut items = items.into_iter();
    let Some(mut before) = items.next() else {
        return true;
    };
    items.all(|item| {
        let greater = item > before;
        before = item;
        greater
    })
}
