//! Judges a probe by its evidence. Pure.
//!
//! A refusal counts only for the right reason: the expected errno, from the expected mechanism, on record under the rule
//! that decides, or silent where that is known and said. Then the control must have succeeded, and the same operation
//! must succeed once the control is off.

use policy_lang::policy::Verb;
use policy_lang::reference::judged_as;
use serde::Serialize;

use crate::expect::{About, Due, Expected, Record, Refusal};
use crate::observe::{Evidence, Seen};
use crate::operation::{Operation, Outcome};
use crate::plan::{Flip, Probe};
use crate::stage::Recorded;

/// What became of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds, for the right reason.
    Proved,
    /// The policy grants it, and it can be done: there is no boundary here.
    Granted,
    /// It does not hold, or for another reason.
    Failed,
    /// It could not be tried, or not in a way that shows anything.
    NotProved,
}

/// A verdict with its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What became of it.
    pub verdict: Verdict,
    /// In a sentence.
    pub why: String,
    /// Who refused.
    pub mechanism: Option<String>,
    /// What is on record.
    pub event: Option<Recorded>,
}

impl Judgement {
    fn new(verdict: Verdict, why: impl Into<String>) -> Self {
        Self {
            verdict,
            why: why.into(),
            mechanism: None,
            event: None,
        }
    }
}

/// Judges.
#[must_use]
pub fn judge(probe: &Probe, evidence: &Evidence) -> Judgement {
    use Verdict::{Failed, NotProved};
    if let Some(line) = &probe.line {
        if let Some(why) = line.untried {
            return Judgement::new(NotProved, why);
        }
        if let Some(found) = &line.disagreement {
            return Judgement::new(Failed, format!("the model says otherwise: {found}"));
        }
    }
    let Some(inside) = &evidence.inside else {
        return Judgement::new(NotProved, "the prober in the run brought no answer");
    };
    match &probe.expected {
        Expected::Done => granted(probe, inside, evidence),
        Expected::Refused(refusals) => refused(probe, refusals, inside, evidence),
    }
}

/// What the policy grants.
fn granted(probe: &Probe, inside: &Seen, evidence: &Evidence) -> Judgement {
    let file = matches!(
        probe.operation,
        Operation::Read { .. } | Operation::Write { .. } | Operation::Execute { .. }
    );
    if passed(&probe.operation, inside) {
        return if probe.line.is_some() {
            Judgement::new(Verdict::Proved, "granted, and it could be done")
        } else {
            Judgement::new(Verdict::Granted, "the policy grants this: there is no boundary")
        };
    }
    let silent = inside.refusals.is_empty();
    match inside.outcome {
        Outcome::Errno(libc::ENOENT) if file => Judgement::new(
            Verdict::NotProved,
            "it is not there, so nothing is shown: make it, and verify again",
        ),
        Outcome::Errno(libc::ENODATA) if matches!(probe.operation, Operation::Variable { .. }) => {
            Judgement::new(
                Verdict::NotProved,
                "the caller has no such variable, so nothing is shown: set it, and verify again",
            )
        }
        outcome if file && silent && evidence.alone == Some(outcome) => Judgement::new(
            Verdict::NotProved,
            format!(
                "the policy grants it, and the file's own mode or owner refuses it: {outcome}, outside of a run too"
            ),
        ),
        outcome => Judgement {
            event: inside.refusals.first().cloned(),
            ..Judgement::new(
                Verdict::Failed,
                format!(
                    "the model allows it, and the kernel says {outcome}{}",
                    by(&inside.refusals)
                ),
            )
        },
    }
}

/// What the policy, or the floor, or the launcher refuses.
fn refused(probe: &Probe, refusals: &[Refusal], inside: &Seen, evidence: &Evidence) -> Judgement {
    use Verdict::{Failed, NotProved};
    let outcome = inside.outcome;
    if passed(&probe.operation, inside) && !refusals.iter().any(|one| one.outcomes.contains(&outcome)) {
        return Judgement::new(Failed, format!("it could be done: {outcome}"));
    }
    let found = refusals
        .iter()
        .find_map(|refusal| fits(refusal, inside, evidence).map(|event| (refusal, event)));
    let Some((refusal, event)) = found else {
        let absent = outcome == Outcome::Errno(libc::ENOENT) && probe.line.is_some();
        let (verdict, why) = if absent {
            (
                NotProved,
                "it is not there, so nothing was refused: make it, and verify again".to_owned(),
            )
        } else {
            (Failed, wrong_reason(refusals, inside))
        };
        return Judgement {
            event: inside.refusals.first().cloned(),
            ..Judgement::new(verdict, why)
        };
    };
    let mechanism = event
        .as_ref()
        .map(|event| event.mechanism.clone())
        .or_else(|| refusal.mechanisms.first().map(|word| (*word).to_owned()));
    let judged = |verdict, why: String| Judgement {
        verdict,
        why,
        mechanism: mechanism.clone(),
        event: event.clone(),
    };
    if let Some(control) = &probe.control
        && !evidence
            .control
            .as_ref()
            .is_some_and(|seen| passed(control, seen))
    {
        let said = evidence
            .control
            .as_ref()
            .map_or_else(|| "no answer".to_owned(), |seen| seen.outcome.to_string());
        return judged(
            Failed,
            format!("the control, which the policy grants, did not succeed: {said}"),
        );
    }
    match (&probe.flip, &evidence.flipped) {
        (Flip::NotNeeded, _) => judged(NotProved, "there is nothing to switch off".to_owned()),
        (_, None) => judged(NotProved, "the control was not switched off".to_owned()),
        (_, Some(Err(why))) => judged(NotProved, format!("the control cannot be switched off: {why}")),
        (_, Some(Ok(seen))) if passed(&probe.operation, seen) => {
            judged(Verdict::Proved, said(refusal, outcome, event.as_ref()))
        }
        // Two controls, one behind the other: the first was on record, and is gone; the second is no part of the policy.
        (Flip::Opened { .. }, Some(Ok(seen)))
            if event.is_some() && seen.refusals.is_empty() && evidence.alone == Some(seen.outcome) =>
        {
            judged(
                Verdict::Proved,
                format!(
                    "{}; with it off the file's own mode or owner refuses, as it does outside of a run",
                    said(refusal, outcome, event.as_ref())
                ),
            )
        }
        (Flip::Outside { .. }, Some(Ok(seen))) if is_lacking(seen.outcome) => judged(
            Verdict::Proved,
            format!(
                "{}; outside of a run this kernel has no such thing ({})",
                said(refusal, outcome, event.as_ref()),
                seen.outcome
            ),
        ),
        (_, Some(Ok(seen))) => judged(
            Failed,
            format!(
                "with the control off it is refused all the same: {}{}",
                seen.outcome,
                by(&seen.refusals)
            ),
        ),
    }
}

/// Whether an operation got past everything that a policy is about.
fn passed(operation: &Operation, seen: &Seen) -> bool {
    match operation {
        // What the kernel then makes of a call without sensible arguments is its own affair.
        Operation::Call { .. } => {
            let refused = seen.refusals.iter().any(|refusal| refusal.kind == "syscall");
            !refused && seen.outcome != Outcome::Killed(libc::SIGSYS)
        }
        // Started, and no program.
        Operation::Execute { .. } => matches!(
            seen.outcome,
            Outcome::Done | Outcome::Errno(libc::ENOEXEC | libc::ETXTBSY)
        ),
        _ => seen.outcome == Outcome::Done,
    }
}

/// The kernel was built without it.
const fn is_lacking(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Errno(
            libc::EAFNOSUPPORT | libc::EPROTONOSUPPORT | libc::ESOCKTNOSUPPORT | libc::ENOSYS | libc::ENODEV
        ) | Outcome::Killed(libc::SIGSEGV)
    )
}

/// Whether a refusal is this one; its event, where one is due.
fn fits(refusal: &Refusal, inside: &Seen, evidence: &Evidence) -> Option<Option<Recorded>> {
    if !refusal.outcomes.contains(&inside.outcome) {
        return None;
    }
    match &refusal.record {
        Record::Due(due) => {
            let is = |event: &&Recorded| {
                refusal.mechanisms.contains(&event.mechanism.as_str()) && is_due(due, event)
            };
            inside.refusals.iter().find(is).map(|event| Some(event.clone()))
        }
        Record::None(_) => inside.refusals.is_empty().then_some(None),
        Record::NoneAbout(path, _) => {
            let is_about = |event: &Recorded| is_about(&About::Path(path.clone()), event);
            let of_the_start = |event: &Recorded| event.kind == "file" && !is_about(event);
            inside.refusals.iter().all(of_the_start).then_some(None)
        }
        Record::OfTheFileItself => {
            (inside.refusals.is_empty() && evidence.alone == Some(inside.outcome)).then_some(None)
        }
    }
}

fn is_due(due: &Due, event: &Recorded) -> bool {
    event.kind == due.kind && names_rule(due, event) && is_about(&due.about, event)
}

/// The rule, or for a call whose arguments are not recorded one of the candidates.
fn names_rule(due: &Due, event: &Recorded) -> bool {
    let mut named: Vec<u64> = event.rule.into_iter().collect();
    let candidates = event
        .details
        .get("candidates")
        .and_then(serde_json::Value::as_array);
    named.extend(
        candidates
            .into_iter()
            .flatten()
            .filter_map(serde_json::Value::as_u64),
    );
    due.rules.iter().any(|rule| named.contains(&u64::from(*rule)))
}

fn is_about(about: &About, event: &Recorded) -> bool {
    let text = |name: &str| event.details.get(name).and_then(serde_json::Value::as_str);
    match about {
        About::Path(path) => {
            let Some(recorded) = text("path") else {
                return false;
            };
            let parent = path.rsplit_once('/').map(|(parent, _)| parent);
            let above = std::path::Path::new(path).starts_with(recorded);
            recorded == path || parent == Some(recorded) || event.mechanism == "mount-mask" && above
        }
        About::Call(name) => text("name") == Some(name) && text("architecture") != Some("x32"),
        About::Architecture(architecture) => text("architecture") == Some(architecture),
        About::Network {
            verb,
            udp,
            address,
            port,
        } => {
            let word = if *verb == Verb::Bind { "bind" } else { "connect" };
            let recorded = text("address").and_then(|text| text.parse().ok());
            text("verb") == Some(word)
                && text("protocol") == Some(if *udp { "udp" } else { "tcp" })
                && event.details.get("port").and_then(serde_json::Value::as_u64) == Some(u64::from(*port))
                && match recorded {
                    Some(recorded) => judged_as(*verb, recorded) == *address,
                    // Landlock's record of the unspecified address has none.
                    None => event.mechanism == "landlock-net" && address.is_loopback(),
                }
        }
    }
}

fn said(refusal: &Refusal, outcome: Outcome, event: Option<&Recorded>) -> String {
    match (event, &refusal.record) {
        (Some(event), Record::Due(due)) => format!("{outcome} by {}: {}", event.mechanism, due.named),
        (_, Record::None(why) | Record::NoneAbout(_, why)) => {
            format!(
                "{outcome} by {}, no record: {why}",
                refusal.mechanisms.join(" or ")
            )
        }
        (_, _) => format!("{outcome} by the file's own mode or owner, no record; granted, it can be done"),
    }
}

fn wrong_reason(refusals: &[Refusal], inside: &Seen) -> String {
    let expected: Vec<String> = refusals
        .iter()
        .map(|refusal| {
            let outcomes: Vec<String> = refusal.outcomes.iter().map(ToString::to_string).collect();
            let record = match &refusal.record {
                Record::Due(due) => format!("on record under rule {:?}", due.rules),
                Record::None(_) | Record::NoneAbout(..) => "without a record".to_owned(),
                Record::OfTheFileItself => "outside of a run too".to_owned(),
            };
            format!(
                "{} by {}, {record}",
                outcomes.join("/"),
                refusal.mechanisms.join(" or ")
            )
        })
        .collect();
    format!(
        "refused for another reason: {}{}; expected {}",
        inside.outcome,
        by(&inside.refusals),
        expected.join("; or ")
    )
}

fn by(refusals: &[Recorded]) -> String {
    match refusals.first() {
        Some(event) => format!(", on record: {} {} {}", event.kind, event.mechanism, event.shown),
        None => ", nothing on record".to_owned(),
    }
}

#[cfg(test)]
mod tests;
