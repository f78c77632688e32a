//! Finishing runs whose supervisor died, and taking an instance off the host.
//!
//! The processes of such a run were killed by the kernel when their supervisor ended. What is left has a record
//! (`record.rs`), and is removed in the order in which [`crate::run()`] removes it.

use std::fs;
use std::io;

use crate::audit::{self, AuditError};
use crate::bpf::{self, BpfError, CgroupId};
use crate::cgroup::RunCgroups;
use crate::instance::{Instance, InstanceError};
use crate::record::{self, RunRecord};

/// Why something could not be cleaned up.
#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    /// A run is still alive.
    #[error("{0} run(s) of instance `{1}` are alive: end them first")]
    Alive(usize, String),
    /// The tables cannot be removed.
    #[error(transparent)]
    Bpf(#[from] BpfError),
    /// The host's audit settings cannot be put back.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The instance is not usable.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// A step failed.
    #[error("cannot {what}")]
    Step {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
}

fn step(what: &str) -> impl Fn(io::Error) -> RecoveryError {
    move |source| RecoveryError::Step {
        what: what.to_owned(),
        source,
    }
}

/// Finishes every run of a dead supervisor. Cheap when there is none. Returns how many there were.
///
/// # Errors
/// When something of a dead run cannot be removed.
pub fn recover(instance: &Instance) -> Result<usize, RecoveryError> {
    let records = record::scan(instance).map_err(step("read the run records"))?;
    let count = records.dead.len();
    for (run, record) in records.dead {
        finish(instance, &run, record)?;
    }
    Ok(count)
}

fn finish(instance: &Instance, run: &str, record: RunRecord) -> Result<(), RecoveryError> {
    let cgroups = RunCgroups::of(instance, run);
    cgroups.empty().map_err(step("end the processes of a dead run"))?;
    if let Some(id) = cgroups.id().map_err(step("read the cgroup's id"))? {
        match bpf::Host::open(instance) {
            Ok(host) => host.forget(CgroupId(id))?,
            Err(BpfError::NotLoaded) => {}
            Err(error) => return Err(error.into()),
        }
    }
    cgroups
        .remove()
        .map_err(step("remove the cgroups of a dead run"))?;
    match record.remove() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(step("remove a run record")(error)),
        _ => Ok(()),
    }
}

/// Takes everything of the instance off the host: programs, audit settings, cgroups, state.
///
/// # Errors
/// When a run is alive, or something cannot be removed.
pub fn unload(instance: &Instance) -> Result<(), RecoveryError> {
    let Some(_exclusive) = instance.enter_alone()? else {
        return Ok(());
    };
    recover(instance)?;
    let alive = record::scan(instance)
        .map_err(step("read the run records"))?
        .alive
        .len();
    if alive > 0 {
        return Err(RecoveryError::Alive(alive, instance.name().to_owned()));
    }
    bpf::unload(instance)?;
    audit::restore(instance)?;
    for directory in instance.cgroups() {
        gone(fs::remove_dir(&directory)).map_err(step("remove the instance's cgroup"))?;
    }
    gone(fs::remove_dir_all(instance.state_dir())).map_err(step("remove the state directory"))
}

fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
