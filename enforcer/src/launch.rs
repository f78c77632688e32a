//! The launcher: the process that becomes the run.

use std::process::ExitCode;

/// `argv[0]` of the launcher.
pub const ARGV0: &str = "remit-launch";

/// Whether this process was started as a launcher. Call first in `main`, before any thread exists.
#[must_use]
pub fn requested() -> bool {
    std::env::args_os().next().is_some_and(|name| name == ARGV0)
}

/// The launcher's whole life. Call when [`requested`] and do nothing else.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(125)
}
