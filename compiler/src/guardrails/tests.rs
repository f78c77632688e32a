use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use policy_lang::policy::Policy;
use policy_lang::resolve::AsWritten;
use policy_lang::{Inputs, SourceFile};

use super::*;

const POLICY: &str = r#"policy "p" {
    filesystem { allow read "/home/me" label "home" }
    network { allow connect tcp "192.0.2.1:443" label "owner:web" }
    process { limit memory 1GiB, processes 64 }
}
"#;

fn source() -> SourceFile {
    SourceFile::new("p.remit", POLICY)
}

fn policy() -> Policy {
    let inputs = Inputs {
        parameters: BTreeMap::new(),
        home: "/home/me".to_owned(),
        working_directory: "/work".to_owned(),
        paths: &AsWritten,
        files: &policy_lang::loader::NoFiles,
    };
    policy_lang::check(&source(), &inputs).policy.unwrap()
}

fn today() -> Date {
    Date::parse("2026-11-30").unwrap()
}

fn done(job: &Job) -> Answer {
    work(job, Duration::from_secs(2))
}

fn judge(texts: &[&str]) -> Answer {
    let files = (0..).zip(texts).map(|(number, text)| RegoFile {
        name: format!("g{number}.rego"),
        text: (*text).to_owned(),
    });
    done(&Job {
        files: files.collect(),
        task: Task::Judge {
            input: input(&policy(), "/home/me", &today()).to_json().unwrap(),
            today: today(),
        },
    })
}

fn findings(texts: &[&str]) -> Vec<Finding> {
    match judge(texts) {
        Answer::Judged(findings) => findings,
        other => panic!("{other:?}"),
    }
}

fn failure(texts: &[&str]) -> String {
    match judge(texts) {
        Answer::Failed(failure) => failure.to_string(),
        other => panic!("{other:?}"),
    }
}

const HOME: &str = r#"package remit.guardrails.home

deny contains {"id": "home", "message": msg, "rule": probe.rule} if {
	some probe in input.probes
	probe.subject == "home"
	probe.effect == "allow"
	msg := sprintf("the whole home is open: %s", [probe.access])
}
"#;

#[test]
fn a_finding_has_its_rule_and_its_place() {
    let findings = findings(&[HOME]);
    assert_eq!(findings.len(), 1);
    let finding = &findings[0];
    assert_eq!(finding.place(), "g0.rego:3");
    assert!(finding.refuses());
    let policy = policy();
    let rule = policy
        .rule(policy_lang::policy::RuleId(finding.rule.unwrap()))
        .unwrap();
    assert_eq!(rule.label.as_deref(), Some("home"));
    let files = [source()];
    let found = diagnostics(&findings, &policy, &files);
    assert_eq!(found.len(), 1);
    assert!(found[0].is_error());
    assert_eq!(files[0].slice(found[0].span), "allow read \"/home/me\"");
    assert_eq!(found[0].notes, ["guardrail at g0.rego:3"]);
}

#[test]
fn a_text_is_a_finding_of_its_package_and_a_warning_refuses_nothing() {
    let findings = findings(&[
        "package remit.guardrails.style\nwarn contains \"no summary\" if input.policy.summary == null",
    ]);
    assert_eq!(findings[0].id, "remit.guardrails.style");
    assert_eq!(findings[0].severity, Severity::Warn);
    assert!(!findings[0].refuses());
}

fn excepted(fields: &str) -> Vec<Finding> {
    findings(&[
        HOME,
        &format!("package remit.guardrails.exceptions\nexception contains {{\"id\": \"home\", {fields}}}"),
    ])
}

#[test]
fn an_exception_holds_until_its_day() {
    let fields = |day| format!("\"reason\": \"migration\", \"owner\": \"web\", \"expires\": \"{day}\"");
    let held = excepted(&fields("2026-11-30"));
    assert_eq!(held.len(), 1);
    assert!(!held[0].refuses());
    let ended = excepted(&fields("2026-11-29"));
    assert_eq!(ended.len(), 2);
    assert!(ended[0].refuses());
    assert!(
        ended[1].message.contains("ended on 2026-11-29"),
        "{}",
        ended[1].message
    );
    let of_another = excepted(&format!("{}, \"rule\": 1", fields("2027-01-01")));
    assert!(of_another[0].refuses());
    assert!(
        of_another[1].message.contains("of no use"),
        "{}",
        of_another[1].message
    );
}

#[test]
fn an_exception_that_nobody_answers_for_is_a_failure() {
    for fields in [
        r#""reason": "x", "owner": "web""#,
        r#""reason": "x", "owner": "web", "expires": "soon""#,
        r#""reason": "x", "owner": " ", "expires": "2027-01-01""#,
        r#""reason": "x", "owner": "web", "expires": "2027-01-01", "untill": 1"#,
    ] {
        let text = format!("package e\nexception contains {{\"id\": \"home\", {fields}}}");
        assert!(
            failure(&[HOME, &text]).contains("an exception is an object"),
            "{fields}"
        );
    }
}

#[test]
fn nothing_that_goes_wrong_is_a_pass() {
    for (text, said) in [
        ("package p\n", "no `deny` and no `warn`"),
        ("package p\nallow if true", "no `deny` and no `warn`"),
        ("package p\ndeny contains x if {", "does not parse"),
        ("package p[\"a b\"]\ndeny contains \"x\" if false", "plain names"),
        ("package p\ndeny := \"yes\" if input.nowhere", "undefined"),
        ("package p\ndeny if true", "a set is expected"),
        ("package p\ndeny contains 7", "a finding is a text, or an object"),
        (
            "package p\ndeny contains {\"id\": \"x\"}",
            "a finding is a text, or an object",
        ),
        (
            "package p\ndeny contains {\"id\": \"x\", \"message\": \"m\", \"rules\": 1}",
            "a finding is",
        ),
        ("package p\ndeny contains \"\"", "a finding is"),
        ("package p\ndeny contains x if x := to_number(\"zz\")", "fails"),
        ("package p\ndeny contains x if x := 1 / 0", "fails"),
        ("package p\na if b\nb if a\ndeny contains \"x\" if a", "recursion"),
        ("package p\ndeny contains \"x\" if http.send({})", "fails"),
        (
            "package p\ndeny contains x if some i in numbers.range(1, 2000); x := sprintf(\"%d\", [i])",
            "does not parse",
        ),
        (
            "package p\ndeny contains x if { some i in numbers.range(1, 2000); x := sprintf(\"%d\", [i]) }",
            "more than 1000 findings",
        ),
    ] {
        let why = failure(&[text]);
        assert!(why.contains(said), "{text}: {why}");
    }
    assert!(failure(&[]).contains("no `deny`"));
}

#[test]
fn a_file_of_tests_judges_nothing() {
    let file = RegoFile {
        name: "p_test.rego".to_owned(),
        text: "package p\ndeny contains \"x\"".to_owned(),
    };
    let answer = done(&Job {
        files: vec![file],
        task: Task::Judge {
            input: serde_json::json!({}),
            today: today(),
        },
    });
    assert_eq!(answer, Answer::Failed(Failure::Nothing));
}

#[test]
fn what_does_not_end_is_stopped() {
    let start = Instant::now();
    let why = failure(&[
        "package p\ndeny contains \"x\" if count([1 | some i in numbers.range(1, 60000); some j in numbers.range(1, 60000); i != j]) > 3",
    ]);
    assert!(why.contains("time limit"), "{why}");
    assert!(start.elapsed().as_secs() < 10);
}

#[test]
fn what_rego_says_stays_on_one_line_and_is_short() {
    let text = format!(
        "package p\ndeny contains {{\"id\": \"x\", \"message\": sprintf(\"a\\n\\u001b[31m%s\", [concat(\"\", [s | some i in numbers.range(1, 100); s := sprintf(\"{}%d\", [i])])])}}",
        "b".repeat(100)
    );
    let message = findings(&[&text])[0].message.clone();
    assert!(message.starts_with("a \\u{1b}[31mb"), "{message}");
    assert!(message.len() < 1100);
}

fn tested(text: &str) -> Answer {
    done(&Job {
        files: vec![RegoFile {
            name: "p_test.rego".to_owned(),
            text: text.to_owned(),
        }],
        task: Task::Test,
    })
}

#[test]
fn only_a_test_that_is_true_holds() {
    let Answer::Tested(outcomes) = tested(
        "package p\ntest_a if true\ntest_b if { 1 == 2 }\ntest_c := \"yes\"\ntest_d if to_number(\"x\") > 1\ntest_e if input.x == 1 with input as {\"x\": 1}",
    ) else {
        panic!("not tested")
    };
    let held: Vec<(&str, u32, bool)> = outcomes
        .iter()
        .map(|outcome| (outcome.name.as_str(), outcome.line, outcome.failure.is_none()))
        .collect();
    assert_eq!(
        held,
        [
            ("p.test_a", 2, true),
            ("p.test_b", 3, false),
            ("p.test_c", 4, false),
            ("p.test_d", 5, false),
            ("p.test_e", 6, true),
        ]
    );
    assert_eq!(tested("package p\nx := 1"), Answer::Failed(Failure::NoTests));
}

#[test]
fn dates_are_days() {
    for bad in [
        "2026-1-01",
        "2026-13-01",
        "2026-12-32",
        "26-12-01",
        "2026-12",
        "",
        "2026-12-01x",
        "+026-12-01",
    ] {
        assert!(Date::parse(bad).is_none(), "{bad}");
    }
    assert!(Date::parse("2026-12-01") > Date::parse("2026-11-30"));
}

fn of(text: &str) -> Policy {
    let inputs = Inputs {
        parameters: BTreeMap::new(),
        home: "/home/me".to_owned(),
        working_directory: "/work".to_owned(),
        paths: &AsWritten,
        files: &policy_lang::loader::NoFiles,
    };
    policy_lang::check(&SourceFile::new("old.remit", text), &inputs)
        .policy
        .unwrap()
}

#[test]
fn a_difference_is_judged_by_what_it_adds_with_a_witness() {
    let (old, new) = (of(&POLICY.replace("192.0.2.1", "192.0.2.9")), policy());
    let difference = crate::difference::difference(&old, &new);
    let input = input(&new, "/home/me", &today()).with_difference(&difference, &old, &new);
    let text = r#"package p
deny contains {"id": "new-egress", "message": grant.witness, "rule": grant.after.rule, "grant": i} if {
	some i, grant in input.difference.added
	grant.domain == "network"
	grant.after.outcome == "allowed"
}
"#;
    let answer = done(&Job {
        files: vec![RegoFile {
            name: "p.rego".to_owned(),
            text: text.to_owned(),
        }],
        task: Task::Judge {
            input: input.to_json().unwrap(),
            today: today(),
        },
    });
    let Answer::Judged(findings) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].message, "connect tcp \"192.0.2.1:443\"");
    assert_eq!(findings[0].grant, Some(0));
    let rule = new
        .rule(policy_lang::policy::RuleId(findings[0].rule.unwrap()))
        .unwrap();
    assert_eq!(rule.label.as_deref(), Some("owner:web"));
}
