//! Run records: what a later start needs to finish a run whose supervisor is gone.
//!
//! A record is a locked file in `<state>/runs/`, named like the run. It is locked *before* it has a name, and made
//! before anything else of the run; it is removed after everything else. So a record that can be locked belongs
//! to a dead supervisor, and whatever of a run is left on the host, its record is there. See flock(2).

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};

use crate::instance::Instance;

/// The record of a run of this process. Dropping it without [`RunRecord::remove`] leaves the run to recovery.
#[derive(Debug)]
pub(crate) struct RunRecord {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl RunRecord {
    /// Makes and locks a record.
    pub(crate) fn create(instance: &Instance, run: &str) -> io::Result<Self> {
        let directory = instance.runs_dir();
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::open(&directory, flags, Mode::from_raw_mode(0o600))?);
        rustix::fs::flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive)?;
        // In one call: a formatted write makes one for each part.
        file.write_all(format!("supervisor {}\n", std::process::id()).as_bytes())?;
        let path = directory.join(run);
        let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::linkat(CWD, unnamed, CWD, &path, AtFlags::SYMLINK_FOLLOW)?;
        Ok(Self { path, _file: file })
    }

    /// The run is finished.
    pub(crate) fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Records of this instance, by whether their supervisor lives.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// Names of runs.
    pub(crate) alive: Vec<String>,
    /// Runs to finish; this process now holds their locks.
    pub(crate) dead: Vec<(String, RunRecord)>,
}

/// Looks at every record, and takes over the dead ones.
pub(crate) fn scan(instance: &Instance) -> io::Result<Records> {
    let mut records = Records::default();
    let listing = match fs::read_dir(instance.runs_dir()) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(records),
        Err(error) => return Err(error),
    };
    for entry in listing {
        let entry = entry?;
        let Ok(run) = entry.file_name().into_string() else {
            continue;
        };
        let file = match File::open(entry.path()) {
            Ok(file) => file,
            // Finished meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match rustix::fs::flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => records.dead.push((
                run,
                RunRecord {
                    path: entry.path(),
                    _file: file,
                },
            )),
            Err(rustix::io::Errno::WOULDBLOCK) => records.alive.push(run),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(records)
}
