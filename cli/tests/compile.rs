//! `compile` and `explain`: from a policy to the artifact that is reviewed, and what is said about it.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::path::Path;

fn written(folder: &Path) -> std::path::PathBuf {
    let policy = folder.join("small.remit");
    fs::write(&policy, remit::SMALL).expect("written");
    policy
}

fn compile(folder: &Path, output: &str) -> Vec<u8> {
    let policy = written(folder);
    let mut command = remit::remit();
    command
        .current_dir(folder)
        .arg("compile")
        .arg(policy)
        .args(["-o", output]);
    remit::output(&mut command).expect_code(0);
    fs::read(folder.join(output)).expect("an artifact")
}

#[test]
fn compiling_twice_gives_the_same_bytes() {
    let folder = remit::folder();
    assert_eq!(
        compile(folder.path(), "one.ron"),
        compile(folder.path(), "two.ron")
    );
}

#[test]
fn stdout_gets_what_a_file_would() {
    let folder = remit::folder();
    let file = compile(folder.path(), "small.ron");
    let mut command = remit::remit();
    command
        .current_dir(folder.path())
        .arg("compile")
        .arg(folder.path().join("small.remit"));
    assert_eq!(remit::output(&mut command).expect_code(0).stdout.as_bytes(), file);
}

#[test]
fn how_the_file_was_named_does_not_change_the_artifact() {
    let folder = remit::folder();
    let absolute = written(folder.path());
    let compiled = |path: &Path| {
        remit::output(remit::remit().current_dir(folder.path()).arg("compile").arg(path))
            .expect_code(0)
            .stdout
    };
    let plain = compiled(Path::new("small.remit"));
    assert_eq!(compiled(Path::new("./small.remit")), plain);
    assert_eq!(compiled(&absolute), plain);
}

#[test]
fn the_artifact_names_its_rules_as_the_policy_was_named() {
    let folder = remit::folder();
    written(folder.path());
    let mut command = remit::remit();
    command
        .current_dir(folder.path())
        .args(["compile", "small.remit"]);
    assert!(
        remit::output(&mut command)
            .expect_code(0)
            .stdout
            .contains("\"small.remit\"")
    );
}

#[test]
fn a_broken_policy_leaves_the_old_artifact_alone() {
    let folder = remit::folder();
    let before = compile(folder.path(), "small.ron");
    fs::write(
        folder.path().join("small.remit"),
        "policy \"small\" { nonsense }\n",
    )
    .expect("written");
    let mut command = remit::remit();
    command
        .current_dir(folder.path())
        .args(["compile", "small.remit", "-o", "small.ron"]);
    let outcome = remit::output(&mut command).expect_code(1);
    assert!(
        outcome.stderr.contains("`small.remit` has errors"),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        fs::read(folder.path().join("small.ron")).expect("an artifact"),
        before
    );
    assert_eq!(
        fs::read_dir(folder.path()).expect("a folder").count(),
        2,
        "a temporary file is left"
    );
}

#[test]
fn parameters_are_bound_when_compiling_and_not_again() {
    let folder = remit::folder();
    compile(folder.path(), "small.ron");
    let mut command = remit::remit();
    command
        .current_dir(folder.path())
        .args(["explain", "small.ron", "--param", "workspace=/"]);
    let outcome = remit::output(&mut command).expect_code(1);
    assert!(
        outcome.stderr.contains("were bound when it was compiled"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_edited_artifact_is_refused() {
    let folder = remit::folder();
    let artifact = String::from_utf8(compile(folder.path(), "small.ron")).expect("text");
    fs::write(
        folder.path().join("edited.ron"),
        artifact.replacen("\"small\"", "\"other\"", 1),
    )
    .expect("written");
    let outcome = remit::output(
        remit::remit()
            .current_dir(folder.path())
            .args(["explain", "edited.ron"]),
    );
    let outcome = outcome.expect_code(1);
    assert!(
        outcome.stderr.contains("changed after it was compiled"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_policy_and_its_artifact_explain_alike() {
    let folder = remit::folder();
    compile(folder.path(), "small.ron");
    let explain = |file: &str| {
        let mut command = remit::remit();
        command
            .current_dir(folder.path())
            .args(["explain", file, "--format", "json"]);
        remit::output(&mut command).expect_code(0).json()
    };
    assert_eq!(explain("small.remit"), explain("small.ron"));
}

#[test]
fn explain_gives_every_rule_a_standing_and_a_mechanism() {
    let folder = remit::folder();
    written(folder.path());
    let mut command = remit::remit();
    command
        .current_dir(folder.path())
        .args(["explain", "small.remit", "--all", "--format", "json"]);
    let document = remit::output(&mut command).expect_code(0).json();
    let rules = document["rules"].as_array().expect("rules");
    assert!(rules.len() > 10);
    for rule in rules {
        assert!(
            ["enforced", "partly", "unenforceable"].contains(&rule["status"].as_str().expect("a status")),
            "{rule}"
        );
        assert!(
            !rule["mechanisms"].as_array().expect("mechanisms").is_empty(),
            "{rule}"
        );
        assert!(!rule["place"].as_str().expect("a place").is_empty(), "{rule}");
    }
    assert_eq!(document["built_in_hidden"], 0);
}

#[test]
fn explain_hides_the_floor_unless_asked_and_says_how_to_read_itself() {
    let folder = remit::folder();
    written(folder.path());
    let explain = |arguments: &[&str]| {
        let mut command = remit::remit();
        command
            .current_dir(folder.path())
            .args(["explain", "small.remit"])
            .args(arguments);
        remit::output(&mut command).expect_code(0).stdout
    };
    let short = explain(&[]);
    assert!(short.contains("small.remit:4"), "{short}");
    assert!(!short.contains("169.254.169.254"), "{short}");
    assert!(short.contains("`--all` shows them"), "{short}");
    assert!(short.contains("unenforceable: this host lacks"), "{short}");
    assert!(explain(&["--all"]).contains("169.254.169.254"));
}

#[test]
fn a_test_block_that_does_not_hold_is_an_error_with_the_deciding_rule() {
    let folder = remit::folder();
    let policy = format!(
        "{}\ntest \"etc\" {{\n    write \"/usr/bin/env\" is allowed\n}}\n",
        remit::SMALL
    );
    fs::write(folder.path().join("small.remit"), policy).expect("written");
    let outcome = remit::output(
        remit::remit()
            .current_dir(folder.path())
            .args(["check", "small.remit"]),
    );
    let outcome = outcome.expect_code(1);
    assert!(outcome.stdout.contains("R0502"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("it is denied"), "{}", outcome.stdout);
}
