//! The policy root: the only directory that `include` and `within` read from.
//!
//! A name is opened by the kernel beneath the root's descriptor, without following any link (openat2(2),
//! `RESOLVE_BENEATH`), so that swapping a component in the meantime leads nowhere else. Where the kernel or a filter has
//! no openat2, each component is opened from the one before it, which is as strict.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat};
use rustix::io::Errno;

use crate::loader::{LoadError, Loader};
use crate::source::{MAX_BYTES, SourceFile};

/// Marks a policy root: an empty file.
pub const MARKER: &str = ".remit-root";

/// How often a rename that races the look-up is waited out.
const ATTEMPTS: usize = 8;

/// A directory that files are read from.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
    /// What the names of its files begin with, for people.
    shown: PathBuf,
}

impl Root {
    /// Opens a root. `shown` is how people call it: files are named by it and their own name.
    ///
    /// # Errors
    /// As for opening a directory.
    pub fn open(directory: &Path, shown: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            directory: openat(CWD, directory, flags, Mode::empty())?,
            shown: shown.to_owned(),
        })
    }

    fn file(&self, name: &str) -> Result<OwnedFd, Errno> {
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..ATTEMPTS {
            match openat2(&self.directory, name, flags(), Mode::empty(), how) {
                Err(Errno::AGAIN) => {}
                // An old kernel, or a container's filter.
                Err(Errno::NOSYS | Errno::PERM) => return self.walk(name),
                other => return other,
            }
        }
        Err(Errno::AGAIN)
    }

    /// The same with openat(2).
    fn walk(&self, name: &str) -> Result<OwnedFd, Errno> {
        let (way, last) = name.rsplit_once('/').unwrap_or(("", name));
        let mut above: Option<OwnedFd> = None;
        for part in way.split('/').filter(|part| !part.is_empty()) {
            let from = above.as_ref().unwrap_or(&self.directory);
            let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let next = component(part).and_then(|part| match openat(from, part, step, Mode::empty()) {
                Err(Errno::NOTDIR) if is_link(from, part) => Err(Errno::LOOP),
                other => other,
            })?;
            above = Some(next);
        }
        let from = above.as_ref().unwrap_or(&self.directory);
        openat(from, component(last)?, flags() | OFlags::NOFOLLOW, Mode::empty())
    }
}

impl Loader for Root {
    fn load(&self, name: &str) -> Result<SourceFile, LoadError> {
        let opened = self.file(name).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => LoadError::Missing,
            Errno::LOOP | Errno::XDEV => LoadError::Outside,
            // A socket, or a FIFO nobody reads.
            Errno::NXIO => LoadError::NotAFile,
            other => LoadError::Unreadable(io::Error::from(other).to_string()),
        })?;
        let mut file = File::from(opened);
        let unreadable = |error: io::Error| LoadError::Unreadable(error.to_string());
        if !file.metadata().map_err(unreadable)?.is_file() {
            return Err(LoadError::NotAFile);
        }
        let mut bytes = Vec::new();
        let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX) + 1;
        file.by_ref()
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        Ok(SourceFile::from_bytes(
            super::shown(&self.shown.join(name)),
            bytes,
        ))
    }
}

/// The root of a policy file when nobody names another: the nearest directory above it that has a [`MARKER`], else its
/// own. A marker counts if root, the caller or the owner of the policy made it, so that nobody else moves the root.
#[must_use]
pub fn root_of(policy: &Path) -> PathBuf {
    let own = policy.parent().filter(|parent| !parent.as_os_str().is_empty());
    let own = own.unwrap_or(Path::new("."));
    let Ok(absolute) = std::fs::canonicalize(own) else {
        return own.to_owned();
    };
    let owner = std::fs::metadata(policy).map(|found| found.uid()).ok();
    let caller = rustix::process::geteuid().as_raw();
    let marked = |directory: &&Path| {
        std::fs::symlink_metadata(directory.join(MARKER)).is_ok_and(|found| {
            found.is_file() && (found.uid() == 0 || found.uid() == caller || Some(found.uid()) == owner)
        })
    };
    absolute
        .ancestors()
        .find(marked)
        .map_or(absolute.clone(), Path::to_owned)
}

/// Never waits for the other end of a FIFO, and never makes a terminal the caller's own.
fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
}

/// A name that leads one step down.
fn component(name: &str) -> Result<&str, Errno> {
    if matches!(name, "" | "." | "..") {
        return Err(Errno::XDEV);
    }
    Ok(name)
}

fn is_link(from: &OwnedFd, name: &str) -> bool {
    statat(from, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

#[cfg(test)]
mod tests;
