//! `remit diff`: verdicts, witnesses, rules on both sides, and the three ways to write them.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::fs;

const OLD: &str = r#"policy "web-build" {
    param tree: path = "/srv/app"
    filesystem {
        allow read, execute "/usr" if present
        allow read, write   "${tree}" if present
        deny  read          "${tree}/**/.env" because "secrets are brokered, never read"
        scratch "/tmp" 512MiB
    }
    network {
        allow connect tcp "10.0.0.0/9:443"
        deny  connect     "10.1.0.0/16:*"
    }
    credentials { pass "PATH", "LANG"  set "CI" = "true" }
    process {
        allow syscall @system-service
        limit memory 4GiB, processes 256
    }
    require landlock >= 3
}
"#;

/// Everything in another order, with other names.
const REFACTORED: &str = r#"policy "web" {
    process { limit processes 256  allow syscall @system-service  limit memory 4GiB }
    credentials { set "CI" = "true"  pass "LANG"  pass "PATH" label "tools" }
    require landlock >= 3
    network { deny connect udp "10.1.0.0/16:*"  deny connect tcp "10.1.0.0/16:*"  allow connect tcp "10.0.0.0/9:443" }
    filesystem {
        scratch "/tmp" 512MiB
        deny  read  "/srv/app/**/.env"
        allow write "/srv/app" if present
        allow read  "/srv/app", "/usr" if present
        allow execute "/usr" if present
    }
}
"#;

const WIDER: &str = r#"policy "web" {
    filesystem {
        allow read, execute "/usr" if present
        deny  read          "/srv/app/*/.env" because "secrets are brokered, never read"
        allow read, write   "/srv/app", "/tmp" if present
    }
    network {
        allow connect tcp "10.0.0.0/8:443"
        deny  connect     "10.1.0.0/16:*"
    }
    credentials { pass "PATH", "HOME"  set "CI" = "1" }
    process {
        allow syscall @system-service, "ptrace"
        limit memory 8GiB, processes 128
    }
}
"#;

fn diff(old: &str, new: &str, arguments: &[&str]) -> remit::Outcome {
    let folder = remit::folder();
    fs::write(folder.path().join("old.remit"), old).expect("written");
    fs::write(folder.path().join("new.remit"), new).expect("written");
    remit::output(
        remit::remit()
            .current_dir(folder.path())
            .arg("diff")
            .args(arguments),
    )
}

#[test]
fn a_refactored_policy_means_the_same_and_is_0() {
    let outcome = diff(OLD, REFACTORED, &["old.remit", "new.remit"]).expect_code(0);
    assert_eq!(outcome.stdout, "new.remit means the same as old.remit\n");
}

#[test]
fn a_wider_policy_is_1_and_each_widening_has_a_witness_and_both_rules() {
    let outcome = diff(OLD, WIDER, &["old.remit", "new.remit"]).expect_code(1);
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn a_narrower_policy_is_0_and_says_what_is_refused_now() {
    let narrower = OLD.replace(", \"LANG\"", "").replace("10.0.0.0/9", "10.0.0.0/10");
    let outcome = diff(OLD, &narrower, &["old.remit", "new.remit"]).expect_code(0);
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn a_comment_for_a_pull_request_has_tables_and_folds_what_is_narrower() {
    let outcome = diff(OLD, WIDER, &["old.remit", "new.remit", "--format", "markdown"]).expect_code(1);
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn a_document_has_the_verdict_and_accesses_that_a_program_can_read() {
    let outcome = diff(OLD, WIDER, &["old.remit", "new.remit", "--format", "json"]).expect_code(1);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(document["ok"], false);
    assert_eq!(document["verdict"], "wider");
    let first = &document["wider"]["accesses"][0];
    assert_eq!(first["witness"], "read \"/srv/app/.env\"");
    assert_eq!(first["access"]["File"]["path"], "/srv/app/.env");
    assert_eq!(first["before"]["outcome"], "refused");
    assert_eq!(first["before"]["decided_by"]["place"], "old.remit:6");
    assert_eq!(first["after"]["decided_by"]["place"], "new.remit:5");
}

#[test]
fn colour_tells_wider_from_narrower() {
    let outcome = diff(OLD, WIDER, &["--color", "always", "old.remit", "new.remit"]).expect_code(1);
    assert!(
        outcome.stdout.contains("\x1b[1;31m+\x1b[0m"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("\x1b[32m-\x1b[0m"), "{}", outcome.stdout);
}

#[test]
fn a_policy_is_held_against_a_ceiling_that_it_does_not_name() {
    let child = r#"policy "child" {
    filesystem { allow read "/srv/app/src" if present  deny read "/srv/app/src/**/.env" }
    credentials { pass "PATH" }
    process { limit memory 1GiB, processes 16 }
    require landlock >= 4
}
"#;
    let outcome = diff(OLD, child, &["--ceiling", "old.remit", "new.remit"]).expect_code(0);
    assert!(
        outcome
            .stdout
            .contains("new.remit stays beneath the ceiling old.remit"),
        "{}",
        outcome.stdout
    );
    let beyond = child.replace("\"PATH\"", "\"PATH\", \"HOME\"");
    let outcome = diff(OLD, &beyond, &["--ceiling", "old.remit", "new.remit"]).expect_code(1);
    assert!(outcome.stdout.contains("+ env \"HOME\""), "{}", outcome.stdout);
    assert!(
        outcome
            .stdout
            .contains("new.remit goes beyond the ceiling old.remit"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_parameter_binds_where_it_is_declared() {
    let arguments = ["old.remit", "new.remit", "--param", "tree=/srv/other"];
    let outcome = diff(OLD, REFACTORED, &arguments).expect_code(1);
    assert!(outcome.stdout.contains("/srv/other"), "{}", outcome.stdout);
    let arguments = ["old.remit", "new.remit", "--param", "nowhere=1"];
    let outcome = diff(OLD, REFACTORED, &arguments).expect_code(2);
    assert!(
        outcome.stderr.contains("declared by neither"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn what_cannot_be_compared_is_2() {
    diff(OLD, "policy", &["old.remit", "new.remit"]).expect_code(2);
    diff(OLD, OLD, &["old.remit", "absent.remit"]).expect_code(2);
    diff(OLD, OLD, &["old.remit"]).expect_code(2);
    let outcome = diff(OLD, OLD, &["old.remit", "new.ron"]).expect_code(2);
    assert!(outcome.stderr.contains("is an artifact"), "{}", outcome.stderr);
}
