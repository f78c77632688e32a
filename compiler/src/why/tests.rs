use std::collections::BTreeMap;

use policy_lang::policy::{FileAccess, Layer};
use policy_lang::resolve::AsWritten;
use policy_lang::{Inputs, SourceFile};

use super::*;

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

fn read(path: &str) -> Access {
    Access::File {
        access: FileAccess::Read,
        path: path.to_owned(),
    }
}

/// The losers of the only layer, as sentences.
fn losers(policy: &Policy, access: &Access) -> Vec<String> {
    let reasons = reasons(policy, access);
    assert_eq!(reasons.layers.len(), 1);
    reasons.layers[0]
        .losers
        .iter()
        .map(|loser| {
            let rule = policy.rule(loser.rule).unwrap();
            format!("{} {}", place(rule), loser.lost.sentence(policy))
        })
        .collect()
}

const NESTED: &str = "policy \"p\" {\nfilesystem {\nallow read \"/w\"\ndeny read \"/w/.env\"\nallow read \"/w/.env/public\"\n} }";

#[test]
fn a_wider_rule_yields_and_says_to_whom() {
    let policy = policy(NESTED);
    assert_eq!(
        losers(&policy, &read("/w/.env/a")),
        [
            "the default yields to p.remit:3, which is more specific",
            "p.remit:3 yields to p.remit:4, which is more specific",
        ]
    );
}

#[test]
fn of_equal_sets_the_stricter_wins_and_of_equal_rules_the_first() {
    let policy = policy(
        "policy \"p\" {\nfilesystem {\nallow read \"/w\"\ndeny read \"/w\"\ndeny read, write \"/w\"\n} }",
    );
    assert_eq!(
        losers(&policy, &read("/w/a"))[1..],
        [
            "p.remit:3 loses to p.remit:4: neither is more specific, and that one is stricter",
            "p.remit:5 says the same as p.remit:4, which was written first",
        ]
    );
}

#[test]
fn a_forbid_beats_what_is_more_specific() {
    let policy = policy("policy \"p\" {\nfilesystem {\nforbid read \"/w\"\nallow read \"/w/a\"\n} }");
    let reasons = reasons(&policy, &read("/w/a"));
    assert_eq!(reasons.decision.effect, Effect::Forbid);
    assert!(
        losers(&policy, &read("/w/a"))
            .contains(&"p.remit:4 loses to p.remit:3: nothing opens a forbid".to_owned())
    );
}

#[test]
fn a_rule_with_one_target_inside_another_does_not_lose_to_itself() {
    let policy = policy("policy \"p\" {\nfilesystem {\nallow read \"/w\", \"/w/a\"\ndeny read \"/w/a\"\n} }");
    assert_eq!(
        losers(&policy, &read("/w/a"))[1..],
        ["p.remit:3 loses to p.remit:4: neither is more specific, and that one is stricter"]
    );
}

#[test]
fn each_layer_says_what_it_decides() {
    let mut policy = policy(NESTED);
    policy.layers.push(Layer {
        name: "ceiling".to_owned(),
        file: "c.remit".to_owned(),
    });
    let moved = policy.rules.last_mut().unwrap();
    moved.layer = Some(LayerId(1));
    let reasons = reasons(&policy, &read("/w/a"));
    assert_eq!(reasons.layers.len(), 2);
    assert_eq!(reasons.layers[0].decision.effect, Effect::Allow);
    assert_eq!(reasons.layers[1].decision.rule, RuleId::DEFAULT);
    assert_eq!(
        (reasons.decision.effect, reasons.layer),
        (Effect::Deny, LayerId(1))
    );
}
