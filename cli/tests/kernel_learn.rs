//! What `remit learn` proposes is what the command needs, stays within the ceiling, and then suffices. Case L7.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::path::Path;
use std::process::Command;

use host::{Host, host};

/// `remit learn` in the workspace.
fn learn(host: &Host, options: &[&str], command: &[&str]) -> Command {
    let mut learn = remit::remit();
    learn
        .current_dir(host.work())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", host.beside("home"))
        .args(["learn", "--instance", host.instance()])
        .args(options)
        .arg("--")
        .args(command);
    learn
}

fn written(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a policy")
}

#[test]
fn a_learned_policy_suffices_and_grants_what_was_asked_for() {
    let Some(host) = host("learn", &[]) else { return };
    host.file("input", "needed\n");
    let learned = host.beside("learned.remit");
    let options = ["-o", learned.to_str().expect("UTF-8")];
    let script = "cat input && echo done > output";
    let outcome = remit::output(&mut learn(&host, &options, &["/bin/sh", "-c", script])).expect_code(0);
    assert!(
        outcome.stderr.contains("round 1: exit code"),
        "{}",
        outcome.stderr
    );
    let text = written(&learned);
    assert!(text.contains("allow read, write \".\""), "{text}");
    assert!(!text.contains("within"), "{text}");
    let checked = remit::output(remit::remit().current_dir(host.work()).arg("check").arg(&learned));
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    let formatted = remit::output(remit::remit().args(["fmt", "--check"]).arg(&learned));
    assert_eq!(formatted.code, Some(0), "{}", formatted.stdout);
    // Not more than that.
    let other = host.beside("other");
    std::fs::write(&other, "not asked for\n").expect("a file");
    let outcome = host.sh(&learned, &format!("{script}; cat {}", other.display()));
    assert_eq!(outcome.stdout, "needed\n", "{}", outcome.stderr);
}

#[test]
fn a_ceiling_bounds_what_is_learned_and_stays_in_the_policy() {
    let Some(host) = host("learn-ceiling", &[]) else {
        return;
    };
    host.file("input", "needed\n");
    let outside = host.beside("outside");
    std::fs::write(&outside, "not yours\n").expect("a file");
    let ceiling = host.beside("ceiling.remit");
    let text = format!(
        r#"policy "ceiling" {{
            use std::linux
            filesystem {{ allow read "{}" }}
            credentials {{ pass "*" }}
            process {{ allow syscall @system-service }}
        }}"#,
        host.work().display()
    );
    std::fs::write(&ceiling, text).expect("a ceiling");
    let learned = host.beside("learned.remit");
    let options = [
        "--within",
        ceiling.to_str().expect("UTF-8"),
        "-o",
        learned.to_str().expect("UTF-8"),
    ];
    let script = format!("cat input; cat {} || true", outside.display());
    let outcome = remit::output(&mut learn(&host, &options, &["/bin/sh", "-c", &script])).expect_code(0);
    let text = written(&learned);
    assert!(text.contains("\"ceiling.remit\""), "{text}");
    assert!(text.contains("allow read \".\""), "{text}");
    assert!(!text.contains("outside"), "{text}");
    let left = format!("not proposed: read {}", outside.display());
    assert!(outcome.stderr.contains(&left), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("the ceiling \"ceiling\""),
        "{}",
        outcome.stderr
    );
}

#[test]
fn secrets_are_listed_and_not_proposed() {
    let Some(host) = host("learn-secret", &[]) else {
        return;
    };
    let key = host.beside("home/.ssh/id_ed25519");
    std::fs::create_dir_all(key.parent().expect("a folder")).expect("folders");
    std::fs::write(&key, "key").expect("a key");
    let command = ["/bin/sh", "-c", "cat ~/.ssh/id_ed25519; exit 0"];
    let outcome = remit::output(&mut learn(&host, &[], &command)).expect_code(0);
    assert!(!outcome.stdout.contains(".ssh"), "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("not proposed: read"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn addresses_and_calls_are_learned_one_by_one() {
    let Some(host) = host("learn-network", &[]) else {
        return;
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let script = format!(
        "import ctypes, socket\nsocket.create_connection(('127.0.0.1', {port}))\n\
         assert ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0\n"
    );
    host.file("probe.py", &script);
    let outcome = remit::output(&mut learn(&host, &[], &["/usr/bin/python3", "probe.py"])).expect_code(0);
    let rule = format!("allow connect tcp \"127.0.0.1:{port}\"");
    assert!(
        outcome.stdout.contains(&rule),
        "{}\n{}",
        outcome.stdout,
        outcome.stderr
    );
    assert!(
        outcome.stdout.contains("allow syscall \"ptrace\""),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_policy_is_extended_in_place_with_its_comments() {
    let Some(host) = host("learn-extend", &[]) else {
        return;
    };
    let extra = host.beside("extra");
    std::fs::write(&extra, "more\n").expect("a file");
    let policy = host.policy("// why the workspace is granted\n", "");
    let mut learn = remit::remit();
    learn
        .current_dir(host.work())
        .args(["learn", "--instance", host.instance()])
        .arg(&policy)
        .arg("--")
        .args(["/bin/cat", extra.to_str().expect("UTF-8")]);
    let outcome = remit::output(&mut learn).expect_code(0);
    assert!(
        outcome.stdout.contains("// why the workspace is granted"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stdout
            .contains(&format!("allow read \"{}\"", extra.display())),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_ceiling_that_grants_less_than_the_system_group_is_learned_up_to() {
    let Some(host) = host("learn-narrow", &[]) else {
        return;
    };
    host.file("input", "needed\n");
    let ceiling = host.beside("narrow.remit");
    let text = format!(
        r#"policy "narrow" {{
            filesystem {{
                allow read, execute "/usr/bin", "/usr/lib", "/usr/lib64", "/lib64"
                allow read "{}", "/etc/ld.so.cache"
            }}
            credentials {{ pass "*" }}
            process {{ allow syscall @system-service }}
        }}"#,
        host.work().display()
    );
    std::fs::write(&ceiling, text).expect("a ceiling");
    let options = ["--within", ceiling.to_str().expect("UTF-8")];
    let outcome = remit::output(&mut learn(&host, &options, &["/bin/cat", "input"])).expect_code(0);
    assert!(!outcome.stdout.contains("use std::linux"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("execute"), "{}", outcome.stdout);
}
