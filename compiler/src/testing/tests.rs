use std::collections::BTreeMap;

use policy_lang::policy::{Layer, LayerId};
use policy_lang::resolve::AsWritten;
use policy_lang::{Inputs, SourceFile};

use super::*;
use crate::coverage::{Figures, Part};

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

const RULES: &str = r#"policy "p" {
    filesystem {
        allow read "/w" label "work"
        deny read "/w/.env"
    }
    network { allow connect tcp "192.0.2.1:443" }
    process { limit processes 64 }
}
"#;

fn judged(tests: &str) -> Vec<(String, Option<Failure>, String)> {
    let policy = policy(&format!("{RULES}{tests}"));
    let report = judge(&policy, &policy.tests, |_| true);
    let lines = report.tests.iter().flat_map(|test| &test.lines);
    lines
        .map(|line| (line.text(), line.failure, line.found()))
        .collect()
}

#[test]
fn a_line_holds_when_decision_and_rule_are_as_expected() {
    let lines = judged(
        r#"test "t" {
            read "/w/a" is allowed by "work"
            read "/w/.env" is denied by filesystem
            env "HOME" is absent
            syscall "ptrace" is denied by process
        }"#,
    );
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|(_, failure, _)| failure.is_none()), "{lines:?}");
}

#[test]
fn a_line_says_what_was_found_instead() {
    let lines = judged(
        r#"test "t" {
            read "/w/.env" is allowed
            read "/w/.env" is denied by "work"
            env "HOME" is present
        }"#,
    );
    let expected = [
        (r#"read "/w/.env" is allowed"#, Failure::Decision, "it is denied"),
        (
            r#"read "/w/.env" is denied by "work""#,
            Failure::Rule,
            "it is denied, but not by work",
        ),
        (r#"env "HOME" is present"#, Failure::Decision, "it is absent"),
    ];
    let expected = expected.map(|(text, failure, found)| (text.to_owned(), Some(failure), found.to_owned()));
    assert_eq!(lines, expected);
}

#[test]
fn only_wanted_tests_are_judged_and_the_others_counted() {
    let policy = policy(&format!(
        "{RULES} test \"one\" {{ env \"A\" is present }} test \"two\" {{ env \"A\" is absent }}"
    ));
    let report = judge(&policy, &policy.tests, |name| name.contains("tw"));
    assert_eq!((report.lines(), report.left_out), (1, 1));
    assert_eq!(report.failures().count(), 0);
}

#[test]
fn coverage_counts_rules_that_can_decide_and_names_those_that_did_not() {
    let policy = policy(&format!("{RULES} test \"one\" {{ read \"/w/a\" is allowed }}"));
    let report = judge(&policy, &policy.tests, |_| true);
    let own = [Part::Own];
    // The limit decides no access, so it is not among them.
    let figures = report.coverage.figures(&policy, &own);
    assert_eq!(figures, Figures { covered: 1, rules: 3 });
    assert_eq!(figures.percent(), 33);
    let uncovered: Vec<&str> = report
        .coverage
        .uncovered(&policy, &own)
        .iter()
        .map(|rule| rule.text.as_str())
        .collect();
    assert_eq!(
        uncovered,
        [r#"deny read "/w/.env""#, r#"allow connect tcp "192.0.2.1:443""#]
    );
}

#[test]
fn a_ceilings_grant_is_covered_although_the_policys_own_is_named() {
    let mut policy = policy(&format!("{RULES} test \"one\" {{ read \"/w/a\" is allowed }}"));
    policy.layers.push(Layer {
        name: "ceiling".to_owned(),
        file: "c.remit".to_owned(),
    });
    let mut above = policy
        .rules
        .iter()
        .find(|rule| rule.label.as_deref() == Some("work"))
        .unwrap()
        .clone();
    above.id = policy_lang::policy::RuleId(u32::try_from(policy.rules.len()).unwrap());
    above.layer = Some(LayerId(1));
    policy.rules.push(above);
    let report = judge(&policy, &policy.tests, |_| true);
    assert_eq!(
        report.coverage.figures(&policy, &[Part::Ceiling]),
        Figures { covered: 1, rules: 1 }
    );
    assert_eq!(report.coverage.figures(&policy, &[Part::Own]).covered, 1);
    assert_eq!(report.coverage.figures(&policy, &[Part::Group]).percent(), 100);
}
