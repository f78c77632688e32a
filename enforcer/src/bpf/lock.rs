//! Locks on files of the state directory. The kernel drops them with their holder, however it dies.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::error::BpfError;

/// An open lock file. The lock goes when it is dropped.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    pub(super) fn open(path: &Path) -> Result<Self, BpfError> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)
            .map(Self)
            .map_err(BpfError::state("open the lock file", path))
    }

    /// Waits for a shared lock.
    pub(super) fn share(&self) -> io::Result<()> {
        rustix::io::retry_on_intr(|| flock(&self.0, FlockOperation::LockShared))?;
        Ok(())
    }

    /// Takes the exclusive lock, unless somebody has one.
    pub(super) fn try_exclusive(&self) -> io::Result<bool> {
        match rustix::io::retry_on_intr(|| flock(&self.0, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
