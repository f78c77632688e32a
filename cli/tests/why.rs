//! `remit why`: answers, artifacts, recorded events, proposals.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::fs;

const POLICY: &str = r#"policy "p" {
    param workspace: path = "."
    filesystem {
        allow read, execute "/usr" label "system"
        deny read "/usr/share/doc" because "not needed"
        allow read, write "${workspace}"
        forbid write "${workspace}/keys" because "keys are read-only"
    }
    network { allow connect tcp "192.0.2.0/24:443" }
    credentials { pass "PATH" }
    process { allow syscall @system-service }
    audit { record connect }
}
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = remit::folder();
        fs::write(folder.path().join("p.remit"), POLICY).expect("written");
        fs::create_dir(folder.path().join("keys")).expect("made");
        fs::write(folder.path().join("keys/a"), "").expect("written");
        std::os::unix::fs::symlink("keys/a", folder.path().join("link")).expect("linked");
        Self(folder)
    }

    fn remit(&self, arguments: &[&str]) -> remit::Outcome {
        remit::output(remit::remit().current_dir(self.0.path()).args(arguments))
    }

    /// The first answer to a question about the policy.
    fn answer(&self, question: &[&str]) -> serde_json::Value {
        let arguments = [&["why", "p.remit", "--format", "json"], question].concat();
        self.remit(&arguments).expect_code(0).json()
    }

    /// A recording of one event.
    fn event(&self, seq: u64, run: &str, kind: &str, details: &str) {
        let line = format!(
            r#"{{"schema":1,"time":"","host":"h","run":"{run}","seq":{seq},"policy":{{"name":"p","digest":"sha256:0"}},"effect":"deny","mechanism":"landlock-fs","rule":{{"id":0,"effect":"deny","label":null,"location":"built-in","text":"deny everything"}},"because":null,"process":null,"kind":"{kind}","details":{details},"chain":""}}"#
        );
        let path = self.0.path().join("e.jsonl");
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, format!("{before}{line}\n")).expect("written");
    }
}

#[test]
fn an_answer_names_rule_reason_losers_and_mechanism() {
    let folder = Folder::new();
    let answer = folder.answer(&["read", "/usr/share/doc/x"]);
    let found = &answer["answers"][0];
    assert_eq!(found["outcome"], "denied");
    assert_eq!(found["decided_by"]["place"], "p.remit:5");
    assert_eq!(found["decided_by"]["because"], "not needed");
    assert_eq!(found["layers"][0]["losers"][1]["label"], "system");
    assert_eq!(found["enforcement"]["mechanisms"][0]["mechanism"], "mount-mask");
    assert_eq!(found["enforcement"]["recorded"], "yes");
    assert_eq!(
        folder.answer(&["env", "PATH"])["answers"][0]["outcome"],
        "present"
    );
    assert_eq!(folder.answer(&["env", "HOME"])["answers"][0]["outcome"], "absent");
    let connect = folder.answer(&["connect", "192.0.2.7:443"]);
    assert_eq!(connect["answers"][0]["enforcement"]["recorded"], "yes");
    assert_eq!(
        folder.answer(&["syscall", "ioctl", "request=TIOCSTI"])["answers"][0]["effect"],
        "forbid"
    );
}

#[test]
fn a_link_is_followed_and_said() {
    let folder = Folder::new();
    let target = folder.0.path().join("keys/a");
    let answer = folder.answer(&["write", "link"]);
    assert_eq!(
        answer["answers"][0]["access"],
        format!("write \"{}\"", target.display())
    );
    assert_eq!(answer["answers"][0]["effect"], "forbid");
    let note = answer["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("`link` leads to "), "{note}");
}

#[test]
fn the_text_is_the_same_answer_for_a_person() {
    let folder = Folder::new();
    let outcome = folder.remit(&["why", "p.remit", "read", "/usr/share/doc/x", "--propose"]);
    let text = outcome.expect_code(0).stdout;
    // The kernel's version is the host's.
    let text: Vec<&str> = text.lines().filter(|line| !line.contains("Linux")).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn an_artifact_answers_as_its_policy_and_one_that_differs_is_1() {
    let folder = Folder::new();
    folder
        .remit(&["compile", "p.remit", "-o", "p.ron"])
        .expect_code(0);
    let of_artifact = folder
        .remit(&["why", "p.ron", "read", "/usr/share/doc/x", "--format", "json"])
        .expect_code(0)
        .json();
    assert_eq!(of_artifact["answers"][0]["outcome"], "denied");
    assert_eq!(of_artifact["answers"][0]["decided_by"]["place"], "p.remit:5");
    let both = [
        "why",
        "p.remit",
        "--artifact",
        "p.ron",
        "read",
        "/usr/share/doc/x",
    ];
    folder.remit(&both).expect_code(0);
    let lax = POLICY.replace("deny read \"/usr/share/doc\"", "deny read \"/usr/share/man\"");
    fs::write(
        folder.0.path().join("p.remit"),
        lax.replace("man\"", "doc-base\""),
    )
    .expect("written");
    let differs = folder.remit(&both).expect_code(1);
    assert!(differs.stdout.contains("unlike the policy"), "{}", differs.stdout);
}

#[test]
fn a_recorded_refusal_gets_the_narrowest_rule() {
    let folder = Folder::new();
    folder.event(
        3,
        "r1",
        "file",
        r#"{"access":["read"],"path":"/var/x y","blockers":[]}"#,
    );
    let answer = folder.answer(&["--event", "e.jsonl:3"]);
    assert_eq!(answer["event"]["same_policy"], false);
    assert_eq!(answer["proposal"]["outcome"], "rule");
    assert_eq!(answer["proposal"]["rule"], "allow read \"/var/x y\"");
    assert_eq!(answer["proposal"]["line"], 8);
    let changed = answer["proposal"]["text"].as_str().expect("a text");
    fs::write(folder.0.path().join("p.remit"), changed).expect("written");
    folder.remit(&["check", "p.remit"]);
    let allowed = folder.answer(&["read", "/var/x y"]);
    assert_eq!(allowed["answers"][0]["outcome"], "allowed");
    // And nothing beside it.
    assert_eq!(
        folder.answer(&["read", "/var/x"])["answers"][0]["outcome"],
        "denied"
    );
}

#[test]
fn a_recorded_refusal_that_no_rule_may_open_says_whom_to_ask() {
    let folder = Folder::new();
    let keys = folder.0.path().join("keys/a");
    let details = format!(
        r#"{{"access":["write"],"path":"{}","blockers":[]}}"#,
        keys.display()
    );
    folder.event(1, "r1", "file", &details);
    let answer = folder.answer(&["--event", "e.jsonl:1"]);
    assert_eq!(answer["proposal"]["outcome"], "refused");
    assert!(answer["proposal"]["rule"].is_null());
    let ask = answer["proposal"]["obstacles"][0]["ask"].as_str().expect("text");
    assert!(ask.starts_with("p.remit:7 forbids it"), "{ask}");
}

#[test]
fn a_rule_that_this_host_would_not_enforce_says_so() {
    let folder = Folder::new();
    let answer = folder.answer(&["connect", "example.com:443", "--propose"]);
    assert_eq!(
        answer["proposal"]["rule"],
        "allow connect tcp \"example.com:443\""
    );
    let notes = answer["proposal"]["notes"].as_array().expect("a list");
    let text = notes[0].as_str().expect("text");
    assert!(text.starts_with("this host does not enforce that rule"), "{text}");
    let address = folder.answer(&["connect", "203.0.113.1:443", "--propose"]);
    assert_eq!(address["proposal"]["notes"].as_array().expect("a list").len(), 0);
}

const CEILING: &str = r#"policy "org" {
    filesystem { allow read, execute "/usr" deny read "/usr/share/keys" because "keys stay" }
    network { allow connect tcp "192.0.2.0/24:443" }
}
"#;

const BENEATH: &str = r#"policy "p" {
    within "org.remit"
    use tools
    filesystem { allow read "/usr/share" }
}

group tools {
    network { allow connect tcp "192.0.2.1:443" }
}
"#;

#[test]
fn beneath_a_ceiling_both_say_why_and_its_owner_is_asked() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("org.remit"), CEILING).expect("written");
    fs::write(folder.0.path().join("p.remit"), BENEATH).expect("written");
    let answer = folder.answer(&["read", "/usr/share/keys/a", "--propose"]);
    let layers = answer["answers"][0]["layers"].as_array().expect("a list");
    assert_eq!(layers.len(), 2);
    assert_eq!(
        (&layers[0]["layer"], &layers[0]["effect"]),
        (&"p".into(), &"allow".into())
    );
    assert_eq!(
        (&layers[1]["layer"], &layers[1]["effect"]),
        (&"org".into(), &"deny".into())
    );
    assert_eq!(answer["answers"][0]["decided_by"]["place"], "org.remit:2");
    assert_eq!(answer["proposal"]["outcome"], "refused");
    let ask = answer["proposal"]["obstacles"][0]["ask"].as_str().expect("text");
    assert!(
        ask.starts_with("the ceiling \"org\" (org.remit) denies it"),
        "{ask}"
    );
    // What the ceiling grants can be proposed, and it is the policy that is changed.
    let granted = folder.answer(&["exec", "/usr/bin/env", "--propose"]);
    assert_eq!(granted["proposal"]["rule"], "allow execute \"/usr/bin/env\"");
    assert_eq!(granted["proposal"]["file"], "p.remit");
    let group = folder.answer(&["connect", "192.0.2.1:443"]);
    assert_eq!(group["answers"][0]["decided_by"]["via"], "tools");
    let beyond = folder.answer(&["connect", "203.0.113.1:443", "--propose"]);
    let ask = beyond["proposal"]["obstacles"][0]["ask"].as_str().expect("text");
    assert!(ask.contains("does not grant it"), "{ask}");
}

#[test]
fn an_event_of_several_runs_has_to_be_told_apart() {
    let folder = Folder::new();
    for run in ["r1", "r2"] {
        folder.event(
            1,
            run,
            "file",
            r#"{"access":["read"],"path":"/var/x","blockers":[]}"#,
        );
    }
    let ambiguous = folder
        .remit(&["why", "p.remit", "--event", "e.jsonl:1"])
        .expect_code(2);
    assert!(
        ambiguous.stderr.contains("`--run r1` or `--run r2`"),
        "{}",
        ambiguous.stderr
    );
    folder
        .remit(&["why", "p.remit", "--event", "e.jsonl:1", "--run", "r2"])
        .expect_code(0);
    folder
        .remit(&["why", "p.remit", "--event", "e.jsonl:2"])
        .expect_code(2);
}

#[test]
fn arguments_that_the_kernel_did_not_record_can_be_given() {
    let folder = Folder::new();
    let details =
        r#"{"name":"ptrace","number":101,"architecture":"x86_64","action":"errno","candidates":[4,0]}"#;
    folder.event(1, "r1", "syscall", details);
    let answer = folder.answer(&["--event", "e.jsonl:1"]);
    assert_eq!(answer["proposal"]["rule"], "allow syscall \"ptrace\"");
    let notes = answer["proposal"]["notes"].as_array().expect("a list");
    assert!(notes[0].as_str().expect("text").contains("--argument"));
    let narrow = folder.answer(&["--event", "e.jsonl:1", "--argument", "request=2"]);
    assert_eq!(
        narrow["proposal"]["rule"],
        "allow syscall \"ptrace\" where request == 2"
    );
}

#[test]
fn what_has_no_answer_is_2() {
    let folder = Folder::new();
    folder.event(1, "r1", "sysctl", r#"{"name":"kernel/hostname"}"#);
    folder.event(2, "r1", "run-ended", "{}");
    for question in [
        &["raed", "/x"] as &[&str],
        &["read"],
        &["--event", "e.jsonl:1"],
        &["--event", "e.jsonl:2"],
        &["--event", "e.jsonl"],
        &["--event", "e.jsonl:1", "read", "/x"],
        &[],
    ] {
        let outcome = folder
            .remit(&[&["why", "p.remit"], question].concat())
            .expect_code(2);
        assert!(!outcome.stderr.is_empty(), "{question:?}");
    }
}
