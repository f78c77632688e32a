//! `remit test`: verdicts, reasons, coverage, and the three ways to write them.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::fs;

const POLICY: &str = r#"policy "p" {
    filesystem {
        allow read, execute "/usr" label "system"
        deny read "/usr/share/doc" because "not needed"
        allow read "/var" if present
    }
    credentials { pass "PATH" }
    process { limit processes 64 }
}
"#;

const HOLDS: &str = r#"test "the system is read" {
    read "/usr/bin/env" is allowed by "system"
    read "/usr/share/doc/x" is denied by filesystem
}
"#;

const FAILS: &str = r#"test "documents" {
    read "/usr/share/doc/x" is allowed
    env "PATH" is present
}
"#;

fn test(tests: &str, arguments: &[&str]) -> remit::Outcome {
    let folder = remit::folder();
    fs::write(folder.path().join("p.remit"), format!("{POLICY}{tests}")).expect("written");
    remit::output(
        remit::remit()
            .current_dir(folder.path())
            .args(["test", "p.remit"])
            .args(arguments),
    )
}

#[test]
fn what_holds_is_0_and_says_which_rules_nothing_tried() {
    let outcome = test(HOLDS, &[]).expect_code(0);
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn tests_of_other_files_are_judged_and_named() {
    let folder = remit::folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("p.remit", &format!("{POLICY}{HOLDS}"));
    write("more.remit", FAILS);
    write("wrong.remit", POLICY);
    let run = |tests: &[&str]| {
        let mut remit = remit::remit();
        remit::output(
            remit
                .current_dir(folder.path())
                .args(["test", "p.remit"])
                .args(tests),
        )
    };
    let outcome = run(&["more.remit"]).expect_code(1);
    assert!(outcome.stdout.contains("more.remit:2"), "{}", outcome.stdout);
    let outcome = run(&["wrong.remit"]);
    assert_ne!(outcome.code, Some(0));
    assert!(
        outcome
            .stderr
            .contains("a policy cannot stand in a file of tests"),
        "{}",
        outcome.stderr
    );
    assert_ne!(run(&["nothing.remit"]).code, Some(0));
}

#[test]
fn a_failure_is_1_and_names_place_decision_rule_and_losers() {
    let outcome = test(FAILS, &[]).expect_code(1);
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn too_little_coverage_is_1() {
    test(HOLDS, &["--fail-under", "50"]).expect_code(0);
    let outcome = test(HOLDS, &["--fail-under", "51"]).expect_code(1);
    assert!(
        outcome.stdout.contains("fewer than the 51% asked for"),
        "{}",
        outcome.stdout
    );
    test(HOLDS, &["--fail-under", "101"]).expect_code(2);
}

#[test]
fn nothing_tested_is_2() {
    let none = test("", &[]).expect_code(2);
    assert!(none.stderr.contains("has no test"), "{}", none.stderr);
    let left_out = test(HOLDS, &["--filter", "nowhere"]).expect_code(2);
    assert!(
        left_out.stderr.contains("1 tests were left out"),
        "{}",
        left_out.stderr
    );
    test("test \"t\" { raed \"/x\" is allowed }", &[]).expect_code(2);
}

#[test]
fn a_filter_selects_by_name() {
    let both = format!("{HOLDS}{FAILS}");
    test(&both, &[]).expect_code(1);
    test(&both, &["--filter", "system"]).expect_code(0);
}

#[test]
fn json_has_every_line_with_its_reasons() {
    let document = test(FAILS, &["--format", "json"]).expect_code(1).json();
    assert_eq!(document["ok"], false);
    assert_eq!((&document["lines"], &document["failed"]), (&2.into(), &1.into()));
    let line = &document["tests"][0]["lines"][0];
    assert_eq!(line["file"], "p.remit");
    assert_eq!(line["line"], 11);
    assert_eq!(line["found"], "it is denied");
    assert_eq!(line["decided_by"]["place"], "p.remit:4");
    assert_eq!(line["decided_by"]["because"], "not needed");
    let losers = line["layers"][0]["losers"].as_array().expect("a list");
    assert_eq!(losers[1]["label"], "system");
    assert_eq!(losers[1]["lost"], "yields to p.remit:4, which is more specific");
    assert_eq!(document["coverage"]["own"]["rules"], 4);
    assert_eq!(document["coverage"]["uncovered"][0]["line"], 3);
}

#[test]
fn junit_has_a_case_for_each_line_and_one_for_the_coverage() {
    let outcome = test(FAILS, &["--format", "junit", "--fail-under", "60"]).expect_code(1);
    insta::assert_snapshot!(outcome.stdout);
}
