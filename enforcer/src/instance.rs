//! An instance: the name under which everything on the host side is kept.
//!
//! Cgroups live in `<cgroup2>/NAME/` (one child for each run), records, locks and compiled policies in
//! `/run/NAME/`, pinned BPF objects in a bpffs mounted at `/run/NAME/bpf`. Two instances share nothing, so a test uses its own.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::FlockOperation;

use crate::mountinfo;

/// Names and places of one instance. Making the value touches nothing; see [`Instance::enter`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    name: String,
    cgroup2: PathBuf,
    level: u32,
    controllers: Vec<(Controller, Hierarchy)>,
}

/// Resource controllers the enforcer knows how to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Controller {
    /// `memory`.
    Memory,
    /// `pids`.
    Pids,
    /// `cpu`.
    Cpu,
}

impl Controller {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Memory, Self::Pids, Self::Cpu];

    /// The kernel's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
        }
    }
}

/// Where a controller sits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hierarchy {
    /// In the unified hierarchy.
    V2,
    /// In a version 1 hierarchy, mounted here.
    V1(PathBuf),
}

/// A lock on an instance's state directory.
#[derive(Debug)]
pub struct Entered {
    _lock: File,
}

/// Why there is no instance.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// The name cannot be a directory name everywhere it is used.
    #[error("instance name {0:?} is not usable: give 1 to 32 of a-z, 0-9 and '-', starting with a letter")]
    Name(String),
    /// The mount table cannot be read.
    #[error("cannot read /proc/self/mountinfo")]
    Mounts(#[source] io::Error),
    /// No unified hierarchy.
    #[error("no cgroup2 file system is mounted: mount one (for example at /sys/fs/cgroup) and try again")]
    NoCgroup2,
    /// A directory cannot be made.
    #[error("cannot create {path}")]
    Create {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else made the state directory.
    #[error("{0} exists but is not a directory that only root may enter: remove it and try again")]
    Untrusted(PathBuf),
}

impl Instance {
    /// The instance that is used when none is named.
    pub const DEFAULT_NAME: &'static str = "remit";

    /// Finds the places of the instance `name` on this host.
    ///
    /// # Errors
    /// When the name cannot be used or the host has no unified hierarchy.
    pub fn new(name: &str) -> Result<Self, InstanceError> {
        if !usable(name) {
            return Err(InstanceError::Name(name.to_owned()));
        }
        let layout = match LAYOUT.get() {
            Some(layout) => layout.clone(),
            None => LAYOUT
                .get_or_init({
                    let found = Layout::find()?;
                    || found
                })
                .clone(),
        };
        Ok(Self {
            name: name.to_owned(),
            cgroup2: layout.cgroup2,
            level: layout.level,
            controllers: layout.controllers,
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the unified hierarchy is mounted.
    #[must_use]
    pub fn cgroup2_root(&self) -> &Path {
        &self.cgroup2
    }

    /// The cgroup all runs of this instance are below, and the BPF programs are attached to.
    #[must_use]
    pub fn cgroup(&self) -> PathBuf {
        self.cgroup2.join(&self.name)
    }

    /// Level of a run's cgroup in the hierarchy, as `bpf_get_current_ancestor_cgroup_id` counts (the root is 0).
    #[must_use]
    pub fn run_level(&self) -> u32 {
        self.level.saturating_add(1)
    }

    /// Run records, locks and saved host settings. Mode 0700.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        Path::new("/run").join(&self.name)
    }

    /// Run records: one file for each run.
    #[must_use]
    pub fn runs_dir(&self) -> PathBuf {
        self.state_dir().join("runs")
    }

    /// The instance's own bpffs.
    #[must_use]
    pub fn bpf_dir(&self) -> PathBuf {
        self.state_dir().join("bpf")
    }

    /// Where a controller sits, if the host has it.
    #[must_use]
    pub fn controller(&self, controller: Controller) -> Option<&Hierarchy> {
        self.controllers
            .iter()
            .find(|(found, _)| *found == controller)
            .map(|(_, place)| place)
    }

    /// Every cgroup that belongs to the instance as a whole.
    pub(crate) fn cgroups(&self) -> Vec<PathBuf> {
        let v1 = self.controllers.iter().filter_map(|(_, place)| match place {
            Hierarchy::V1(mount) => Some(mount.join(&self.name)),
            Hierarchy::V2 => None,
        });
        let mut all: Vec<PathBuf> = v1.chain(std::iter::once(self.cgroup())).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Makes the state directories and the parent cgroup, or checks those that are there, and keeps
    /// [`crate::unload`] away while the value lives.
    ///
    /// # Errors
    /// When one cannot be made, or the state directory is not exclusively root's.
    pub fn enter(&self) -> Result<Entered, InstanceError> {
        loop {
            make_private(&self.state_dir())?;
            let Some(entered) = self.lock(FlockOperation::LockShared)? else {
                continue;
            };
            make_private(&self.runs_dir())?;
            make_directory(&self.cgroup(), 0o755)?;
            return Ok(entered);
        }
    }

    /// Waits until nobody is starting a run, and keeps starts away. Nothing when there is no instance.
    pub(crate) fn enter_alone(&self) -> Result<Option<Entered>, InstanceError> {
        self.lock(FlockOperation::LockExclusive)
    }

    /// Locks the state directory; nothing when it is gone, or was removed while this waited.
    fn lock(&self, operation: FlockOperation) -> Result<Option<Entered>, InstanceError> {
        let path = self.state_dir();
        let failed = |source| InstanceError::Create {
            path: path.clone(),
            source,
        };
        let directory = match File::open(&path) {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        rustix::fs::flock(&directory, operation).map_err(|error| failed(error.into()))?;
        let locked = directory.metadata().map_err(failed)?.ino();
        let current = std::fs::metadata(&path).map(|found| found.ino()).ok();
        Ok((current == Some(locked)).then_some(Entered { _lock: directory }))
    }
}

/// Where the hierarchies are. They do not move while a process lives, so they are looked for once.
#[derive(Debug, Clone)]
struct Layout {
    cgroup2: PathBuf,
    level: u32,
    controllers: Vec<(Controller, Hierarchy)>,
}

static LAYOUT: OnceLock<Layout> = OnceLock::new();

impl Layout {
    fn find() -> Result<Self, InstanceError> {
        let mounts = mountinfo::read().map_err(InstanceError::Mounts)?;
        let unified = mounts
            .iter()
            .find(|mount| mount.kind == "cgroup2")
            .ok_or(InstanceError::NoCgroup2)?;
        let depth = unified
            .root
            .components()
            .filter(|part| matches!(part, std::path::Component::Normal(_)))
            .count();
        Ok(Self {
            cgroup2: unified.point.clone(),
            level: u32::try_from(depth).unwrap_or(u32::MAX).saturating_add(1),
            controllers: find_controllers(&mounts, &unified.point),
        })
    }
}

fn usable(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && name.len() <= 32
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// A controller listed in the unified root is there; else a version 1 mount may carry it.
fn find_controllers(mounts: &[mountinfo::Mount], unified: &Path) -> Vec<(Controller, Hierarchy)> {
    let listed = std::fs::read_to_string(unified.join("cgroup.controllers")).unwrap_or_default();
    Controller::ALL
        .into_iter()
        .filter_map(|controller| {
            if listed.split_whitespace().any(|word| word == controller.name()) {
                return Some((controller, Hierarchy::V2));
            }
            let v1 = mounts.iter().find(|mount| {
                mount.kind == "cgroup"
                    && mount
                        .super_options
                        .split(',')
                        .any(|word| word == controller.name())
            })?;
            Some((controller, Hierarchy::V1(v1.point.clone())))
        })
        .collect()
}

fn make_directory(path: &Path, mode: u32) -> Result<(), InstanceError> {
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(InstanceError::Create {
            path: path.to_owned(),
            source: error,
        }),
        _ => Ok(()),
    }
}

pub(crate) fn make_private(path: &Path) -> Result<(), InstanceError> {
    make_directory(path, 0o700)?;
    let found = std::fs::symlink_metadata(path).map_err(|source| InstanceError::Create {
        path: path.to_owned(),
        source,
    })?;
    if found.is_dir() && found.uid() == 0 && found.permissions().mode() & 0o077 == 0 {
        Ok(())
    } else {
        Err(InstanceError::Untrusted(path.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_escape_a_directory_are_refused() {
        for name in ["", "..", "a/b", "A", "-a", "9a", "a b", &"a".repeat(33)] {
            assert!(
                matches!(Instance::new(name), Err(InstanceError::Name(_))),
                "{name:?}"
            );
        }
    }
}
