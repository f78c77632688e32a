//! The cgroup BPF side of a run: programs loaded once for each instance, tables and a ring for each run.
//!
//! The programs are attached to the instance's cgroup and judge every cgroup below it. A run is an entry in the
//! `runs` map; a cgroup without an entry is refused everything, and so is one whose entry has no tables in force
//! yet. The entry is made first and removed last, so that it always tells whose tables are in the kernel.
//!
//! Maps inside maps would give each run tables of its own, but the kernel waits for an RCU grace period, 10 to
//! 30 ms, whenever such an outer map changes. So all runs share two longest-prefix tables whose keys begin with
//! the cgroup, and rings are kept in slots that one run after another uses.
//!
//! *Invariant*: while a [`Host`] exists its programs stay attached. It holds a shared lock that loading and
//! unloading need exclusively.

mod error;
mod host;
mod load;
mod lock;
mod record;
mod ring;
mod run_tables;
mod tables;

pub use error::BpfError;
pub use host::{Host, unload};
pub use record::{DecodeError, NetworkRecord, ProcessStamp, Record};
pub use ring::Ring;
pub use run_tables::RunTables;

/// A cgroup as the kernel numbers it: the inode of its directory. Never reused while the machine is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CgroupId(pub u64);
