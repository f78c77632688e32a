//! The narrowest rule that would allow what was asked about, or who stands in the way.

use artifact::rule::Origin;
use compiler::why::proposal::{Answer, Obstacle, Request, propose};
use enforcer::Status;
use policy_lang::policy::Policy;
use policy_lang::{Diagnostic, SourceFile};

use super::Asked;
use super::report::{ObstacleReport, ProposalReport};
use crate::arguments::Why;
use crate::input;
use crate::render::rule::RuleReference;

pub(super) fn look(policy: &Policy, source: &SourceFile, asked: &Asked, arguments: &Why) -> ProposalReport {
    let resolve = |text: &str| -> Result<Policy, String> {
        let changed = SourceFile::new(&source.name, text);
        let mut front =
            input::resolved(changed, &arguments.bindings).map_err(|error| format!("{error:#}"))?;
        if let Some(policy) = &front.policy {
            let refusals = compiler::check::refusals(policy, &front.options());
            front.add(refusals);
        }
        let first = front.diagnostics.iter().find(|found| found.is_error());
        let sentence = first.map(|found: &Diagnostic| found.message.clone());
        front.policy.ok_or_else(|| sentence.unwrap_or_default())
    };
    let answer = propose(&Request {
        text: &source.text,
        policy,
        accesses: &asked.accesses,
        generalise: arguments.generalise,
        resolve: &resolve,
    });
    match answer {
        Answer::Allowed => report("none-needed"),
        Answer::Refused(obstacles) => ProposalReport {
            obstacles: obstacles
                .iter()
                .map(|obstacle| obstacle_report(policy, obstacle))
                .collect(),
            ..report("refused")
        },
        Answer::Rule(proposal) => {
            let mut notes = proposal.notes;
            notes.extend(unenforced(&resolve, &proposal.text, &source.name, proposal.line));
            if asked.event.as_ref().is_some_and(|event| event.arguments_matter)
                && arguments.arguments.is_empty()
            {
                notes.push(
                    "the kernel does not record arguments; `--argument name=value` narrows the rule to those"
                        .to_owned(),
                );
            }
            ProposalReport {
                rule: Some(proposal.rule),
                file: Some(source.name.clone()),
                line: Some(proposal.line),
                covers: proposal.covers,
                text: Some(proposal.text),
                notes,
                ..report("rule")
            }
        }
    }
}

/// That this host would not enforce the new rule, or not fully, so that a run of the changed policy is refused.
fn unenforced(
    resolve: &dyn Fn(&str) -> Result<Policy, String>,
    text: &str,
    file: &str,
    line: usize,
) -> Option<String> {
    let plan = match compiler::lower(&resolve(text).ok()?) {
        Ok(plan) => plan,
        Err(errors) => {
            let first = errors.first()?;
            return Some(format!("with it the policy cannot be compiled: {first}"));
        }
    };
    let artifact = compiler::emit(&plan);
    let is_new = |origin: &Origin| match origin {
        Origin::Policy {
            file: own, line: at, ..
        } => own == file && usize::try_from(*at).is_ok_and(|at| at == line),
        Origin::BuiltIn => false,
    };
    let statuses = enforcer::assess(&artifact, &enforcer::capabilities::probe());
    let mut pairs = artifact.rules.iter().zip(statuses);
    let (_, status) =
        pairs.find(|(rule, status)| is_new(&rule.origin) && status.status != Status::Enforced)?;
    match status.status {
        Status::Partly { why } | Status::Unenforceable { why } => Some(format!(
            "this host does not enforce that rule, so it would refuse the run: {why}"
        )),
        Status::Enforced => None,
    }
}

fn report(outcome: &'static str) -> ProposalReport {
    ProposalReport {
        outcome,
        rule: None,
        file: None,
        line: None,
        covers: None,
        text: None,
        notes: Vec::new(),
        obstacles: Vec::new(),
    }
}

fn obstacle_report(policy: &Policy, obstacle: &Obstacle) -> ObstacleReport {
    ObstacleReport {
        access: obstacle.access.to_string(),
        rule: RuleReference::of(policy, obstacle.rule),
        ask: obstacle.ask.clone(),
    }
}
