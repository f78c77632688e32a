//! What the supervisor watches besides the process: the ring, the audit stream, the masks. All of it becomes
//! evidence, and a record that cannot be kept ends the run.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::audit::{AuditError, AuditStream, Batch};
use crate::bpf::{BpfError, RunTables};
use crate::event::Receipt;
use crate::evidence::{Evidence, SettleError};
use crate::mask::Refused;
use crate::sink::SinkError;

/// How long the kernel may take to send back what it recorded.
const BARRIER: Duration = Duration::from_secs(10);

/// Why a run cannot be observed any longer.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The audit stream failed.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// An event cannot be delivered.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The end of the run is not fully on record.
    #[error(transparent)]
    Settle(#[from] SettleError),
    /// The ring's counters cannot be read.
    #[error(transparent)]
    Bpf(#[from] BpfError),
}

/// The sources of one run's evidence.
#[derive(Debug)]
pub(crate) struct Observer {
    pub(crate) evidence: Evidence,
    pub(crate) audit: AuditStream,
    pub(crate) tables: RunTables,
    pub(crate) batch: Batch,
}

impl Observer {
    /// Copies of the descriptors that call for [`Observer::pump`].
    pub(crate) fn sources(&mut self) -> io::Result<Vec<OwnedFd>> {
        let ring = crate::sys::duplicate(self.tables.ring().as_raw_fd())?;
        let audit: BorrowedFd<'_> = std::os::fd::AsFd::as_fd(&self.audit);
        Ok(vec![ring, audit.try_clone_to_owned()?])
    }

    /// Takes what has arrived. Processes are known from the ring, so it comes before what the audit stream says
    /// about them.
    pub(crate) fn pump(&mut self) -> Result<(), ObserveError> {
        loop {
            let more = self.audit.read(&mut self.batch)?;
            self.drain_ring()?;
            self.evidence.on_audit(&self.batch)?;
            if !more {
                break;
            }
        }
        Ok(self.evidence.flush()?)
    }

    fn drain_ring(&mut self) -> Result<(), ObserveError> {
        while let Some(record) = self.tables.ring().next() {
            self.evidence.on_ring(record)?;
        }
        Ok(self.tables.ring().intact()?)
    }

    /// A look at a masked path was refused.
    pub(crate) fn refused(&mut self, refused: &Refused) -> Result<(), ObserveError> {
        Ok(self.evidence.on_mask(refused)?)
    }

    /// Every process is dead: takes what is left in the ring, and sends the barrier after everything that the audit
    /// subsystem still has. While that is on its way the tables, which come back, can be removed.
    pub(crate) fn close(mut self) -> (RunTables, Closing) {
        let taken = self.take_rest();
        let closing = Closing {
            evidence: self.evidence,
            audit: self.audit,
            taken,
        };
        (self.tables, closing)
    }

    fn take_rest(&mut self) -> Result<(), ObserveError> {
        self.pump()?;
        self.audit.send_barrier()?;
        let counters = self.tables.counters()?;
        Ok(self.evidence.on_counters(&counters)?)
    }
}

/// What a run is still to be told by the audit subsystem.
#[derive(Debug)]
pub(crate) struct Closing {
    evidence: Evidence,
    audit: AuditStream,
    taken: Result<(), ObserveError>,
}

impl Closing {
    /// Waits for the barrier, and writes the end.
    pub(crate) fn finish(mut self, exit_code: u8, reason: &str) -> Result<Receipt, ObserveError> {
        self.taken?;
        self.evidence.settle(&mut self.audit, BARRIER)?;
        Ok(self.evidence.finish(exit_code, reason)?)
    }
}
