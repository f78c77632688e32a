//! Refusals by Landlock and seccomp on the real kernel arrive as events, and nothing is lost silently.
#![allow(unsafe_code, reason = "a child is confined between fork and exec")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a failed step fails the test"
)]

#[path = "audit_support/confined.rs"]
mod confined;

use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use enforcer::audit::record::{Body, DomainStatus};
use enforcer::audit::{AuditStream, Batch, Status};

use confined::{OwnInstance, Recording, of_kind, policy, spawn};

fn perl(script: &str) -> Command {
    let mut command = Command::new("/usr/bin/perl");
    command
        .env_clear()
        .arg("-e")
        .arg(script)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn a_refused_file_arrives_with_its_path_rule_and_process() {
    let instance = OwnInstance::new("file");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a \"b\"\n\u{e9}");
    std::fs::write(&path, "secret").unwrap();
    let mut recording = Recording::start(&instance.0, policy(folder.path().to_str().unwrap()));
    let mut child = spawn(
        Command::new("/bin/cat")
            .env_clear()
            .arg(&path)
            .stderr(Stdio::null()),
    );
    recording.adopt(&child);
    assert!(!child.wait().unwrap().success());

    let (lines, receipt) = recording.finish();
    let files = of_kind(&lines, "file");
    assert_eq!(files.len(), 1, "{lines:#?}");
    let event = files[0];
    assert_eq!(
        event["details"]["path"].as_str().unwrap().as_bytes(),
        path.as_os_str().as_bytes()
    );
    assert_eq!(event["details"]["access"], serde_json::json!(["read"]));
    assert_eq!(event["details"]["blockers"], serde_json::json!(["fs.read_file"]));
    assert_eq!(event["effect"], "deny");
    assert_eq!(event["rule"]["location"], "test.remit:10:5");
    assert_eq!(event["because"], "it is private");
    assert_eq!(event["mechanism"], "landlock-fs");
    assert_eq!(event["process"]["pid"], child.id());
    assert_eq!(event["process"]["exact"], true);
    assert_eq!(receipt.landlock_denials, Some(1));
    assert_eq!((receipt.refusals, receipt.lost), (1, 0));
}

#[test]
fn a_refused_call_arrives_with_its_name_rule_and_process() {
    let instance = OwnInstance::new("call");
    let mut recording = Recording::start(&instance.0, policy("/nothing"));
    let script = format!(
        "exit(syscall({}, 0, 0, 0, 0) == -1 && $!{{EPERM}} ? 7 : 1)",
        libc::SYS_ptrace
    );
    let mut child = spawn(perl(&format!("use Errno; {script}")).arg("a secret argument"));
    recording.adopt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(7));

    let (lines, receipt) = recording.finish();
    let calls = of_kind(&lines, "syscall");
    assert_eq!(calls.len(), 1, "{lines:#?}");
    let event = calls[0];
    assert_eq!(event["details"]["name"], "ptrace");
    assert_eq!(event["details"]["action"], "errno");
    assert_eq!(event["effect"], "forbid");
    assert_eq!(event["because"], "nobody traces");
    assert_eq!(event["mechanism"], "seccomp");
    assert_eq!(event["process"]["pid"], child.id());
    assert_eq!(event["process"]["comm"], "perl");
    assert_eq!(event["process"]["exact"], true);
    assert_eq!(receipt.lost, 0);
    assert!(
        !lines
            .iter()
            .any(|line| line.to_string().contains("a secret argument"))
    );
}

#[test]
fn refused_ports_signals_and_domains_of_the_runs_own_are_told_apart() {
    let instance = OwnInstance::new("kinds");
    let mut recording = Recording::start(&instance.0, policy("/nothing"));
    let parent = std::process::id();
    let script = format!(
        r#"use Socket;
        socket(my $s, PF_INET, SOCK_STREAM, 0) or exit 2;
        connect($s, sockaddr_in(9, inet_aton("127.0.0.1"))) and exit 3;
        bind($s, sockaddr_in(4242, inet_aton("127.0.0.1"))) and exit 4;
        kill(0, {parent}) and exit 5;
        my $right = pack("Q", 4);
        my $rules = syscall({create}, $right, 8, 0);
        $rules >= 0 or exit 6;
        syscall({restrict}, $rules, 0) == 0 or exit 7;
        open(my $f, "<", "/usr/bin/perl") and exit 8;
        exit 0;"#,
        create = libc::SYS_landlock_create_ruleset,
        restrict = libc::SYS_landlock_restrict_self,
    );
    let mut child = spawn(&mut perl(&script));
    recording.adopt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let (lines, receipt) = recording.finish();
    let network = of_kind(&lines, "network");
    assert_eq!(network.len(), 2, "{lines:#?}");
    assert_eq!(network[0]["details"]["verb"], "connect");
    assert_eq!(network[0]["details"]["address"], "127.0.0.1");
    assert_eq!(network[0]["details"]["port"], 9);
    assert_eq!(network[1]["details"]["verb"], "bind");
    assert_eq!(network[1]["details"]["port"], 4242);
    assert_eq!(network[1]["mechanism"], "landlock-net");
    let scope = of_kind(&lines, "scope");
    assert_eq!(scope.len(), 1, "{lines:#?}");
    assert_eq!(scope[0]["details"]["target_pid"], parent);
    assert_eq!(scope[0]["rule"]["id"], 0);
    let files = of_kind(&lines, "file");
    assert_eq!(files.len(), 1, "{lines:#?}");
    assert!(
        files[0]["rule"].is_null(),
        "a domain of the run's own decides nothing for the policy"
    );
    assert_eq!(network[0]["process"]["ancestry"][0]["comm"], "remit-launch");
    let of_policy = lines
        .iter()
        .filter(|line| line["effect"] == "deny" && !line["rule"].is_null())
        .count();
    assert_eq!(receipt.landlock_denials, u64::try_from(of_policy).ok());
    assert_eq!(receipt.lost, 0);
}

#[test]
fn a_burst_of_twenty_thousand_refusals_arrives_or_is_counted() {
    const BURST: u64 = 20_000;
    let instance = OwnInstance::new("burst");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    std::fs::write(&path, "secret").unwrap();
    let mut recording = Recording::start(&instance.0, policy(folder.path().to_str().unwrap()));
    let script = format!(
        "for (1..{BURST}) {{ open(my $f, '<', '{}') and exit 1 }}",
        path.display()
    );
    let mut child = spawn(&mut perl(&script));
    recording.adopt(&child);
    let mut batch = Batch::default();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let soon = std::time::Instant::now() + std::time::Duration::from_millis(5);
        if recording.stream.wait(soon).unwrap() {
            recording.stream.read(&mut batch).unwrap();
            recording.evidence.on_audit(&batch).unwrap();
        }
    };
    assert!(status.success());

    let (lines, receipt) = recording.finish();
    let arrived = of_kind(&lines, "file")
        .into_iter()
        .filter(|line| line["details"]["path"] == *path.to_str().unwrap());
    let arrived = u64::try_from(arrived.count()).unwrap();
    println!(
        "{arrived} of {BURST} arrived, lost: {:?}",
        of_kind(&lines, "loss")
            .iter()
            .map(|line| line["details"].to_string())
            .collect::<Vec<_>>()
    );
    assert!(receipt.landlock_denials.is_some_and(|denials| denials >= BURST));
    assert!(arrived + receipt.lost >= BURST);
    assert!(arrived > 0);
    let shown: u64 = of_kind(&lines, "loss")
        .iter()
        .map(|line| line["details"]["count"].as_u64().unwrap())
        .sum();
    assert_eq!(shown, receipt.lost);
}

#[test]
fn everything_refused_before_a_barrier_has_arrived_when_it_comes_back() {
    let instance = OwnInstance::new("barrier");
    let mut recording = Recording::start(&instance.0, policy("/nothing"));
    for round in 1..=50 {
        let mut child = spawn(
            Command::new("/bin/cat")
                .arg("/etc/hostname")
                .stderr(Stdio::null()),
        );
        assert!(!child.wait().unwrap().success());
        let mut domains = 0;
        recording
            .stream
            .finish(std::time::Duration::from_secs(10), |batch| {
                domains += batch
                    .records
                    .iter()
                    .filter(|record| match &record.body {
                        Body::Domain(domain) => {
                            matches!(domain.status, DomainStatus::Allocated { pid, .. } if pid == child.id())
                        }
                        _ => false,
                    })
                    .count();
            })
            .unwrap();
        assert_eq!(domains, 1, "round {round}");
    }
}

#[test]
fn audit_settings_are_put_back_by_the_last_instance_that_needs_them() {
    let before = enforcer::audit::status().unwrap();
    let first = OwnInstance::new("first");
    let second = OwnInstance::new("second");
    let opened = [&first, &second].map(|instance| AuditStream::open(&instance.0).unwrap());
    let during = enforcer::audit::status().unwrap();
    assert_eq!((during.enabled, during.backlog_wait_time), (1, 0));
    assert!(during.backlog_limit >= 8_192);
    drop(opened);

    enforcer::audit::restore(&first.0).unwrap();
    assert_eq!(
        enforcer::audit::status().unwrap().enabled,
        1,
        "the second instance still needs it"
    );
    enforcer::audit::restore(&second.0).unwrap();
    let settings = |status: Status| (status.enabled, status.backlog_limit, status.backlog_wait_time);
    let others = std::fs::read_dir("/run/remit.audit/instances").map_or(0, Iterator::count);
    let after = enforcer::audit::status().unwrap();
    if others == 0 {
        assert_ne!(
            after.enabled, 1,
            "nothing needs audit now, and it was off on this host before"
        );
    } else {
        assert_eq!(
            settings(after),
            settings(during),
            "{others} other instances need it; before: {before:?}"
        );
    }
}

#[test]
fn opening_again_asks_for_the_status_and_changes_nothing() {
    let instance = OwnInstance::new("again");
    let first = AuditStream::open(&instance.0).unwrap();
    let claim = std::path::Path::new("/run/remit.audit/instances").join(instance.0.name());
    let made = std::fs::metadata(&claim).unwrap().modified().unwrap();
    let mut times: Vec<_> = (0..200)
        .map(|_| {
            let start = std::time::Instant::now();
            drop(AuditStream::open(&instance.0).unwrap());
            start.elapsed()
        })
        .collect();
    times.sort();
    drop(first);
    println!("median {:?}, worst {:?}", times[100], times[199]);
    assert_eq!(std::fs::metadata(&claim).unwrap().modified().unwrap(), made);
}
