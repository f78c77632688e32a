//! The lines of the policy's own `test` blocks.

use compiler::testing::{Line as Judged, judge};
use policy_lang::policy::{Expectation, Origin};

use super::calls::{UNTRIED, can_be_opened};
use super::{Flip, Line, Probe};
use crate::expect::Subject;
use crate::operation::Operation;

pub(super) fn probes(subject: Subject<'_>) -> Vec<Probe> {
    let judged = judge(subject.policy, &subject.policy.tests, |_| true);
    let mut probes = Vec::new();
    for test in &judged.tests {
        for (number, line) in (1..).zip(&test.lines) {
            let name = format!("test:{}:{number}", test.test.name);
            probes.push(probe(subject, &name, line));
        }
    }
    probes
}

fn probe(subject: Subject<'_>, name: &str, judged: &Judged<'_>) -> Probe {
    let Expectation { access, origin, .. } = judged.expectation;
    let operation = Operation::of(access);
    let untried = match &operation {
        None => Some("it cannot be tried here: a call of another architecture, or a name without an address"),
        Some(Operation::Call { name, .. }) if UNTRIED.contains(&name.as_str()) => {
            Some("this call cannot be made on its own")
        }
        Some(_) => None,
    };
    let operation = operation.unwrap_or(Operation::Privileges);
    let mut probe = Probe::by_rules(subject, name, &judged.text(), operation, name);
    if matches!(probe.operation, Operation::Call { .. })
        && probe.flip != Flip::NotNeeded
        && !can_be_opened(subject, &probe.operation)
    {
        probe.flip = Flip::Outside { as_root: false };
    }
    probe.line = Some(Line {
        text: judged.text(),
        place: match origin {
            Origin::Source { file, line, .. } => (file.clone(), *line),
            Origin::BuiltIn => (String::new(), 0),
        },
        disagreement: judged.failure.map(|_| judged.found()),
        untried,
    });
    probe
}
