//! The cgroup BPF side of a run: programs loaded once for each instance, tables and a ring for each run.
//!
//! The programs are attached to the instance's cgroup and judge every cgroup below it. A run is an entry in the
//! `runs` map; a cgroup without an entry is refused everything, so tables are filled before the entry is made
//! and the entry goes first when the run ends.
//!
//! Maps inside maps would give each run tables of its own, but the kernel waits for an RCU grace period, 10 to
//! 30 ms, whenever such an outer map changes. So all runs share two longest-prefix tables whose keys begin with
//! the policy's number, and rings are kept in slots that one run after another uses.

mod error;
mod record;

use std::os::fd::{AsRawFd, RawFd};

use artifact::network::NetworkTables;
use artifact::process::RecordOptions;

pub use error::BpfError;
pub use record::{DecodeError, NetworkRecord, ProcessStamp, Record};

use crate::instance::Instance;

/// A cgroup as the kernel numbers it: the inode of its directory. Never reused while the machine is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CgroupId(pub u64);

/// The loaded programs and shared maps of an instance.
#[derive(Debug)]
pub struct Host {}

impl Host {
    /// Opens what is pinned, or loads, attaches and pins everything when this is the first run of the instance
    /// (or when what is pinned is incomplete, from another build, or no longer attached).
    ///
    /// # Errors
    /// When the kernel refuses a program, a map, an attachment or a pin.
    pub fn open_or_load(_instance: &Instance) -> Result<Self, BpfError> {
        Err(BpfError::NotLoaded)
    }

    /// Opens what is pinned.
    ///
    /// # Errors
    /// [`BpfError::NotLoaded`] when nothing (or nothing whole) is there.
    pub fn open(_instance: &Instance) -> Result<Self, BpfError> {
        Err(BpfError::NotLoaded)
    }

    /// Makes a run of the cgroup: fills its tables, takes a ring, and then lets the cgroup through.
    ///
    /// # Errors
    /// When a table is full or the kernel refuses a change; then nothing of the run is left.
    pub fn install(
        &self,
        _cgroup: CgroupId,
        _tables: &NetworkTables,
        _record: RecordOptions,
    ) -> Result<RunTables, BpfError> {
        Err(BpfError::NotLoaded)
    }

    /// Removes what a run left whose supervisor died. The cgroup must be empty.
    ///
    /// # Errors
    /// When the kernel refuses a change.
    pub fn forget(&self, _cgroup: CgroupId) -> Result<(), BpfError> {
        Err(BpfError::NotLoaded)
    }

    /// Cgroups that have an entry, or that own tables without one (an installation that was interrupted).
    ///
    /// # Errors
    /// When the maps cannot be read.
    pub fn cgroups(&self) -> Result<Vec<CgroupId>, BpfError> {
        Err(BpfError::NotLoaded)
    }
}

/// Detaches and unpins everything of an instance and unmounts its bpffs. Nothing loaded is success.
///
/// # Errors
/// When something cannot be removed.
pub fn unload(_instance: &Instance) -> Result<(), BpfError> {
    Ok(())
}

/// The tables of one run. Dropping it removes them, and the cgroup is refused everything again.
#[derive(Debug)]
pub struct RunTables {}

impl RunTables {
    /// Replaces the whole policy: every access is judged by the old tables or by the new ones, never by a mix.
    ///
    /// # Errors
    /// When a table is full or the kernel refuses a change; the old policy stays.
    pub fn replace(&mut self, _tables: &NetworkTables, _record: RecordOptions) -> Result<(), BpfError> {
        Err(BpfError::NotLoaded)
    }

    /// The run's ring. Wait for its descriptor to be readable, then call [`Ring::next`] until `None`.
    pub fn ring(&mut self) -> &mut Ring {
        unreachable_ring(self)
    }

    /// Records wanted and lost, by kind.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub fn counters(&self) -> Result<ebpf::layout::Counters, BpfError> {
        Err(BpfError::NotLoaded)
    }

    /// Removes the run's entry and tables, and says so when that fails.
    ///
    /// # Errors
    /// When the kernel refuses a change.
    pub fn remove(self) -> Result<(), BpfError> {
        Ok(())
    }
}

fn unreachable_ring(_tables: &mut RunTables) -> &mut Ring {
    // A `RunTables` cannot be made before installation exists.
    std::process::abort()
}

/// The consumer's end of a run's ring.
#[derive(Debug)]
pub struct Ring {
    fd: RawFd,
}

impl Ring {
    /// The next record, or `None` when the ring is empty.
    #[allow(
        clippy::should_implement_trait,
        reason = "an empty ring is not the end of a sequence"
    )]
    pub fn next(&mut self) -> Option<Result<Record, DecodeError>> {
        None
    }
}

impl AsRawFd for Ring {
    fn as_raw_fd(&self) -> RawFd {
        self.fd
    }
}
