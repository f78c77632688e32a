//! The help pages as people see them, and that each has examples.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["check"],
    &["test"],
    &["compile"],
    &["explain"],
    &["why"],
    &["diff"],
    &["import"],
    &["learn"],
    &["guard"],
    &["guard", "test"],
    &["guard", "input"],
    &["run"],
    &["verify"],
    &["doctor"],
    &["recover"],
    &["unload"],
    &["events"],
    &["events", "verify"],
    &["fmt"],
    &["lsp"],
    &["completions"],
];

fn help(command: &[&str]) -> String {
    remit::output(remit::remit().args(command).arg("--help"))
        .expect_code(0)
        .stdout
}

#[test]
fn help_pages_read_as_reviewed() {
    for command in COMMANDS.iter().copied() {
        insta::assert_snapshot!(format!("help_{}", command.join("_")), help(command));
    }
}

#[test]
fn every_command_that_does_something_has_examples() {
    for command in COMMANDS.iter().copied() {
        if command != ["events"] && command != ["guard"] {
            assert!(help(command).contains("\nExamples:\n  $ remit "), "{command:?}");
        }
    }
}

#[test]
fn no_help_line_is_wider_than_the_terminal() {
    for command in COMMANDS.iter().copied() {
        let narrow =
            remit::output(remit::remit().env("COLUMNS", "60").args(command).arg("--help")).expect_code(0);
        for line in narrow.stdout.lines().filter(|line| !line.starts_with("  $ ")) {
            assert!(line.chars().count() <= 60, "{command:?}: {line}");
        }
    }
}

#[test]
fn completions_are_made_for_every_shell_and_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = remit::output(remit::remit().args(["completions", shell]))
            .expect_code(0)
            .stdout;
        for command in COMMANDS.iter().filter_map(|command| command.first()) {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
    }
}

#[test]
fn the_bash_completion_is_accepted_by_bash() {
    let script = remit::output(remit::remit().args(["completions", "bash"]))
        .expect_code(0)
        .stdout;
    let status = std::process::Command::new("bash")
        .args(["-n", "-c", &script])
        .status()
        .expect("bash starts");
    assert!(status.success());
}
