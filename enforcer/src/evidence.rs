//! Raw records become events.
//!
//! Four sources tell what a run did: its ring (network decisions, program starts, forks, exits, devices, kernel
//! settings), the audit stream (files, TCP ports and scopes refused by Landlock, calls refused by seccomp), the
//! masks, and the enforcer's own steps. Here each record is attributed to the run, to a process with its
//! ancestry, and to the rule that decided, numbered, chained, and handed to the sinks. Whatever was lost on the
//! way is counted and becomes an event too.
//!
//! The order of calls: [`Evidence::new`], [`Evidence::started`], [`Evidence::launched`], then the records,
//! [`Evidence::settle`] when every process is dead, and [`Evidence::finish`].

mod clock;
mod landlock;
mod processes;
mod ring;
mod rules;
mod seccomp;

use std::sync::Arc;
use std::time::{Duration, Instant};

use artifact::Artifact;
use artifact::rule::{Effect, Mechanism, RuleId};
use ebpf::layout::{Counters, EventKind};

use crate::audit::record::{Body, Record};
use crate::audit::{AuditError, AuditStream, Batch};
use crate::bpf::{DecodeError, Record as RingRecord};
use crate::event::{
    AdmissionRefused, Chain, Degraded, Details, Event, FileDetails, Loss, LossStage, PolicyReference,
    Process, Receipt, RunEnded, RunId, RunStarted, SCHEMA, Text, Time,
};
use crate::sink::{SinkError, Sinks};
use clock::Clock;
use landlock::Domains;
use processes::Processes;
use rules::Rules;
use seccomp::Calls;

/// What is known about a run before it does anything.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// Its name.
    pub run: RunId,
    /// The host's name.
    pub host: String,
    /// Digest of the artifact, in hexadecimal.
    pub digest: String,
    /// The run's cgroup id; 0 while it has none.
    pub cgroup: u64,
}

/// How long a Landlock domain may take to end after its last process, before its count is given up.
const DOMAIN_PATIENCE: Duration = Duration::from_millis(250);

/// Makes events of one run.
#[derive(Debug)]
pub struct Evidence {
    artifact: Arc<Artifact>,
    info: RunInfo,
    host: Arc<str>,
    policy: Arc<PolicyReference>,
    rules: Rules,
    calls: Calls,
    processes: Processes,
    domains: Domains,
    sinks: Sinks,
    chain: Chain,
    scratch: Vec<u8>,
    sequence: u64,
    refusals: u64,
    lost: u64,
    /// What the audit queue and socket lost.
    audit_lost: u64,
    counters: Counters,
    /// Refused calls of processes that are not known.
    strangers: u64,
    clock: Clock,
    begun: Instant,
}

/// An event before it has its number: everything that differs between events.
struct Draft {
    time: Time,
    /// What was decided, by which rule and mechanism.
    decision: Option<Decision>,
    process: Option<Arc<Process>>,
    details: Details,
}

/// A decision, ready to be named in an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decision {
    effect: Effect,
    rule: Option<RuleId>,
    mechanism: Mechanism,
}

impl Evidence {
    /// Evidence of a run under this artifact.
    #[must_use]
    pub fn new(artifact: Arc<Artifact>, info: RunInfo, sinks: Sinks) -> Self {
        Self {
            host: Arc::from(info.host.as_str()),
            policy: Arc::new(PolicyReference {
                name: artifact.policy.name.clone(),
                digest: info.digest.clone(),
            }),
            rules: Rules::new(&artifact),
            calls: Calls::new(&artifact),
            processes: Processes::default(),
            domains: Domains::default(),
            sinks,
            chain: Chain::default(),
            scratch: Vec::new(),
            sequence: 0,
            refusals: 0,
            lost: 0,
            audit_lost: 0,
            counters: Counters::default(),
            strangers: 0,
            clock: Clock::new(),
            begun: Instant::now(),
            artifact,
            info,
        }
    }

    /// The run has this cgroup now.
    pub fn in_cgroup(&mut self, cgroup: u64) {
        self.info.cgroup = cgroup;
    }

    /// The command is about to start.
    ///
    /// # Errors
    /// When a sink does not take it; the run must not go on then. The same holds for every other method here.
    pub fn started(&mut self, details: RunStarted) -> Result<(), SinkError> {
        self.begun = Instant::now();
        self.happening(Details::RunStarted(details), None)
    }

    /// The mechanisms that this policy's rules became.
    #[must_use]
    pub fn mechanisms(&self) -> Vec<Mechanism> {
        let all = self.artifact.rules.iter().flat_map(|rule| &rule.lowering);
        let ordered: std::collections::BTreeSet<_> = all.map(|lowering| lowering.mechanism).collect();
        ordered.into_iter().collect()
    }

    /// The run was not admitted.
    ///
    /// # Errors
    /// As for [`Evidence::started`].
    pub fn admission_refused(&mut self, rule: Option<RuleId>, reason: &str) -> Result<(), SinkError> {
        let details = Details::AdmissionRefused(AdmissionRefused {
            reason: reason.to_owned(),
        });
        self.happening(details, rule)?;
        self.flush()
    }

    /// A rule is not fully enforced, which it permits.
    ///
    /// # Errors
    /// As for [`Evidence::started`].
    pub fn degraded(&mut self, rule: RuleId, gap: &str) -> Result<(), SinkError> {
        self.happening(Details::Degraded(Degraded { gap: gap.to_owned() }), Some(rule))
    }

    fn happening(&mut self, details: Details, rule: Option<RuleId>) -> Result<(), SinkError> {
        let draft = Draft {
            time: Time::now(),
            decision: None,
            process: None,
            details,
        };
        self.emit_about(draft, rule)
    }

    /// The run's first process exists. Its parent is not part of the run.
    pub fn launched(&mut self, pid: u32) {
        self.processes.root(pid);
    }

    /// A record from the run's ring.
    ///
    /// # Errors
    /// As for [`Evidence::started`].
    pub fn on_ring(&mut self, record: Result<RingRecord, DecodeError>) -> Result<(), SinkError> {
        ring::take(self, record)
    }

    /// What the audit stream brought. Drain the ring first, see [`AuditStream::read`].
    ///
    /// # Errors
    /// As for [`Evidence::started`].
    pub fn on_audit(&mut self, batch: &Batch) -> Result<(), SinkError> {
        for (stage, count) in &batch.losses {
            self.lose(*stage, *count)?;
        }
        for record in &batch.records {
            match &record.body {
                Body::Seccomp(refusal) => seccomp::take(self, record.stamp, refusal)?,
                Body::Access(access) => landlock::access(self, record.stamp, access, caller(batch, record))?,
                Body::Domain(domain) => landlock::domain(self, domain)?,
                Body::Syscall(_) | Body::Message(_) => {}
            }
        }
        Ok(())
    }

    /// A look at a masked path that was refused.
    ///
    /// # Errors
    /// As for [`Evidence::started`].
    pub fn on_mask(&mut self, refused: &crate::mask::Refused) -> Result<(), SinkError> {
        let access = refused.access;
        let (effect, rule) = self.rules.file(&self.artifact, access, refused.path.as_bytes());
        let process = self.processes.of_thread(refused.tid, refused.uid);
        let path = Text::from(refused.path.as_str());
        self.emit(Draft {
            time: Time::now(),
            decision: Some(Decision {
                effect,
                rule: Some(rule),
                mechanism: Mechanism::MountMask,
            }),
            process: Some(process),
            details: Details::File(FileDetails {
                access: vec![access],
                path,
                path_hex: None,
                blockers: Vec::new(),
                device: None,
                inode: None,
            }),
        })
    }

    /// The kernel's counts for this run's ring, as they are now.
    ///
    /// # Errors
    /// As for [`Evidence::started`].
    pub fn on_counters(&mut self, now: &Counters) -> Result<(), SinkError> {
        let before = std::mem::replace(&mut self.counters, *now);
        let sum = |counters: &Counters| {
            counters
                .lost
                .iter()
                .fold(0u64, |sum, one| sum.saturating_add(*one))
        };
        self.lose(LossStage::Ring, sum(now).saturating_sub(sum(&before)))?;
        let forks = EventKind::Fork as usize;
        let births_lost = now.lost.get(forks).is_some_and(|lost| *lost > 0);
        let strangers = if births_lost {
            std::mem::take(&mut self.strangers)
        } else {
            0
        };
        self.lose(LossStage::Attribution, strangers)
    }

    /// Some records were lost.
    ///
    /// # Errors
    /// As for [`Evidence::started`].
    pub fn lose(&mut self, stage: LossStage, count: u64) -> Result<(), SinkError> {
        if count == 0 {
            return Ok(());
        }
        self.lost = self.lost.saturating_add(count);
        if matches!(stage, LossStage::AuditQueue | LossStage::AuditSocket) {
            self.audit_lost = self.audit_lost.saturating_add(count);
        }
        let explanation = explanation(stage).to_owned();
        self.happening(
            Details::Loss(Loss {
                stage,
                count,
                explanation,
            }),
            None,
        )
    }

    /// Writes what waits. Call it when there is nothing else to do.
    ///
    /// # Errors
    /// As for [`Evidence::started`].
    pub fn flush(&mut self) -> Result<(), SinkError> {
        self.sinks.lines.as_mut().map_or(Ok(()), |lines| lines.flush())
    }

    /// Every process is dead: takes what is still on its way through the kernel's audit queue, and compares what
    /// arrived with the number of refusals the kernel itself counted.
    ///
    /// Drain the ring before this.
    ///
    /// # Errors
    /// When a sink does not take an event, or no answer comes from the audit subsystem within `limit`.
    pub fn settle(&mut self, stream: &mut AuditStream, limit: Duration) -> Result<(), SettleError> {
        let mut failed = Ok(());
        stream.finish(limit, |batch| {
            if failed.is_ok() {
                failed = self.on_audit(batch);
            }
        })?;
        failed?;
        let deadline = Instant::now() + DOMAIN_PATIENCE;
        let mut batch = Batch::default();
        while self.domains.awaited() && stream.wait(deadline)? {
            stream.read(&mut batch)?;
            self.on_audit(&batch)?;
        }
        landlock::settle(self)?;
        Ok(())
    }

    /// Records the end, writes everything out, and returns what was recorded.
    ///
    /// # Errors
    /// As for [`Evidence::started`].
    pub fn finish(mut self, exit_code: u8, reason: &str) -> Result<Receipt, SinkError> {
        let mut receipt = Receipt {
            events: self.sequence.saturating_add(1),
            refusals: self.refusals,
            lost: self.lost,
            landlock_denials: self.domains.denials(),
            chain: self.chain.head(),
        };
        let ended = RunEnded {
            exit_code,
            reason: reason.to_owned(),
            duration_ns: u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            receipt: receipt.clone(),
        };
        self.happening(Details::RunEnded(ended), None)?;
        if let Some(person) = &mut self.sinks.person {
            person.finish();
        }
        self.flush()?;
        receipt.chain = self.chain.head();
        Ok(receipt)
    }

    /// Gives a draft its number and sends it on.
    fn emit(&mut self, draft: Draft) -> Result<(), SinkError> {
        let rule = draft.decision.and_then(|decision| decision.rule);
        self.emit_about(draft, rule)
    }

    fn emit_about(&mut self, draft: Draft, rule: Option<RuleId>) -> Result<(), SinkError> {
        self.sequence += 1;
        let named = rule.and_then(|rule| self.rules.get(rule));
        let event = Event {
            schema: SCHEMA,
            time: draft.time,
            host: Arc::clone(&self.host),
            run: self.info.run.clone(),
            seq: self.sequence,
            policy: Arc::clone(&self.policy),
            effect: draft.decision.map(|decision| decision.effect),
            mechanism: draft.decision.map(|decision| decision.mechanism),
            rule: named.map(|named| Arc::clone(&named.reference)),
            because: named.and_then(|named| named.because.clone()),
            process: draft.process,
            details: draft.details,
        };
        if event.is_refusal() {
            self.refusals += 1;
        }
        if let Some(person) = &mut self.sinks.person {
            person.show(&event);
        }
        match &mut self.sinks.lines {
            Some(lines) => {
                let buffer = lines.buffer();
                let start = buffer.len();
                serde_json::to_writer(&mut *buffer, &event)?;
                self.chain.seal(buffer, start);
                lines.line_done()
            }
            None => {
                self.scratch.clear();
                serde_json::to_writer(&mut self.scratch, &event)?;
                self.chain.seal(&mut self.scratch, 0);
                Ok(())
            }
        }
    }
}

/// The process that made the call a record is about, where the host's own audit rules make the kernel say so.
fn caller<'a>(batch: &'a Batch, record: &Record) -> Option<&'a crate::audit::record::Caller> {
    batch.records.iter().find_map(|other| match &other.body {
        Body::Syscall(caller) if other.stamp.serial == record.stamp.serial => Some(caller),
        _ => None,
    })
}

const fn explanation(stage: LossStage) -> &'static str {
    match stage {
        LossStage::Ring => "the run's ring buffer was full",
        LossStage::AuditQueue => {
            "the kernel's audit queue was full; it is shared by the whole host, so some of these may be of others"
        }
        LossStage::AuditSocket => {
            "the audit socket's buffer was full; it carries the whole host's records, so some of these may be of others"
        }
        LossStage::Landlock => "the kernel counted more Landlock refusals than it sent records of",
        LossStage::Record => "a record from the kernel could not be read",
        LossStage::Attribution => "a record could not be attributed to a process or run",
    }
}

/// Why the end of a run is not fully on record.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// The audit stream failed.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// A sink failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
}
