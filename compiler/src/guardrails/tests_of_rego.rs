//! Tests of the guardrails themselves, as `opa test` knows them: rules whose name begins with `test_`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RegoFile;
use super::rego::{self, Failure, Loaded};

/// What became of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// `package.test_name`
    pub name: String,
    /// Where it begins.
    pub file: String,
    /// The line.
    pub line: u32,
    /// Why it does not hold. Only `true` holds.
    pub failure: Option<String>,
}

/// Runs every test, each with a clock of its own.
pub(super) fn run(files: &[RegoFile], time: Duration) -> Result<Vec<Outcome>, Failure> {
    let Loaded { engine, declared } = rego::load(files.iter())?;
    let tests = declared.iter().filter(|((_, name), _)| name.starts_with("test_"));
    let outcomes: Vec<Outcome> = tests
        .map(|((package, name), (file, line))| {
            let rule = format!("{package}.{name}");
            // What one test evaluated must not be there for the next.
            let mut engine = engine.clone();
            rego::start_clock(&mut engine, time);
            let failure = match rego::evaluate(&mut engine, &rule) {
                Ok(serde_json::Value::Bool(true)) => None,
                Ok(value) => Some(rego::said(&format!("it is {value}"))),
                Err(Failure::Undefined { .. }) => {
                    Some("it is undefined: a condition in it does not hold".to_owned())
                }
                Err(failure) => Some(failure.to_string()),
            };
            Outcome {
                name: rule.strip_prefix("data.").unwrap_or(&rule).to_owned(),
                file: file.clone(),
                line: *line,
                failure,
            }
        })
        .collect();
    if outcomes.is_empty() {
        return Err(Failure::NoTests);
    }
    Ok(outcomes)
}
