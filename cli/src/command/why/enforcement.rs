//! What makes a decision hold on this host, and whether the access would be on record.

use artifact::Artifact;
use artifact::process::RecordOptions;
use artifact::rule::{Lowering, Mechanism, Need, RuleId, RuleRecord};
use compiler::LowerError;
use compiler::why::{Compiled, compiled, concerns, record};
use enforcer::event::mechanism_word;
use enforcer::{Capabilities, Status};
use policy_lang::policy::{Effect, FileAccess, Policy, Protocol, Verb};
use policy_lang::reference::{Access, Decision};

use super::answer::effect;
use super::report::Enforcement;
use crate::render::mechanism::MechanismReport;

/// This machine.
pub(super) struct Host {
    capabilities: Capabilities,
}

impl Host {
    pub(super) fn new() -> Self {
        Self {
            capabilities: enforcer::capabilities::probe(),
        }
    }

    pub(super) fn kernel(&self) -> String {
        self.capabilities.kernel.clone()
    }

    /// Of what a policy decides, by the artifact it compiles to.
    pub(super) fn of_policy(
        &self,
        built: &Artifact,
        policy: &Policy,
        access: &Access,
        decision: Decision,
    ) -> Enforcement {
        let found = compiled(built, access);
        let allowed = decision.effect == Effect::Allow;
        let mut enforcement = self.of_rule(built, access, RuleId(decision.rule.0), allowed);
        if allowed && effect(found.effect) != Effect::Allow {
            let note = found
                .note
                .unwrap_or("what is compiled refuses it, though the rules allow it");
            enforcement.stricter = Some(note.to_owned());
        }
        if allowed && let Some(recorded) = recorded_if_allowed(policy, access) {
            recorded.clone_into(&mut enforcement.recorded);
        }
        enforcement
    }

    /// Of what an artifact decides.
    pub(super) fn of_artifact(&self, artifact: &Artifact, access: &Access, found: &Compiled) -> Enforcement {
        let allowed = effect(found.effect) == Effect::Allow;
        let rule = found.rules.first().copied().unwrap_or(RuleId::DEFAULT);
        let mut enforcement = self.of_rule(artifact, access, rule, allowed);
        enforcement.stricter = found.note.map(str::to_owned);
        if allowed {
            let recorded = recorded_if_allowed_by(&artifact.record, access);
            recorded.clone_into(&mut enforcement.recorded);
        }
        enforcement
    }

    fn of_rule(&self, artifact: &Artifact, access: &Access, rule: RuleId, allowed: bool) -> Enforcement {
        let statuses = enforcer::assess(artifact, &self.capabilities);
        let status = statuses.into_iter().find(|status| status.rule == rule);
        let (status, why) = match status.map(|status| status.status) {
            Some(Status::Enforced) => ("enforced", None),
            Some(Status::Partly { why }) => ("partly", Some(why)),
            Some(Status::Unenforceable { why }) => ("unenforceable", Some(why)),
            None => ("unenforceable", Some("the artifact has no such rule".to_owned())),
        };
        let mut mechanisms = record(artifact, rule)
            .map(|record| self.mechanisms(record, access))
            .unwrap_or_default();
        if !allowed {
            // A rule's mechanisms are those of all its ports; here it is one.
            mechanisms.retain(|mechanism| mechanism.mechanism != mechanism_word(Mechanism::LandlockNet));
            mechanisms.splice(0..0, self.by_port(artifact, access));
        }
        let recorded = if allowed {
            "no".to_owned()
        } else {
            recorded_if_refused(access, &mechanisms)
        };
        Enforcement {
            status,
            why,
            mechanisms,
            recorded,
            stricter: None,
        }
    }

    /// Landlock, where it refuses a port whatever the address: it is asked before the programs of the cgroup.
    fn by_port(&self, artifact: &Artifact, access: &Access) -> Option<MechanismReport> {
        let (Access::Network {
            verb,
            protocol: Protocol::Tcp,
            port,
            ..
        }
        | Access::Host {
            verb,
            protocol: Protocol::Tcp,
            port,
            ..
        }) = access
        else {
            return None;
        };
        let granted = match verb {
            Verb::Connect => artifact.network.landlock_connect_ports.as_ref()?,
            Verb::Bind => artifact.network.landlock_bind_ports.as_ref()?,
        };
        let lowering = Lowering {
            mechanism: Mechanism::LandlockNet,
            needs: vec![Need::Landlock(4)],
            gap: None,
            note: Some("no address of this port is granted".to_owned()),
        };
        let report = MechanismReport::new(&lowering, &self.capabilities);
        (!granted.contains(port) && report.missing.is_empty()).then_some(report)
    }

    /// Those of a rule that have a part in this access.
    fn mechanisms(&self, rule: &RuleRecord, access: &Access) -> Vec<MechanismReport> {
        rule.lowering
            .iter()
            .filter(|lowering| concerns(lowering.mechanism, access))
            .map(|lowering| MechanismReport::new(lowering, &self.capabilities))
            .collect()
    }

    pub(super) fn not_compiled(errors: &[LowerError]) -> Enforcement {
        Enforcement {
            status: "unenforceable",
            why: errors
                .first()
                .map(|error| format!("the policy cannot be compiled, so no run of it starts: {error}")),
            mechanisms: Vec::new(),
            recorded: "no".to_owned(),
            stricter: None,
        }
    }
}

fn recorded_if_refused(access: &Access, mechanisms: &[MechanismReport]) -> String {
    if matches!(access, Access::Environment { .. }) {
        return "no: a variable that is absent is nothing the kernel sees".to_owned();
    }
    let (on_record, silent): (Vec<&MechanismReport>, Vec<&MechanismReport>) =
        mechanisms.iter().partition(|mechanism| mechanism.recorded);
    let words = |mechanisms: &[&MechanismReport]| {
        let words: Vec<&str> = mechanisms.iter().map(|mechanism| mechanism.mechanism).collect();
        words.join(", ")
    };
    match (on_record.is_empty(), silent.is_empty()) {
        (false, true) => "yes".to_owned(),
        (false, false) => format!(
            "yes where {} refuses, not where {} does",
            words(&on_record),
            words(&silent)
        ),
        (true, false) => format!("no: {} refuses without a record", words(&silent)),
        (true, true) => "no".to_owned(),
    }
}

fn recorded_if_allowed(policy: &Policy, access: &Access) -> Option<&'static str> {
    let record = &policy.record;
    Some(yes_if(match access {
        Access::File { access, .. } => match access {
            FileAccess::Read => record.read,
            FileAccess::Write => record.write,
            FileAccess::Execute => record.exec,
        },
        Access::Network { verb, .. } | Access::Host { verb, .. } => match verb {
            Verb::Connect => record.connect,
            Verb::Bind => record.bind,
        },
        Access::Environment { .. } | Access::Syscall { .. } => return None,
    }))
}

fn recorded_if_allowed_by(record: &RecordOptions, access: &Access) -> &'static str {
    yes_if(match access {
        Access::File {
            access: FileAccess::Execute,
            ..
        } => record.exec,
        Access::Network { verb, .. } | Access::Host { verb, .. } => match verb {
            Verb::Connect => record.connect,
            Verb::Bind => record.bind,
        },
        _ => false,
    })
}

const fn yes_if(recorded: bool) -> &'static str {
    if recorded { "yes" } else { "no" }
}
