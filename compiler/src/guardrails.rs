//! Guardrails: what an organisation asks of every policy, written in Rego.
//!
//! Rego sees a policy as one JSON document ([`Input`], docs/guardrails.md) and answers with findings. Nothing that goes
//! wrong on the way is a pass: a file that does not parse, a rule that is undefined, an error, a limit, no rule at all, each
//! is [`Failure`], and whoever asked has to refuse.
//!
//! Evaluation here is bounded in time, in the bytes it reads and in the findings it gives. Memory cannot be bounded from
//! within a process, so callers that read files of others run [`work`] in a process of its own under resource limits.

mod changes;
mod exception;
mod finding;
mod input;
mod probes;
mod rego;
mod tests_of_rego;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use exception::{Date, Exception};
pub use finding::{Finding, Severity, diagnostics, failed};
pub use input::{Input, input};
pub use rego::{Failure, MAX_FILES, MAX_TEXT_BYTES};
pub use tests_of_rego::Outcome;

/// A file of Rego.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegoFile {
    /// For people.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl RegoFile {
    /// Whether it holds tests and no guardrails, by its name.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.name.ends_with("_test.rego")
    }
}

/// Something to evaluate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Guardrails and their tests.
    pub files: Vec<RegoFile>,
    /// What to do with them.
    pub task: Task,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Task {
    /// Judge a policy, or the difference of two.
    Judge {
        /// [`Input`] as JSON.
        input: serde_json::Value,
        /// For exceptions that end.
        today: Date,
    },
    /// Run the rules called `test_…`.
    Test,
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Of [`Task::Judge`].
    Judged(Vec<Finding>),
    /// Of [`Task::Test`].
    Tested(Vec<Outcome>),
    /// Of either. Never a pass.
    Failed(Failure),
}

/// Does a job: all rules of a judgement, or each test, within a time.
#[must_use]
pub fn work(job: &Job, time: Duration) -> Answer {
    let done = match &job.task {
        Task::Judge { input, today } => rego::judge(&job.files, input, today, time).map(Answer::Judged),
        Task::Test => tests_of_rego::run(&job.files, time).map(Answer::Tested),
    };
    done.unwrap_or_else(Answer::Failed)
}

#[cfg(test)]
mod tests;
