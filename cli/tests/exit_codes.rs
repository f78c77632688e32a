//! Exit codes, and what is said when the command line or a file is wrong.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::fs;

#[test]
fn a_wrong_command_line_is_2() {
    remit::output(remit::remit().arg("chekc")).expect_code(2);
    remit::output(remit::remit().args(["check", "--format", "yaml", "x"])).expect_code(2);
    remit::output(&mut remit::remit()).expect_code(2);
}

#[test]
fn a_wrong_command_line_of_run_is_125_because_the_rest_is_the_commands_own() {
    remit::output(remit::remit().args(["run", "policy.remit"])).expect_code(125);
    remit::output(remit::remit().args(["--color", "never", "run"])).expect_code(125);
    let outcome = remit::output(remit::remit().args(["run", "--prama", "a=b", "p.remit", "--", "true"]));
    assert!(outcome.expect_code(125).stderr.contains("--param"));
}

#[test]
fn help_and_version_are_0() {
    remit::output(remit::remit().arg("--version")).expect_code(0);
    remit::output(remit::remit().args(["run", "--help"])).expect_code(0);
}

#[test]
fn a_policy_that_is_sound_is_0_and_one_that_is_not_is_1() {
    let folder = remit::folder();
    let sound = folder.path().join("sound.remit");
    let broken = folder.path().join("broken.remit");
    fs::write(&sound, remit::SMALL).expect("written");
    fs::write(&broken, "policy \"x\" { filesystem { alow read \"/usr\" } }\n").expect("written");
    remit::output(remit::remit().arg("check").arg(&sound)).expect_code(0);
    remit::output(remit::remit().arg("check").arg(&broken)).expect_code(1);
    remit::output(remit::remit().arg("check").arg(&sound).arg(&broken)).expect_code(1);
}

#[test]
fn a_file_that_is_not_there_is_named_once_with_its_reason() {
    let outcome = remit::output(remit::remit().args(["check", "nowhere.remit"])).expect_code(1);
    insta::assert_snapshot!(outcome.stderr, @r"
    error: cannot read `nowhere.remit`
      because: No such file or directory (os error 2)
    ");
}

#[test]
fn a_parameter_without_a_value_is_explained() {
    let outcome = remit::output(remit::remit().args(["check", "x.remit", "--param", "port"])).expect_code(2);
    assert!(
        outcome.stderr.contains("write `--param port=VALUE`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_parameter_given_twice_is_an_error() {
    let folder = remit::folder();
    let policy = folder.path().join("small.remit");
    fs::write(&policy, remit::SMALL).expect("written");
    let mut command = remit::remit();
    command
        .arg("check")
        .arg(&policy)
        .args(["--param", "workspace=/a", "--param", "workspace=/b"]);
    let outcome = remit::output(&mut command).expect_code(1);
    assert!(outcome.stderr.contains("given twice"), "{}", outcome.stderr);
}

#[test]
fn a_reader_that_goes_away_is_not_complained_about() {
    let script = format!(
        "{} completions bash | head -c 10 >/dev/null",
        env!("CARGO_BIN_EXE_remit")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .expect("sh starts");
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
