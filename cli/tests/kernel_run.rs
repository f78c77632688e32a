//! `remit run` from the outside: exit codes, streams, what is said and to whom.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A folder with a policy, and an instance that is unloaded at the end.
struct Stage {
    folder: tempfile::TempDir,
    instance: String,
}

impl Stage {
    fn new(name: &str) -> Self {
        let folder = remit::folder();
        let policy = remit::SMALL.replace(
            "    credentials",
            "    network { deny connect tcp \"10.0.0.0/8:*\" because \"not ours\" }\n    credentials",
        );
        fs::write(folder.path().join("small.remit"), policy).expect("written");
        let work = folder.path().join("work");
        fs::create_dir(&work).expect("a folder");
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("mode 755");
        Self {
            folder,
            instance: format!("r{}-{name}", std::process::id()),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, options: &[&str], command: &[&str]) -> Command {
        let mut run = remit::remit();
        run.current_dir(self.path("work"))
            .args(["run", "../small.remit", "--instance", &self.instance]);
        run.args(options).arg("--").args(command);
        run
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = remit::remit()
            .args(["unload", "--instance", &self.instance])
            .output();
    }
}

#[test]
fn the_exit_code_is_the_commands_own() {
    let stage = Stage::new("own");
    for code in [0, 1, 42, 124, 255] {
        remit::output(&mut stage.run(&[], &["sh", "-c", &format!("exit {code}")])).expect_code(code);
    }
}

#[test]
fn a_command_that_is_not_there_is_127_and_named() {
    let stage = Stage::new("notfound");
    let outcome = remit::output(&mut stage.run(&[], &["no-such-program"])).expect_code(127);
    assert!(outcome.stderr.contains("no-such-program"), "{}", outcome.stderr);
}

#[test]
fn a_command_that_may_not_be_started_is_126_and_named() {
    let stage = Stage::new("notexec");
    fs::copy("/usr/bin/true", stage.path("work/copy")).expect("copied");
    let outcome = remit::output(&mut stage.run(&[], &["./copy"])).expect_code(126);
    assert!(outcome.stderr.contains("copy"), "{}", outcome.stderr);
}

#[test]
fn a_command_that_a_signal_ends_is_128_and_its_number() {
    let stage = Stage::new("signal");
    remit::output(&mut stage.run(&[], &["sh", "-c", "kill -9 $$"])).expect_code(137);
    remit::output(&mut stage.run(&[], &["sh", "-c", "kill -TERM $$"])).expect_code(143);
}

#[test]
fn standard_streams_are_the_commands() {
    let stage = Stage::new("streams");
    let mut run = stage.run(&["--quiet"], &["sh", "-c", "cat; echo err >&2"]);
    let mut child = run
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), b"in\n").expect("written");
    let outcome = remit::Outcome::from(child.wait_with_output().expect("ends")).expect_code(0);
    assert_eq!(outcome.stdout, "in\n");
    assert_eq!(outcome.stderr, "err\n");
}

#[test]
fn a_command_whose_reader_goes_away_dies_of_it_as_usual() {
    let stage = Stage::new("pipe");
    let run = format!(
        "{} run ../small.remit --instance {} -- sh -c 'yes; echo $? >&2' | head -n 1",
        env!("CARGO_BIN_EXE_remit"),
        stage.instance
    );
    let output = Command::new("sh")
        .args(["-c", &run])
        .current_dir(stage.path("work"))
        .output()
        .expect("sh");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("141"), "yes was not ended by SIGPIPE: {stderr}");
}

#[test]
fn a_refusal_is_one_line_with_rule_and_reason_and_quiet_stops_it() {
    let stage = Stage::new("line");
    let connect = ["bash", "-c", ": </dev/tcp/10.0.0.1/443"];
    let outcome = remit::output(&mut stage.run(&[], &connect));
    let line = outcome
        .stderr
        .lines()
        .find(|line| line.starts_with("remit: ") && line.contains("10.0.0.1:443"));
    let line = line.unwrap_or_else(|| panic!("no line about it:\n{}", outcome.stderr));
    assert!(
        line.contains("small.remit:10") && line.contains("not ours"),
        "{line}"
    );
    let quiet = remit::output(&mut stage.run(&["--quiet"], &connect));
    assert!(!quiet.stderr.contains("remit: "), "{}", quiet.stderr);
}

#[test]
fn events_go_to_stdout_when_asked_and_each_is_a_json_object() {
    let stage = Stage::new("events");
    let outcome = remit::output(&mut stage.run(&["--events", "-"], &["true"])).expect_code(0);
    assert!(outcome.stdout.lines().count() >= 2, "{}", outcome.stdout);
    for line in outcome.stdout.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("an event");
        assert_eq!(event["policy"]["name"], "small");
    }
}

#[test]
fn two_runs_share_a_file_and_both_verify() {
    let stage = Stage::new("shared");
    let file = stage.path("events.jsonl");
    let file = file.to_str().expect("a path");
    remit::output(&mut stage.run(&["--events", file], &["true"])).expect_code(0);
    remit::output(&mut stage.run(&["--events", file], &["true"])).expect_code(0);
    let document = remit::output(remit::remit().args(["events", "verify", file, "--format", "json"]))
        .expect_code(0)
        .json();
    assert_eq!(document["runs"].as_array().expect("runs").len(), 2);

    let text = fs::read_to_string(file).expect("events");
    let without_one: String = text
        .lines()
        .enumerate()
        .filter(|(at, _)| *at != 1)
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    fs::write(file, without_one).expect("written");
    remit::output(remit::remit().args(["events", "verify", file])).expect_code(1);
    fs::write(file, text.replacen("\"small\"", "\"smell\"", 1)).expect("written");
    remit::output(remit::remit().args(["events", "verify", file])).expect_code(1);
}

#[test]
fn an_event_file_that_cannot_be_opened_refuses_the_run() {
    let stage = Stage::new("nofile");
    let outcome =
        remit::output(&mut stage.run(&["--events", "/nowhere/events"], &["touch", "ran"])).expect_code(125);
    assert!(outcome.stderr.contains("/nowhere/events"), "{}", outcome.stderr);
    assert!(!stage.path("work/ran").exists());
}

#[test]
fn an_artifact_runs_like_its_policy() {
    let stage = Stage::new("artifact");
    let mut compile = remit::remit();
    compile
        .current_dir(stage.path("work"))
        .args(["compile", "../small.remit", "-o", "../small.ron"]);
    remit::output(&mut compile).expect_code(0);
    let mut run = remit::remit();
    run.current_dir(stage.path("work")).args([
        "run",
        "../small.ron",
        "--instance",
        &stage.instance,
        "--",
        "sh",
        "-c",
    ]);
    let outcome = remit::output(run.arg("echo done > file; cat file")).expect_code(0);
    assert_eq!(outcome.stdout, "done\n");
}

#[test]
fn a_policy_with_errors_is_shown_and_nothing_runs() {
    let stage = Stage::new("broken");
    fs::write(
        stage.path("small.remit"),
        "policy \"x\" { filesystem { alow read \"/usr\" } }\n",
    )
    .expect("written");
    let outcome = remit::output(&mut stage.run(&[], &["touch", "ran"])).expect_code(125);
    assert!(
        outcome.stderr.contains("R0108") && outcome.stderr.contains("has errors"),
        "{}",
        outcome.stderr
    );
    assert!(!stage.path("work/ran").exists());
}

#[test]
fn another_user_is_told_what_is_needed() {
    let stage = Stage::new("user");
    let binary = stage.path("remit");
    fs::copy(env!("CARGO_BIN_EXE_remit"), &binary).expect("copied");
    for command in [
        &["run", "small.remit", "--", "true"][..],
        &["recover"],
        &["unload"],
    ] {
        let mut as_nobody = Command::new("setpriv");
        as_nobody
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&binary)
            .args(command);
        let outcome = remit::Outcome::from(
            as_nobody
                .current_dir(stage.folder.path())
                .output()
                .expect("setpriv"),
        );
        let code = if command[0] == "run" { 125 } else { 1 };
        let outcome = outcome.expect_code(code);
        assert!(outcome.stderr.contains("needs root"), "{}", outcome.stderr);
    }
    let mut as_nobody = Command::new("setpriv");
    as_nobody
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&binary)
        .args(["check", "small.remit"]);
    remit::Outcome::from(
        as_nobody
            .current_dir(stage.folder.path())
            .output()
            .expect("setpriv"),
    )
    .expect_code(0);
}

#[test]
fn the_directory_option_is_where_the_command_starts_and_paths_begin() {
    let stage = Stage::new("directory");
    let mut run = remit::remit();
    run.current_dir("/")
        .arg("run")
        .arg(stage.path("small.remit"))
        .args(["--instance", &stage.instance]);
    run.arg("-C")
        .arg(stage.path("work"))
        .args(["--", "sh", "-c", "pwd; echo x > here"]);
    let outcome = remit::output(&mut run).expect_code(0);
    assert_eq!(
        outcome.stdout.trim(),
        stage.path("work").to_str().expect("a path")
    );
    assert!(stage.path("work/here").exists());
}

#[test]
fn a_network_namespace_that_hears_no_audit_records_is_refused_before_anything_runs() {
    let stage = Stage::new("netns");
    let run = stage.run(&[], &["touch", "ran"]);
    let mut elsewhere = Command::new("unshare");
    elsewhere.arg("--net").arg(run.get_program()).args(run.get_args());
    elsewhere.current_dir(stage.path("work"));
    let outcome = remit::output(&mut elsewhere).expect_code(125);
    assert!(outcome.stderr.contains("network namespace"), "{}", outcome.stderr);
    assert!(!stage.path("work/ran").exists());
}
