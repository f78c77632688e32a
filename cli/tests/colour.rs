//! Colour: where it is wanted and nowhere else.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

fn is_coloured(arguments: &[&str], environment: &[(&str, &str)]) -> bool {
    let outcome = remit::output(remit::remit().args(arguments).envs(environment.iter().copied()));
    outcome.stdout.contains('\u{1b}')
}

#[test]
fn a_pipe_gets_no_colour() {
    assert!(!is_coloured(&["doctor"], &[("TERM", "xterm")]));
}

#[test]
fn always_means_always() {
    assert!(is_coloured(&["--color", "always", "doctor"], &[]));
    assert!(is_coloured(
        &["doctor", "--color", "always"],
        &[("NO_COLOR", "1")]
    ));
}

/// `script` gives the command a terminal.
fn on_a_terminal(environment: &str) -> String {
    let command = format!("{environment} {} doctor", env!("CARGO_BIN_EXE_remit"));
    let output = std::process::Command::new("script")
        .args(["--quiet", "--command", &command, "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .output()
        .expect("script starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_terminal_gets_colour_unless_the_environment_says_no() {
    assert!(on_a_terminal("").contains('\u{1b}'));
    assert!(!on_a_terminal("NO_COLOR=1").contains('\u{1b}'));
    assert!(!on_a_terminal("TERM=dumb").contains('\u{1b}'));
}
