//! Trees that are written and executed: what the run makes there, it can start.

use std::collections::BTreeSet;

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::FileAccess;

use super::Context;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let mut said = BTreeSet::new();
    for grant in context.grants() {
        let half = |access| grant.accesses.contains(&access);
        if !half(FileAccess::Write) && !half(FileAccess::Execute) {
            continue;
        }
        let Some(inside) = grant.inside() else { continue };
        let (Some(writes), Some(executes)) = (
            context.granted_file(FileAccess::Write, &inside),
            context.granted_file(FileAccess::Execute, &inside),
        ) else {
            continue;
        };
        if !said.insert((writes.id, executes.id)) {
            continue;
        }
        let other = [writes, executes]
            .into_iter()
            .find(|rule| rule.id != grant.rule.id);
        let mut finding = context.target(grant.rule, grant.index).found(|span| {
            Diagnostic::warning(
                Code::WriteExecute,
                span,
                "the run may execute what it wrote itself",
            )
            .label("written and executed")
            .help("grant `execute` where programs are installed and `write` where data goes; where a build must run what it made, grant both on its output directory only and say why")
        });
        if let Some(other) = other {
            let place = context.place(other);
            let says = if other.id == writes.id {
                "write is granted here"
            } else {
                "execute is granted here"
            };
            finding = finding.also_in(place.file, place.span, says);
        }
        found.push(finding);
    }
}
