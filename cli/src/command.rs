//! One module per command; each takes its arguments and returns the exit code.

mod check;
mod compile;
mod completions;
mod diff;
mod doctor;
mod events;
mod explain;
mod files;
mod fmt;
pub(crate) mod guard;
mod host;
mod import;
mod learn;
mod lsp;
mod run;
mod test;
mod verify;
mod why;

use std::process::ExitCode;

use crate::arguments::{Cli, Command, Events};
use crate::exit;
use crate::render::{Surface, failure};

/// Runs the command that was asked for and reports how it failed, once.
pub(crate) fn dispatch(cli: Cli) -> ExitCode {
    let failed = match &cli.command {
        Command::Run(_) => exit::RUN_FAILED,
        // 1 is an answer.
        Command::Test(_) | Command::Verify(_) | Command::Why(_) | Command::Diff(_) | Command::Guard(_) => {
            exit::NO_ANSWER
        }
        _ => exit::FAILED,
    };
    let result = match cli.command {
        Command::Check(arguments) => check::run(&arguments, cli.color),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments, cli.color),
        Command::Test(arguments) => test::run(&arguments, cli.color),
        Command::Guard(arguments) => guard::run(&arguments, cli.color),
        Command::Verify(arguments) => verify::run(&arguments, cli.color),
        Command::Why(arguments) => why::run(&arguments, cli.color),
        Command::Diff(arguments) => diff::run(&arguments, cli.color),
        Command::Compile(arguments) => compile::run(&arguments, cli.color),
        Command::Lsp => lsp::run(),
        Command::Fmt(arguments) => fmt::run(&arguments, cli.color),
        Command::Explain(arguments) => explain::run(&arguments, cli.color),
        Command::Import(arguments) => import::run(&arguments, cli.color),
        Command::Learn(arguments) => learn::run(&arguments, cli.color),
        Command::Run(arguments) => run::run(arguments, cli.color),
        Command::Recover(arguments) => host::recover(&arguments),
        Command::Unload(arguments) => host::unload(&arguments),
        Command::Events(Events::Verify(arguments)) => events::verify(&arguments, cli.color),
    };
    match result {
        Ok(code) => code,
        // The reader of our output went away: it has seen what it wanted.
        Err(error) if failure::is_broken_pipe(&error) => ExitCode::from(failed),
        Err(error) => {
            failure::print(&error, Surface::stderr(cli.color));
            ExitCode::from(failed)
        }
    }
}
