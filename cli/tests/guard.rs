//! Guardrails: what refuses a policy wherever it is read, what hostile Rego does, and the tests of Rego.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::time::{Duration, Instant};

const POLICY: &str = r#"policy "p" {
    filesystem { allow read "/usr" label "system" }
    network { allow connect tcp "192.0.2.1:443" because "the registry" }
    process { allow syscall @system-service }
}
"#;

/// Denies whatever has no owner.
const OWNERS: &str = r#"package g

deny contains {"id": "owner", "message": sprintf("nobody owns `%s`", [rule.text]), "rule": rule.rule} if {
	some rule in input.rules
	rule.kind == "network"
	not rule.built_in
	rule.label == null
}
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(rego: &[(&str, &str)]) -> Self {
        let folder = remit::folder();
        fs::write(folder.path().join("p.remit"), POLICY).expect("written");
        fs::create_dir(folder.path().join("g")).expect("made");
        for (name, text) in rego {
            fs::write(folder.path().join("g").join(name), text).expect("written");
        }
        Self(folder)
    }

    fn remit(&self, arguments: &[&str]) -> remit::Outcome {
        remit::output(remit::remit().current_dir(self.0.path()).args(arguments))
    }

    /// What is wrong with the policy by these guardrails.
    fn check(&self, code: i32) -> serde_json::Value {
        self.remit(&["check", "p.remit", "--guardrails", "g", "--format", "json"])
            .expect_code(code)
            .json()
    }
}

/// The finding with a code.
fn finding(document: &serde_json::Value, code: &str) -> serde_json::Value {
    let findings = document["files"][0]["findings"].as_array().expect("a list");
    let found = findings.iter().find(|finding| finding["code"] == code);
    found.unwrap_or_else(|| panic!("no {code} in {document}")).clone()
}

#[test]
fn a_denied_policy_is_refused_wherever_it_is_read() {
    let folder = Folder::new(&[("owners.rego", OWNERS)]);
    let denied = finding(&folder.check(1), "R0801");
    assert_eq!(denied["severity"], "error");
    assert_eq!(denied["place"]["line"], 3);
    assert_eq!(denied["notes"][0], "guardrail at g/owners.rego:3");
    let compiled = folder.remit(&["compile", "p.remit", "-o", "p.ron", "--guardrails", "g"]);
    assert!(compiled.expect_code(1).stderr.contains("nobody owns"));
    assert!(!folder.0.path().join("p.ron").exists());
    let labelled = POLICY.replace("because", "label \"owner:web\" because");
    fs::write(folder.0.path().join("p.remit"), labelled).expect("written");
    folder.check(0);
    folder
        .remit(&["compile", "p.remit", "-o", "p.ron", "--guardrails", "g"])
        .expect_code(0);
}

#[test]
fn an_exception_names_its_owner_and_a_warning_refuses_nothing() {
    let exception = r#"package g.exceptions
exception contains {"id": "owner", "reason": "until the move", "owner": "web", "expires": "2999-12-31"}
warn contains "look twice"
"#;
    let folder = Folder::new(&[("owners.rego", OWNERS), ("exceptions.rego", exception)]);
    let document = folder.check(0);
    let excepted = finding(&document, "R0803");
    assert_eq!(
        excepted["notes"][1],
        "excepted until 2999-12-31 by web: until the move"
    );
    assert_eq!(finding(&document, "R0802")["message"], "look twice");
    let ended = exception.replace("2999", "2020");
    fs::write(folder.0.path().join("g/exceptions.rego"), ended).expect("written");
    let document = folder.check(1);
    finding(&document, "R0801");
}

#[test]
fn what_cannot_be_judged_is_refused() {
    for rego in [
        &[] as &[(&str, &str)],
        &[("notes.txt", "deny everything")],
        &[("a_test.rego", OWNERS)],
        &[("a.rego", "package g\ndeny contains")],
        &[("a.rego", "package g\nallow if true")],
        &[("a.rego", "package g\ndeny := \"x\" if input.nowhere")],
        &[(
            "a.rego",
            "package g\ndeny contains x if x := input.rules[0].text / 2",
        )],
    ] {
        let folder = Folder::new(rego);
        finding(&folder.check(1), "R0804");
        folder
            .remit(&["compile", "p.remit", "--guardrails", "g"])
            .expect_code(1);
    }
    let nowhere = Folder::new(&[]);
    nowhere
        .remit(&["check", "p.remit", "--guardrails", "nowhere"])
        .expect_code(1);
    nowhere.remit(&["guard", "test", "nowhere"]).expect_code(2);
}

#[test]
fn hostile_rego_is_stopped_in_time_and_refuses() {
    let doubling = |times: usize| {
        let mut text = String::from("package g\ns0 := \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\n");
        for number in 1..=times {
            let before = number - 1;
            text.push_str(&format!("s{number} := concat(\"\", [s{before}, s{before}])\n"));
        }
        format!("{text}deny contains s{times}\n")
    };
    let nested = format!(
        "package g\ndeny contains x if x := {}1{}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    for (what, text) in [
        ("a string that doubles", doubling(40)),
        ("brackets", nested),
        (
            "a function that calls itself",
            "package g\nf(x) := f(x + 1)\ndeny contains \"x\" if f(0) == 1".to_owned(),
        ),
        ("rules that need each other", "package g\na if b\nb if a\ndeny contains \"x\" if a".to_owned()),
        (
            "every pair of many",
            "package g\ndeny contains \"x\" if count({[i, j] | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000)}) > 1".to_owned(),
        ),
        (
            "a number that is long to write",
            "package g\ndeny contains \"x\" if count(numbers.range(1, 1000000000000)) > 1".to_owned(),
        ),
        (
            "an address block in full",
            "package g\ndeny contains \"x\" if count(net.cidr_expand(\"::/0\")) > 1".to_owned(),
        ),
    ] {
        let folder = Folder::new(&[("a.rego", &text)]);
        let start = Instant::now();
        let document = folder.check(1);
        let took = start.elapsed();
        let failed = finding(&document, "R0804");
        assert!(took < Duration::from_secs(60), "{what} took {took:?}");
        assert!(!failed["notes"][0].as_str().expect("a note").is_empty(), "{what}");
    }
}

#[test]
fn a_comparison_is_judged_by_what_it_adds() {
    let added = r#"package g
deny contains {"id": "new", "message": sprintf("new: %s", [grant.witness]), "rule": grant.after.rule, "grant": i} if {
	some i, grant in input.difference.added
}
"#;
    let folder = Folder::new(&[("added.rego", added)]);
    let narrower = POLICY.replace("read \"/usr\"", "read \"/usr/lib\"");
    fs::write(folder.0.path().join("n.remit"), narrower).expect("written");
    let wider = ["diff", "n.remit", "p.remit", "--guardrails", "g"];
    let text = folder.remit(&wider).expect_code(1).stdout;
    assert!(
        text.contains("new: read \"/usr\" (new, g/added.rego:2)"),
        "{text}"
    );
    assert!(text.contains("guardrails refuse it"), "{text}");
    let document = folder
        .remit(&[&wider[..], &["--format", "json"]].concat())
        .expect_code(1)
        .json();
    assert_eq!(document["ok"], false);
    assert_eq!(document["guardrails"][0]["grant"], 0);
    let comment = folder.remit(&[&wider[..], &["--format", "markdown"]].concat());
    assert!(comment.expect_code(1).stdout.contains("#### Guardrails"));
    // Narrower adds nothing.
    folder
        .remit(&["diff", "p.remit", "n.remit", "--guardrails", "g"])
        .expect_code(0);
    // Without a judgement there is no answer, however strict the new policy is.
    fs::write(folder.0.path().join("g/added.rego"), "package g").expect("written");
    folder
        .remit(&["diff", "p.remit", "n.remit", "--guardrails", "g"])
        .expect_code(2);
}

#[test]
fn an_artifact_has_been_judged_when_it_was_compiled() {
    let folder = Folder::new(&[("a.rego", "package g\ndeny contains \"x\" if false")]);
    folder
        .remit(&["compile", "p.remit", "-o", "p.ron"])
        .expect_code(0);
    let outcome = folder.remit(&["run", "p.ron", "--guardrails", "g", "--", "true"]);
    // Without root it does not come that far.
    assert_eq!(outcome.code, Some(125), "{}", outcome.stderr);
}

#[test]
fn tests_of_rego_hold_fail_or_are_not_there() {
    let good =
        "package g_test\nimport data.g\ntest_owner if count(g.deny) == 0 with input as {\"rules\": []}\n";
    let folder = Folder::new(&[("owners.rego", OWNERS), ("owners_test.rego", good)]);
    let outcome = folder.remit(&["guard", "test", "g"]).expect_code(0);
    assert_eq!(outcome.stdout, "holds: 1 of 1 tests hold\n");
    fs::write(
        folder.0.path().join("g/more_test.rego"),
        "package more_test\ntest_wrong if 1 == 2\n",
    )
    .expect("written");
    let outcome = folder.remit(&["guard", "test", "g"]).expect_code(1);
    assert!(
        outcome
            .stdout
            .starts_with("failed g/more_test.rego:2 more_test.test_wrong: it is undefined"),
        "{}",
        outcome.stdout
    );
    let document = folder
        .remit(&["guard", "test", "g", "--format", "json"])
        .expect_code(1)
        .json();
    assert_eq!(document["ok"], false);
    assert_eq!(document["tests"].as_array().expect("a list").len(), 2);
    let none = Folder::new(&[("owners.rego", OWNERS)]);
    none.remit(&["guard", "test", "g"]).expect_code(2);
}

#[test]
fn the_input_of_a_policy_can_be_seen() {
    let folder = Folder::new(&[]);
    let input = folder.remit(&["guard", "input", "p.remit"]).expect_code(0).json();
    assert_eq!(input["schema"], 1);
    assert_eq!(input["policy"]["name"], "p");
    let rules = input["rules"].as_array().expect("a list");
    let ours = rules
        .iter()
        .find(|rule| rule["because"] == "the registry")
        .expect("the rule");
    assert_eq!(ours["addresses"][0]["cidr"], "192.0.2.1/32");
    assert_eq!(
        rules[usize::try_from(ours["rule"].as_u64().expect("a number")).expect("small")],
        *ours
    );
}

#[test]
fn the_starter_set_holds_its_own_tests() {
    let folder = remit::root().join("guardrails");
    let folder = folder.to_str().expect("UTF-8");
    remit::output(remit::remit().args(["guard", "test", folder])).expect_code(0);
}
