//! What exists of a run on the host, and taking it away again.

use super::RunError;
use super::error::host;
use crate::bpf::RunTables;
use crate::cgroup::RunCgroups;
use crate::record::RunRecord;

/// What exists of a run on the host. Dropped unfinished, it is finished as far as possible; what remains is left
/// to recovery, with its record.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) cgroups: RunCgroups,
    pub(super) tables: Option<RunTables>,
    pub(super) record: Option<RunRecord>,
    /// Every process is dead, and nobody is left to make another.
    pub(super) emptied: bool,
}

impl Parts {
    /// Ends what is left of its processes.
    pub(super) fn empty(&mut self) -> Result<(), RunError> {
        if !self.emptied {
            self.cgroups.empty().map_err(host("end the run's processes"))?;
            self.emptied = true;
        }
        Ok(())
    }

    /// Ends everything, in the order that recovery relies on: processes, tables, cgroups, record.
    pub(super) fn finish(mut self) -> Result<(), RunError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), RunError> {
        self.empty()?;
        if let Some(tables) = self.tables.take() {
            tables.remove()?;
        }
        self.cgroups.remove().map_err(host("remove the run's cgroups"))?;
        match self.record.take() {
            Some(record) => record.remove().map_err(host("remove the run record")),
            None => Ok(()),
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if self.record.is_some()
            && let Err(error) = self.end()
        {
            tracing::error!(%error, "a run could not be finished; the next start tries again");
        }
    }
}
