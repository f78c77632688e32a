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

use clap::Parser as _;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    if arguments.next().is_some_and(|name| name == "remit-launch") {
        return exit::RUN_FAILED.into();
    }
    let is_run = arguments.find(|argument| !argument.as_encoded_bytes().starts_with(b"-"));
    let is_run = is_run.is_some_and(|argument| argument == "run");
    match arguments::Cli::try_parse() {
        Ok(cli) => command::dispatch(cli),
        Err(error) => {
            // Help and version are not failures. A reader that went away is no reason to complain.
            let _ = error.print();
            match (error.use_stderr(), is_run) {
                (false, _) => ExitCode::SUCCESS,
                (true, true) => exit::RUN_FAILED.into(),
                (true, false) => exit::USAGE.into(),
            }
        }
    }
}
