//! Decisions of a policy, or of an artifact, with their reasons.

use artifact::rule::{Origin, RuleRecord};
use artifact::{Artifact, LayerId};
use compiler::testing::{outcome, word};
use compiler::why::{Compiled, compiled, reasons, record};
use enforcer::event::effect_word;
use policy_lang::policy::{Effect, Policy};
use policy_lang::reference::Access;

use super::Asked;
use super::enforcement::Host;
use super::report::{Answer, ArtifactAnswer, EventReport, Report};
use crate::render::reasons::LayerReport;
use crate::render::rule::RuleReference;
use crate::render::words;

pub(super) fn of_policy(policy: &Policy, file: &str, reviewed: Option<&Artifact>, asked: &Asked) -> Report {
    let lowered = compiler::lower(policy).map(|plan| compiler::emit(&plan));
    let built = lowered.as_ref().ok();
    let host = Host::new();
    let answers: Vec<Answer> = asked
        .accesses
        .iter()
        .map(|access| {
            let reasons = reasons(policy, access);
            let decision = reasons.decision;
            Answer {
                access: access.to_string(),
                outcome: word(outcome(decision.effect), access),
                effect: decision.effect.word(),
                decided_by: RuleReference::of(policy, decision.rule),
                candidates: Vec::new(),
                layers: reasons
                    .layers
                    .iter()
                    .map(|layer| LayerReport::new(policy, layer))
                    .collect(),
                enforcement: match &lowered {
                    Ok(built) => host.of_policy(built, policy, access, decision),
                    Err(errors) => Host::not_compiled(errors),
                },
                artifact: reviewed.map(|reviewed| compared(reviewed, access, decision.effect)),
            }
        })
        .collect();
    let digest = built.map(|built| built.digest().to_string());
    let agree = answers
        .iter()
        .all(|answer| answer.artifact.as_ref().is_none_or(|artifact| artifact.agrees));
    Report {
        policy: policy.name.clone(),
        file: Some(file.to_owned()),
        event: event(asked, digest.as_deref()),
        digest,
        kernel: host.kernel(),
        agree,
        answers,
        notes: asked.notes.clone(),
        proposal: None,
    }
}

pub(super) fn of_artifact(artifact: &Artifact, asked: Asked) -> Report {
    let host = Host::new();
    let answers = asked.accesses.iter().map(|access| {
        let found = compiled(artifact, access);
        let mut rules: Vec<RuleReference> = found
            .rules
            .iter()
            .filter_map(|rule| record(artifact, *rule))
            .map(|rule| reference(artifact, rule))
            .collect();
        Answer {
            access: access.to_string(),
            outcome: word(outcome(effect(found.effect)), access),
            effect: effect_word(found.effect),
            decided_by: (rules.len() == 1).then(|| rules.remove(0)),
            candidates: rules,
            layers: Vec::new(),
            enforcement: host.of_artifact(artifact, access, &found),
            artifact: None,
        }
    });
    let answers = answers.collect();
    let digest = artifact.digest().to_string();
    Report {
        policy: artifact.policy.name.clone(),
        file: None,
        event: event(&asked, Some(&digest)),
        digest: Some(digest),
        kernel: host.kernel(),
        agree: true,
        answers,
        notes: asked.notes,
        proposal: None,
    }
}

/// What a reviewed artifact says to what the policy allows or refuses.
fn compared(reviewed: &Artifact, access: &Access, decided: Effect) -> ArtifactAnswer {
    let Compiled { effect, rules, .. } = compiled(reviewed, access);
    let rules = rules.iter().filter_map(|rule| record(reviewed, *rule));
    let rules = rules.map(|rule| format!("{} `{}`", words::origin(&rule.origin), rule.text));
    let allowed = |decided| decided == Effect::Allow;
    ArtifactAnswer {
        digest: reviewed.digest().to_string(),
        effect: effect_word(effect),
        rules: rules.collect(),
        agrees: allowed(decided) == allowed(self::effect(effect)),
    }
}

fn event(asked: &Asked, digest: Option<&str>) -> Option<EventReport> {
    let event = asked.event.as_ref()?;
    Some(EventReport {
        run: event.run.clone(),
        seq: event.seq,
        policy: event.policy.0.clone(),
        digest: event.policy.1.clone(),
        effect: event.effect.clone(),
        mechanism: event.mechanism.clone(),
        rule: event
            .rule
            .as_ref()
            .map(|rule| format!("{} `{}`", rule.location, rule.text)),
        same_policy: digest == Some(event.policy.1.as_str()),
    })
}

/// A rule as the artifact keeps it.
fn reference(artifact: &Artifact, rule: &RuleRecord) -> RuleReference {
    let (file, line, column) = match &rule.origin {
        Origin::BuiltIn => (None, None, None),
        Origin::Policy { file, line, column } => (Some(file.clone()), Some(*line), Some(*column)),
    };
    RuleReference {
        rule: rule.id.0,
        domain: (rule.id.0 > 0).then(|| words::domain(rule.domain)),
        effect: effect_word(rule.effect),
        text: rule.text.clone(),
        label: rule.label.clone(),
        because: rule.because.clone(),
        place: match (&rule.origin, &rule.label) {
            (Origin::BuiltIn, Some(label)) => label.clone(),
            _ => words::origin(&rule.origin),
        },
        file,
        line,
        column,
        // Where there is only one, it need not be said.
        layer: (rule.origin != Origin::BuiltIn)
            .then(|| rule.layer.unwrap_or(LayerId::INNERMOST))
            .and_then(|layer| artifact.layers.get(usize::from(layer.0)))
            .map(|layer| layer.name.clone()),
        via: rule.via.clone(),
    }
}

pub(super) const fn effect(effect: artifact::Effect) -> Effect {
    match effect {
        artifact::Effect::Allow => Effect::Allow,
        artifact::Effect::Ask => Effect::Ask,
        artifact::Effect::Deny => Effect::Deny,
        artifact::Effect::Forbid => Effect::Forbid,
    }
}
