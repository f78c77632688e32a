//! A file tree of the imagination, so that fixtures mean the same on every machine.

use std::collections::BTreeMap;

use policy_lang::resolve::Resolution;
use policy_lang::{Inputs, PathResolver, Resolved, SourceFile};

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

pub(crate) fn check(source: &SourceFile) -> Resolved {
    check_with(source, &[])
}

pub(crate) fn check_with(source: &SourceFile, parameters: &[(&str, &str)]) -> Resolved {
    let parameters: BTreeMap<String, String> = parameters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    policy_lang::check(
        source,
        &Inputs {
            parameters,
            home: "/home/agent".to_owned(),
            working_directory: "/work".to_owned(),
            paths: &Tree,
        },
    )
}
