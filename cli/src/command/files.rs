//! Which policy files are meant, and how one is replaced.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// Folders within folders. Beyond it something is wrong, and it is said.
const MAX_DEPTH: usize = 64;

/// What becomes of a symbolic link that was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// Files are only read.
    Followed,
    /// Files are written, and a link would be replaced.
    Refused,
}

/// The files that were named, and every `*.remit` beneath the folders that were. In order, each once.
pub(super) fn policies(named: &[PathBuf], links: Links) -> anyhow::Result<Vec<PathBuf>> {
    let here = [PathBuf::from(".")];
    let named = if named.is_empty() { &here } else { named };
    let mut found = Vec::new();
    for path in named {
        let unread = || format!("cannot read `{}`", path.display());
        let mut metadata = fs::symlink_metadata(path).with_context(unread)?;
        if metadata.is_symlink() && links == Links::Followed {
            metadata = fs::metadata(path).with_context(unread)?;
        }
        if metadata.is_symlink() {
            bail!(
                "`{}` is a symbolic link; name the file that it leads to, since that is what would be written",
                path.display()
            );
        }
        if metadata.is_dir() {
            let before = found.len();
            beneath(path, 0, &mut found)?;
            if found.len() == before {
                bail!("there is no `*.remit` file beneath `{}`", path.display());
            }
        } else {
            found.push(path.clone());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Symbolic links are not followed, and hidden folders not entered: neither is what the caller pointed at.
fn beneath(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if depth > MAX_DEPTH {
        bail!("`{}` is more than {MAX_DEPTH} folders deep", folder.display());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list `{}`", folder.display()))?;
        let kind = entry.file_type()?;
        let path = match folder {
            here if here == Path::new(".") => PathBuf::from(entry.file_name()),
            folder => folder.join(entry.file_name()),
        };
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if kind.is_dir() && !hidden {
            beneath(&path, depth + 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "remit") {
            found.push(path);
        }
    }
    Ok(())
}

/// Puts a new text in the place of a file, whole or not at all. Mode and owner stay.
pub(super) fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let before = fs::symlink_metadata(path)?;
    if !before.is_file() {
        bail!("it is not a plain file any more");
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new().prefix(".remit.").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    keep_owner_and_mode(file.as_file(), &before)?;
    file.as_file().sync_all()?;
    // Renaming replaces a link that came since, not what it leads to.
    file.persist(path)?;
    Ok(())
}

fn keep_owner_and_mode(file: &File, before: &fs::Metadata) -> anyhow::Result<()> {
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        std::os::unix::fs::fchown(file, Some(before.uid()), Some(before.gid()))
            .context("its owner could not be kept")?;
    }
    // After the owner, since changing that clears bits.
    file.set_permissions(before.permissions())?;
    Ok(())
}
