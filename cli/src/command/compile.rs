//! `remit compile`: the artifact that is reviewed and run.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::arguments::{ColorChoice, Compile};
use crate::input::artifact;
use crate::render::Surface;

pub(super) fn run(arguments: &Compile, color: ColorChoice) -> anyhow::Result<ExitCode> {
    if arguments
        .policy
        .extension()
        .is_some_and(|extension| extension == "ron")
    {
        anyhow::bail!("`{}` is compiled already", arguments.policy.display());
    }
    let artifact = artifact(
        &arguments.policy,
        &arguments.bindings,
        arguments.guard.guardrails.as_deref(),
        Surface::stderr(color),
    )?;
    let text = artifact::codec::encode(&artifact).context("the policy is too large to be an artifact")?;
    if arguments.output == Path::new("-") {
        std::io::stdout().lock().write_all(text.as_bytes())?;
    } else {
        replace(&arguments.output, text.as_bytes())
            .with_context(|| format!("cannot write `{}`", arguments.output.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes beside the file, then renames: a reader, or a crash, sees the old artifact or the new one.
pub(super) fn replace(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    // A device or a pipe cannot be replaced, and needs no care.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return std::fs::write(path, contents);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let written = std::fs::write(&beside, contents).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&beside);
    }
    written
}
