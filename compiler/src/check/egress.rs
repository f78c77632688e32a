//! Where the run may connect, and who may connect to it.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Endpoint, Protocol, Rule, Subject, Verb};

use super::Context;
use super::written::{self, Written};

mod hosts;
mod metadata;
mod outward;
mod ranges;

/// One target of a granting rule.
struct Flow<'a> {
    rule: &'a Rule,
    protocols: &'a [Protocol],
    /// One, or for `*` two: all addresses of each family.
    targets: &'a [Endpoint],
    /// Which string of the rule it is.
    index: usize,
}

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for rule in context.grants_of_network() {
        let Subject::Network {
            verbs,
            protocols,
            targets,
            hosts,
        } = &rule.subject
        else {
            continue;
        };
        // Nothing is to be said about most rules, so their text is looked at last.
        if hosts.is_empty() && !targets.iter().any(outward::is_worth_a_look) {
            continue;
        }
        let written = written::of(rule);
        for flow in flows(rule, protocols, targets, &written) {
            if verbs.contains(&Verb::Connect) {
                outward::check(context, &flow, found);
            }
            if verbs.contains(&Verb::Bind)
                && flow.targets.iter().all(|target| target.address.is_unspecified())
            {
                found.push(context.target(rule, flow.index).found(|span| {
                    Diagnostic::warning(
                        Code::BindEverywhere,
                        span,
                        "servers of the run can be reached from other machines",
                    )
                    .label("every address of this machine")
                    .help(
                        "bind loopback, as in `\"127.0.0.1:3000-3999\"`, unless others are meant to connect",
                    )
                }));
            }
        }
        if verbs.contains(&Verb::Connect) {
            hosts::check(context, rule, hosts.iter().zip(&written.hosts), found);
        }
    }
    metadata::check(context, found);
}

/// One for each string: the two targets that `*` stands for are said together.
fn flows<'a>(
    rule: &'a Rule,
    protocols: &'a [Protocol],
    targets: &'a [Endpoint],
    written: &Written,
) -> Vec<Flow<'a>> {
    let mut flows = Vec::new();
    let mut rest = targets;
    for same in written.endpoints.chunk_by(|one, two| one == two) {
        let (targets, after) = rest.split_at(same.len().min(rest.len()));
        rest = after;
        flows.extend(same.first().map(|index| Flow {
            rule,
            protocols,
            targets,
            index: *index,
        }));
    }
    flows
}
