//! The starter set: its own tests hold, and it judges whole policies as it says.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use compiler::guardrails::{Answer, Date, Finding, Input, Job, RegoFile, Task, input, work};
use policy_lang::policy::Policy;
use policy_lang::resolve::AsWritten;
use policy_lang::{Inputs, SourceFile};

fn starter() -> Vec<RegoFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guardrails");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rego"))
        .collect();
    names.sort();
    assert!(names.len() >= 11, "{names:?}");
    names
        .iter()
        .map(|path| RegoFile {
            name: path.file_name().unwrap().to_str().unwrap().to_owned(),
            text: std::fs::read_to_string(path).unwrap(),
        })
        .collect()
}

fn policy(text: &str) -> Policy {
    let inputs = Inputs {
        parameters: BTreeMap::new(),
        home: "/home/me".to_owned(),
        working_directory: "/work".to_owned(),
        paths: &AsWritten,
        files: &policy_lang::loader::NoFiles,
    };
    let resolved = policy_lang::check(&SourceFile::new("p.remit", text), &inputs);
    resolved
        .policy
        .unwrap_or_else(|| panic!("{:?}", resolved.diagnostics))
}

fn today() -> Date {
    Date::parse("2026-11-30").unwrap()
}

fn laid_out(text: &str) -> Input {
    input(&policy(text), "/home/me", &today())
}

fn done(job: &Job) -> Answer {
    work(job, Duration::from_secs(10))
}

fn findings(text: &str) -> Vec<Finding> {
    let answer = done(&Job {
        files: starter(),
        task: Task::Judge {
            input: laid_out(text).to_json().unwrap(),
            today: today(),
        },
    });
    match answer {
        Answer::Judged(findings) => findings,
        other => panic!("{other:?}"),
    }
}

fn denied(text: &str) -> Vec<String> {
    let denied: BTreeSet<String> = findings(text)
        .into_iter()
        .filter(Finding::refuses)
        .map(|finding| finding.id)
        .collect();
    denied.into_iter().collect()
}

#[test]
fn the_tests_of_the_starter_set_hold() {
    let answer = done(&Job {
        files: starter(),
        task: Task::Test,
    });
    let Answer::Tested(outcomes) = answer else {
        panic!("{answer:?}")
    };
    assert!(outcomes.len() >= 25, "only {}", outcomes.len());
    let failed: Vec<_> = outcomes
        .iter()
        .filter(|outcome| outcome.failure.is_some())
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn a_modest_policy_passes() {
    let modest = r#"policy "p" {
        filesystem { allow read, execute "/usr" allow read, write "/work" }
        network {
            allow connect tcp "192.0.2.1:443" label "owner:web/npm"
            allow connect tcp "127.0.0.1:8080"
            allow bind tcp "127.0.0.1:3000"
        }
        credentials { pass "PATH", "LANG" }
        process { identity dynamic allow syscall @system-service }
    }"#;
    assert_eq!(findings(modest), []);
}

#[test]
fn each_guardrail_refuses_what_it_is_for() {
    for (block, id) in [
        ("filesystem { allow read \"~\" }", "home"),
        ("filesystem { allow read \"/\" }", "home"),
        ("filesystem { allow read \"~/.ssh\" }", "keys"),
        ("network { allow connect tcp \"192.0.2.1:443\" }", "egress-owner"),
        (
            "network { allow connect \"*:*\" label \"everything\" }",
            "egress-owner",
        ),
        ("credentials { pass \"NPM_TOKEN\" }", "broker-only"),
        ("process { identity user }", "root"),
    ] {
        let found = denied(&format!("policy \"p\" {{ {block} }}"));
        assert!(found.iter().any(|found| found == id), "{block}: {found:?}");
    }
    // A narrower refusal counts: what is decided matters, not what some rule says.
    let narrowed = "policy \"p\" { filesystem { allow read \"/home\" deny read \"~\" } }";
    assert_eq!(denied(narrowed), Vec::<String>::new());
}

/// Every field name of a document, with those of what is in it.
fn fields(value: &serde_json::Value, under: &str, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (name, value) in members {
                // Names that the policy's author chose are no fields.
                let name = if under == "parameters" { "NAME" } else { name };
                let path = if under.is_empty() {
                    name.to_owned()
                } else {
                    format!("{under}.{name}")
                };
                fields(value, &path, found);
                found.insert(path);
            }
        }
        serde_json::Value::Array(members) => {
            members
                .iter()
                .for_each(|member| fields(member, &format!("{under}[]"), found));
        }
        _ => {}
    }
}

#[test]
fn the_page_has_every_field_of_the_input() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guardrails.md");
    let page = std::fs::read_to_string(page).unwrap();
    let everything = r#"policy "p" {
        summary "s"
        param workspace: path = "."
        require landlock >= 1
        filesystem { allow read "/a", "/b*" scratch "/tmp/x" 1MiB }
        network { allow connect tcp "192.0.2.1:443" }
        credentials { pass "PATH" set "CI" = "true" }
        process { limit memory 1GiB allow syscall "ioctl" where request & 3 == 1 }
        audit { record exec }
    }"#;
    let new = policy(everything);
    let old = policy("policy \"old\" { filesystem { allow read \"/c\" } process { limit memory 2GiB } }");
    let difference = compiler::difference::difference(&old, &new);
    let document = input(&new, "/home/me", &today())
        .with_difference(&difference, &old, &new)
        .to_json()
        .unwrap();
    let mut found = BTreeSet::new();
    fields(&document, "", &mut found);
    assert!(found.len() > 80, "only {}", found.len());
    let missing: Vec<&String> = found
        .iter()
        .filter(|field| !page.contains(&format!("`{field}`")))
        .collect();
    assert!(missing.is_empty(), "docs/guardrails.md lacks {missing:#?}");
}
