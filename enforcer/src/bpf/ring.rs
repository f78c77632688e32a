//! The consumer's end of a run's ring, and the slot it sits in.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use super::CgroupId;
use super::error::BpfError;
use super::host::Shared;
use super::lock::Lock;
use super::record::{DecodeError, Record};
use crate::sys;

/// As many as the `rings` array has places.
pub(super) const SLOTS: u32 = 1024;

/// A run's ring. Wait for its descriptor to be readable, then call [`Ring::next`] until it gives `None`.
#[derive(Debug)]
pub struct Ring {
    mapping: sys::ring::RingMapping,
    cgroup: CgroupId,
    foreign: u64,
    slot: u32,
    /// Held for as long as this run uses the slot.
    _lock: Lock,
}

impl Ring {
    /// Takes the first slot that no living supervisor has, and makes its ring if it never had one.
    pub(super) fn take(shared: &Shared, cgroup: CgroupId) -> Result<Self, BpfError> {
        for slot in 0..SLOTS {
            let path = shared.slot_lock_path(slot);
            let lock = Lock::open(&path)?;
            if !lock.try_exclusive().map_err(BpfError::state("lock", &path))? {
                continue;
            }
            let pin = shared.ring_pin_path(slot);
            let fd = match sys::bpf::open_pin(&pin) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => shared.create_ring(slot)?,
                found => found.map_err(BpfError::state("open the pin", &pin))?,
            };
            let size = usize::try_from(shared.ring_bytes()).unwrap_or(usize::MAX);
            let mapping = sys::ring::RingMapping::new(fd, size).map_err(BpfError::map("map", "ring"))?;
            return Ok(Self {
                mapping,
                cgroup,
                foreign: 0,
                slot,
                _lock: lock,
            });
        }
        Err(BpfError::Rings(SLOTS))
    }

    pub(super) fn slot(&self) -> u32 {
        self.slot
    }

    /// The next record, or `None` when the ring is empty for now.
    #[allow(
        clippy::should_implement_trait,
        reason = "an empty ring is not the end of a sequence"
    )]
    pub fn next(&mut self) -> Option<Result<Record, DecodeError>> {
        loop {
            let record = self.mapping.next(Record::decode)?;
            match record {
                // A process that outlived the supervisor that had this slot before.
                Ok(record) if record.process().cgroup != self.cgroup => {
                    self.foreign = self.foreign.saturating_add(1);
                }
                record => return Some(record),
            }
        }
    }

    /// Whether `None` from [`Ring::next`] means that nothing is there.
    ///
    /// # Errors
    /// When records are there and cannot be read.
    pub fn intact(&mut self) -> Result<(), BpfError> {
        match self.mapping.broken() {
            None => Ok(()),
            Some(error) => Err(BpfError::map("map", "ring")(error)),
        }
    }

    /// Records of other runs that were skipped: an earlier user of this slot was still dying.
    #[must_use]
    pub fn foreign(&self) -> u64 {
        self.foreign
    }

    /// How much it holds.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.mapping.size()
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.mapping.as_fd()
    }
}

impl AsRawFd for Ring {
    fn as_raw_fd(&self) -> RawFd {
        self.mapping.as_fd().as_raw_fd()
    }
}
