//! What a verification puts on the host, and takes off again: a folder of fixtures, an instance, worlds, a neighbour.

mod events;
mod run;
mod world;

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use enforcer::Instance;
use policy_lang::policy::{Effect, FileAccess, Policy, Subject};
use policy_lang::reference::{Access, decide};

pub use events::Recorded;
pub use run::{Neighbour, Ran, during, outcome};
pub use world::World;

use crate::plan::Facts;

/// A variable of the caller that no policy has reason to pass.
pub const VARIABLE: &str = "REMIT_VERIFY_CANARY";
/// Where fixtures may be, the first that the policy does not speak of.
const PLACES: [&str; 5] = ["/var/tmp", "/var/lib", "/srv", "/opt", "/home"];
/// Lists what else was made.
const PLACED: &str = "placed";
/// Nobody's, and not the user whom probers outside of a run are where the run is root's.
const NOBODY: u32 = 65533;

/// Why a verification cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Something on the host.
    #[error("cannot {what}")]
    Host {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// The instance.
    #[error(transparent)]
    Instance(#[from] enforcer::instance::InstanceError),
    /// The policy cannot become an artifact.
    #[error("the policy does not compile with what the prober needs: {0}")]
    Compile(String),
    /// A run did not do what it was to do.
    #[error("{what}: {said}")]
    Run {
        /// Which.
        what: String,
        /// What it said.
        said: String,
    },
    /// Somebody asked to stop.
    #[error("interrupted; everything of it was taken off the host")]
    Interrupted,
}

pub(crate) fn host(what: impl Into<String>) -> impl FnOnce(io::Error) -> VerifyError {
    let what = what.into();
    move |source| VerifyError::Host { what, source }
}

/// Dropped, nothing of it is left.
#[derive(Debug)]
pub struct Stage {
    folder: PathBuf,
    instance: Instance,
    /// A word that no other process on the host has among its arguments.
    token: String,
    program: PathBuf,
    working_directory: PathBuf,
    /// Stays open in whatever this process starts.
    descriptor: File,
    /// Variables of the caller that probes look for in vain.
    variables: Vec<String>,
    /// Empty files in the run's own workspace, for tests that speak of files that are not there.
    placed: Vec<PathBuf>,
}

impl Stage {
    /// Prepares the host.
    ///
    /// # Errors
    /// When that fails. Nothing is left then.
    pub fn new(policy: &Policy, working_directory: &Path) -> Result<Self, VerifyError> {
        crate::sys::note_interrupts();
        sweep();
        let name = format!("verify-{}", std::process::id());
        let program = std::env::current_exe().map_err(host("find this program"))?;
        let place = PLACES
            .into_iter()
            .find(|place| is_outside(policy, place))
            .unwrap_or("/var/tmp");
        let folder = Path::new(place).join(format!("remit-{name}"));
        fs::create_dir(&folder).map_err(host(format!("make `{}`", folder.display())))?;
        let outside = folder.join("outside");
        // From here on whatever fails is cleaned up by the drop.
        let stage = Self {
            instance: Instance::new(&name)?,
            token: format!("{name}-{:x}", nanoseconds()),
            program,
            working_directory: working_directory.to_owned(),
            descriptor: fs::write(&outside, "outside\n")
                .and_then(|()| File::open(&outside))
                .map_err(host("make a fixture"))?,
            placed: Vec::new(),
            variables: Vec::new(),
            folder,
        };
        stage.furnish().map_err(host("make the fixtures"))?;
        Ok(stage)
    }

    fn furnish(&self) -> io::Result<()> {
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        mode(&self.folder, 0o755)?;
        mode(&self.outside_file(), 0o666)?;
        let neighbour = self.folder.join("neighbour");
        fs::create_dir(&neighbour)?;
        mode(&neighbour, 0o777)?;
        fs::write(self.neighbour_file(), "neighbour\n")?;
        mode(&self.neighbour_file(), 0o666)?;
        let private = self.private();
        fs::create_dir(&private)?;
        mode(&private, 0o700)?;
        // Of nobody: whoever starts it elsewhere gains nothing worth having.
        let set_id = self.set_id_program();
        fs::copy(&self.program, &set_id)?;
        std::os::unix::fs::chown(&set_id, Some(NOBODY), Some(NOBODY))?;
        mode(&set_id, 0o4755)?;
        rustix::io::fcntl_setfd(&self.descriptor, rustix::io::FdFlags::empty())?;
        Ok(())
    }

    /// Gives the caller of every run variables that it does not have: what is not there could not be seen anyway.
    pub fn set(&mut self, variables: Vec<String>) {
        self.variables = variables;
    }

    /// Puts an empty file where the policy lets the run itself make one.
    ///
    /// # Errors
    /// When that fails.
    pub fn place(&mut self, path: &Path) -> Result<(), VerifyError> {
        let list = self.private().join(PLACED);
        self.placed.push(path.to_owned());
        let lines: Vec<String> = self
            .placed
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        // Written first: whoever cleans up after a crash has to know.
        let made = fs::write(list, lines.join("\n")).and_then(|()| {
            File::create_new(path)?;
            fs::set_permissions(path, Permissions::from_mode(0o755))
        });
        if made.is_err() {
            self.placed.pop();
        }
        made.map_err(host(format!("make `{}` for a test", path.display())))
    }

    /// What probes are made of.
    #[must_use]
    pub fn facts(&self, neighbour: &Neighbour) -> Facts {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        Facts {
            program: text(self.program.clone()),
            outside: text(self.outside_file()),
            neighbour: text(self.neighbour_file()),
            neighbour_pid: neighbour.pid,
            variable: VARIABLE.to_owned(),
            descriptor: self.descriptor.as_raw_fd(),
            set_id_program: text(self.set_id_program()),
        }
    }

    /// What the other run has for itself.
    #[must_use]
    pub fn neighbour_workspace(&self) -> Vec<Access> {
        let path = self.folder.join("neighbour").to_string_lossy().into_owned();
        let access = |access| Access::File {
            access,
            path: path.clone(),
        };
        vec![access(FileAccess::Read), access(FileAccess::Write)]
    }

    /// What the prober has to be granted to start, and the set-user-ID program.
    #[must_use]
    pub fn needed(&self) -> Vec<Access> {
        let files = [self.program.clone(), self.set_id_program()];
        let accesses = files.iter().flat_map(|path| {
            [FileAccess::Read, FileAccess::Execute].map(|access| Access::File {
                access,
                path: path.to_string_lossy().into_owned(),
            })
        });
        let calls = crate::prober::NEEDED
            .iter()
            .filter_map(|name| crate::operation::syscall(name, &[]));
        accesses.chain(calls).collect()
    }

    fn outside_file(&self) -> PathBuf {
        self.folder.join("outside")
    }

    fn neighbour_file(&self) -> PathBuf {
        self.folder.join("neighbour/secret")
    }

    fn set_id_program(&self) -> PathBuf {
        self.folder.join("set-id")
    }

    fn private(&self) -> PathBuf {
        self.folder.join("private")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        run::end_all(&self.token);
        if let Err(error) = enforcer::unload(&self.instance) {
            eprintln!("remit verify: cannot unload `{}`: {error}", self.instance.name());
        }
        self.placed.iter().for_each(|path| remove_empty(path));
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("remit verify: cannot remove `{}`: {error}", self.folder.display());
        }
    }
}

/// Removes what a verification left that was killed.
fn sweep() {
    let dead = |name: &str| {
        let pid = name
            .strip_prefix("verify-")
            .filter(|pid| pid.parse::<u32>().is_ok());
        pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists())
    };
    for entry in names(Path::new("/run")).filter(|name| dead(name)) {
        if let Ok(instance) = Instance::new(&entry) {
            let _ = enforcer::unload(&instance);
        }
    }
    for place in PLACES {
        let left = names(Path::new(place))
            .filter(|name| name.strip_prefix("remit-").is_some_and(dead))
            .map(|name| Path::new(place).join(name));
        for folder in left.filter(|folder| is_roots_own(folder)) {
            let folder = &folder;
            let placed = fs::read_to_string(folder.join("private").join(PLACED)).unwrap_or_default();
            placed.lines().for_each(|path| remove_empty(Path::new(path)));
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Only what is as it was made.
fn remove_empty(path: &Path) {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0) {
        let _ = fs::remove_file(path);
    }
}

fn is_roots_own(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == 0)
}

fn names(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Whether the policy grants nothing at a place, and covers it with nothing.
fn is_outside(policy: &Policy, place: &str) -> bool {
    let path = format!("{place}/remit-verify");
    let refused = [FileAccess::Read, FileAccess::Write].into_iter().all(|access| {
        let access = Access::File {
            access,
            path: path.clone(),
        };
        decide(policy, &access).effect != Effect::Allow
    });
    let covered = policy.rules.iter().any(|rule| match &rule.subject {
        Subject::Scratch { path: scratch, .. } => Path::new(&path).starts_with(scratch),
        _ => false,
    });
    Path::new(place).is_dir() && refused && !covered
}

fn nanoseconds() -> u128 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos()
}
