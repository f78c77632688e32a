//! Limits on the real kernel: case P6 and the other resources.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use enforcer::capabilities::Capability;
use host::host;

fn limits(limits: &str) -> String {
    format!("process {{ allow syscall @system-service limit {limits} }}")
}

#[test]
fn a_fork_bomb_meets_eagain_and_nobody_outside_notices() {
    let Some(host) = host("p6", &[Capability::PidsController]) else {
        return;
    };
    let script = r#"
import os, time, errno
children = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        children += 1
except OSError as e:
    print(errno.errorcode[e.errno], children)
"#;
    let policy = host.policy("", &limits("processes 64"));
    let outcome = host
        .run(&policy, &["/usr/bin/python3", "-c", script])
        .expect_code(0);
    assert_eq!(outcome.stdout, "EAGAIN 63\n");
    assert_eq!(host.leftovers(), Vec::<String>::new());
}

#[test]
fn memory_beyond_the_limit_is_not_given() {
    let Some(host) = host("memory", &[Capability::MemoryController]) else {
        return;
    };
    let policy = host.policy("", &limits("memory 64MiB"));
    let script = "x = bytearray(200 << 20); print(len(x))";
    let outcome = host.run(&policy, &["/usr/bin/python3", "-c", script]);
    assert_eq!(outcome.code, Some(137), "{}", outcome.stdout);
    let outcome = host.run(
        &policy,
        &["/usr/bin/python3", "-c", "x = bytearray(20 << 20); print(len(x))"],
    );
    assert_eq!(outcome.stdout, format!("{}\n", 20 << 20));
}

#[test]
fn open_files_and_cpu_are_limited() {
    let Some(host) = host("files", &[Capability::CpuController]) else {
        return;
    };
    let policy = host.policy("", &limits("open-files 64, cpu 50%"));
    let outcome = host.sh(&policy, "ulimit -Hn; ulimit -n").expect_code(0);
    assert_eq!(outcome.stdout, "64\n64\n");
    let burn = "import time\nend = time.monotonic() + 1.0\nwhile time.monotonic() < end: pass\nprint(time.process_time())";
    let outcome = host
        .run(&policy, &["/usr/bin/python3", "-c", burn])
        .expect_code(0);
    let used: f64 = outcome.stdout.trim().parse().expect("seconds");
    assert!(used < 0.75, "{used} s of CPU time in one second");
}
