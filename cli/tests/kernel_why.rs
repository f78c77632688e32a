//! What `remit why` says and proposes, held against a run: what was refused by a rule is answered with that rule, and
//! with the proposed rules in the policy the same command works.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use host::{Host, host};
use serde_json::Value;

/// A file outside, a port, a call; one line each.
const TRY: &str = r#"
import ctypes, socket, sys
def attempt(name, act):
    try:
        act()
        print(name, "done")
    except OSError as error:
        print(name, "refused")
def trace():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
attempt("read", lambda: open(sys.argv[1]).read())
attempt("connect", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2]))))
attempt("ptrace", trace)
"#;

/// The answer for the first refusal that fits.
fn why(host: &Host, policy: &Path, fits: impl Fn(&Value) -> bool) -> (Value, Value) {
    let event = host
        .events()
        .into_iter()
        .find(|event| event["effect"] == "deny" && fits(event))
        .expect("it was refused");
    let position = format!("{}:{}", host.beside("events.jsonl").display(), event["seq"]);
    let answer = remit::output(
        remit::remit()
            .current_dir(host.work())
            .arg("why")
            .arg(policy)
            .args(["--event", &position, "--format", "json"]),
    );
    (event, answer.expect_code(0).json())
}

#[test]
fn with_the_proposed_rules_what_was_refused_works() {
    let Some(host) = host("why", &[]) else { return };
    let data = host.beside("data");
    fs::write(&data, "data").expect("written");
    host::set_mode(&data, 0o644);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("its address").port().to_string();
    let policy = host.policy("", "");
    let command = [
        "/usr/bin/python3",
        "-ISc",
        TRY,
        data.to_str().expect("UTF-8"),
        &port,
    ];

    let before = host.run(&policy, &command).expect_code(0);
    assert_eq!(before.stdout, "read refused\nconnect refused\nptrace refused\n");
    let path = data.to_str().expect("UTF-8");
    let port_number: u64 = port.parse().expect("a number");
    let refused: [&dyn Fn(&Value) -> bool; 3] = [
        &|event| event["details"]["path"] == path,
        &|event| event["details"]["port"] == port_number,
        &|event| event["details"]["name"] == "ptrace",
    ];
    let answers = refused.map(|fits| why(&host, &policy, fits));
    let mut rules = Vec::new();
    for (event, answer) in &answers {
        assert_eq!(answer["event"]["same_policy"], true, "{answer}");
        assert_eq!(
            answer["answers"][0]["decided_by"]["rule"], event["rule"]["id"],
            "{answer}"
        );
        let mechanisms = answer["answers"][0]["enforcement"]["mechanisms"]
            .as_array()
            .expect("a list");
        assert!(
            mechanisms
                .iter()
                .any(|one| one["mechanism"] == event["mechanism"]),
            "{answer}"
        );
        assert_eq!(answer["answers"][0]["enforcement"]["recorded"], "yes");
        assert_eq!(answer["proposal"]["outcome"], "rule", "{answer}");
        rules.push(answer["proposal"]["rule"].as_str().expect("a rule").to_owned());
    }
    assert_eq!(
        rules,
        [
            format!("allow read \"{}\"", data.display()),
            format!("allow connect tcp \"127.0.0.1:{port}\""),
            "allow syscall \"ptrace\"".to_owned(),
        ]
    );

    // One after the other, each put where it was proposed to stand.
    for fits in refused {
        let (_, answer) = why(&host, &policy, fits);
        let text = answer["proposal"]["text"].as_str().expect("a text");
        fs::write(&policy, text).expect("written");
    }
    let after = host.run(&policy, &command).expect_code(0);
    assert_eq!(
        after.stdout, "read done\nconnect done\nptrace done\n",
        "{}",
        after.stderr
    );
}

/// What is tried, what `why` is asked, and how the event of its refusal is known.
struct Attempt<'a> {
    shell: String,
    question: Vec<String>,
    fits: &'a dyn Fn(&Value) -> bool,
}

#[test]
fn who_refuses_and_whether_that_is_on_record_is_as_was_said() {
    let Some(host) = host("why-mechanisms", &[]) else {
        return;
    };
    let outside = host.beside("outside");
    fs::write(&outside, "x").expect("written");
    host::set_mode(&outside, 0o644);
    let secret = host.file("secret/key", "x");
    let locked = host.file("locked/file", "x");
    for path in [&secret, &locked] {
        host::set_mode(path, 0o666);
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("its address").port();
    let other_port = port ^ 1;
    let policy = host.policy(
        &format!(
            "deny read \"{0}/secret\" because \"hidden\"\ndeny write \"{0}/locked\" because \"kept\"",
            host.work().display()
        ),
        &format!("network {{ allow connect tcp \"127.0.0.1:{port}\" }}"),
    );
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (outside, secret, locked) = (path(&outside), path(&secret), path(&locked));
    let python = |code: &str| format!("/usr/bin/python3 -ISc '{code}'");
    let connect = |address: &str, port: u16| {
        python(&format!(
            "import socket; socket.create_connection((\"{address}\", {port}), 2)"
        ))
    };
    let words = |question: &str| question.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let attempts = [
        Attempt {
            shell: format!("cat {outside}"),
            question: words(&format!("read {outside}")),
            fits: &|event| event["details"]["path"] == *outside,
        },
        Attempt {
            shell: format!("cat {secret}"),
            question: words(&format!("read {secret}")),
            fits: &|event| event["details"]["path"] == *secret,
        },
        Attempt {
            shell: format!("echo x >> {locked}"),
            question: words(&format!("write {locked}")),
            fits: &|event| event["details"]["path"] == *locked,
        },
        Attempt {
            shell: connect("127.0.0.2", port),
            question: words(&format!("connect 127.0.0.2:{port}")),
            fits: &|event| event["details"]["address"] == "127.0.0.2",
        },
        Attempt {
            shell: connect("127.0.0.1", other_port),
            question: words(&format!("connect 127.0.0.1:{other_port}")),
            fits: &|event| event["details"]["port"] == other_port,
        },
        Attempt {
            shell: python("import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) != 0)"),
            question: words("syscall ptrace"),
            fits: &|event| event["details"]["name"] == "ptrace",
        },
    ];
    let mut on_record = Vec::new();
    for attempt in &attempts {
        let outcome = host.sh(&policy, &attempt.shell);
        assert_ne!(outcome.code, Some(0), "{}", attempt.shell);
        let mut remit = remit::remit();
        remit.current_dir(host.work()).arg("why").arg(&policy);
        remit.args(&attempt.question).args(["--format", "json"]);
        let answer = remit::output(&mut remit).expect_code(0).json();
        let said = &answer["answers"][0];
        assert_eq!(said["outcome"], "denied", "{said}");
        assert_eq!(said["enforcement"]["status"], "enforced", "{said}");
        let first = &said["enforcement"]["mechanisms"][0];
        let events = host.events();
        let event = events
            .iter()
            .find(|event| event["effect"].is_string() && (attempt.fits)(event));
        match event {
            Some(event) => {
                assert_eq!(event["mechanism"], first["mechanism"], "{said}");
                assert_eq!(event["rule"]["id"], said["decided_by"]["rule"], "{said}");
                assert_eq!(said["enforcement"]["recorded"], "yes", "{said}");
                on_record.push(event["mechanism"].as_str().expect("text").to_owned());
            }
            None => {
                let recorded = said["enforcement"]["recorded"].as_str().expect("text");
                assert!(recorded.starts_with("no"), "{said}");
            }
        }
    }
    // All kinds are there, and the read-only mount that leaves no record.
    assert_eq!(
        on_record,
        [
            "landlock-fs",
            "mount-mask",
            "cgroup-bpf",
            "landlock-net",
            "seccomp"
        ]
    );
    let kept = fs::read_to_string(host.work().join("locked/file")).expect("the file");
    assert_eq!(kept, "x");
}
