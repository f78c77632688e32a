//! What an instance has loaded: opening it, filling its tables, taking it off the host.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use artifact::network::NetworkTables;
use artifact::process::RecordOptions;
use ebpf::layout::{Counters, Node, NodeKey, Run};

use super::CgroupId;
use super::error::BpfError;
use super::load::{self, Attached, Stamp};
use super::lock::Lock;
use super::run_tables::RunTables;
use crate::instance::Instance;
use crate::sys;
use crate::sys::bpf::Map;

/// What a run's ring holds unless asked otherwise. Every start maps all of its pages, twice: 4 MiB would cost as much
/// as the namespaces do.
const RING_BYTES: u32 = 1 << 20;

/// How long another process may take to load.
const PATIENCE: Duration = Duration::from_secs(10);

/// The loaded programs and shared maps of an instance. While it exists nobody unloads them.
#[derive(Debug, Clone)]
pub struct Host(Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    instance: Instance,
    ring_bytes: u32,
    pub(super) runs: Map<u64, Run>,
    pub(super) counters: Map<u64, Counters>,
    nodes: Map<NodeKey, Node>,
    rings: Map<u32, u32>,
    _attached: Attached,
    _lock: Lock,
}

impl Host {
    /// Opens what is pinned, or loads, attaches and pins everything when this is the first run of the instance
    /// (or when what is pinned is incomplete, from another build, or no longer attached).
    /// The instance must have been created.
    ///
    /// # Errors
    /// When the kernel refuses a program, a map, an attachment or a pin, or when something else that runs
    /// depends on what another build has loaded.
    ///
    /// # Minimum kernel version
    /// Linux 6.1: device and sysctl programs that may ask for the ancestor cgroup.
    pub fn open_or_load(instance: &Instance) -> Result<Self, BpfError> {
        Self::open_or_load_with(instance, RING_BYTES)
    }

    /// The same with rings of another size: a power of two, at least a page.
    ///
    /// # Errors
    /// The same.
    pub fn open_or_load_with(instance: &Instance, ring_bytes: u32) -> Result<Self, BpfError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match open(instance, ring_bytes) {
                Err(BpfError::NotLoaded) => {}
                opened => return opened,
            }
            let path = load::lock_path(instance);
            let lock = Lock::open(&path)?;
            if lock.try_exclusive().map_err(BpfError::state("lock", &path))? {
                // Another process may have done it since.
                if load::whole(instance, &Stamp::wanted(instance, ring_bytes)?)?.is_none() {
                    load::load(instance, ring_bytes)?;
                }
            } else if Instant::now() > deadline {
                return Err(BpfError::InUse {
                    instance: instance.name().to_owned(),
                    what: "another build's programs serve runs that are alive",
                });
            } else {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Whether something seems to be pinned; [`Host::open`] says whether it can be used.
    #[must_use]
    pub fn is_pinned(instance: &Instance) -> bool {
        load::stamp_path(instance).exists()
    }

    /// Opens what is pinned.
    ///
    /// # Errors
    /// [`BpfError::NotLoaded`] when nothing (or nothing whole) is there.
    pub fn open(instance: &Instance) -> Result<Self, BpfError> {
        open(instance, RING_BYTES)
    }

    /// Makes a run of the cgroup: an entry that allows nothing, a ring, the tables, and then puts them in force.
    ///
    /// # Errors
    /// When a table is full or the kernel refuses a change; then nothing of the run is left.
    pub fn install(
        &self,
        cgroup: CgroupId,
        tables: &NetworkTables,
        record: RecordOptions,
    ) -> Result<RunTables, BpfError> {
        RunTables::install(&self.0, cgroup, tables, record)
    }

    /// Removes what a run left whose supervisor died. The cgroup must be empty. Nothing there is success.
    ///
    /// # Errors
    /// When the kernel refuses a change.
    pub fn forget(&self, cgroup: CgroupId) -> Result<(), BpfError> {
        let shared = &self.0;
        let mut keys = shared.nodes.keys().map_err(BpfError::map("list", "nodes"))?;
        keys.retain(|key| key.cgroup == cgroup.0);
        shared.delete(&keys)?;
        shared.delete_entry(cgroup)
    }

    /// The cgroups that have an entry.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub fn cgroups(&self) -> Result<Vec<CgroupId>, BpfError> {
        let mut keys = self.0.runs.keys().map_err(BpfError::map("list", "runs"))?;
        keys.sort_unstable();
        keys.dedup();
        Ok(keys.into_iter().map(CgroupId).collect())
    }

    /// How many nodes the shared table holds.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub fn nodes(&self) -> Result<usize, BpfError> {
        let keys = self.0.nodes.keys().map_err(BpfError::map("list", "nodes"))?;
        Ok(keys.len())
    }
}

fn open(instance: &Instance, ring_bytes: u32) -> Result<Host, BpfError> {
    let path = load::lock_path(instance);
    let lock = Lock::open(&path)?;
    lock.share().map_err(BpfError::state("lock", &path))?;
    let Some(attached) = load::whole(instance, &Stamp::wanted(instance, ring_bytes)?)? else {
        return Err(BpfError::NotLoaded);
    };
    let pin = |name: &str| instance.bpf_dir().join(name);
    Ok(Host(Arc::new(Shared {
        ring_bytes,
        runs: Map::open(&pin("runs")).map_err(BpfError::map("open", "runs"))?,
        counters: Map::open(&pin("counters")).map_err(BpfError::map("open", "counters"))?,
        nodes: Map::open(&pin("nodes")).map_err(BpfError::map("open", "nodes"))?,
        rings: Map::open(&pin("rings")).map_err(BpfError::map("open", "rings"))?,
        instance: instance.clone(),
        _attached: attached,
        _lock: lock,
    })))
}

/// Detaches and unpins everything of an instance and unmounts its bpffs. Nothing loaded is success.
///
/// # Errors
/// When runs are alive, or something cannot be removed.
pub fn unload(instance: &Instance) -> Result<(), BpfError> {
    if !instance.state_dir().exists() {
        return Ok(());
    }
    let path = load::lock_path(instance);
    let lock = Lock::open(&path)?;
    if !lock.try_exclusive().map_err(BpfError::state("lock", &path))? {
        return Err(BpfError::InUse {
            instance: instance.name().to_owned(),
            what: "a run is alive",
        });
    }
    load::tear_down(instance)?;
    load::remove_locks(instance)
}

impl Shared {
    pub(super) fn ring_bytes(&self) -> u32 {
        self.ring_bytes
    }

    pub(super) fn ring_pin_path(&self, slot: u32) -> PathBuf {
        load::ring_pin_path(&self.instance, slot)
    }

    pub(super) fn slot_lock_path(&self, slot: u32) -> PathBuf {
        load::slot_lock_path(&self.instance, slot)
    }

    /// Makes the ring of a slot. The caller has the slot's lock.
    pub(super) fn create_ring(&self, slot: u32) -> Result<OwnedFd, BpfError> {
        let ring = sys::bpf::create_ring(self.ring_bytes).map_err(BpfError::map("create", "ring"))?;
        sys::bpf::set_slot(&self.rings, slot, ring.as_fd()).map_err(BpfError::map("update", "rings"))?;
        // Last: a pin says that the slot has its ring.
        let path = self.ring_pin_path(slot);
        sys::bpf::pin(ring.as_fd(), &path).map_err(BpfError::state("pin the ring to", &path))?;
        Ok(ring)
    }

    pub(super) fn fill(&self, keys: &[NodeKey], nodes: &[Node]) -> Result<(), BpfError> {
        self.nodes
            .set_all(keys, nodes)
            .map_err(BpfError::map("fill", "nodes"))
    }

    pub(super) fn delete(&self, keys: &[NodeKey]) -> Result<(), BpfError> {
        self.nodes
            .delete_all(keys)
            .map_err(BpfError::map("empty", "nodes"))
    }

    pub(super) fn delete_entry(&self, cgroup: CgroupId) -> Result<(), BpfError> {
        self.counters
            .delete(&cgroup.0)
            .map_err(BpfError::map("delete from", "counters"))?;
        // Last: while the entry is there, recovery knows that something may be.
        self.runs
            .delete(&cgroup.0)
            .map_err(BpfError::map("delete from", "runs"))?;
        Ok(())
    }
}
