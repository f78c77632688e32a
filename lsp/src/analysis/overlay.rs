//! The files of a policy root beneath the buffers that are open.
//!
//! A buffer stands in for its file only where the file itself could be read: what leads out of the root, or through a
//! symbolic link, stays refused however it is edited.

use std::path::{Path, PathBuf};

use policy_lang::host::Root;
use policy_lang::{LoadError, Loader, SourceFile};

use crate::documents::Documents;

/// A loader for one look at a policy.
pub(crate) struct Overlay<'a> {
    root: PathBuf,
    files: Result<Root, LoadError>,
    documents: &'a Documents,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(root: &Path, documents: &'a Documents) -> Self {
        Self {
            files: Root::open(root, root).map_err(|error| LoadError::Unreadable(error.to_string())),
            root: root.to_owned(),
            documents,
        }
    }
}

impl Loader for Overlay<'_> {
    fn load(&self, name: &str) -> Result<SourceFile, LoadError> {
        let stored = self.files.as_ref().map_err(Clone::clone)?.load(name);
        let path = self.root.join(name);
        let open = self.documents.at(&path);
        match (stored, open) {
            (Ok(stored), Some(open)) => Ok(SourceFile::new(stored.name, open.text.clone())),
            // Made in the editor, and not saved yet.
            (Err(LoadError::Missing), Some(open)) => {
                Ok(SourceFile::new(path.display().to_string(), open.text.clone()))
            }
            (stored, _) => stored,
        }
    }
}
