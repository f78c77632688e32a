//! Rules as events name them, and which rule is behind a refusal that the kernel recorded without one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use artifact::filesystem::FileAccess;
use artifact::network::{Protocol, Verb};
use artifact::{Artifact, Effect, RuleId, RuleRecord};

use crate::event::RuleReference;

#[derive(Debug)]
pub(super) struct Named {
    pub(super) reference: Arc<RuleReference>,
    pub(super) because: Option<Arc<str>>,
}

#[derive(Debug)]
pub(super) struct Rules(Vec<Named>);

impl Rules {
    pub(super) fn new(artifact: &Artifact) -> Self {
        let named = |rule: &RuleRecord| Named {
            reference: Arc::new(RuleReference::new(artifact, rule)),
            because: rule.because.as_deref().map(Arc::from),
        };
        Self(artifact.rules.iter().map(named).collect())
    }

    pub(super) fn get(&self, rule: RuleId) -> Option<&Named> {
        self.0.get(usize::try_from(rule.0).ok()?)
    }

    /// What a refusal by this rule is called. The kernel refused, so a rule that allows cannot be the reason:
    /// then it is the default.
    pub(super) fn refusal(&self, rule: RuleId) -> (Effect, RuleId) {
        match self.get(rule).map(|named| named.reference.effect) {
            Some(effect @ (Effect::Deny | Effect::Forbid | Effect::Ask)) => (effect, rule),
            Some(Effect::Allow) | None => (Effect::Deny, RuleId::DEFAULT),
        }
    }

    /// The rule behind a refused access to a path. A path that is not UTF-8 cannot be written in a policy, and
    /// the lossy form is beneath the same directories.
    pub(super) fn file(&self, artifact: &Artifact, access: FileAccess, path: &[u8]) -> (Effect, RuleId) {
        let path = String::from_utf8_lossy(path);
        let (_, rule) = artifact::filesystem::decide(&artifact.filesystem, access, &path);
        self.refusal(rule)
    }

    /// The rule behind a TCP port that Landlock refused. The kernel leaves out an unspecified address, and with it the
    /// family; then the stricter decision of the two is named.
    pub(super) fn tcp(
        &self,
        artifact: &Artifact,
        verb: Verb,
        address: Option<IpAddr>,
        port: u16,
    ) -> (Effect, RuleId) {
        let unspecified = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
        let possible = address.map_or(unspecified, |address| [address, address]);
        possible
            .into_iter()
            .map(|address| {
                let (_, rule) =
                    artifact::network::decide(&artifact.network, verb, Protocol::Tcp, address, port);
                self.refusal(rule)
            })
            .max_by_key(|(effect, rule)| (*effect, *rule != RuleId::DEFAULT))
            .unwrap_or((Effect::Deny, RuleId::DEFAULT))
    }
}
