//! One run, from an admitted artifact to its exit code.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::admission::Admitted;
use crate::instance::Instance;

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
}

impl RunOptions {
    /// Options for a program that is itself the launcher.
    #[must_use]
    pub fn new(instance: Instance, command: Vec<OsString>, caller: Caller) -> Self {
        Self {
            instance,
            command,
            caller,
            launcher: PathBuf::from("/proc/self/exe"),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutcome {
    /// The command's own exit code, 128+n when signal n ended it, 126/127 when it could not be started, 124 when
    /// the wall limit did.
    pub exit_code: u8,
}

/// Why a run could not start or finish. The exit code is 125 for all of these.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A host directory is missing or wrong.
    #[error(transparent)]
    Instance(#[from] crate::instance::InstanceError),
    /// Nothing to run.
    #[error("no command was given")]
    NoCommand,
}

/// Prepares, launches, supervises and finishes one run.
///
/// # Errors
/// When it could not start, or could not be finished cleanly; then nothing of it is left running.
pub fn run(_admitted: Admitted, options: RunOptions) -> Result<RunOutcome, RunError> {
    options.instance.create()?;
    Err(RunError::NoCommand)
}
