//! Whatever bytes a policy file has, the front end answers in bounded time: a policy if and only if there is no error,
//! every span on the file's text, and rules whose own text means the same again.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use policy_lang::policy::{Origin, Subject};
use policy_lang::resolve::AsWritten;
use policy_lang::{Diagnostic, Inputs, Resolved, SourceFile};

fn check(source: &SourceFile) -> Resolved {
    policy_lang::check(
        source,
        &Inputs {
            parameters: BTreeMap::new(),
            home: "/home/agent".to_owned(),
            working_directory: "/work".to_owned(),
            paths: &AsWritten,
            files: &policy_lang::loader::NoFiles,
        },
    )
}

fuzz_target!(|bytes: &[u8]| {
    let source = SourceFile::from_bytes("fuzz.remit", bytes.to_vec());
    let resolved = check(&source);
    for found in &resolved.diagnostics {
        let spans = found.secondary.iter().map(|label| label.span);
        let spans = spans.chain(found.suggestion.iter().map(|suggestion| suggestion.span)).chain([found.span]);
        for span in spans {
            assert!(source.text.get(span.start..span.end).is_some(), "{found:?}");
        }
    }
    let failed = resolved.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(resolved.policy.is_none(), failed);

    let Some(policy) = resolved.policy else { return };
    for rule in policy.rules.iter().filter(|rule| rule.origin != Origin::BuiltIn) {
        let block = match &rule.subject {
            Subject::File { .. } | Subject::Scratch { .. } => "filesystem",
            Subject::Network { .. } => "network",
            Subject::Pass { .. } | Subject::Set { .. } => "credentials",
            Subject::Syscall { .. } | Subject::Identity(_) | Subject::Limit { .. } => "process",
            Subject::Everything => unreachable!("built in"),
        };
        let text = format!("policy \"again\" {{ {block} {{ {} }} }}", rule.text);
        let again = check(&SourceFile::new("again.remit", text.clone()));
        let same = again.policy.iter().flat_map(|policy| &policy.rules).any(|other| other.subject == rule.subject);
        assert!(same, "{text}\n{:?}", again.diagnostics);
    }
});
