//! `remit lsp`: a language server on standard input and output.

use std::io::{BufReader, stdin, stdout};
use std::process::ExitCode;

pub(super) fn run() -> anyhow::Result<ExitCode> {
    // The reading thread keeps its own buffer, so standard input is not locked here.
    lsp::serve(BufReader::new(stdin()), stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}
