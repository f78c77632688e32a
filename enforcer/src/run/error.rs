//! Why a run fails.

use std::io;

use crate::audit::AuditError;
use crate::bpf::BpfError;
use crate::instance::InstanceError;
use crate::launch::Failure;
use crate::observe::ObserveError;
use crate::prepare::PrepareError;
use crate::recovery::RecoveryError;
use crate::supervise::SuperviseError;

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
pub(super) fn host(what: &'static str) -> impl Fn(io::Error) -> RunError {
    move |source| RunError::Host { what, source }
}
