//! A file tree of the imagination, so that fixtures mean the same on every machine.

use std::collections::BTreeMap;

use policy_lang::loader::NoFiles;
use policy_lang::resolve::Resolution;
use policy_lang::{Inputs, Loader, PathResolver, Resolved, SourceFile};

pub(crate) struct Tree;

impl PathResolver for Tree {
    fn resolve(&self, path: &str) -> Resolution {
        let path = path.to_owned();
        if path.contains("/absent") {
            Resolution::Absent { path }
        } else if path.contains("/unreadable") {
            Resolution::Unknown {
                reason: "permission denied".to_owned(),
            }
        } else if path == "/home/agent/.bashrc" {
            Resolution::Present {
                path: "/store/bashrc".to_owned(),
                link: true,
            }
        } else if let Some(rest) = path.strip_prefix("/bin") {
            Resolution::Present {
                path: format!("/usr/bin{rest}"),
                link: rest.is_empty(),
            }
        } else {
            Resolution::Present { path, link: false }
        }
    }
}

#[allow(dead_code, reason = "not every test calls it")]
pub(crate) fn check(source: &SourceFile) -> Resolved {
    check_with(source, &[])
}

/// The same, with files to include.
#[allow(dead_code, reason = "not every test has them")]
pub(crate) fn check_among(source: &SourceFile, files: &dyn Loader) -> Resolved {
    policy_lang::check(source, &inputs(BTreeMap::new(), files))
}

#[allow(dead_code, reason = "not every test calls it")]
pub(crate) fn check_with(source: &SourceFile, parameters: &[(&str, &str)]) -> Resolved {
    let parameters: BTreeMap<String, String> = parameters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    policy_lang::check(source, &inputs(parameters, &NoFiles))
}

fn inputs(parameters: BTreeMap<String, String>, files: &dyn Loader) -> Inputs<'_> {
    Inputs {
        parameters,
        home: "/home/agent".to_owned(),
        working_directory: "/work".to_owned(),
        paths: &Tree,
        files,
    }
}
