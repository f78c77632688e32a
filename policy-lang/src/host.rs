//! The one door to the real file tree: reading policy files, and following symbolic links.
//!
//! Everything else in this crate is pure.

use std::io::{self, Read};
use std::path::Path;

use crate::resolve::{PathResolver, Resolution};
use crate::source::{MAX_BYTES, SourceFile, misleads};

mod root;
mod tree;

pub use root::{MARKER, Root, root_of};
pub use tree::HostTree;

/// Reads a policy file, named by its path. A file that is too long is read no further than that is known.
///
/// # Errors
/// As for opening and reading.
pub fn load(path: &Path) -> io::Result<SourceFile> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX) + 1;
    std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(SourceFile::from_bytes(shown(path), bytes))
}

/// The name of a file on one line, since rules carry it into terminals and events.
fn shown(path: &Path) -> String {
    let mut name = String::new();
    for character in path.display().to_string().chars() {
        if character.is_control() || misleads(character) {
            name.extend(character.escape_unicode());
        } else {
            name.push(character);
        }
    }
    name
}

/// Follows symbolic links on this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostPaths;

impl PathResolver for HostPaths {
    fn resolve(&self, path: &str) -> Resolution {
        let asked = Path::new(path);
        let link = std::fs::symlink_metadata(asked).is_ok_and(|found| found.file_type().is_symlink());
        let mut rest = Vec::new();
        let mut existing = asked;
        loop {
            match std::fs::canonicalize(existing) {
                Ok(found) => return finish(found, &rest, link),
                Err(error) if absent(&error) => {}
                Err(error) => {
                    return Resolution::Unknown {
                        reason: error.to_string(),
                    };
                }
            }
            let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
                return Resolution::Unknown {
                    reason: "not an absolute path".to_owned(),
                };
            };
            rest.push(name);
            existing = parent;
        }
    }
}

fn absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn finish(mut found: std::path::PathBuf, rest: &[&std::ffi::OsStr], link: bool) -> Resolution {
    for name in rest.iter().rev() {
        found.push(name);
    }
    match found.into_os_string().into_string() {
        Ok(path) if rest.is_empty() => Resolution::Present { path, link },
        Ok(path) => Resolution::Absent { path },
        Err(_) => Resolution::Unknown {
            reason: "the path it leads to is not UTF-8".to_owned(),
        },
    }
}
