//! The files of a folder of guardrails.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use compiler::guardrails::{MAX_FILES, MAX_TEXT_BYTES, RegoFile};

/// Every `.rego` file directly in a folder, by name.
///
/// # Errors
/// When one cannot be read. What is not read is not judged, so none may be left out.
pub(super) fn read(folder: &Path) -> anyhow::Result<Vec<RegoFile>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the guardrails in `{}`", folder.display()))?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry
            .with_context(|| format!("cannot list `{}`", folder.display()))?
            .path();
        if path.extension().is_some_and(|extension| extension == "rego") {
            paths.push(path);
        }
        if paths.len() > MAX_FILES {
            bail!("`{}` has more than {MAX_FILES} files of Rego", folder.display());
        }
    }
    paths.sort();
    if paths.is_empty() {
        bail!(
            "`{}` has no file whose name ends with `.rego`, so nothing would be judged",
            folder.display()
        );
    }
    paths.iter().map(|path| file(path)).collect()
}

fn file(path: &Path) -> anyhow::Result<RegoFile> {
    let limit = u64::try_from(MAX_TEXT_BYTES).unwrap_or(u64::MAX);
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(limit + 1).read_to_string(&mut text))
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    if text.len() > MAX_TEXT_BYTES {
        bail!("`{}` is longer than {MAX_TEXT_BYTES} bytes", path.display());
    }
    Ok(RegoFile {
        name: path.display().to_string(),
        text,
    })
}
