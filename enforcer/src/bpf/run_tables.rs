//! One run's entry and tables.

use std::sync::Arc;

use artifact::network::NetworkTables;
use artifact::process::RecordOptions;
use ebpf::layout::{self, Counters, NodeKey, Run};

use super::CgroupId;
use super::error::BpfError;
use super::host::Shared;
use super::ring::Ring;
use super::tables;
use crate::sys;
use crate::sys::bpf::Update;

/// The tables of one run. Dropping it removes them, and the cgroup is refused everything again.
#[derive(Debug)]
pub struct RunTables {
    shared: Arc<Shared>,
    cgroup: CgroupId,
    generation: u32,
    /// The nodes in the kernel.
    keys: Vec<NodeKey>,
    ring: Ring,
    removed: bool,
}

impl RunTables {
    /// Makes the entry with nothing allowed, fills the tables, and puts them in force.
    pub(super) fn install(
        shared: &Arc<Shared>,
        cgroup: CgroupId,
        tables: &NetworkTables,
        record: RecordOptions,
    ) -> Result<Self, BpfError> {
        let ring = Ring::take(shared, cgroup)?;
        let entry = entry(0, record, ring.slot());
        shared
            .counters
            .set(&cgroup.0, &Counters::default(), Update::Create)
            .map_err(|error| taken(error, cgroup, "counters"))?;
        let mut run = Self {
            shared: Arc::clone(shared),
            cgroup,
            generation: 0,
            keys: Vec::new(),
            ring,
            removed: false,
        };
        // From here on a failure drops `run`, which removes what was made.
        run.shared
            .runs
            .set(&cgroup.0, &entry, Update::Create)
            .map_err(|error| taken(error, cgroup, "runs"))?;
        run.put(tables, record)?;
        Ok(run)
    }

    /// Replaces the whole policy: every access is judged by the old tables or by the new ones, never by a mix.
    /// Connections that exist go on; UDP is judged anew with each packet.
    ///
    /// # Errors
    /// When a table is full or the kernel refuses a change; the old policy stays.
    pub fn replace(&mut self, tables: &NetworkTables, record: RecordOptions) -> Result<(), BpfError> {
        let old = self.put(tables, record)?;
        // A program may still be reading an old entry, and the kernel gives its memory away at once.
        sys::bpf::wait_for_programs().map_err(BpfError::map("wait for users of", "nodes"))?;
        self.shared.delete(&old)
    }

    /// Fills the next generation and switches to it; returns the one before.
    fn put(&mut self, tables: &NetworkTables, record: RecordOptions) -> Result<Vec<NodeKey>, BpfError> {
        let generation = self
            .generation
            .checked_add(1)
            .ok_or_else(|| BpfError::Tables("replaced too often".to_owned()))?;
        let nodes = tables::nodes(tables)?;
        let mut keys = Vec::with_capacity(nodes.len());
        for (node, _) in (0..).zip(&nodes) {
            keys.push(NodeKey {
                cgroup: self.cgroup.0,
                generation,
                node,
            });
        }
        let entry = entry(generation, record, self.ring.slot());
        let switched = self.shared.fill(&keys, &nodes).and_then(|()| {
            self.shared
                .runs
                .set(&self.cgroup.0, &entry, Update::Replace)
                .map_err(BpfError::map("update", "runs"))
        });
        if let Err(error) = switched {
            // The first failure is the one to report; `remove` tries again by key.
            let _ = self.shared.delete(&keys);
            return Err(error);
        }
        self.generation = generation;
        Ok(std::mem::replace(&mut self.keys, keys))
    }

    /// The run.
    #[must_use]
    pub fn cgroup(&self) -> CgroupId {
        self.cgroup
    }

    /// The run's ring.
    pub fn ring(&mut self) -> &mut Ring {
        &mut self.ring
    }

    /// Records wanted and lost, by kind: what was delivered is the difference.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub fn counters(&self) -> Result<Counters, BpfError> {
        self.shared
            .counters
            .get(&self.cgroup.0)
            .map_err(BpfError::map("read", "counters"))?
            .ok_or(BpfError::NotLoaded)
    }

    /// Removes the run's tables and entry, and says so when that fails. The cgroup must be empty: what it sends
    /// meanwhile is refused, and may not be counted.
    ///
    /// # Errors
    /// When the kernel refuses a change.
    pub fn remove(mut self) -> Result<(), BpfError> {
        self.take_out()
    }

    fn take_out(&mut self) -> Result<(), BpfError> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        let nothing = Run {
            generation: 0,
            flags: 0,
            ring: self.ring.slot(),
            reserved: 0,
        };
        match self.shared.runs.set(&self.cgroup.0, &nothing, Update::Replace) {
            Err(error) if error.raw_os_error() != Some(libc::ENOENT) => {
                return Err(BpfError::map("update", "runs")(error));
            }
            _ => {}
        }
        self.shared.delete(&self.keys)?;
        self.shared.delete_entry(self.cgroup)
    }
}

impl Drop for RunTables {
    fn drop(&mut self) {
        if let Err(error) = self.take_out() {
            tracing::error!(cgroup = self.cgroup.0, %error, "a run's network tables are left behind");
        }
    }
}

/// Starts, forks and exits are always recorded: every event names the process and its ancestry.
fn entry(generation: u32, record: RecordOptions, ring: u32) -> Run {
    let flag = |wanted: bool, flag: u32| if wanted { flag } else { 0 };
    Run {
        generation,
        flags: layout::flags::RECORD_EXEC
            | flag(record.connect, layout::flags::RECORD_CONNECT)
            | flag(record.bind, layout::flags::RECORD_BIND),
        ring,
        reserved: 0,
    }
}

fn taken(error: std::io::Error, cgroup: CgroupId, map: &'static str) -> BpfError {
    if error.raw_os_error() == Some(libc::EEXIST) {
        BpfError::Exists(cgroup.0)
    } else {
        BpfError::map("add to", map)(error)
    }
}
