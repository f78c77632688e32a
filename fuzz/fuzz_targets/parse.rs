//! Whatever bytes a policy file has, the front end answers in bounded time: a policy if and only if there is no error,
//! every span on the file's text, and rules whose own text means the same again.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use policy_lang::loader::InMemory;
use policy_lang::policy::{LayerId, Rule, Subject};
use policy_lang::resolve::AsWritten;
use policy_lang::source::FileId;
use policy_lang::{Diagnostic, Inputs, Resolved, SourceFile};

fn check(source: &SourceFile) -> Resolved {
    policy_lang::check(
        source,
        &Inputs {
            parameters: BTreeMap::new(),
            home: "/home/agent".to_owned(),
            working_directory: "/work".to_owned(),
            paths: &AsWritten,
            files: &files(),
        },
    )
}

/// Files that a fuzzed policy may come upon; some lead back.
fn files() -> InMemory {
    let files = [
        ("a", "include \"b\" group a { use b filesystem { allow read \"/a\" } }"),
        ("b", "include \"a\" group b { credentials { pass \"B\" } }"),
        ("c", "policy \"c\" { within \"d\" filesystem { allow \"/\" } }"),
        ("d", "policy \"d\" { unlock perf because \"d\" limit }"),
    ];
    InMemory(files.map(|(name, text)| (name.to_owned(), text.to_owned())).into())
}

fuzz_target!(|bytes: &[u8]| {
    let source = SourceFile::from_bytes("fuzz.remit", bytes.to_vec());
    let resolved = check(&source);
    let text = |file: FileId| &resolved.files[usize::from(file.0)].text;
    for found in &resolved.diagnostics {
        let own = found.suggestion.iter().map(|suggestion| suggestion.span).chain([found.span]);
        let own = own.map(|span| (found.file, span));
        let others = found.secondary.iter().map(|label| (label.file.unwrap_or(found.file), label.span));
        for (file, span) in own.chain(others) {
            assert!(text(file).get(span.start..span.end).is_some(), "{found:?}");
        }
    }
    let failed = resolved.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(resolved.policy.is_none(), failed);

    let Some(policy) = resolved.policy else { return };
    let own = |rule: &&Rule| rule.layer == Some(LayerId::INNERMOST) && rule.via.is_none();
    for rule in policy.rules.iter().filter(own) {
        let block = match &rule.subject {
            Subject::File { .. } | Subject::Hide { .. } | Subject::Scratch { .. } => "filesystem",
            Subject::Network { .. } => "network",
            Subject::Pass { .. } | Subject::Set { .. } | Subject::Broker(_) => "credentials",
            Subject::Syscall { .. } | Subject::Identity(_) | Subject::Limit { .. } => "process",
            Subject::Everything => unreachable!("built in"),
        };
        let text = format!("policy \"again\" {{ {block} {{ {} }} }}", rule.text);
        let again = check(&SourceFile::new("again.remit", text.clone()));
        let same = again.policy.iter().flat_map(|policy| &policy.rules).any(|other| other.subject == rule.subject);
        assert!(same, "{text}\n{:?}", again.diagnostics);
    }
});
