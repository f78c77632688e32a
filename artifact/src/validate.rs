//! Whether an artifact holds together: every bound kept, every index in range, every order and uniqueness that the
//! look-ups rely on. The enforcer trusts an artifact only after this.

mod declared;
mod environment;
mod filesystem;
mod network;
mod process;
mod rules;
mod seccomp;

use crate::rule::{Domain, Effect, LayerId, RuleId, RuleRecord};
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
        declared::check_layers(&self.layers)?;
        declared::check_unlocks(&self.unlocks)?;
        rules::check(&self.rules, self.layers.len())?;
        at_most("requirements", self.requirements.len(), bounds::REQUIREMENTS)?;
        for requirement in &self.requirements {
            text("requirements", &requirement.text)?;
        }
        let rules = Rules(&self.rules);
        let outermost = self.outermost();
        same_outermost("filesystem", self.filesystem.outermost, outermost)?;
        same_outermost("environment", self.environment.outermost, outermost)?;
        filesystem::check(&self.filesystem, rules)?;
        network::check(&self.network, rules)?;
        environment::check(&self.environment, rules)?;
        declared::check_brokers(&self.brokers, rules)?;
        if let Some(workspace) = &self.workspace {
            declared::check_workspace(workspace)?;
        }
        process::check(&self.process, rules)?;
        seccomp::check(&self.seccomp, rules)
    }

    /// The last layer. There are no more than [`bounds::LAYERS`].
    fn outermost(&self) -> LayerId {
        LayerId(u8::try_from(self.layers.len().saturating_sub(1)).unwrap_or(u8::MAX))
    }
}

/// A plan that left a layer out would allow what that layer does not.
fn same_outermost(part: &str, stated: LayerId, outermost: LayerId) -> Check {
    if stated == outermost {
        return Ok(());
    }
    let problem = format!("it is {}, and the last layer is {}", stated.0, outermost.0);
    Err(Invalid::new(format!("{part}.outermost"), problem))
}

/// Whether two rules ever meet.
fn have_a_common_layer(one: Option<LayerId>, other: Option<LayerId>) -> bool {
    one.is_none() || other.is_none() || one == other
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

impl Rules<'_> {
    /// A part of a rule is of the rule's layer, and there is such a layer.
    fn is_of_layer(
        self,
        id: RuleId,
        layer: Option<LayerId>,
        outermost: LayerId,
        at: impl Fn() -> String,
    ) -> Check {
        let rule = self.get(id, &at)?;
        if rule.layer != layer || layer.is_some_and(|layer| layer > outermost) {
            let problem = format!(
                "its layer is {layer:?}, and that of rule {} {:?}",
                id.0, rule.layer
            );
            return Err(Invalid::new(at(), problem));
        }
        Ok(())
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
