//! Nothing outlives its enforcement: kill -9 of the supervisor at any instant, then recovery.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::time::Duration;

use enforcer::capabilities::Capability;
use host::{Host, eventually, host, processes};
use rustix::process::Signal;

/// A policy that uses everything that could be left: masks, mapped owners, private mounts, version 1 cgroups.
fn everything(host: &Host) -> std::path::PathBuf {
    host.file("hidden/key", "secret");
    let rules = format!(
        "deny read \"{}\"\nscratch \"/tmp\" 1MiB",
        host.work().join("hidden").display()
    );
    host.policy(
        &rules,
        "process { allow syscall @system-service limit processes 64, open-files 128 }",
    )
}

/// The host's mounts, without the pins of other tests' instances.
fn mounts_but_bpf() -> Vec<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
    mounts
        .lines()
        .filter(|line| !line.contains(" - bpf "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn killing_the_supervisor_at_any_instant_leaves_nothing_after_recovery() {
    let Some(host) = host("kill", &[Capability::UserNamespace]) else {
        return;
    };
    let policy = everything(&host);
    host.sh(&policy, "true").expect_code(0);
    let mounts = mounts_but_bpf();
    // A start takes some milliseconds; steps of a fraction of one meet every part of it, and the run itself.
    for attempt in 0..60u32 {
        let running = host.start(&policy, &["/bin/sleep", "7004"]);
        std::thread::sleep(Duration::from_micros(u64::from(attempt) * 700));
        running.signal(Signal::KILL);
        drop(running);
        eventually("the run dies with its supervisor", || processes("7004") == 0);
        if attempt % 7 == 0 {
            host.recover();
            assert_eq!(host.leftovers(), Vec::<String>::new(), "after {attempt}");
        }
    }
    host.recover();
    assert_eq!(host.leftovers(), Vec::<String>::new());
    assert_eq!(mounts_but_bpf(), mounts);
    host.sh(&policy, "cat hidden/key; true").expect_code(0);
}

#[test]
fn the_next_start_finishes_what_a_dead_supervisor_left() {
    let Some(host) = host("next", &[]) else { return };
    let policy = everything(&host);
    let running = host.start(&policy, &["/bin/sh", "-c", "touch begun; exec sleep 7005"]);
    eventually("it runs", || host.work().join("begun").exists());
    assert_eq!(host.leftovers().len(), 3, "{:?}", host.leftovers());
    running.signal(Signal::KILL);
    drop(running);
    eventually("the run dies", || processes("7005") == 0);
    host.sh(&policy, "true").expect_code(0);
    assert_eq!(host.leftovers(), Vec::<String>::new());
}

#[test]
fn a_termination_signal_at_any_instant_ends_the_run_cleanly() {
    let Some(host) = host("term", &[]) else { return };
    let policy = everything(&host);
    host.sh(&policy, "true").expect_code(0);
    for attempt in 0..40u32 {
        let running = host.start(&policy, &["/bin/sleep", "7006"]);
        std::thread::sleep(Duration::from_micros(u64::from(attempt) * 500));
        running.signal(Signal::TERM);
        let code = running.code();
        // Before the supervisor takes signals over, it dies of it like any program.
        assert!(matches!(code, Some(143) | None), "{code:?} after {attempt}");
        assert_eq!(processes("7006"), 0, "after {attempt}");
    }
    host.recover();
    assert_eq!(host.leftovers(), Vec::<String>::new());
}

#[test]
fn recovery_and_unload_leave_living_runs_alone() {
    let Some(host) = host("alive", &[]) else { return };
    let policy = host.policy("", "");
    let running = host.start(
        &policy,
        &[
            "/bin/sh",
            "-c",
            "touch begun; while [ ! -e end ]; do sleep 0.05; done; exit 9",
        ],
    );
    eventually("it runs", || host.work().join("begun").exists());
    host.recover();
    let refused = remit::output(remit::remit().args(["unload", "--instance", host.instance()]));
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("alive"), "{}", refused.stderr);
    std::fs::write(host.work().join("end"), "").expect("a file");
    assert_eq!(running.code(), Some(9));
}

#[test]
fn a_run_that_ends_leaves_no_descriptor_mount_or_cgroup() {
    let Some(host) = host("leaks", &[]) else { return };
    let policy = everything(&host);
    host.sh(&policy, "true").expect_code(0);
    let before = mounts_but_bpf();
    for _ in 0..5 {
        host.sh(&policy, "ls / >/dev/null; true").expect_code(0);
        host.run(&policy, &["no-such-program"]).expect_code(127);
    }
    assert_eq!(mounts_but_bpf(), before);
    assert_eq!(host.leftovers(), Vec::<String>::new());
}

#[test]
fn runs_at_the_same_time_do_not_meet() {
    let Some(host) = host("parallel", &[]) else { return };
    let policy = host.policy("", "");
    let all: Vec<_> = (0..4)
        .map(|number| {
            let script = format!("id -u > uid{number}; sleep 0.5; exit {number}");
            host.start(&policy, &["/bin/sh", "-c", &script])
        })
        .collect();
    let codes: Vec<_> = all.into_iter().map(host::Running::code).collect();
    assert_eq!(codes, (0..4).map(Some).collect::<Vec<_>>());
    let mut uids: Vec<_> = (0..4)
        .map(|number| std::fs::read_to_string(host.work().join(format!("uid{number}"))).expect("an id"))
        .collect();
    uids.sort();
    uids.dedup();
    assert_eq!(uids.len(), 4, "{uids:?}");
}
