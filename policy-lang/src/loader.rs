//! Where `include`, `within` and `use` find files.
//!
//! The resolver asks for a file by its name relative to the policy root, and knows nothing of a file system. Names that
//! reach a loader are normalised: components that are neither empty nor `.` nor `..`, joined by `/`.

use std::collections::BTreeMap;

use crate::source::SourceFile;

mod std_groups;

pub use std_groups::{STD_GROUPS, std_group};

/// The most files that one policy is made of, those of the language not counted.
pub const MAX_FILES: usize = 64;
/// How deep `include` and `use` may nest.
pub const MAX_DEPTH: usize = 16;
/// The most layers: a policy and its ceilings.
pub const MAX_LAYERS: usize = 8;

/// Gives the files beneath a policy root.
pub trait Loader {
    /// Reads one.
    ///
    /// # Errors
    /// [`LoadError`] says why there is none. A file that is no policy text is given all the same; it says so itself.
    fn load(&self, name: &str) -> Result<SourceFile, LoadError>;
}

/// Why there is no such file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Nothing has that name.
    #[error("there is no such file")]
    Missing,
    /// The name leads through a symbolic link, or out of the root.
    #[error("the name leads through a symbolic link or out of the policy root")]
    Outside,
    /// A directory, a device, a FIFO.
    #[error("it is not a regular file")]
    NotAFile,
    /// There are no files here at all: what is read has no root.
    #[error("no policy root is known here")]
    NoRoot,
    /// The system said no.
    #[error("{0}")]
    Unreadable(String),
}

/// For policies of one file.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _: &str) -> Result<SourceFile, LoadError> {
        Err(LoadError::NoRoot)
    }
}

/// Files that are text already.
#[derive(Debug, Clone, Default)]
pub struct InMemory(pub BTreeMap<String, String>);

impl Loader for InMemory {
    fn load(&self, name: &str) -> Result<SourceFile, LoadError> {
        let text = self.0.get(name).ok_or(LoadError::Missing)?;
        Ok(SourceFile::new(name, text.clone()))
    }
}
