//! An instance for one benchmark.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use enforcer::Instance;
use enforcer::bpf::{self, CgroupId};

/// An instance that is taken off the host again.
pub(crate) struct Place {
    pub(crate) instance: Instance,
}

impl Place {
    pub(crate) fn new() -> Self {
        let instance = Instance::new(&format!("bench-{}", std::process::id())).unwrap();
        drop(instance.enter().unwrap());
        fs::create_dir(outside(&instance)).unwrap();
        Self { instance }
    }

    /// A cgroup that no program judges.
    pub(crate) fn outside(&self) -> PathBuf {
        outside(&self.instance)
    }

    pub(crate) fn cgroup(&self, name: &str) -> (PathBuf, CgroupId) {
        let path = self.instance.cgroup().join(name);
        fs::create_dir(&path).unwrap();
        let id = fs::metadata(&path).unwrap().ino();
        (path, CgroupId(id))
    }
}

fn outside(instance: &Instance) -> PathBuf {
    instance
        .cgroup2_root()
        .join(format!("{}-outside", instance.name()))
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = bpf::unload(&self.instance) {
            eprintln!("unload: {error}");
        }
        let inside = fs::read_dir(self.instance.cgroup())
            .into_iter()
            .flatten()
            .flatten();
        let mut cgroups: Vec<PathBuf> = inside
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        cgroups.extend([self.instance.cgroup(), self.outside()]);
        for path in cgroups {
            // A client that was just killed may still be leaving.
            let end = Instant::now() + Duration::from_secs(2);
            while fs::remove_dir(&path).is_err() && path.exists() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let _ = fs::remove_dir_all(self.instance.state_dir());
    }
}
