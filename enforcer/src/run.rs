//! One run, from an admitted artifact to its exit code.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use artifact::Artifact;
use artifact::process::RecordOptions;

use crate::admission::{Admitted, Reason, Refusal, Status};
use crate::audit::{AuditError, AuditStream, Batch, Opening};
use crate::bpf::{self, BpfError, CgroupId, RunTables};
use crate::capabilities::Capability;
use crate::cgroup::RunCgroups;
use crate::event::{Receipt, RunId, RunStarted, Text};
use crate::evidence::{Evidence, RunInfo};
use crate::identity::{self, DynamicId};
use crate::instance::{Instance, InstanceError};
use crate::launch::{EXIT_FAILURE, EXIT_WALL, Failure, LaunchSpec, Step, Waiting, exit_code};
use crate::mask;
use crate::observe::{ObserveError, Observer};
use crate::prepare::{self, Ids, PrepareError, Prepared};
use crate::record::RunRecord;
use crate::recovery::RecoveryError;
use crate::sink::{SinkError, Sinks};
use crate::supervise::{BlockedSignals, Ended, Live, SuperviseError, supervise};
use crate::{limits, recovery};

/// Who asked for the run, and what the run may inherit from them.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Real user id; behind sudo, the user who called sudo.
    pub uid: u32,
    /// Real group id; the same.
    pub gid: u32,
    /// The caller's environment. Only what the policy passes reaches the run.
    pub environment: Vec<(OsString, OsString)>,
    /// Where the run starts.
    pub working_directory: PathBuf,
}

impl Caller {
    /// This process's caller.
    ///
    /// # Errors
    /// When the working directory is gone.
    pub fn current() -> io::Result<Self> {
        let real = (
            rustix::process::getuid().as_raw(),
            rustix::process::getgid().as_raw(),
        );
        let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
        let sudo = number("SUDO_UID").zip(number("SUDO_GID"));
        let (uid, gid) = match sudo {
            Some(ids) if real.0 == 0 => ids,
            _ => real,
        };
        Ok(Self {
            uid,
            gid,
            environment: std::env::vars_os().collect(),
            working_directory: std::env::current_dir()?,
        })
    }
}

/// What to run, and how.
#[derive(Debug)]
pub struct RunOptions {
    /// Where everything on the host side is kept.
    pub instance: Instance,
    /// Program and arguments. A program without a slash is looked up in the *run's* `PATH`.
    pub command: Vec<OsString>,
    /// Who asked.
    pub caller: Caller,
    /// A program whose `main` calls [`crate::launch::main`] first; this one, when it does.
    pub launcher: PathBuf,
    /// Where events go.
    pub sinks: Sinks,
    /// Taken while the policy was still being read.
    pub head_start: Option<HeadStart>,
}

impl RunOptions {
    /// This program itself, see [`RunOptions::launcher`].
    pub const LAUNCHER: &'static str = "/proc/self/exe";

    /// Options for a program that is itself the launcher.
    #[must_use]
    pub fn new(instance: Instance, command: Vec<OsString>, caller: Caller) -> Self {
        Self {
            instance,
            command,
            caller,
            launcher: PathBuf::from(Self::LAUNCHER),
            sinks: Sinks::default(),
            head_start: None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutcome {
    /// The command's own exit code, 128+n when signal n ended it, 126/127 when it could not be started, 124 when
    /// the wall limit ended it.
    pub exit_code: u8,
    /// Why the command could not be started, where it could not.
    pub not_started: Option<Failure>,
    /// The wall-clock limit ended it.
    pub wall: bool,
    /// What was recorded.
    pub receipt: Option<Receipt>,
}

impl RunOutcome {
    /// For the record of the end.
    fn reason(&self) -> String {
        match &self.not_started {
            _ if self.wall => "the wall-clock limit ended it".to_owned(),
            Some(failure) => failure.to_string(),
            None if self.exit_code > 128 => {
                format!("ended by signal {}, or with that code", self.exit_code - 128)
            }
            None => "the command ended".to_owned(),
        }
    }
}

/// Why a run could not start or finish. The exit code is 125 for all of these.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A host directory is missing or wrong.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// Nothing to run.
    #[error("no command was given")]
    NoCommand,
    /// What a dead run left cannot be removed.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
    /// The host's files are not as the policy needs them.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The network tables cannot be set up.
    #[error(transparent)]
    Bpf(#[from] BpfError),
    /// There is no audit stream.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// What the run does cannot be recorded; it was ended.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// A step of the launch failed; nothing of the run is left.
    #[error("{failure}{}", because(rule.as_deref()))]
    Launch {
        /// Which.
        failure: Failure,
        /// The rule whose path it was about: `file:line: text`.
        rule: Option<String>,
    },
    /// Something on the supervisor's side failed.
    #[error("cannot {what}")]
    Host {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

fn because(rule: Option<&str>) -> String {
    rule.map_or_else(String::new, |rule| format!(", which the policy needs for {rule}"))
}

impl From<SuperviseError> for RunError {
    fn from(error: SuperviseError) -> Self {
        match error {
            SuperviseError::Io(source) => Self::Host {
                what: "supervise the run",
                source,
            },
            SuperviseError::Observe(error) => Self::Observe(error),
        }
    }
}

/// Adds what was tried to an I/O error.
fn host(what: &'static str) -> impl Fn(io::Error) -> RunError {
    move |source| RunError::Host { what, source }
}

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
        sinks,
        head_start,
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
    let (ids, _dynamic) = identity(&admitted, &caller)?;
    let prepared = prepare::files(&artifact, ids, admitted.capabilities().has(Capability::Fuse))?;
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
    parts.cgroups.empty().map_err(host("end the run's processes"))?;
    let outcome = supervised.and_then(|ended| outcome(&artifact, ended));
    let (exit_code, reason) = match &outcome {
        Ok(outcome) => (outcome.exit_code, outcome.reason()),
        Err(error) => (EXIT_FAILURE, error.to_string()),
    };
    let (tables, receipt) = observer.finish(exit_code, &reason);
    parts.tables = Some(tables);
    parts.finish()?;
    let receipt = receipt?;
    outcome.map(|outcome| RunOutcome {
        receipt: Some(receipt),
        ..outcome
    })
}

/// What can begin before it is known what is to run: the run's record and cgroup, the programs, and the launcher,
/// which takes longest and waits to be told what to do. Optional; dropped, nothing of it is left.
///
/// Its fields are dropped in their order: the launcher ends first, then its cgroup goes.
#[derive(Debug)]
pub struct HeadStart {
    instance: Instance,
    launcher: PathBuf,
    run: RunId,
    waiting: Waiting,
    cgroup: File,
    programs: bpf::Host,
    audit: Opening,
    parts: Parts,
    signals: BlockedSignals,
}

impl HeadStart {
    /// Begins a run of `instance`. `launcher` is that of [`RunOptions`].
    ///
    /// # Errors
    /// As for [`run`]. A caller that goes on without meets the same failure there, after admission, which knows
    /// better what a host lacks.
    pub fn take(instance: &Instance, launcher: &Path) -> Result<Self, RunError> {
        let run = RunId::new(&new_id());
        let signals = BlockedSignals::block().map_err(host("block signals"))?;
        let entered = instance.enter()?;
        recovery::recover(instance)?;
        let record = RunRecord::create(instance, run.as_str()).map_err(host("write the run record"))?;
        drop(entered);
        let parts = Parts {
            cgroups: RunCgroups::of(instance, run.as_str()),
            tables: None,
            record: Some(record),
        };
        // Programs are only ever attached above cgroups that are empty. Where they are already, the launcher is
        // started first.
        let loaded = if bpf::Host::is_pinned(instance) {
            None
        } else {
            Some(bpf::Host::open_or_load(instance)?)
        };
        let (mut cgroup, mut waiting) = begin(&parts, launcher)?;
        let programs = match loaded.map_or_else(|| bpf::Host::open(instance), Ok) {
            Err(BpfError::NotLoaded) => {
                drop(waiting);
                parts.cgroups.empty().map_err(host("end the launcher"))?;
                parts.cgroups.remove().map_err(host("remove the run's cgroup"))?;
                let programs = bpf::Host::open_or_load(instance)?;
                (cgroup, waiting) = begin(&parts, launcher)?;
                programs
            }
            opened => opened?,
        };
        let audit = AuditStream::begin()?;
        Ok(Self {
            instance: instance.clone(),
            launcher: launcher.to_owned(),
            run,
            waiting,
            cgroup,
            programs,
            audit,
            parts,
            signals,
        })
    }
}

/// Makes the run's cgroup and starts the launcher in it.
fn begin(parts: &Parts, launcher: &Path) -> Result<(File, Waiting), RunError> {
    let cgroup = parts.cgroups.create().map_err(host("create the run's cgroup"))?;
    let waiting = start(launcher, &cgroup)?;
    Ok((cgroup, waiting))
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
            Reason::Requirement { .. } | Reason::Base { .. } | Reason::Artifact(_) => None,
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
    evidence.flush()
}

/// Starts the launcher in the run's cgroup.
fn start(launcher: &Path, cgroup: &File) -> Result<Waiting, RunError> {
    let program = CString::new(launcher.as_os_str().as_bytes())
        .map_err(|error| host("name the launcher")(error.into()))?;
    Waiting::start(&program, cgroup.as_fd()).map_err(host("start the launcher"))
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

/// What exists of a run on the host. Dropped unfinished, it is finished as far as possible; what remains is left
/// to recovery, with its record.
#[derive(Debug)]
struct Parts {
    cgroups: RunCgroups,
    tables: Option<RunTables>,
    record: Option<RunRecord>,
}

impl Parts {
    /// Ends everything, in the order that recovery relies on: processes, tables, cgroups, record.
    fn finish(mut self) -> Result<(), RunError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), RunError> {
        self.cgroups.empty().map_err(host("end the run's processes"))?;
        if let Some(tables) = self.tables.take() {
            tables.remove()?;
        }
        self.cgroups.remove().map_err(host("remove the run's cgroups"))?;
        match self.record.take() {
            Some(record) => record.remove().map_err(host("remove the run record")),
            None => Ok(()),
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if self.record.is_some()
            && let Err(error) = self.end()
        {
            tracing::error!(%error, "a run could not be finished; the next start tries again");
        }
    }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Sorts by time and is unique on the host.
fn new_id() -> String {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let mut random = [0u8; 4];
    // Without randomness the time and process id still tell runs apart.
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::NONBLOCK);
    format!(
        "{:011x}{:07x}{:08x}",
        since.as_millis(),
        std::process::id(),
        u32::from_ne_bytes(random)
    )
}
