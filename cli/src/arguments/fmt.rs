//! Arguments of `remit fmt`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Format;

/// `remit fmt`.
#[derive(Debug, Args)]
pub(crate) struct Fmt {
    /// Policy files, or folders whose `*.remit` files are meant; `-` is stdin, written to stdout [default: the current
    /// directory]
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,
    /// Write nothing; show what would change
    #[arg(long)]
    pub(crate) check: bool,
    /// Write for a person or, as one document, for a program
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}
