//! The examples of "Which rule wins" in docs/language.md, decided by the reference semantics.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use policy_lang::SourceFile;
use policy_lang::policy::Effect;
use policy_lang::reference::decide;

#[path = "support/tree.rs"]
mod tree;

/// Decides the one line of the policy's test, and compares it with what the line expects.
fn holds(block: &str, line: &str) {
    let text = format!("policy \"p\" {{ {block} }} test \"t\" {{ {line} }}");
    let resolved = tree::check(&SourceFile::new("p.remit", text));
    let policy = resolved
        .policy
        .unwrap_or_else(|| panic!("{:?}", resolved.diagnostics));
    for expectation in policy.tests.iter().flat_map(|test| &test.expectations) {
        let decision = decide(&policy, &expectation.access);
        assert_eq!(
            decision.effect == Effect::Allow,
            expectation.outcome == policy_lang::policy::ExpectedOutcome::Allowed,
            "{block}: {line}: {decision:?}"
        );
    }
}

#[test]
fn a_deny_inside_an_allow_wins_and_an_allow_inside_that_wins_again() {
    let outer = "allow read \"/w\" deny read \"/w/.env\"";
    holds(
        &format!("filesystem {{ {outer} }}"),
        "read \"/w/.env\" is denied read \"/w/a\" is allowed",
    );
    holds(
        &format!("filesystem {{ {outer} allow read \"/w/.env/public\" }}"),
        "read \"/w/.env/public/a\" is allowed read \"/w/.env/b\" is denied",
    );
}

#[test]
fn a_forbid_yields_to_nothing() {
    holds(
        "filesystem { allow read \"/w\" forbid read \"/w/.env\" allow read \"/w/.env/public\" }",
        "read \"/w/.env/public/a\" is denied",
    );
}

#[test]
fn of_boxes_that_overlap_the_stricter_wins_until_one_lies_inside_both() {
    let both = "allow connect tcp \"10.0.0.0/8:443\" deny connect tcp \"10.1.0.0/16:*\"";
    holds(
        &format!("network {{ {both} }}"),
        "connect \"10.1.2.3:443\" is denied connect \"10.2.2.3:443\" is allowed",
    );
    holds(
        &format!("network {{ {both} allow connect tcp \"10.1.2.3:443\" }}"),
        "connect \"10.1.2.3:443\" is allowed connect \"10.1.2.4:443\" is denied",
    );
}

#[test]
fn of_equal_sets_the_stricter_wins_in_either_order() {
    holds(
        "filesystem { allow read \"/w\" deny read \"/w\" }",
        "read \"/w/a\" is denied",
    );
    holds(
        "filesystem { deny read \"/w\" allow read \"/w\" }",
        "read \"/w/a\" is denied",
    );
}

#[test]
fn one_call_with_one_argument_lies_inside_its_group() {
    holds(
        "process { allow syscall @system-service deny syscall \"ioctl\" where request == TCGETS }",
        "syscall \"ioctl\" where request == TCGETS is denied syscall \"ioctl\" is allowed syscall \"ptrace\" is denied",
    );
}

#[test]
fn an_empty_policy_allows_nothing() {
    holds(
        "",
        "read \"/\" is denied connect \"127.0.0.1:80\" is denied bind udp \"127.0.0.1:80\" is denied env \"PATH\" is absent syscall \"read\" is denied",
    );
}
