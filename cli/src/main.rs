//! The `remit` command: reads arguments, calls one stage after the other, renders what they say.
//!
//! Nothing is decided here. The first thing [`main`] looks at is its own name, because the enforcer starts this
//! same binary again as the single-threaded launcher of a run.

mod arguments;
mod command;
mod exit;
mod input;
mod render;

use std::process::ExitCode;

use clap::CommandFactory as _;

fn main() -> ExitCode {
    if enforcer::launch::requested() {
        return enforcer::launch::main();
    }
    if verify::requested() {
        return verify::main();
    }
    match arguments::parse() {
        Ok(cli) => command::dispatch(cli),
        Err(error) => {
            // Help and version are not failures. A reader that went away is no reason to complain.
            let _ = error.print();
            match (error.use_stderr(), asks_for_run()) {
                (false, _) => ExitCode::SUCCESS,
                (true, true) => exit::RUN_FAILED.into(),
                (true, false) => exit::USAGE.into(),
            }
        }
    }
}

/// Whether the command line that could not be read was meant for `run`, whose callers take every code below 125 for
/// the command's own.
fn asks_for_run() -> bool {
    let commands = arguments::Cli::command();
    let mut words = std::env::args_os().skip(1);
    let command = words.find(|word| commands.get_subcommands().any(|known| *word == *known.get_name()));
    command.is_some_and(|command| command == "run")
}
