//! [`Policy`] to [`Plan`]: one function for each domain, and for each rule what it became.

mod declared;
mod environment;
mod files;
mod mechanisms;
mod network;
mod vocabulary;

use std::collections::BTreeMap;

use artifact::process::{Limit, ProcessPlan, Requirement};
use artifact::seccomp::SeccompFilter;
use artifact::{RuleId, RuleRecord};
use policy_lang::policy::{Origin, Policy, Rule, Subject};

use crate::error::{LowerError, Reason};
use crate::plan::Plan;
use crate::seccomp::{GenerateError, generate_all};

/// Lowers a policy. What [`emit`](crate::emit) makes of the plan is valid.
///
/// # Errors
/// Every rule that no mechanism can take up, and every bound of an artifact that the policy exceeds.
pub fn lower(policy: &Policy) -> Result<Plan, Vec<LowerError>> {
    let mut errors = Vec::new();
    let files = files::lower(policy, &mut errors);
    let network = network::lower(policy);
    let environment = environment::lower(policy, &mut errors);
    let seccomp = seccomp(policy, &mut errors);
    let rules = records(policy, &files, &network, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let plan = Plan {
        name: policy.name.clone(),
        summary: policy.summary.clone(),
        parameters: policy.parameters.clone(),
        layers: declared::layers(policy),
        unlocks: declared::unlocks(policy),
        rules,
        requirements: policy
            .requirements
            .iter()
            .map(|requirement| Requirement {
                need: vocabulary::need(requirement.feature),
                text: requirement.text.clone(),
            })
            .collect(),
        files,
        network,
        environment,
        brokers: declared::brokers(policy),
        workspace: declared::workspace(policy),
        process: ProcessPlan {
            identity: vocabulary::identity(policy.identity.0),
            identity_rule: vocabulary::rule_id(policy.identity.1),
            limits: limits(policy),
        },
        seccomp,
        record: vocabulary::record(policy.record),
    };
    match crate::emit(&plan).validate() {
        Ok(()) => Ok(plan),
        Err(invalid) => Err(vec![LowerError {
            rule: policy_lang::policy::RuleId::DEFAULT,
            origin: Origin::BuiltIn,
            reason: Reason::Bound(invalid),
        }]),
    }
}

impl LowerError {
    fn about(rule: &Rule, reason: Reason) -> Self {
        Self {
            rule: rule.id,
            origin: rule.origin.clone(),
            reason,
        }
    }
}

fn records(
    policy: &Policy,
    files: &artifact::filesystem::FilesystemPlan,
    network: &crate::plan::NetworkPlan,
    errors: &mut Vec<LowerError>,
) -> Vec<RuleRecord> {
    let context = mechanisms::Context {
        policy,
        grants: files::Grants::new(files),
        network,
    };
    let mut records = Vec::with_capacity(policy.rules.len());
    for rule in &policy.rules {
        match context.mechanisms(rule) {
            Ok(lowering) => records.push(RuleRecord {
                id: vocabulary::rule_id(rule.id),
                effect: vocabulary::effect(rule.effect),
                domain: vocabulary::domain(&rule.subject),
                text: rule.text.clone(),
                label: rule.label.clone(),
                because: rule.because.clone(),
                origin: vocabulary::origin(&rule.origin),
                layer: vocabulary::layer(policy, rule),
                via: rule.via.clone(),
                permit_degraded: rule.permit_degraded,
                lowering,
            }),
            Err(reason) => errors.push(LowerError::about(rule, reason)),
        }
    }
    records
}

/// The lowest of several limits on one resource holds, over all layers.
fn limits(policy: &Policy) -> Vec<Limit> {
    let mut lowest: BTreeMap<artifact::process::Resource, (u64, RuleId)> = BTreeMap::new();
    for rule in &policy.rules {
        if let Subject::Limit { resource, value } = &rule.subject {
            let this = (*value, vocabulary::rule_id(rule.id));
            lowest
                .entry(vocabulary::resource(*resource))
                .and_modify(|least| *least = this.min(*least))
                .or_insert(this);
        }
    }
    lowest
        .into_iter()
        .map(|(resource, (value, rule))| Limit {
            resource,
            value,
            rule,
        })
        .collect()
}

/// One filter for each architecture.
fn seccomp(policy: &Policy, errors: &mut Vec<LowerError>) -> Vec<SeccompFilter> {
    generate_all(policy).unwrap_or_else(|error| {
        let culprit = match &error {
            GenerateError::TooComplex { rules, .. } => rules.last().copied(),
            GenerateError::TooLong { .. } => None,
        };
        let rule = culprit.unwrap_or(policy_lang::policy::RuleId::DEFAULT);
        let origin = usize::try_from(rule.0).ok().and_then(|at| policy.rules.get(at));
        errors.push(LowerError {
            rule,
            origin: origin.map_or(Origin::BuiltIn, |rule| rule.origin.clone()),
            reason: Reason::Seccomp(error),
        });
        Vec::new()
    })
}
