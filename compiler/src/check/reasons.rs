//! Whether a policy says why: a `because` travels with each refusal and each event.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::Effect;

use super::Context;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for rule in context.written().filter(|rule| rule.because.is_none()) {
        if rule.permit_degraded {
            let place = context.place(rule);
            found.push(place.found(|span| {
                Diagnostic::warning(
                    Code::DegradedWithoutReason,
                    span,
                    "`permit degraded` accepts that this rule is not fully enforced, and does not say why",
                )
                .label("nobody can tell whether that was meant")
                .help("add `because \"…\"`: it is shown with each `degraded` event")
            }));
        } else if rule.effect >= Effect::Deny {
            let place = context.place(rule);
            found.push(place.found(|span| {
                Diagnostic::remark(
                    Code::RefusalWithoutReason,
                    span,
                    "this refusal gives no reason",
                )
                .label("the agent is told that it may not, and not why")
                .help("add `because \"…\"`: it travels with each refusal to the agent, to people and to the SIEM")
            }));
        }
    }
}
