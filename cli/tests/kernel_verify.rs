//! `remit verify` on the real kernel: what holds is proved, what does not is found, and nothing is left of it.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::path::Path;
use std::process::Command;

use host::{Host, eventually, host};
use rustix::process::Signal;
use serde_json::Value;

fn verify(host: &Host, policy: &Path) -> Command {
    let mut command = remit::remit();
    command
        .current_dir(host.work())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LANG", "C")
        .arg("verify")
        .arg(policy);
    command
}

/// What a verification of this process would leave.
fn assert_nothing_is_left(pid: u32) {
    let name = format!("verify-{pid}");
    for place in ["/run/", "/var/tmp/remit-", "/sys/fs/cgroup/"] {
        let path = format!("{place}{name}");
        assert!(!Path::new(&path).exists(), "{path} is left");
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
    assert!(!mounts.contains(&name), "a mount is left:\n{mounts}");
    assert_eq!(host::processes(&name), 0, "a process is left");
}

fn probe<'a>(report: &'a Value, name: &str) -> &'a Value {
    let probes = report["body"]["probes"].as_array().expect("probes");
    let found = probes.iter().find(|probe| probe["name"] == name);
    found.unwrap_or_else(|| panic!("no probe {name} in {report:#}"))
}

#[test]
fn the_quickstart_is_proved_and_the_report_says_of_what() {
    let Some(host) = host("verify-quickstart", &[]) else {
        return;
    };
    let policy = remit::root().join("examples/quickstart/policy.remit");
    let file = host.beside("verified.json");
    let mut command = verify(&host, &policy);
    let outcome = remit::output(command.arg("--report").arg(&file)).expect_code(0);
    assert!(outcome.stdout.contains("verified: "), "{}", outcome.stdout);
    let text = fs::read_to_string(&file).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["body"]["ok"], true);
    for (name, outcome, mechanism) in [
        ("read-outside", "EACCES", "landlock-fs"),
        ("write-other-run", "EACCES", "landlock-fs"),
        ("metadata:169.254.169.254", "EACCES", "landlock-net"),
        ("udp", "EPERM", "cgroup-bpf"),
        ("socket:raw-ipv4", "EPERM", "seccomp"),
        ("floor:bpf", "EPERM", "seccomp"),
        ("group:@debug", "EPERM", "seccomp"),
        ("processes", "ENOENT", "pid-namespace"),
        ("signals", "ESRCH", "pid-namespace"),
    ] {
        let probe = probe(&report, name);
        assert_eq!(probe["verdict"], "proved", "{probe:#}");
        assert_eq!(
            (&probe["outcome"], &probe["mechanism"]),
            (&outcome.into(), &mechanism.into())
        );
    }
    assert!(
        probe(&report, "test:one port and nothing else:4")["rule"]
            .as_str()
            .expect("a rule")
            .contains("10.0.0.0/8")
    );
    // A digest that anybody can check.
    let body = serde_json::from_str::<Value>(&text).expect("JSON")["body"].to_string();
    assert!(body.len() > 1000);
    assert!(
        report["digest"]
            .as_str()
            .expect("a digest")
            .starts_with("sha256:")
    );
}

#[test]
fn a_control_that_is_missing_is_found() {
    let Some(host) = host("verify-missing", &[]) else {
        return;
    };
    // The line says what nothing in the policy does.
    let secret = host.file("secret", "s");
    host::set_mode(&secret, 0o644);
    let policy = host.policy(
        "",
        &format!(
            "}}\ntest \"secrets\" {{\n read \"{}\" is denied",
            secret.display()
        ),
    );
    let mut command = verify(&host, &policy);
    let outcome = remit::output(command.args(["--only", "test:", "--format", "json"])).expect_code(1);
    let report = outcome.json();
    let probe = probe(&report, "test:secrets:1");
    assert_eq!(probe["verdict"], "failed");
    assert!(
        probe["why"]
            .as_str()
            .expect("why")
            .contains("the model says otherwise"),
        "{probe:#}"
    );
}

/// A glob is matched when a run starts. The policy permits that, and says in a test what then does not hold.
#[test]
fn a_control_that_does_not_hold_on_this_host_is_found() {
    let Some(host) = host("verify-broken", &[]) else {
        return;
    };
    host.file("sub/other", "");
    host::set_mode(&host.work(), 0o777);
    host::set_mode(&host.work().join("sub"), 0o777);
    let work = host.work().display().to_string();
    let policy = host.policy(
        &format!("deny write \"{work}/**/.env\" because \"secrets are brokered\" permit degraded"),
        &format!("}}\ntest \"secrets\" {{\n write \"{work}/sub/.env\" is denied"),
    );
    let mut command = verify(&host, &policy);
    let outcome = remit::output(command.args(["--only", "test:", "--format", "json"])).expect_code(1);
    let report = outcome.json();
    let probe = probe(&report, "test:secrets:1");
    assert_eq!(probe["verdict"], "failed");
    let why = probe["why"].as_str().expect("why");
    assert!(why.contains("it could be done"), "{probe:#}");
    assert!(!host.work().join("sub/.env").exists(), "what was made is left");
}

#[test]
fn what_is_not_there_is_not_proved() {
    let Some(host) = host("verify-absent", &[]) else {
        return;
    };
    let policy = host.policy(
        "",
        "}\ntest \"absent\" {\n read \"/srv/remit-no-such-file\" is denied",
    );
    let mut command = verify(&host, &policy);
    let outcome = remit::output(command.args(["--only", "test:", "--format", "json"])).expect_code(2);
    let report = outcome.json();
    assert_eq!(probe(&report, "test:absent:1")["verdict"], "not-proved");
}

#[test]
fn what_the_policy_grants_is_no_boundary() {
    let Some(host) = host("verify-granted", &[]) else {
        return;
    };
    let policy = host.policy("", "network { allow connect tcp \"203.0.113.0/24:443\" }");
    let mut command = verify(&host, &policy);
    let outcome = remit::output(command.args(["--only", "production", "--format", "json"])).expect_code(0);
    let report = outcome.json();
    // Another address is chosen, which nothing grants, and the granted one is the control.
    let production = probe(&report, "production");
    assert_eq!(production["verdict"], "proved", "{production:#}");
    assert_eq!(production["control"], "done");
}

#[test]
fn a_policy_that_allows_nothing_is_proved_with_what_the_prober_needs() {
    let Some(host) = host("verify-empty", &[]) else {
        return;
    };
    let policy = host.beside("empty.remit");
    fs::write(&policy, "policy \"empty\" { }\n").expect("a policy");
    let mut command = verify(&host, &policy);
    let outcome = remit::output(command.args(["--only", "read-", "--only", "group:", "--format", "json"]));
    let report = outcome.expect_code(0).json();
    let added = report["body"]["policy"]["added"].as_array().expect("additions");
    assert!(
        added
            .iter()
            .any(|one| one.as_str().is_some_and(|one| one.contains("execute")))
    );
}

#[test]
fn an_interrupt_leaves_nothing() {
    let Some(host) = host("verify-interrupted", &[]) else {
        return;
    };
    let policy = remit::root().join("examples/quickstart/policy.remit");
    let mut command = verify(&host, &policy);
    let child = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("remit starts");
    let pid = child.id();
    let running = host::Running(child);
    let runs = format!("/run/verify-{pid}/runs");
    eventually("a run of it", || {
        fs::read_dir(&runs).is_ok_and(|mut runs| runs.next().is_some())
    });
    running.signal(Signal::TERM);
    assert_eq!(running.code(), Some(2));
    assert_nothing_is_left(pid);
}

#[test]
fn the_list_needs_no_privilege_and_touches_nothing() {
    let Some(host) = host("verify-list", &[]) else {
        return;
    };
    let policy = remit::root().join("examples/quickstart/policy.remit");
    let outcome = remit::output(verify(&host, &policy).arg("--list")).expect_code(0);
    let names: Vec<&str> = outcome.stdout.lines().collect();
    for name in [
        "read-outside",
        "persistence",
        "floor:mounts",
        "test:secrets stay home:1",
    ] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "a name is there twice");
}

#[test]
fn what_a_killed_one_left_the_next_removes() {
    let Some(host) = host("verify-killed", &[]) else {
        return;
    };
    let policy = remit::root().join("examples/quickstart/policy.remit");
    let mut command = verify(&host, &policy);
    let child = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("remit starts");
    let pid = child.id();
    let running = host::Running(child);
    let runs = format!("/run/verify-{pid}/runs");
    eventually("a run of it", || {
        fs::read_dir(&runs).is_ok_and(|mut runs| runs.next().is_some())
    });
    running.signal(Signal::KILL);
    assert_eq!(running.code(), None);
    eventually("the end of its probers", || {
        host::processes(&format!("verify-{pid}")) == 0
    });
    let mut next = verify(&host, &policy);
    remit::output(next.args(["--only", "environment"])).expect_code(0);
    assert_nothing_is_left(pid);
}

#[test]
fn a_policy_beneath_a_ceiling_is_flipped_in_every_layer() {
    let Some(host) = host("verify-ceiling", &[]) else {
        return;
    };
    let ceiling = r#"policy "ceiling" {
        filesystem { allow read, execute "/usr" allow read, write "/var/tmp" forbid read "/usr/share" }
        process { allow syscall @system-service }
    }"#;
    fs::write(host.beside("ceiling.remit"), ceiling).expect("a ceiling");
    let policy = host.beside("inner.remit");
    let inner = r#"policy "inner" {
        within "ceiling.remit"
        filesystem { allow read, execute "/usr" }
        process { allow syscall @system-service }
    }
    test "shared" { read "/usr/share" is denied  read "/usr/bin/env" is allowed }"#;
    fs::write(&policy, inner).expect("a policy");
    let mut command = verify(&host, &policy);
    command.args(["--only", "test:", "--only", "production", "--format", "json"]);
    let report = remit::output(&mut command).expect_code(0).json();
    let probe = probe(&report, "test:shared:1");
    assert_eq!(probe["flipped"], "done");
    let flip = probe["flip"].to_string();
    assert!(flip.contains("without `forbid read"), "{flip}");
}
