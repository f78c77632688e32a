//! The cgroups of one run: a child of the instance's cgroup, and one in each version 1 hierarchy that a limit
//! needs. See `Documentation/admin-guide/cgroup-v2.rst`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::instance::{Controller, Hierarchy, Instance};
use crate::limits;

/// How long processes that were sent SIGKILL may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(30);

/// The cgroups of one run, existing or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunCgroups {
    pub(crate) unified: PathBuf,
    pub(crate) v1: Vec<PathBuf>,
}

impl RunCgroups {
    /// Where the run's cgroups are, or would be.
    pub(crate) fn of(instance: &Instance, run: &str) -> Self {
        let mut v1: Vec<PathBuf> = Controller::ALL
            .into_iter()
            .filter_map(|controller| match instance.controller(controller)? {
                Hierarchy::V1(mount) => Some(mount.join(instance.name()).join(run)),
                Hierarchy::V2 => None,
            })
            .collect();
        v1.sort();
        v1.dedup();
        Self {
            unified: instance.cgroup().join(run),
            v1,
        }
    }

    /// Makes the unified cgroup and opens it.
    pub(crate) fn create(&self) -> io::Result<File> {
        fs::create_dir(&self.unified)?;
        File::open(&self.unified)
    }

    /// Sets the limits, and makes those version 1 cgroups that they need. Returns these: the launcher has to join
    /// them.
    pub(crate) fn limit(&self, instance: &Instance, plan: &limits::Plan) -> io::Result<Vec<PathBuf>> {
        if !plan.handed_down.is_empty() {
            let words: Vec<String> = plan
                .handed_down
                .iter()
                .map(|controller| format!("+{}", controller.name()))
                .collect();
            let line = words.join(" ");
            fs::write(instance.cgroup2_root().join("cgroup.subtree_control"), &line)?;
            fs::write(instance.cgroup().join("cgroup.subtree_control"), &line)?;
        }
        for (file, value) in &plan.unified {
            limits::write(&self.unified, file, value)?;
        }
        let mut joined: Vec<PathBuf> = Vec::new();
        for (mount, file, value) in &plan.v1 {
            let parent = mount.join(instance.name());
            let Some(name) = self.unified.file_name() else {
                continue;
            };
            let directory = parent.join(name);
            if !joined.contains(&directory) {
                fs::create_dir_all(&directory)?;
                joined.push(directory.clone());
            }
            limits::write(&directory, file, value)?;
        }
        Ok(joined)
    }

    /// The kernel's id of the unified cgroup, while it exists.
    pub(crate) fn id(&self) -> io::Result<Option<u64>> {
        match fs::metadata(&self.unified) {
            Ok(found) => Ok(Some(found.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends SIGKILL to everything in the run.
    pub(crate) fn kill(&self) -> io::Result<()> {
        match fs::write(self.unified.join("cgroup.kill"), "1") {
            Ok(()) => return Ok(()),
            // No such cgroup, or a kernel before 5.14.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let listed = match fs::read_to_string(self.unified.join("cgroup.procs")) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for pid in listed
            .lines()
            .filter_map(|line| rustix::process::Pid::from_raw(line.parse().ok()?))
        {
            match rustix::process::kill_process(pid, rustix::process::Signal::KILL) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Kills what is left and waits until nothing is. The cgroup itself stays, so that its id is not reused while
    /// tables still name it.
    pub(crate) fn empty(&self) -> io::Result<()> {
        let deadline = Instant::now() + END_TIMEOUT;
        let mut pause = Duration::from_micros(200);
        while is_populated(&self.unified)? {
            self.kill()?;
            if Instant::now() > deadline {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "processes of the run do not end",
                ));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Removes the cgroups. They must be empty of processes.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let deadline = Instant::now() + END_TIMEOUT;
        for directory in self.v1.iter().chain(std::iter::once(&self.unified)) {
            remove(directory, deadline)?;
        }
        Ok(())
    }
}

/// A zombie that is not reaped yet counts in `cgroup.procs` of version 1 for a moment.
fn remove(directory: &Path, deadline: Instant) -> io::Result<()> {
    loop {
        match fs::remove_dir(directory) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(error) => return Err(error),
        }
    }
}

fn is_populated(directory: &Path) -> io::Result<bool> {
    match fs::read_to_string(directory.join("cgroup.events")) {
        Ok(events) => Ok(events.lines().any(|line| line == "populated 1")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
