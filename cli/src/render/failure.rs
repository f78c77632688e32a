//! An operation that failed: what, then why, each once.

use std::io::Write as _;

use super::{Style, Surface};

/// Writes `error` and its causes to stderr.
pub(crate) fn print(error: &anyhow::Error, surface: Surface) {
    let mut text = format!("{} {error}\n", surface.paint(Style::Bad, "error:"));
    for cause in error.chain().skip(1) {
        text.push_str(&format!(
            "  {} {cause}\n",
            surface.paint(Style::Faint, "because:")
        ));
    }
    // There is nowhere left to say that stderr is closed.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Whether the reader of our own output closed it.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
