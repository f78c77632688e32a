//! `remit run --guardrails`: a policy that they deny, or do not judge, starts nothing.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::process::Stdio;

use host::{Host, host};

fn run(host: &Host, rego: &str) -> remit::Outcome {
    let folder = host.beside("guardrails");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("g.rego"), rego).expect("written");
    let policy = host.policy("", "");
    let mut command = remit::remit();
    command
        .current_dir(host.work())
        .env("PATH", "/usr/bin:/bin")
        .args(["run", "--instance", host.instance(), "--guardrails"])
        .arg(&folder)
        .arg(&policy)
        .args(["--", "/bin/sh", "-c", "echo started"])
        .stdin(Stdio::null());
    remit::output(&mut command)
}

#[test]
fn what_guardrails_deny_or_cannot_judge_is_not_started() {
    let Some(host) = host("guard", &[]) else { return };
    let passes = run(&host, "package g\ndeny contains \"never\" if false\n").expect_code(0);
    assert_eq!(passes.stdout, "started\n");
    let denied = run(
        &host,
        "package g\ndeny contains \"no summary\" if input.policy.summary == null\n",
    )
    .expect_code(125);
    assert_eq!(denied.stdout, "");
    assert!(denied.stderr.contains("no summary"), "{}", denied.stderr);
    let unjudged = run(&host, "package g\ndeny contains x if x := 1 / 0\n").expect_code(125);
    assert_eq!(unjudged.stdout, "");
    assert!(unjudged.stderr.contains("R0804"), "{}", unjudged.stderr);
    assert!(host.leftovers().is_empty(), "{:?}", host.leftovers());
}
