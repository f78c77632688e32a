//! Host capabilities, admission, launch, supervision and evidence.
//!
//! One run goes through these modules in this order: [`capabilities::probe`] asks the kernel what it has,
//! [`admission::admit`] compares that with an artifact, [`run::run`] prepares, launches, supervises and
//! finishes, and [`recovery::recover`] finishes what a dead supervisor left behind.

pub mod admission;
pub mod audit;
pub mod bpf;
pub mod capabilities;
mod cgroup;
pub mod event;
pub mod evidence;
mod identity;
pub mod instance;
pub mod kept;
pub mod launch;
mod limits;
pub mod mask;
mod mountinfo;
mod observe;
mod prepare;
mod record;
pub mod recovery;
pub mod run;
pub mod sink;
mod supervise;
mod sys;

pub use admission::{Admitted, Refusal, RuleStatus, Status, admit, assess};
pub use capabilities::Capabilities;
pub use instance::Instance;
pub use kept::Kept;
pub use observe::ObserveError;
pub use prepare::{PathProblem, PrepareError};
pub use recovery::{recover, unload};
pub use run::{Caller, HeadStart, RunError, RunOptions, RunOutcome, record_refusal, run};
