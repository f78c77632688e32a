//! `remit completions`: generated from the same definitions as `--help`.

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::arguments::{Cli, Completions};

pub(super) fn run(arguments: &Completions) -> anyhow::Result<ExitCode> {
    // Into memory first: the generator panics when stdout is a pipe that closes early.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "remit", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
