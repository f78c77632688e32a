//! Runs beneath a ceiling, and runs of policies that say what no host carries out yet. Cases L3 and P9.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::path::PathBuf;

use host::{Host, host};
use serde_json::Value;

/// A policy in the workspace beneath a ceiling with these statements.
fn beneath(host: &Host, filesystem: &str, rest: &str, ceiling: &str) -> PathBuf {
    let policy = host.policy(filesystem, rest);
    let text = fs::read_to_string(&policy).expect("a policy");
    fs::write(&policy, text.replacen('{', "{ within \"org/base.remit\"\n", 1)).expect("written");
    fs::create_dir_all(host.beside("org")).expect("a directory");
    let ceiling = format!("policy \"baseline\" {{ {ceiling} }}");
    fs::write(host.beside("org/base.remit"), ceiling).expect("written");
    policy
}

/// What the tests need of a ceiling, with more statements in two of its blocks.
fn ceiling(filesystem: &str, credentials: &str) -> String {
    format!(
        "filesystem {{ allow read, write, execute \"/\"\n{filesystem} }} credentials {{ pass \"PATH\"\n{credentials} }}
         process {{ allow syscall @system-service }}"
    )
}

#[test]
fn a_refusal_by_a_ceiling_names_it_to_people_and_in_the_event() {
    let Some(host) = host("ceiling", &[]) else { return };
    host.file("shut/file", "x");
    host.file("open/file", "x");
    let shut = host.work().join("shut");
    let deny = format!(
        "deny read, write \"{}\" because \"kept for people\"",
        shut.display()
    );
    let policy = beneath(&host, "", "", &ceiling(&deny, ""));
    let outcome = host.sh(&policy, "cat open/file && ! cat shut/file");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("org/base.remit:2 (ceiling \"baseline\") deny read, write"),
        "{}",
        outcome.stderr
    );
    let events = host.events();
    let named =
        |event: &&Value| event["rule"]["ceiling"] == "baseline" && event["because"] == "kept for people";
    let event = events.iter().find(named).expect("a refusal by the ceiling");
    assert_eq!(event["effect"], "deny");
    assert!(
        event["rule"]["location"]
            .as_str()
            .is_some_and(|at| at.contains("org/base.remit:2:")),
        "{event}"
    );
}

#[test]
fn a_variable_passes_when_every_layer_passes_it() {
    let Some(host) = host("ceiling-environment", &[]) else {
        return;
    };
    let credentials =
        "credentials { pass \"LC_*\", \"TOKEN_A\", \"TOKEN_B\" deny pass \"LC_SECRET\" set \"CI\" = \"1\" }";
    let above = ceiling("", "pass \"*\" forbid pass \"*_A\" set \"CI\" = \"1\"");
    let policy = beneath(&host, "", "", &above);
    let text = fs::read_to_string(&policy).expect("a policy");
    fs::write(
        &policy,
        text.replacen("credentials { pass \"PATH\" }", credentials, 1),
    )
    .expect("written");
    let mut command = host.remit_run(&policy, &["/usr/bin/env"]);
    for name in ["LC_TIME", "LC_SECRET", "TOKEN_A", "TOKEN_B", "OTHER", "CI"] {
        command.env(name, "caller");
    }
    let outcome = remit::output(&mut command);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let mut lines: Vec<&str> = outcome.stdout.lines().collect();
    lines.retain(|line| !line.starts_with("LC_ALL=") && !line.starts_with("LC_CTYPE="));
    lines.sort_unstable();
    assert_eq!(lines, ["CI=1", "LC_TIME=caller", "TOKEN_B=caller"]);
}

#[test]
fn beneath_a_ceilings_scratch_a_run_finds_the_scratch() {
    let Some(host) = host("ceiling-scratch", &[]) else {
        return;
    };
    host.file("tmp/of-the-host", "x");
    let tmp = host.work().join("tmp");
    let scratch = format!("scratch \"{}\" 1MiB", tmp.display());
    let policy = beneath(&host, "", "", &ceiling(&scratch, ""));
    let outcome = host.sh(&policy, "ls tmp; echo y > tmp/made && cat tmp/made");
    assert_eq!(
        (outcome.code, outcome.stdout.as_str()),
        (Some(0), "y\n"),
        "{}",
        outcome.stderr
    );
    assert!(!tmp.join("made").exists());
    assert!(tmp.join("of-the-host").exists());
}

/// Statements, and words of the refusal.
const LATER: [(&str, &str, &str); 4] = [
    ("ask read \"{work}/asked\"", "", "approvals is missing"),
    ("hide \"{work}/hidden\"", "", "hidden names is missing"),
    (
        "",
        "network { allow connect tcp \"registry.example:443\"{degraded} }",
        "host names is missing",
    ),
    (
        "",
        "credentials { broker \"T\" for \"registry.example:443\" as bearer from env \"T\"{degraded} }",
        "credential broker is missing",
    ),
];

#[test]
fn what_no_host_carries_out_yet_is_refused_or_degraded_as_the_rule_permits() {
    let Some(host) = host("later", &[]) else { return };
    host.file("asked/file", "x");
    host.file("hidden/file", "x");
    let work = host.work().display().to_string();
    let policy = |(filesystem, rest, _): &(&str, &str, &str), degraded: &str| {
        let filesystem = match *filesystem {
            "" => String::new(),
            rule => format!("{rule}{degraded}").replace("{work}", &work),
        };
        host.policy(&filesystem, &rest.replace("{degraded}", degraded))
    };
    for later in &LATER {
        let outcome = host.sh(&policy(later, ""), "true");
        assert_ne!(outcome.code, Some(0), "{later:?}");
        assert!(outcome.stderr.contains(later.2), "{later:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("permit degraded"), "{}", outcome.stderr);

        let script = "test \"$(cat asked/file 2>/dev/null)$(cat hidden/file 2>/dev/null)\" = \"$1\"; echo $?";
        let seen = if later.0.is_empty() { "xx" } else { "x" };
        let outcome = host.run(
            &policy(later, " permit degraded"),
            &["/bin/sh", "-c", script, "sh", seen],
        );
        assert_eq!(outcome.stdout, "0\n", "{later:?}: {}", outcome.stderr);
        let degraded = host
            .events()
            .into_iter()
            .find(|event| event["kind"] == "degraded");
        let gap = degraded.expect("an event")["details"]["gap"].to_string();
        assert!(gap.contains(later.2), "{gap}");
    }
    let outcome = host.sh(&host.policy("", "audit { record read }"), "true");
    assert_ne!(outcome.code, Some(0));
    assert!(
        outcome
            .stderr
            .contains("`record read` cannot be carried out: file access records is missing"),
        "{}",
        outcome.stderr
    );
}
