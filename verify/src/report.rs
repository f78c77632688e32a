//! What a verification found, as a value: the table is drawn from it, and as a file it is what somebody signs off.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::judge::{Judgement, Verdict};
use crate::observe::Evidence;
use crate::plan::{Flip, Probe};

/// All of it.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Changes when a field changes its meaning or goes away.
    pub schema: u32,
    /// What was found.
    pub body: Body,
    /// SHA-256 of the body, written without spaces.
    pub digest: String,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct Body {
    /// Everything was proved, or granted.
    pub ok: bool,
    /// Seconds since 1970, when it began.
    pub time: u64,
    /// For how long it took, in milliseconds.
    pub milliseconds: u64,
    /// The machine.
    pub host: Host,
    /// What was verified.
    pub policy: Policy,
    /// How many have which verdict.
    pub counts: Counts,
    /// Each probe.
    pub probes: Vec<Entry>,
}

/// The machine.
#[derive(Debug, Clone, Serialize)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// `uname -r`
    pub kernel: String,
    /// `uname -m`
    pub architecture: String,
    /// Landlock ABI.
    pub landlock: u32,
    /// What it has and lacks.
    pub capabilities: Vec<Capability>,
    /// This program.
    pub remit: String,
}

/// One thing a host has or lacks.
#[derive(Debug, Clone, Serialize)]
pub struct Capability {
    /// Name.
    pub name: &'static str,
    /// Whether it is there.
    pub present: bool,
    /// How that is known.
    pub evidence: String,
}

/// What was verified.
#[derive(Debug, Clone, Serialize)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// As `remit compile` prints it.
    pub digest: String,
    /// Of what was run: the same with what the prober needs.
    pub tested_digest: String,
    /// What the prober needed besides.
    pub added: Vec<String>,
}

/// How many have which verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Hold.
    pub proved: usize,
    /// Are no boundary of this policy.
    pub granted: usize,
    /// Do not hold.
    pub failed: usize,
    /// Were not shown.
    pub not_proved: usize,
}

/// One probe.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub boundary: String,
    /// What became of it.
    pub verdict: Verdict,
    /// In a sentence.
    pub why: String,
    /// What the program saw.
    pub outcome: Option<String>,
    /// Who refused.
    pub mechanism: Option<String>,
    /// The rule on record, with its place.
    pub rule: Option<String>,
    /// `seq` of the event.
    pub event: Option<u64>,
    /// What the control came to; absent where the policy grants nothing of the kind.
    pub control: Option<String>,
    /// What it came to with the control off.
    pub flipped: Option<String>,
    /// How that was switched off.
    pub flip: Vec<String>,
    /// Where the policy says so.
    pub place: Option<String>,
}

impl Counts {
    fn of(entries: &[Entry]) -> Self {
        let mut counts = Self::default();
        for entry in entries {
            *match entry.verdict {
                Verdict::Proved => &mut counts.proved,
                Verdict::Granted => &mut counts.granted,
                Verdict::Failed => &mut counts.failed,
                Verdict::NotProved => &mut counts.not_proved,
            } += 1;
        }
        counts
    }
}

impl Entry {
    /// Puts a probe, what was seen and what it means together.
    #[must_use]
    pub fn new(probe: &Probe, evidence: &Evidence, judgement: Judgement) -> Self {
        let outcome = |seen: &crate::observe::Seen| seen.outcome.to_string();
        Self {
            name: probe.name.clone(),
            boundary: probe.boundary.clone(),
            verdict: judgement.verdict,
            why: judgement.why,
            outcome: evidence.inside.as_ref().map(outcome),
            mechanism: judgement.mechanism,
            rule: judgement.event.as_ref().map(|event| event.shown.clone()),
            event: judgement.event.as_ref().map(|event| event.seq),
            control: evidence.control.as_ref().map(outcome),
            flipped: match &evidence.flipped {
                Some(Ok(seen)) => Some(outcome(seen)),
                Some(Err(why)) => Some(why.clone()),
                None => None,
            },
            flip: if probe.flip == Flip::NotNeeded {
                Vec::new()
            } else {
                evidence.changes.clone()
            },
            place: probe
                .line
                .as_ref()
                .map(|line| format!("{}:{}", line.place.0, line.place.1)),
        }
    }
}

impl Report {
    /// Closes a body.
    #[must_use]
    pub fn new(time: u64, milliseconds: u64, host: Host, policy: Policy, probes: Vec<Entry>) -> Self {
        let counts = Counts::of(&probes);
        let body = Body {
            ok: counts.failed == 0 && counts.not_proved == 0,
            time,
            milliseconds,
            host,
            policy,
            counts,
            probes,
        };
        let digest = digest(&body);
        Self {
            schema: 1,
            body,
            digest,
        }
    }
}

/// SHA-256 of a body, written without spaces.
fn digest(body: &Body) -> String {
    // Every field has a JSON form, so that writing cannot fail.
    let text = serde_json::to_vec(body).unwrap_or_default();
    let mut digest = String::from("sha256:");
    for byte in Sha256::digest(text) {
        digest.push_str(&format!("{byte:02x}"));
    }
    digest
}
