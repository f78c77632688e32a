//! Policies of several files: the policy root, what lies outside it, and findings in the file they are in.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const POLICY: &str = "include \"org/groups.remit\"\n\npolicy \"p\" {\n    within \"org/top.remit\"\n    use    org::tools\n}\n";

/// A repository of policies: the policy lies deeper than what it includes.
fn repository() -> tempfile::TempDir {
    let folder = remit::folder();
    for (name, text) in [
        (
            "org/groups.remit",
            "group org::tools {\n    filesystem { allow read \"/usr\" }\n}\n",
        ),
        (
            "org/top.remit",
            "policy \"top\" {\n    filesystem { allow read \"/usr\" }\n}\n",
        ),
        ("teams/web/build.remit", POLICY),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("written");
    }
    folder
}

fn check(folder: &Path, arguments: &[&str]) -> remit::Outcome {
    let mut remit = remit::remit();
    remit::output(remit.current_dir(folder).arg("check").args(arguments))
}

#[test]
fn the_root_is_the_policys_own_directory_until_a_marker_or_an_option_says_otherwise() {
    let folder = repository();
    let policy = "teams/web/build.remit";
    let alone = check(folder.path(), &[policy]).expect_code(1);
    assert!(alone.stdout.contains("there is no such file"), "{}", alone.stdout);
    check(folder.path(), &[policy, "--root", "."]).expect_code(0);
    fs::write(folder.path().join(".remit-root"), "").expect("written");
    check(folder.path(), &[policy]).expect_code(0);
    check(&folder.path().join("teams/web"), &["build.remit"]).expect_code(0);
    check(folder.path(), &[policy, "--root", "teams"]).expect_code(1);
    check(folder.path(), &[policy, "--root", "nothing"]).expect_code(1);
}

#[test]
fn what_leads_out_of_the_root_is_refused() {
    let folder = repository();
    fs::write(folder.path().join(".remit-root"), "").expect("written");
    let groups = folder.path().join("org/groups.remit");
    fs::rename(&groups, folder.path().join("org/real.remit")).expect("renamed");
    symlink("real.remit", &groups).expect("a link");
    let outcome = check(folder.path(), &["teams/web/build.remit", "--format", "json"]).expect_code(1);
    let found = &outcome.json()["files"][0]["findings"][0];
    assert_eq!(
        (found["code"].as_str(), found["place"]["line"].as_u64()),
        (Some("R0703"), Some(1))
    );
}

#[test]
fn a_finding_is_shown_in_its_own_file() {
    let folder = repository();
    fs::write(folder.path().join(".remit-root"), "").expect("written");
    let text = "group org::tools {\n    filesystem { alow read \"/usr\" }\n}\n";
    fs::write(folder.path().join("org/groups.remit"), text).expect("written");
    let outcome = check(folder.path(), &["teams/web/build.remit"]).expect_code(1);
    assert!(
        outcome.stdout.contains("org/groups.remit:2:18"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("alow read"), "{}", outcome.stdout);
    let outcome = check(folder.path(), &["teams/web/build.remit", "--format", "json"]).expect_code(1);
    let found = &outcome.json()["files"][0]["findings"][0];
    assert_eq!(found["file"], "org/groups.remit");
}

#[test]
fn the_artifact_names_the_file_of_each_rule_and_is_the_same_from_everywhere() {
    let folder = repository();
    fs::write(folder.path().join(".remit-root"), "").expect("written");
    let compile = || {
        let mut remit = remit::remit();
        remit::output(
            remit
                .current_dir(folder.path())
                .args(["compile", "teams/web/build.remit"]),
        )
        .expect_code(0)
    };
    let first = compile();
    for name in ["org/groups.remit", "org/top.remit"] {
        assert!(
            first.stdout.contains(&format!("\"{name}\"")),
            "{name}: {}",
            first.stdout
        );
    }
    assert_eq!(first.stdout, compile().stdout);
}
