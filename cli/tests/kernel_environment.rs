//! What a run inherits: its environment and its descriptors. Cases C1 and C5.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use host::host;

#[test]
fn the_environment_is_what_the_policy_says_and_no_process_shows_more() {
    let Some(host) = host("c1", &[]) else { return };
    let policy = host.policy("", "");
    let mut command = host.remit_run(
        &policy,
        &[
            "/bin/sh",
            "-c",
            "cat /proc/self/environ /proc/*/environ 2>/dev/null | tr '\\0' '\\n'",
        ],
    );
    command.env("AWS_SECRET_ACCESS_KEY", "very-secret-7e1");
    let outcome = remit::output(&mut command);
    assert!(
        outcome.stdout.contains("PATH=/usr/local/bin:/usr/bin:/bin"),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains("very-secret-7e1"), "{}", outcome.stdout);
    let mut names: Vec<&str> = outcome
        .stdout
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    names.dedup();
    // A shell exports its own PWD.
    assert!(
        names
            .iter()
            .all(|name| ["PATH", "PWD", "OLDPWD", "_", "SHLVL"].contains(name)),
        "{names:?}"
    );
}

#[test]
fn descriptors_of_the_caller_are_closed() {
    let Some(host) = host("c5", &[]) else { return };
    let secret = host.beside("secret");
    std::fs::write(&secret, "secret").expect("a file");
    let run = host.remit_run(
        &host.policy("", ""),
        &["/bin/sh", "-c", "ls /proc/self/fd | wc -l; ls /proc/1/fd 2>&1"],
    );
    // Opens the file under every number that a shell can name, and some more, then becomes remit.
    let script = "import os, sys\nfd = os.open(sys.argv[1], os.O_RDONLY)\nfor n in range(3, 1024):\n    os.dup2(fd, n)\nos.execv(sys.argv[2], sys.argv[2:])";
    let mut command = std::process::Command::new("/usr/bin/python3");
    command
        .arg("-c")
        .arg(script)
        .arg(&secret)
        .arg(run.get_program())
        .args(run.get_args());
    command.current_dir(host.work()).env("PATH", "/usr/bin:/bin");
    let outcome = remit::output(&mut command);
    // 0, 1, 2 and the listing itself.
    assert!(
        outcome.stdout.starts_with("4\n"),
        "{}\n{}",
        outcome.stdout,
        outcome.stderr
    );
    assert!(outcome.stdout.contains("Permission denied"), "{}", outcome.stdout);
}
