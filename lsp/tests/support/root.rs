//! A policy root of its own for one test.
#![allow(dead_code, clippy::unwrap_used, reason = "tests; each binary uses a part")]

use std::fs;
use std::path::PathBuf;

use crate::client::uri;

/// A policy root of its own with some files.
pub(crate) struct Root(tempfile::TempDir);

impl Root {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let root = Self(tempfile::tempdir().unwrap());
        fs::write(root.path(".remit-root"), "").unwrap();
        for (name, text) in files {
            fs::create_dir_all(root.path(name).parent().unwrap()).unwrap();
            fs::write(root.path(name), text).unwrap();
        }
        root
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        uri(&self.path(name))
    }
}
