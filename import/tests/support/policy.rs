//! Policies as the language takes them.

use policy_lang::policy::Policy;
use policy_lang::resolve::AsWritten;
use policy_lang::{Inputs, SourceFile};

pub(crate) const HOME: &str = "/home/dev";
pub(crate) const HERE: &str = "/home/dev/work";

/// The policy a text means.
pub(crate) fn resolved(text: &str) -> Policy {
    let inputs = Inputs {
        parameters: std::collections::BTreeMap::new(),
        home: HOME.to_owned(),
        working_directory: HERE.to_owned(),
        paths: &AsWritten,
        files: &policy_lang::loader::NoFiles,
    };
    let checked = policy_lang::check(&SourceFile::new("imported.remit", text), &inputs);
    let Some(policy) = checked.policy else {
        panic!("{text}\n{:#?}", checked.diagnostics)
    };
    policy
}

/// The policy a text means, if the language takes it.
#[allow(dead_code, reason = "one of two test binaries asks")]
pub(crate) fn try_resolved(text: &str) -> Option<Policy> {
    let inputs = Inputs {
        parameters: std::collections::BTreeMap::new(),
        home: HOME.to_owned(),
        working_directory: HERE.to_owned(),
        paths: &AsWritten,
        files: &policy_lang::loader::NoFiles,
    };
    policy_lang::check(&SourceFile::new("imported.remit", text), &inputs).policy
}
