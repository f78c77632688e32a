//! Case L1: whatever the input, the answer is a diagnostic, in bounded time and memory.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use policy_lang::diagnostic::Code;
use policy_lang::source::MAX_BYTES;
use policy_lang::{Diagnostic, SourceFile};

#[path = "support/tree.rs"]
mod tree;

use tree::check;

/// Linear work on this many bytes takes about a second unoptimised; quadratic work would take hours.
const BYTES: usize = 256 * 1024;
const PATIENCE: Duration = Duration::from_secs(60);

fn codes(source: &SourceFile) -> Vec<Code> {
    check(source).diagnostics.iter().map(|found| found.code).collect()
}

fn repeated(head: &str, body: &str, tail: &str) -> String {
    format!("{head}{}{tail}", body.repeat(BYTES / body.len()))
}

#[test]
fn a_file_of_ten_megabytes_is_refused_unread() {
    let started = Instant::now();
    let source = SourceFile::from_bytes("large.remit", vec![b'x'; 10 * 1024 * 1024]);
    assert_eq!(codes(&source), [Code::FileTooLarge]);
    assert!(source.text.len() < 1024);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn the_longest_file_is_read_and_one_byte_more_is_not() {
    let policy = "policy \"p\" {\n}\n";
    let padded = |len: usize| format!("{policy}{}", " ".repeat(len - policy.len()));
    assert_eq!(codes(&SourceFile::new("p.remit", padded(MAX_BYTES))), []);
    assert_eq!(
        codes(&SourceFile::new("p.remit", padded(MAX_BYTES + 1))),
        [Code::FileTooLarge]
    );
}

#[test]
fn a_long_file_is_read_no_further_than_that_is_known() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 40).unwrap();
    let source = policy_lang::host::load(file.path()).unwrap();
    assert_eq!(codes(&source), [Code::FileTooLarge]);
}

#[test]
fn three_hundred_brackets_of_any_kind_are_refused_at_the_first_too_many() {
    for (open, close) in [("{", "}"), ("[", "]"), ("(", ")"), ("{[(", ")]}")] {
        let text = format!("policy \"p\" {{ {} {} }}", open.repeat(300), close.repeat(300));
        let found = check(&SourceFile::new("p.remit", text.clone())).diagnostics;
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].code, Code::NestedTooDeeply);
    }
}

#[test]
fn brackets_in_strings_and_comments_do_not_count() {
    let text = format!(
        "policy \"p\" {{ // {0}\n /* {0} */ summary \"{0}\" }}",
        "[".repeat(300)
    );
    assert_eq!(codes(&SourceFile::new("p.remit", text)), []);
}

#[test]
fn hostile_repetition_takes_linear_time() {
    let inputs = [
        ("words", repeated("", "because ", "")),
        ("lines", repeated("", "a\n", "")),
        ("commas", repeated("", ",", "")),
        ("quotes", repeated("", "\"", "")),
        ("closing braces", repeated("", "}", "")),
        ("comments", repeated("", "/*", "")),
        ("line comments", repeated("", "//\n", "")),
        ("tests", repeated("", "test \"a\" {}\n", "")),
        ("blocks", repeated("policy \"p\" {", "filesystem{}", "}")),
        (
            "sibling braces",
            repeated("policy \"p\" { filesystem {", "{}", "}}"),
        ),
        (
            "bad rules",
            repeated("policy \"p\" { filesystem {", " allow raed \"/x\"\n", "}}"),
        ),
        (
            "bad rules on one line",
            repeated("policy \"p\" { filesystem {", " allow raed \"/x\"", "}}"),
        ),
        (
            "bad endings",
            repeated(
                "policy \"p\" { filesystem { allow read \"/x\"\n",
                " becuase \"/x\"\n",
                "}}",
            ),
        ),
        (
            "suffixes",
            repeated(
                "policy \"p\" { filesystem { allow read \"/x\"",
                " because \"x\"",
                "}}",
            ),
        ),
        (
            "rules",
            repeated("policy \"p\" { filesystem {\n", " allow read \"/x\"\n", "}}"),
        ),
        (
            "absent paths",
            repeated("policy \"p\" { filesystem {\n", " allow read \"/absent\"\n", "}}"),
        ),
        (
            "targets",
            repeated("policy \"p\" { filesystem { allow read ", "\"/x\", ", "\"/y\" }}"),
        ),
        (
            "components",
            repeated("policy \"p\" { filesystem { allow read \"", "/a*", "\" }}"),
        ),
        (
            "escapes",
            repeated("policy \"p\" { filesystem { allow read \"", "\\q", "\" }}"),
        ),
        (
            "interpolations",
            repeated("policy \"p\" { filesystem { allow read \"", "${a}", "\" }}"),
        ),
        (
            "parameters",
            repeated("policy \"p\" {", "param a: path = \"/\"\n", "}"),
        ),
        (
            "conditions",
            repeated(
                "policy \"p\" { process { deny syscall \"ioctl\" where arg0 == 1",
                " and arg1 == 1",
                "}}",
            ),
        ),
        (
            "operands",
            repeated(
                "policy \"p\" { process { deny syscall \"ioctl\" where arg0 == 1",
                " | 2",
                "}}",
            ),
        ),
        (
            "variables",
            format!(
                "policy \"p\" {{ credentials {{ {} }} }}",
                (0..20_000).fold(String::new(), |text, index| text
                    + &format!("pass \"V{index}\"\n"))
            ),
        ),
        (
            "labels",
            format!(
                "policy \"p\" {{ filesystem {{ {} }} }}",
                (0..8_000).fold(String::new(), |text, index| text
                    + &format!("allow read \"/x\" label \"l{index}\"\n"))
            ),
        ),
        ("NULs", repeated("", "\0", "")),
    ];
    for (name, text) in inputs {
        let started = Instant::now();
        let resolved = check(&SourceFile::new("p.remit", text));
        let taken = started.elapsed();
        assert!(taken < PATIENCE, "{name} took {taken:?}");
        assert!(
            resolved.diagnostics.len() <= 70,
            "{name}: {} diagnostics",
            resolved.diagnostics.len()
        );
    }
}

#[test]
fn an_error_among_very_many_warnings_still_refuses_the_policy() {
    let text = format!(
        "policy \"p\" {{ filesystem {{\n{} allow read \"/x\" label \"l\"\n allow read \"/x\" label \"l\"\n}} }}",
        "allow read \"/absent\"\n".repeat(3000)
    );
    let resolved = check(&SourceFile::new("p.remit", text));
    assert!(resolved.policy.is_none());
    assert!(resolved.diagnostics.iter().any(Diagnostic::is_error));
}

#[test]
fn many_warnings_alone_refuse_nothing() {
    let text = format!(
        "policy \"p\" {{ filesystem {{\n{}}} }}",
        "allow read \"/absent\"\n".repeat(3000)
    );
    let resolved = check(&SourceFile::new("p.remit", text));
    assert!(resolved.policy.is_some());
    assert!(!resolved.diagnostics.iter().any(Diagnostic::is_error));
}
