//! Does what the plan says: one run of the policy, a throw-away run for each control that is switched off, and probers
//! outside of runs. Brings back what happened, and judges nothing.

use std::collections::{BTreeMap, HashMap};

use artifact::Artifact;

use crate::expect::{Expected, Record, Subject};
use crate::open::opened;
use crate::operation::{Operation, Outcome};
use crate::plan::{Flip, Plan, Probe};
use crate::stage::{Ran, Recorded, Stage, VerifyError, World, during, outcome};
use crate::world::Ports;

/// What an operation came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// What the program saw.
    pub outcome: Outcome,
    /// The refusals on record meanwhile.
    pub refusals: Vec<Recorded>,
}

/// All there is to know of one probe.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Within the policy.
    pub inside: Option<Seen>,
    /// The control, within the policy.
    pub control: Option<Seen>,
    /// With the control off, or why that could not be tried.
    pub flipped: Option<Result<Seen, String>>,
    /// What was switched off.
    pub changes: Vec<String>,
    /// The same, outside of a run, as the run's user. Only for what was refused without a record, with the control on
    /// or off.
    pub alone: Option<Outcome>,
}

/// Both worlds: one where somebody listens, and one where every port is free.
#[derive(Debug)]
pub struct Worlds {
    /// With listeners.
    pub busy: World,
    /// Without.
    pub quiet: World,
}

impl Worlds {
    /// Makes them.
    ///
    /// # Errors
    /// When the kernel does not let them be made.
    pub fn new(stage: &Stage, ports: &Ports) -> Result<Self, VerifyError> {
        Ok(Self {
            busy: stage.world(ports)?,
            quiet: stage.world(&Ports::default())?,
        })
    }
}

/// Tries everything.
///
/// # Errors
/// When a run of the policy itself does not start. A throw-away run that does not is evidence.
pub fn observe(
    plan: &Plan,
    stage: &Stage,
    worlds: &Worlds,
    subject: Subject<'_>,
) -> Result<Vec<Evidence>, VerifyError> {
    let mut evidence = vec![Evidence::default(); plan.probes.len()];
    let inside = Batch::run(
        stage,
        worlds,
        subject.artifact,
        plan.probes.iter().filter(is_tried),
    )?;
    for (probe, found) in plan.probes.iter().zip(&mut evidence) {
        found.inside = inside.seen(&probe.operation);
        found.control = probe.control.as_ref().and_then(|control| inside.seen(control));
    }
    opened_runs(plan, stage, worlds, subject, &mut evidence)?;
    outside_runs(plan, stage, worlds, inside.user, &mut evidence)?;
    Ok(evidence)
}

fn is_tried(probe: &&Probe) -> bool {
    probe.line.as_ref().is_none_or(|line| line.untried.is_none())
}

/// What one or two runs brought.
#[derive(Debug, Default)]
struct Batch {
    seen: HashMap<Operation, Seen>,
    user: Option<(u32, u32)>,
}

impl Batch {
    fn run<'p>(
        stage: &Stage,
        worlds: &Worlds,
        artifact: &Artifact,
        probes: impl Iterator<Item = &'p Probe>,
    ) -> Result<Self, VerifyError> {
        let mut operations: Vec<Operation> = Vec::new();
        for operation in probes.flat_map(|probe| probe.control.iter().chain([&probe.operation])) {
            if !operations.contains(operation) {
                operations.push(operation.clone());
            }
        }
        // Last, because it stays.
        operations.sort_by_key(|operation| *operation == Operation::Daemon);
        let (binds, others): (Vec<_>, Vec<_>) = operations
            .into_iter()
            .partition(|operation| matches!(operation, Operation::Bind { .. }));
        let mut batch = Self::default();
        for (world, operations) in [(&worlds.busy, others), (&worlds.quiet, binds)] {
            if !operations.is_empty() {
                batch.add(stage.inside(artifact, world, &operations)?, &operations);
            }
        }
        Ok(batch)
    }

    fn add(&mut self, ran: Ran, operations: &[Operation]) {
        for (operation, tried) in operations.iter().zip(&ran.tried) {
            if let Some(tried) = tried {
                let seen = Seen {
                    outcome: outcome(&ran, operation, tried),
                    refusals: during(&ran, tried),
                };
                self.seen.insert(operation.clone(), seen);
            }
        }
        self.user = self.user.or(ran.user);
    }

    fn seen(&self, operation: &Operation) -> Option<Seen> {
        self.seen.get(operation).cloned()
    }
}

/// One run for each control, with that control off.
fn opened_runs(
    plan: &Plan,
    stage: &Stage,
    worlds: &Worlds,
    subject: Subject<'_>,
    evidence: &mut [Evidence],
) -> Result<(), VerifyError> {
    let mut keys: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, probe) in plan
        .probes
        .iter()
        .enumerate()
        .filter(|(_, probe)| is_tried(probe))
    {
        if let Flip::Opened { key, .. } = &probe.flip {
            keys.entry(key).or_default().push(at);
        }
    }
    for members in keys.values() {
        let probes = || members.iter().filter_map(|at| plan.probes.get(*at));
        let accesses: Vec<_> = probes()
            .flat_map(|probe| match &probe.flip {
                Flip::Opened { accesses, .. } => accesses.clone(),
                Flip::Outside { .. } | Flip::NotNeeded => Vec::new(),
            })
            .collect();
        let bare: Vec<Probe> = probes()
            .map(|probe| Probe {
                control: None,
                ..probe.clone()
            })
            .collect();
        let (result, changes) = match flipped_artifact(subject, &accesses) {
            Ok((artifact, changes)) => match Batch::run(stage, worlds, &artifact, bare.iter()) {
                Ok(batch) => (Ok(batch), changes),
                Err(VerifyError::Interrupted) => return Err(VerifyError::Interrupted),
                Err(error) => (Err(error.to_string()), changes),
            },
            Err(why) => (Err(why), Vec::new()),
        };
        for at in members {
            let (Some(found), Some(probe)) = (evidence.get_mut(*at), plan.probes.get(*at)) else {
                continue;
            };
            found.changes.clone_from(&changes);
            found.flipped = Some(match &result {
                Ok(batch) => batch
                    .seen(&probe.operation)
                    .ok_or_else(|| "the throw-away run brought no answer".to_owned()),
                Err(why) => Err(why.clone()),
            });
        }
    }
    Ok(())
}

fn flipped_artifact(
    subject: Subject<'_>,
    accesses: &[policy_lang::reference::Access],
) -> Result<(Artifact, Vec<String>), String> {
    let open = opened(subject.policy, accesses).map_err(|closed| closed.to_string())?;
    let plan = compiler::lower(&open.policy).map_err(|errors| {
        let first = errors.first().map(ToString::to_string).unwrap_or_default();
        format!("the opened policy does not compile: {first}")
    })?;
    Ok((compiler::emit(&plan), open.changes))
}

/// What no grant opens, and what the file itself may have refused.
fn outside_runs(
    plan: &Plan,
    stage: &Stage,
    worlds: &Worlds,
    user: Option<(u32, u32)>,
    evidence: &mut [Evidence],
) -> Result<(), VerifyError> {
    // A run of root's own has no capability, and a process outside would have them all.
    let unprivileged = user.filter(|(uid, _)| *uid != 0).unwrap_or((65534, 65534));
    for as_root in [false, true] {
        let who = (!as_root).then_some(unprivileged);
        let members: Vec<usize> = plan
            .probes
            .iter()
            .enumerate()
            .filter(|(_, probe)| is_tried(probe) && probe.flip == Flip::Outside { as_root })
            .map(|(at, _)| at)
            .collect();
        let seen = tried_outside(plan, stage, worlds, who, &members)?;
        for (at, seen) in members.iter().zip(seen) {
            if let Some(found) = evidence.get_mut(*at) {
                let who = if as_root { "as root" } else { "as the run's user" };
                found.changes = vec![format!("outside of a run, {who}")];
                found.flipped = Some(seen.ok_or_else(|| "the prober outside brought no answer".to_owned()));
            }
        }
    }
    let silent: Vec<usize> = (0..plan.probes.len())
        .filter(|at| {
            let (Some(probe), Some(found)) = (plan.probes.get(*at), evidence.get(*at)) else {
                return false;
            };
            let unrecorded = found.inside.as_ref().is_some_and(|seen| seen.refusals.is_empty());
            let still = found
                .flipped
                .as_ref()
                .is_some_and(|seen| seen.as_ref().is_ok_and(|seen| seen.refusals.is_empty()));
            (unrecorded || still) && may_be_the_files_own(probe)
        })
        .collect();
    let seen = tried_outside(plan, stage, worlds, Some(unprivileged), &silent)?;
    for (at, seen) in silent.iter().zip(seen) {
        if let Some(found) = evidence.get_mut(*at) {
            found.alone = seen.map(|seen| seen.outcome);
        }
    }
    Ok(())
}

fn may_be_the_files_own(probe: &Probe) -> bool {
    match &probe.expected {
        Expected::Refused(refusals) => refusals
            .iter()
            .any(|refusal| refusal.record == Record::OfTheFileItself),
        Expected::Done => matches!(
            probe.operation,
            Operation::Read { .. } | Operation::Write { .. } | Operation::Execute { .. }
        ),
    }
}

fn tried_outside(
    plan: &Plan,
    stage: &Stage,
    worlds: &Worlds,
    user: Option<(u32, u32)>,
    members: &[usize],
) -> Result<Vec<Option<Seen>>, VerifyError> {
    let mut operations: Vec<Operation> = members
        .iter()
        .filter_map(|at| plan.probes.get(*at))
        .map(|probe| probe.operation.clone())
        .collect();
    if operations.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = operations.clone();
    operations.sort_by_key(|operation| *operation == Operation::Daemon);
    operations.dedup();
    let ran = stage.outside(&worlds.busy, user, &operations)?;
    let of = |operation: &Operation| {
        let at = operations.iter().position(|one| one == operation)?;
        let tried = ran.tried.get(at).copied().flatten()?;
        Some(Seen {
            outcome: outcome(&ran, operation, &tried),
            refusals: Vec::new(),
        })
    };
    Ok(wanted.iter().map(of).collect())
}
