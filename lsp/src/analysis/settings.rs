//! What the client says about its workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// `initializationOptions`. All of it is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Settings {
    /// The policy root, instead of the nearest directory with a marker.
    pub(crate) root: Option<PathBuf>,
    /// What `~` means.
    home: Option<String>,
    /// What relative paths begin from, instead of the directory of the policy.
    working_directory: Option<String>,
    /// Values for parameters.
    pub(crate) parameters: BTreeMap<String, String>,
    /// The client can show the files of the language's own groups (`remit-std:` addresses).
    pub(crate) standard_groups: bool,
}

impl Settings {
    pub(crate) fn home(&self) -> String {
        let set = self.home.clone().or_else(|| std::env::var("HOME").ok());
        set.filter(|home| home.starts_with('/'))
            .unwrap_or_else(|| "/nonexistent".to_owned())
    }

    pub(crate) fn working_directory(&self, policy: Option<&Path>) -> String {
        let own = || policy?.parent()?.to_str().map(str::to_owned);
        self.working_directory
            .clone()
            .filter(|directory| directory.starts_with('/'))
            .or_else(own)
            .unwrap_or_else(|| "/".to_owned())
    }
}
