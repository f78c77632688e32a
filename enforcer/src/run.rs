//! One run, from an admitted artifact to its exit code.

mod error;
mod head_start;
mod options;
mod parts;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use artifact::Artifact;
use artifact::process::RecordOptions;
use artifact::rule::RuleId;

pub use error::RunError;
use error::host;
pub use head_start::HeadStart;
use head_start::new_id;
pub use options::{Caller, RunOptions, RunOutcome};

use crate::admission::{Admitted, Reason, Refusal, Status};
use crate::audit::Batch;
use crate::bpf::CgroupId;
use crate::capabilities::Capability;
use crate::cgroup::RunCgroups;
use crate::event::{RunId, RunStarted, Text};
use crate::evidence::{Evidence, RunInfo};
use crate::identity::{self, DynamicId};
use crate::instance::Instance;
use crate::launch::{EXIT_FAILURE, EXIT_WALL, LaunchSpec, Step, Waiting, exit_code};
use crate::limits;
use crate::mask;
use crate::observe::{ObserveError, Observer};
use crate::prepare::{self, Ids, Means, Prepared};
use crate::sink::{SinkError, Sinks};
use crate::supervise::{Ended, Live, supervise};

/// The Landlock ABI from which on refusals are audit records.
const LANDLOCK_AUDIT: u32 = 7;

/// Prepares, launches, supervises and finishes one run.
///
/// # Errors
/// When it could not start, or could not be finished cleanly; then nothing of it is left running.
pub fn run(admitted: Admitted, options: RunOptions) -> Result<RunOutcome, RunError> {
    if options.command.is_empty() {
        return Err(RunError::NoCommand);
    }
    let RunOptions {
        instance,
        command,
        caller,
        launcher,
        network,
        sinks,
        head_start,
        last,
    } = options;
    let head_start = match head_start.filter(|taken| taken.instance == instance && taken.launcher == launcher)
    {
        Some(taken) => taken,
        None => HeadStart::take(&instance, &launcher)?,
    };
    let HeadStart {
        run,
        mut parts,
        programs,
        cgroup,
        waiting,
        audit,
        signals,
        ..
    } = head_start;
    let artifact = Arc::clone(admitted.artifact());
    let plan = limits::plan(&artifact.process.limits, &instance);
    let joined = parts
        .cgroups
        .limit(&instance, &plan)
        .map_err(host("set the run's limits"))?;
    // The others were never made.
    parts.cgroups.v1.clone_from(&joined);
    let (ids, dynamic) = identity(&admitted, &caller)?;
    let prepared = prepare::files(&artifact, ids, Means::of(admitted.capabilities()))?;
    let audit = audit.complete(&instance)?;
    let id = cgroup.metadata().map_err(host("read the cgroup's id"))?.ino();
    // Who is whose child is needed to attribute refusals, also where it is not itself recorded.
    let wanted = RecordOptions {
        exec: true,
        ..artifact.record
    };
    let tables = programs.install(CgroupId(id), &artifact.network, wanted)?;
    let info = RunInfo {
        run,
        host: host_name(),
        digest: artifact.digest().to_string(),
        cgroup: id,
    };
    let mut observer = Observer {
        evidence: Evidence::new(Arc::clone(&artifact), info, sinks),
        audit,
        tables,
        batch: Batch::default(),
    };
    announce(
        &mut observer.evidence,
        &admitted,
        &prepared,
        ids,
        &instance,
        &caller,
        &command,
        id,
    )
    .map_err(ObserveError::from)?;

    let mut spec = prepare::spec(
        &admitted,
        &prepared,
        ids,
        &caller,
        &command,
        &plan,
        signals.before(),
    );
    spec.cgroups = joined
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    spec.network = network.map(PathBuf::into_os_string);
    let wall = prepare::wall_limit(&artifact.process.limits).map(|limit| Duration::from_secs(limit.value));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(host("start the supervisor's event loop"))?;
    let supervised = runtime.block_on(async {
        observer.evidence.launched(waiting.child.pid);
        let live = launch(waiting, &spec, prepared, &parts.cgroups, wall)?;
        Ok::<_, RunError>(supervise(live, &mut observer).await?)
    });
    // Whatever happened, nothing of the run lives on, and what it did is on record.
    parts.empty()?;
    let outcome = supervised.and_then(|ended| outcome(&artifact, ended));
    let (exit_code, reason) = match &outcome {
        Ok(outcome) => (outcome.exit_code, outcome.reason()),
        Err(error) => (EXIT_FAILURE, error.to_string()),
    };
    let (tables, closing) = observer.close();
    parts.tables = Some(tables);
    let finished = parts.finish();
    let receipt = closing.finish(exit_code, &reason);
    if last {
        // Signals stay blocked: one that was meant for the command, and came while it ended, is not this process's end.
        std::mem::forget((programs, cgroup, runtime, dynamic, signals));
    }
    finished?;
    let receipt = receipt?;
    outcome.map(|outcome| RunOutcome {
        receipt: Some(receipt),
        ..outcome
    })
}

/// Records that a run was not admitted, for whoever watches the events.
///
/// # Errors
/// When a sink does not take it.
pub fn record_refusal(artifact: Artifact, refusal: &Refusal, sinks: Sinks) -> Result<(), SinkError> {
    let info = RunInfo {
        run: RunId::new(&new_id()),
        host: host_name(),
        digest: artifact.digest().to_string(),
        cgroup: 0,
    };
    let mut evidence = Evidence::new(Arc::new(artifact), info, sinks);
    for reason in &refusal.reasons {
        let rule = match reason {
            Reason::Rule { rule, .. } => Some(*rule),
            Reason::Requirement { .. }
            | Reason::Statement { .. }
            | Reason::Base { .. }
            | Reason::Artifact(_) => None,
        };
        evidence.admission_refused(rule, &reason.to_string())?;
    }
    evidence.finish(EXIT_FAILURE, "not admitted").map(drop)
}

/// Records the start and what is not fully enforced.
#[allow(
    clippy::too_many_arguments,
    reason = "each is a different fact about the start, used once"
)]
fn announce(
    evidence: &mut Evidence,
    admitted: &Admitted,
    prepared: &Prepared,
    ids: Ids,
    instance: &Instance,
    caller: &Caller,
    command: &[OsString],
    cgroup: u64,
) -> Result<(), SinkError> {
    let text = |text: &OsStr| Text::from(text.to_string_lossy().as_ref());
    let started = RunStarted {
        instance: instance.name().to_owned(),
        kernel: admitted.capabilities().kernel.clone(),
        program: text(command.first().map_or(OsStr::new(""), OsString::as_os_str)),
        arguments: command.len().saturating_sub(1),
        working_directory: text(caller.working_directory.as_os_str()),
        uid: ids.uid,
        gid: ids.gid,
        caller_uid: caller.uid,
        cgroup,
        mechanisms: evidence.mechanisms(),
        rules: admitted.artifact().rules.len(),
    };
    evidence.started(started)?;
    for status in admitted.degraded() {
        if let Status::Partly { why } | Status::Unenforceable { why } = &status.status {
            evidence.degraded(status.rule, why)?;
        }
    }
    for (rule, why) in &prepared.degraded {
        evidence.degraded(*rule, why)?;
    }
    let abi = admitted.capabilities().landlock_abi;
    if abi < LANDLOCK_AUDIT {
        let why = format!(
            "this kernel has Landlock ABI {abi}: what Landlock refuses is refused without a record, which needs ABI {LANDLOCK_AUDIT}"
        );
        evidence.degraded(RuleId::DEFAULT, &why)?;
    }
    if let Err(missing) = admitted.capabilities().require(Capability::MemfdNoexec) {
        let why = format!("{missing}: memfd_create is refused instead");
        evidence.degraded(RuleId::DEFAULT, &why)?;
    }
    evidence.flush()
}

/// Lets the launcher go.
fn launch(
    waiting: Waiting,
    spec: &LaunchSpec,
    prepared: Prepared,
    cgroups: &RunCgroups,
    wall: Option<Duration>,
) -> Result<Live, RunError> {
    let masks = if prepared.masks.is_empty() {
        None
    } else {
        let what = "mount the file system that hides denied paths (is /dev/fuse there?)";
        Some(mask::mount().map_err(host(what))?)
    };
    let mount = masks.as_ref().map(|(_, mount)| mount);
    let (child, report) = waiting
        .go(spec, mount)
        .map_err(host("tell the launcher what to do"))?;
    Ok(Live {
        child,
        report,
        masks: masks.map(|(device, _)| (device, prepared.masks)),
        cgroups: cgroups.clone(),
        wall,
    })
}

fn identity(admitted: &Admitted, caller: &Caller) -> Result<(Ids, Option<DynamicId>), RunError> {
    if let Some(ids) = prepare::fixed_ids(admitted.artifact().process.identity, (caller.uid, caller.gid)) {
        return Ok((ids, None));
    }
    let dynamic = identity::allocate(std::process::id()).map_err(host("take a dynamic user id"))?;
    Ok((
        Ids {
            uid: dynamic.id,
            gid: dynamic.id,
            dynamic: true,
        },
        Some(dynamic),
    ))
}

/// What a failed launch means: a command that could not be started is the command's failure, everything else
/// remit's.
fn outcome(artifact: &Artifact, ended: Ended) -> Result<RunOutcome, RunError> {
    let ended_with = |exit_code, not_started| RunOutcome {
        exit_code,
        not_started,
        wall: ended.wall,
        receipt: None,
    };
    if ended.wall {
        return Ok(ended_with(EXIT_WALL, None));
    }
    match ended.failure {
        None => Ok(ended_with(ended.code, None)),
        Some(failure) if matches!(failure.step, Step::Execute | Step::Program) => {
            Ok(ended_with(exit_code(&failure), Some(failure)))
        }
        Some(failure) => {
            let rule = prepare::rule_about(artifact, &failure.subject);
            Err(RunError::Launch { failure, rule })
        }
    }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
