//! Cloud metadata services: shut in every policy, unless it unlocks them.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::floor;
use policy_lang::policy::{Origin, Protocol, Subject, Verb};
use policy_lang::reference::Access;

use crate::check::Context;

const LABEL: &str = "built-in:metadata";

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let kept_shut = context
        .policy
        .rules
        .iter()
        .any(|rule| rule.origin == Origin::BuiltIn && rule.label.as_deref() == Some(LABEL));
    if kept_shut {
        return;
    }
    let floor = floor::rules();
    let targets = floor
        .iter()
        .filter(|rule| rule.label.as_deref() == Some(LABEL))
        .filter_map(|rule| match &rule.subject {
            Subject::Network { targets, .. } => Some(targets),
            _ => None,
        })
        .flatten();
    let mut said = std::collections::BTreeSet::new();
    for target in targets {
        let access = Access::Network {
            verb: Verb::Connect,
            protocol: Protocol::Tcp,
            address: target.address,
            port: 80,
        };
        let Some(rule) = context.granted(&access) else {
            continue;
        };
        if said.insert(rule.id) {
            found.push(context.place(rule).found(|span| {
                Diagnostic::warning(
                    Code::MetadataReachable,
                    span,
                    format!("the metadata service at {} is within reach", target.address),
                )
                .label("it hands out the machine's own credentials")
                .help("remove `unlock metadata`; a run that needs a cloud credential gets one of its own from `broker` or `pass`")
            }));
        }
    }
}
