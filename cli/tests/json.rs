//! JSON for programs: it parses, and says the same as the text.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::fs;

#[test]
fn check_reports_each_finding_with_code_and_place() {
    let folder = remit::folder();
    let policy = folder.path().join("broken.remit");
    fs::write(
        &policy,
        "policy \"x\" {\n    filesystem {\n        alow read \"/usr\"\n    }\n}\n",
    )
    .expect("written");
    let outcome = remit::output(
        remit::remit()
            .arg("check")
            .arg(&policy)
            .args(["--format", "json"]),
    )
    .expect_code(1);
    let document = outcome.json();
    assert_eq!(document["ok"], false);
    let finding = &document["files"][0]["findings"][0];
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["place"]["line"], 3);
    assert_eq!(finding["place"]["column"], 9);
    assert!(finding["code"].as_str().expect("a code").starts_with('R'));
}

#[test]
fn doctor_lists_every_capability_with_its_evidence() {
    let outcome = remit::output(remit::remit().args(["doctor", "--format", "json"]));
    let document = outcome.json();
    let capabilities = document["capabilities"].as_array().expect("a list");
    assert!(capabilities.len() >= 15);
    for capability in capabilities {
        assert!(
            !capability["evidence"].as_str().expect("text").is_empty(),
            "{capability}"
        );
        let present = capability["present"].as_bool().expect("a truth");
        assert_eq!(present, capability["cost"].is_null(), "{capability}");
    }
    let can_run = document["can_run"].as_bool().expect("a truth");
    assert_eq!(outcome.code, Some(if can_run { 0 } else { 1 }));
}

#[test]
fn json_is_never_coloured() {
    let outcome = remit::output(remit::remit().args(["--color", "always", "doctor", "--format", "json"]));
    assert!(!outcome.stdout.contains('\u{1b}'));
}
