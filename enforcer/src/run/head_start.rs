//! The part of a run that does not depend on what is to run.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::RunError;
use super::error::host;
use super::parts::Parts;
use crate::audit::{AuditError, AuditStream, Opening};
use crate::bpf::{self, BpfError};
use crate::capabilities::{self, Capabilities, Capability};
use crate::cgroup::RunCgroups;
use crate::event::RunId;
use crate::instance::Instance;
use crate::launch::Waiting;
use crate::record::RunRecord;
use crate::recovery;
use crate::supervise::BlockedSignals;

/// What can begin before it is known what is to run: the run's record and cgroup, the programs, and the launcher,
/// which takes longest and waits to be told what to do. Optional; dropped, nothing of it is left.
///
/// Its fields are dropped in their order: the launcher ends first, then its cgroup goes.
#[derive(Debug)]
pub struct HeadStart {
    pub(super) instance: Instance,
    pub(super) launcher: PathBuf,
    pub(super) run: RunId,
    pub(super) waiting: Waiting,
    pub(super) cgroup: File,
    pub(super) programs: bpf::Host,
    pub(super) audit: Opening,
    pub(super) parts: Parts,
    pub(super) signals: BlockedSignals,
}

impl HeadStart {
    /// Begins a run of `instance`. `launcher` is that of [`super::RunOptions`].
    ///
    /// # Errors
    /// As for [`super::run`]. A caller that goes on without meets the same failure there, after admission, which knows
    /// better what a host lacks.
    pub fn take(instance: &Instance, launcher: &Path) -> Result<Self, RunError> {
        Self::take_while(instance, launcher, || ()).0
    }

    /// The same, and `work` (reading the policy) as soon as the launcher starts.
    ///
    /// # Errors
    /// As for [`HeadStart::take`].
    pub fn take_while<T>(
        instance: &Instance,
        launcher: &Path,
        work: impl FnOnce() -> T,
    ) -> (Result<Self, RunError>, T) {
        // Before there is a thread: each inherits it.
        let signals = match BlockedSignals::block() {
            Ok(signals) => signals,
            Err(error) => return (Err(host("block signals")(error)), work()),
        };
        std::thread::scope(|scope| {
            // The kernel starts a thread to answer, and lets the one who asks wait until that runs: on a busy machine for
            // longer than everything else here takes.
            let asking = scope.spawn(AuditStream::begin);
            let begun = Begun::new(instance, launcher);
            let done = work();
            let answered = || {
                asking
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            let taken = begun.and_then(|begun| begun.complete(instance, launcher, answered, signals));
            (taken, done)
        })
    }

    /// What this kernel offers: as [`capabilities::probe`] finds it, but what taking the head start has shown is not
    /// asked again.
    #[must_use]
    pub fn probe(&self) -> Capabilities {
        capabilities::probe_beyond(&[
            (Capability::Audit, "this run's audit stream is open"),
            (Capability::CgroupBpf, "the programs are attached"),
            (Capability::PidNamespace, "the launcher is process 1 of one"),
        ])
    }
}

/// As far as a launcher that starts.
struct Begun {
    run: RunId,
    waiting: Waiting,
    cgroup: File,
    /// Loaded just now, because nothing was pinned.
    loaded: Option<bpf::Host>,
    parts: Parts,
}

impl Begun {
    fn new(instance: &Instance, launcher: &Path) -> Result<Self, RunError> {
        let run = RunId::new(&new_id());
        let entered = instance.enter()?;
        recovery::recover(instance)?;
        let record = RunRecord::create(instance, run.as_str()).map_err(host("write the run record"))?;
        drop(entered);
        let parts = Parts {
            cgroups: RunCgroups::of(instance, run.as_str()),
            tables: None,
            record: Some(record),
            emptied: false,
        };
        // Programs are only ever attached above cgroups that are empty. Where they are already, the launcher is
        // started first.
        let loaded = if bpf::Host::is_pinned(instance) {
            None
        } else {
            Some(bpf::Host::open_or_load(instance)?)
        };
        let (cgroup, waiting) = begin(&parts, launcher)?;
        Ok(Self {
            run,
            waiting,
            cgroup,
            loaded,
            parts,
        })
    }

    /// Opens what the run needs of the kernel.
    fn complete(
        self,
        instance: &Instance,
        launcher: &Path,
        audit: impl FnOnce() -> Result<Opening, AuditError>,
        signals: BlockedSignals,
    ) -> Result<HeadStart, RunError> {
        let Self {
            run,
            mut waiting,
            mut cgroup,
            loaded,
            parts,
        } = self;
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
        Ok(HeadStart {
            instance: instance.clone(),
            launcher: launcher.to_owned(),
            run,
            waiting,
            cgroup,
            programs,
            audit: audit()?,
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

/// Starts the launcher in the run's cgroup.
fn start(launcher: &Path, cgroup: &File) -> Result<Waiting, RunError> {
    let program = CString::new(launcher.as_os_str().as_bytes())
        .map_err(|error| host("name the launcher")(error.into()))?;
    Waiting::start(&program, cgroup.as_fd()).map_err(host("start the launcher"))
}

/// Sorts by time and is unique on the host.
pub(super) fn new_id() -> String {
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
