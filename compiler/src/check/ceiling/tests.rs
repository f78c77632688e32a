use policy_lang::pattern::PathPattern;
use policy_lang::policy::{FileAccess, Layer, Origin, Rule, Subject};

use super::*;

/// Layer, effect, path.
fn policy(layers: usize, rules: &[(u8, Effect, &str)]) -> Policy {
    let mut policy = Policy::built_in("child");
    for number in 1..layers {
        policy.layers.push(Layer {
            name: format!("ceiling {number}"),
            file: format!("{number}.remit"),
        });
    }
    for &(layer, effect, path) in rules {
        policy.rules.push(Rule {
            id: RuleId(u32::try_from(policy.rules.len()).unwrap()),
            effect,
            subject: Subject::File {
                accesses: vec![FileAccess::Read],
                targets: vec![PathPattern::parse(path).unwrap()],
            },
            text: format!("{} read \"{path}\"", effect.word()),
            label: None,
            because: None,
            origin: Origin::BuiltIn,
            layer: Some(LayerId(layer)),
            via: None,
            if_present: false,
            permit_degraded: false,
        });
    }
    policy
}

use Effect::{Allow, Ask, Deny, Forbid};

/// Witness, number of the ceiling, text of the rule that refuses it.
fn beyond(policy: &Policy) -> Vec<(String, u8, Option<String>)> {
    let findings = ceiling(policy);
    assert_eq!(findings.undecided, Vec::<String>::new());
    let text = |by: RuleId| policy.rule(by).unwrap().text.clone();
    findings
        .beyond
        .iter()
        .map(|finding| {
            (
                finding.witness.to_string(),
                finding.ceiling.0,
                finding.refused_by.map(text),
            )
        })
        .collect()
}

#[test]
fn a_grant_inside_what_a_ceiling_grants_is_fine() {
    let policy = policy(2, &[(0, Allow, "/w/src"), (1, Allow, "/w")]);
    assert_eq!(beyond(&policy), []);
}

#[test]
fn what_no_rule_of_the_ceiling_speaks_of_is_beyond_it() {
    let policy = policy(2, &[(0, Allow, "/w"), (1, Allow, "/w/src")]);
    assert_eq!(beyond(&policy), [("read \"/w\"".to_owned(), 1, None)]);
}

#[test]
fn a_denial_of_the_ceiling_may_take_a_part() {
    let policy = policy(2, &[(0, Allow, "/w"), (1, Allow, "/w"), (1, Deny, "/w/**/.env")]);
    assert_eq!(beyond(&policy), []);
}

#[test]
fn a_denial_of_the_ceiling_that_takes_all_is_named() {
    let policy = policy(
        2,
        &[(0, Allow, "/w/.git"), (1, Allow, "/w"), (1, Forbid, "/w/.git")],
    );
    assert_eq!(
        beyond(&policy),
        [(
            "read \"/w/.git\"".to_owned(),
            1,
            Some("forbid read \"/w/.git\"".to_owned())
        )]
    );
}

#[test]
fn a_ceiling_that_opens_a_denial_again_leaves_something() {
    let policy = policy(
        2,
        &[
            (0, Allow, "/w/.git"),
            (1, Allow, "/w"),
            (1, Deny, "/w/.git"),
            (1, Allow, "/w/.git/refs"),
        ],
    );
    assert_eq!(beyond(&policy), []);
}

#[test]
fn what_the_policy_refuses_itself_is_not_granted() {
    let policy = policy(
        2,
        &[
            (0, Allow, "/w"),
            (0, Deny, "/w/private"),
            (1, Allow, "/w/*"),
            (1, Allow, "/w"),
        ],
    );
    assert_eq!(beyond(&policy), []);
}

#[test]
fn a_ceiling_that_asks_grants() {
    assert_eq!(beyond(&policy(2, &[(0, Allow, "/w"), (1, Ask, "/w")])), []);
}

#[test]
fn each_layer_is_held_against_every_ceiling_above_it() {
    let policy = policy(
        3,
        &[
            (0, Allow, "/w/a"),
            (1, Allow, "/w"),
            (2, Allow, "/w/b"),
            (0, Allow, "/w/b/c"),
        ],
    );
    assert_eq!(
        beyond(&policy),
        [
            ("read \"/w/a\"".to_owned(), 2, None),
            ("read \"/w\"".to_owned(), 2, None)
        ]
    );
}

#[test]
fn a_glob_that_the_ceiling_covers_only_in_part_is_shown_by_a_path() {
    let policy = policy(
        2,
        &[
            (0, Allow, "/w/**/*.md"),
            (1, Allow, "/w/*/*.md"),
            (1, Allow, "/w/*.md"),
        ],
    );
    assert_eq!(beyond(&policy), [("read \"/w/a/a/a.md\"".to_owned(), 1, None)]);
}
