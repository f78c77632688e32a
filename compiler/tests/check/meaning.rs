//! What is said about dead, repeated and redundant rules is true: without them every decision stays the same.

use compiler::check::{Options, check};
use compiler::difference::difference;
use policy_lang::SourceFile;
use policy_lang::diagnostic::Code;
use policy_lang::policy::Policy;
use proptest::prelude::*;

use super::{HOME, repaired, tree};

const EFFECTS: [&str; 3] = ["allow", "deny", "forbid"];
const ACCESSES: [&str; 4] = ["read", "write", "read, write", ""];
const PATHS: [&str; 12] = [
    "/a",
    "/a/b",
    "/a/b/c",
    "/a/d",
    "/e",
    "/a/*",
    "/a/*/c",
    "/**/c",
    "/a/**/c",
    "/a/b*",
    "/run/remit/x",
    "/",
];
const ADDRESSES: [&str; 7] = [
    "10.0.0.0/8",
    "10.1.0.0/16",
    "10.1.2.0/24",
    "10.1.2.3",
    "*",
    "169.254.169.254",
    "[fd00::]/8",
];
const PORTS: [&str; 5] = ["*", "443", "1-1000", "400-500", "443-444"];
const NAMES: [&str; 4] = ["A", "B", "AB", "C"];
const CALLS: [&str; 8] = [
    "@system-service",
    "@debug",
    "@basic-io",
    "\"read\"",
    "\"ptrace\"",
    "\"ioctl\" where request == TIOCSTI",
    "\"ioctl\" where request == TCGETS",
    "\"ioctl\"",
];

fn targets(pool: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pool), 1..3).prop_map(|targets| {
        let quoted: Vec<String> = targets.iter().map(|target| format!("\"{target}\"")).collect();
        quoted.join(", ")
    })
}

fn boxes() -> impl Strategy<Value = String> {
    let one = (
        prop::sample::select(&ADDRESSES[..]),
        prop::sample::select(&PORTS[..]),
    );
    prop::collection::vec(one, 1..3).prop_map(|boxes| {
        let quoted: Vec<String> = boxes
            .iter()
            .map(|(address, port)| format!("\"{address}:{port}\""))
            .collect();
        quoted.join(", ")
    })
}

fn effect() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&EFFECTS[..])
}

fn policy() -> impl Strategy<Value = String> {
    let file = (effect(), prop::sample::select(&ACCESSES[..]), targets(&PATHS))
        .prop_map(|(effect, access, targets)| format!("{effect} {access} {targets}"));
    let flow = (
        effect(),
        prop::sample::select(&["connect tcp", "bind", ""][..]),
        boxes(),
    )
        .prop_map(|(effect, verb, targets)| format!("{effect} {verb} {targets}"));
    let call = (effect(), prop::sample::select(&CALLS[..]))
        .prop_map(|(effect, call)| format!("{effect} syscall {call}"));
    (
        prop::collection::vec(file, 0..8),
        prop::collection::vec(flow, 0..8),
        prop::collection::btree_set(prop::sample::select(&NAMES[..]), 0..4),
        prop::collection::vec(call, 0..6),
    )
        .prop_map(|(files, flows, names, calls)| {
            let names: Vec<String> = names.iter().map(|name| format!("pass \"{name}\"")).collect();
            let block = |rules: &[String]| rules.join("\n        ");
            format!(
                "policy \"p\" {{\n    filesystem {{\n        {}\n    }}\n    network {{\n        {}\n    }}\n    \
                 credentials {{\n        {}\n    }}\n    process {{\n        {}\n    }}\n}}\n",
                block(&files),
                block(&flows),
                block(&names),
                block(&calls)
            )
        })
}

fn resolved(source: &SourceFile) -> Policy {
    tree::check(source)
        .policy
        .unwrap_or_else(|| panic!("{}", source.text))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn without_a_rule_that_is_called_dead_or_redundant_every_decision_stays_the_same(text in policy()) {
        let source = SourceFile::new("p.remit", text);
        let before = resolved(&source);
        let options = Options {
            files: std::slice::from_ref(&source),
            home: HOME,
            caller_is_root: false,
        };
        for finding in check(&before, &options) {
            let spans = finding.secondary.iter().map(|label| label.span);
            let spans = spans.chain(finding.suggestion.iter().map(|suggestion| suggestion.span));
            for span in spans.chain([finding.span]) {
                prop_assert!(source.text.get(span.start..span.end).is_some(), "{}: {span:?}", finding.message);
            }
            let idle = [Code::DeadRule, Code::RepeatedRule, Code::RedundantRule].contains(&finding.code);
            let (true, Some(suggestion)) = (idle, &finding.suggestion) else { continue };
            let after = repaired(&source, suggestion);
            let difference = difference(&before, &resolved(&after));
            prop_assert!(
                difference.changes.is_empty() && difference.settings.is_empty(),
                "{}: {}\n{}\n{:#?}", finding.code, finding.message, source.text, difference
            );
        }
    }
}
