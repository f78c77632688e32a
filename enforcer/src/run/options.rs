//! What to run, for whom, and how it ended.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::HeadStart;
use crate::event::Receipt;
use crate::instance::Instance;
use crate::launch::Failure;
use crate::sink::Sinks;

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
    /// A network namespace, as a file, that the run is to have in place of the caller's. Audit records only reach the
    /// first namespace, so the supervisor itself stays where it is.
    pub network: Option<PathBuf>,
    /// Where events go.
    pub sinks: Sinks,
    /// Taken while the policy was still being read.
    pub head_start: Option<HeadStart>,
    /// The process ends with this run, so what it has open is left for the kernel to close, all at once.
    pub last: bool,
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
            network: None,
            sinks: Sinks::default(),
            head_start: None,
            last: false,
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
    pub(super) fn reason(&self) -> String {
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
