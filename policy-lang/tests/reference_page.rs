//! docs/language.md says what the language does: its examples are policies whose tests hold, its table of precedence is
//! decided as it says.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;

use policy_lang::loader::InMemory;
use policy_lang::policy::{Effect, ExpectedOutcome, Origin, Policy, Rule, Subject, WorkspaceMode};
use policy_lang::reference::{Decision, decide};
use policy_lang::{Diagnostic, FileKind, SourceFile, floor, parse_as};

#[path = "support/rendering.rs"]
mod rendering;
#[path = "support/tree.rs"]
mod tree;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/language.md");
    std::fs::read_to_string(path).unwrap()
}

/// Every example, in order.
fn examples() -> Vec<String> {
    let page = page();
    let blocks = page.split("```remit\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

/// Examples that begin with `// name.remit` are files that others name.
fn files() -> InMemory {
    let named = examples().into_iter().filter_map(|text| {
        let name = text.lines().next()?.strip_prefix("// ")?.to_owned();
        Some((name, text))
    });
    InMemory(named.collect::<BTreeMap<_, _>>())
}

/// The policies among the examples, each resolved with the files beside it.
fn policies() -> Vec<Policy> {
    let files = files();
    let mut policies = Vec::new();
    for text in examples() {
        let source = SourceFile::new("example.remit", text);
        let parsed = parse_as(&source, FileKind::Any);
        assert_eq!(parsed.diagnostics, Vec::<Diagnostic>::new(), "{}", source.text);
        if parsed.ast.unwrap().policy.is_none() {
            continue;
        }
        let resolved = tree::check_among(&source, &files);
        let said = rendering::render(&resolved.files, &resolved.diagnostics);
        assert_eq!(resolved.diagnostics, Vec::<Diagnostic>::new(), "{said}");
        policies.push(resolved.policy.unwrap());
    }
    policies
}

fn outcome(decision: Decision) -> ExpectedOutcome {
    match decision.effect {
        Effect::Allow => ExpectedOutcome::Allowed,
        Effect::Ask => ExpectedOutcome::Asked,
        Effect::Deny | Effect::Forbid => ExpectedOutcome::Denied,
    }
}

fn deciding(policy: &Policy, decision: Decision) -> &Rule {
    policy.rule(decision.rule).unwrap()
}

#[test]
fn every_line_of_every_test_among_the_examples_holds() {
    let domains = ["filesystem", "network", "credentials", "process"];
    let mut lines = 0;
    for policy in policies() {
        for line in policy.tests.iter().flat_map(|test| &test.expectations) {
            let decision = decide(&policy, &line.access);
            let rule = deciding(&policy, decision);
            assert_eq!(
                outcome(decision),
                line.outcome,
                "{:?}: {}",
                line.origin,
                rule.text
            );
            if let Some(label) = line.by.as_deref().filter(|by| !domains.contains(by)) {
                assert_eq!(
                    rule.label.as_deref(),
                    Some(label),
                    "{:?}: {}",
                    line.origin,
                    rule.text
                );
            }
            lines += 1;
        }
    }
    assert!(lines >= 50, "only {lines} lines");
}

#[test]
fn there_is_an_example_of_each_kind_of_rule_and_statement() {
    let policies = policies();
    let written = |rule: &&Rule| rule.origin != Origin::BuiltIn;
    let rules: Vec<&Rule> = policies
        .iter()
        .flat_map(|policy| &policy.rules)
        .filter(written)
        .collect();
    let has = |what: &str, test: &dyn Fn(&Rule) -> bool| {
        assert!(rules.iter().any(|rule| test(rule)), "no example of {what}");
    };
    for effect in [Effect::Allow, Effect::Ask, Effect::Deny, Effect::Forbid] {
        has(effect.word(), &|rule| rule.effect == effect);
    }
    has("a rule on files", &|rule| {
        matches!(rule.subject, Subject::File { .. })
    });
    has("scratch", &|rule| matches!(rule.subject, Subject::Scratch { .. }));
    has("hide", &|rule| matches!(rule.subject, Subject::Hide { .. }));
    has(
        "an address",
        &|rule| matches!(&rule.subject, Subject::Network { targets, .. } if !targets.is_empty()),
    );
    has(
        "a host",
        &|rule| matches!(&rule.subject, Subject::Network { hosts, .. } if !hosts.is_empty()),
    );
    has("pass", &|rule| matches!(rule.subject, Subject::Pass { .. }));
    has("set", &|rule| matches!(rule.subject, Subject::Set { .. }));
    has("broker", &|rule| matches!(rule.subject, Subject::Broker(_)));
    has("a system call", &|rule| {
        matches!(rule.subject, Subject::Syscall { .. })
    });
    has("identity", &|rule| matches!(rule.subject, Subject::Identity(_)));
    has("limit", &|rule| matches!(rule.subject, Subject::Limit { .. }));
    has("if present", &|rule| rule.if_present);
    has("a label", &|rule| rule.label.is_some());
    has("a reason", &|rule| rule.because.is_some());
    has("a group of its own", &|rule| {
        rule.via.as_deref().is_some_and(|via| via.starts_with("org::"))
    });
    has("a group of the language", &|rule| {
        rule.via.as_deref().is_some_and(|via| via.starts_with("std::"))
    });
    let any = |what: &str, test: &dyn Fn(&Policy) -> bool| {
        assert!(policies.iter().any(test), "no example of {what}");
    };
    any("three layers", &|policy| policy.layers.len() == 3);
    any("unlock", &|policy| !policy.unlocks.is_empty());
    any("requirements", &|policy| !policy.requirements.is_empty());
    any("record", &|policy| policy.record.exec && policy.record.write);
    any("an ephemeral workspace", &|policy| {
        policy
            .workspace
            .as_ref()
            .is_some_and(|found| found.mode == WorkspaceMode::Ephemeral)
    });
}

/// A row of the table of precedence.
struct Row {
    rules: Vec<String>,
    access: String,
    decision: String,
    rule: String,
}

fn code_spans(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn table() -> Vec<Row> {
    let page = page();
    let section = page.split("### Which rule wins").nth(1).unwrap();
    let section = section.split("\n### ").next().unwrap();
    let mut rows: Vec<Row> = Vec::new();
    let mut lines = section.lines().filter(|line| line.starts_with('|'));
    assert_eq!(
        lines.next(),
        Some("| rules | access | decision | decided by | why |")
    );
    for line in lines.skip(1) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [rules, access, decision, rule, _] = cells.as_slice() else {
            panic!("{line}");
        };
        let mut all = Vec::new();
        if rules.starts_with("the same") {
            all.clone_from(&rows.last().unwrap().rules);
        }
        all.extend(code_spans(rules));
        rows.push(Row {
            rules: all,
            access: code_spans(access).remove(0),
            decision: (*decision).to_owned(),
            rule: code_spans(rule).remove(0),
        });
    }
    rows
}

/// The block that a rule stands in.
fn block(rule: &str) -> &'static str {
    if rule.contains("syscall") {
        "process"
    } else if rule.contains("pass ") {
        "credentials"
    } else if rule.contains("connect") || rule.contains("bind") {
        "network"
    } else {
        "filesystem"
    }
}

fn decided(rules: &[String], row: &Row) -> Policy {
    let blocks: String = rules
        .iter()
        .map(|rule| format!("{} {{ {rule} }}\n", block(rule)))
        .collect();
    let text = format!(
        "policy \"p\" {{\n{blocks}}}\ntest \"t\" {{ {} is {} }}",
        row.access, row.decision
    );
    let resolved = tree::check(&SourceFile::new("row.remit", text));
    assert_eq!(resolved.diagnostics, Vec::<Diagnostic>::new());
    resolved.policy.unwrap()
}

#[test]
fn every_row_of_the_precedence_table_is_decided_as_it_says_in_either_order() {
    let rows = table();
    assert!(rows.len() >= 25, "only {} rows", rows.len());
    for row in &rows {
        let reversed: Vec<String> = row.rules.iter().rev().cloned().collect();
        for rules in [&row.rules, &reversed] {
            let policy = decided(rules, row);
            let line = &policy.tests[0].expectations[0];
            let decision = decide(&policy, &line.access);
            let rule = deciding(&policy, decision);
            assert_eq!(
                outcome(decision),
                line.outcome,
                "{rules:?}: {}: {}",
                row.access,
                rule.text
            );
            assert_eq!(rule.text, row.rule, "{rules:?}: {}", row.access);
        }
    }
}

#[test]
fn what_can_be_unlocked_is_listed() {
    let names: Vec<String> = floor::openable().iter().map(|name| format!("`{name}`")).collect();
    let list = format!("What can be opened: {}.", names.join(", "));
    assert!(page().contains(&list), "docs/language.md does not say: {list}");
}
