//! Host capabilities, admission, launch, supervision and evidence.
//!
//! One run goes through these modules in this order: [`capabilities::probe`] asks the kernel what it has,
//! [`admission::admit`] compares that with an artifact, [`run::run`] prepares, launches, supervises and
//! finishes, and [`recovery::recover`] finishes what a dead supervisor left behind.

pub mod admission;
pub mod bpf;
pub mod capabilities;
pub mod instance;
pub mod launch;
pub mod mask;
mod mountinfo;
pub mod recovery;
pub mod run;
mod sys;

pub use admission::{Admitted, Refusal, RuleStatus, Status, admit, assess};
pub use capabilities::Capabilities;
pub use instance::Instance;
pub use recovery::{recover, unload};
pub use run::{Caller, RunError, RunOptions, RunOutcome, run};
