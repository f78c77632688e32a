//! Differences that a reviewer would name.

use compiler::difference::{Change, Direction, Domain, Outcome, Topic, at_least_as_strict, difference};
use policy_lang::inclusion::Proof;
use policy_lang::policy::{Identity, Policy, Resource, RuleId, Subject, Unlock};
use policy_lang::syscall::{Comparison, Condition, SyscallSet, Width};

use super::rules::*;

/// Witness, before, after.
fn shown(old: &Policy, new: &Policy) -> Vec<(String, Outcome, Outcome)> {
    let found = difference(old, new);
    assert_eq!(found.undecided, []);
    let shown = |change: &Change| {
        (
            change.witness.to_string(),
            change.before.outcome,
            change.after.outcome,
        )
    };
    found.changes.iter().map(shown).collect()
}

fn one(old: &Policy, new: &Policy) -> (String, Outcome, Outcome) {
    let mut all = shown(old, new);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

use Outcome::{Allowed, Asked, Private, Refused, RefusedIfPossible};

#[test]
fn a_grant_more_is_one_change_with_one_witness() {
    let old = policy([read(Allow, "/w")]);
    let new = policy([read(Allow, "/w"), read(Allow, "/opt/node")]);
    assert_eq!(
        one(&old, &new),
        ("read \"/opt/node\"".to_owned(), Refused, Allowed)
    );
    assert_eq!(
        one(&new, &old),
        ("read \"/opt/node\"".to_owned(), Allowed, Refused)
    );
    assert_eq!(difference(&old, &new).at_least_as_strict(), Proof::Fails);
    assert_eq!(difference(&new, &old).at_least_as_strict(), Proof::Holds);
}

#[test]
fn a_glob_that_lost_a_directory_is_found_below_it() {
    let old = policy([read(Allow, "/w"), read(Deny, "/w/**/.env")]);
    let new = policy([read(Allow, "/w"), read(Deny, "/w/*/.env")]);
    let (witness, before, after) = one(&old, &new);
    assert_eq!((before, after), (Refused, Allowed));
    assert!(
        witness == "read \"/w/.env\"" || witness == "read \"/w/a/a/.env\"",
        "{witness}"
    );
}

#[test]
fn a_class_that_lost_a_letter_is_found() {
    let old = policy([read(Deny, "/w/[a-f]*"), read(Allow, "/w")]);
    let new = policy([read(Deny, "/w/[abdef]*"), read(Allow, "/w")]);
    assert_eq!(one(&old, &new), ("read \"/w/c\"".to_owned(), Refused, Allowed));
}

#[test]
fn a_pattern_spelt_otherwise_is_no_difference() {
    let old = policy([
        read(Allow, "/w/**/x"),
        read(Deny, "/w/[ab]"),
        read(Allow, "/v/**"),
    ]);
    let new = policy([
        read(Deny, "/w/b"),
        read(Deny, "/w/a"),
        read(Allow, "/v"),
        read(Allow, "/w/**/**/x"),
    ]);
    assert!(difference(&old, &new).is_empty(), "{:?}", difference(&old, &new));
}

#[test]
fn twenty_globs_over_a_thousand_directories_are_compared_exactly() {
    let globs: Vec<String> = (0..20).map(|number| format!("/**/*.x{number}")).collect();
    let mut rules: Vec<Written> = (0..1000)
        .map(|number| read(Allow, &format!("/w/{number}")))
        .collect();
    rules.extend(globs.iter().map(|glob| read(Deny, glob)));
    let old = policy(rules.clone());
    rules.retain(|rule| !format!("{rule:?}").contains("*.x7\""));
    let new = policy(rules);
    let found = difference(&old, &new);
    assert_eq!(found.undecided, []);
    assert_eq!(found.at_least_as_strict(), Proof::Fails);
    assert!(
        found
            .changes
            .iter()
            .all(|change| change.before.rule == RuleId(old.rules.len() as u32 - 13))
    );
}

#[test]
fn a_wider_prefix_is_shown_by_an_address_that_is_in_no_other() {
    let old = policy([connect(Allow, &["10.0.0.0/9:443"], &[])]);
    let new = policy([connect(Allow, &["10.0.0.0/8:443"], &[])]);
    assert_eq!(
        one(&old, &new),
        ("connect tcp \"10.128.0.1:443\"".to_owned(), Refused, Allowed)
    );
    let halves = policy([connect(Allow, &["10.0.0.0/9:443", "10.128.0.0/9:443"], &[])]);
    assert!(difference(&new, &halves).is_empty());
}

#[test]
fn one_port_more_is_found() {
    let old = policy([connect(Allow, &["10.0.0.0/8:3000-3998"], &[])]);
    let new = policy([connect(Allow, &["10.0.0.0/8:3000-3999"], &[])]);
    assert_eq!(one(&old, &new).0, "connect tcp \"10.0.0.1:3999\"");
}

#[test]
fn a_removed_denial_of_an_address_that_a_name_leads_to_is_found() {
    let old = policy([
        connect(Allow, &[], &["*.example.com:443"]),
        connect(Deny, &["10.0.0.0/8:0-65535"], &[]),
    ]);
    let new = policy([connect(Allow, &[], &["*.example.com:443"])]);
    assert_eq!(
        one(&old, &new),
        (
            "connect tcp \"a.example.com:443\" at 10.0.0.1".to_owned(),
            Refused,
            Allowed
        )
    );
}

#[test]
fn names_beneath_a_name_are_not_the_name() {
    let old = policy([connect(Allow, &[], &["*.example.com:443"])]);
    let new = policy([connect(Allow, &[], &["*.example.com:443", "example.com:443"])]);
    assert_eq!(one(&old, &new).0, "connect tcp \"example.com:443\"");
}

#[test]
fn a_wildcard_of_variables_is_shown_by_a_name() {
    let old = policy([pass(Allow, &["LC_ALL"]), pass(Deny, &["AWS_*"])]);
    let new = policy([pass(Allow, &["LC_*"]), pass(Deny, &["AWS_*"])]);
    let (witness, before, after) = one(&old, &new);
    assert_eq!((before, after), (Refused, Allowed));
    assert!(witness.starts_with("env \"LC_"), "{witness}");
}

fn ioctl(effect: policy_lang::policy::Effect, comparison: Comparison) -> Written {
    let condition = Condition {
        argument: 1,
        width: Width::Bits32,
        comparison,
    };
    written(
        effect,
        Subject::Syscall {
            targets: vec![SyscallSet::call("ioctl").unwrap().with(condition)],
        },
    )
}

#[test]
fn a_mask_that_lost_a_bit_is_shown_by_a_value() {
    let masked = |mask| Comparison::MaskedEqual { mask, value: 0 };
    let old = policy([ioctl(Allow, masked(0x7000))]);
    let new = policy([ioctl(Allow, masked(0x3000))]);
    let (witness, before, after) = one(&old, &new);
    assert_eq!((before, after), (Refused, Allowed));
    assert_eq!(witness, "syscall \"ioctl\" where request == 0x4000");
}

#[test]
fn a_call_more_in_a_group_is_named() {
    let group = |drop: &str| {
        let mut set = SyscallSet::group("@system-service").unwrap();
        set.names.remove(drop);
        policy([written(Allow, Subject::Syscall { targets: vec![set] })])
    };
    assert_eq!(one(&group("fork"), &group("")).0, "syscall \"fork\"");
}

#[test]
fn asking_lies_between_allowing_and_refusing() {
    let (allow, ask, deny) = (
        policy([read(Allow, "/w")]),
        policy([read(Ask, "/w")]),
        policy([read(Deny, "/w")]),
    );
    assert_eq!(one(&allow, &ask).2, Asked);
    assert_eq!(difference(&allow, &ask).at_least_as_strict(), Proof::Holds);
    assert_eq!(difference(&ask, &allow).at_least_as_strict(), Proof::Fails);
    assert_eq!(difference(&deny, &ask).at_least_as_strict(), Proof::Fails);
}

#[test]
fn a_denial_that_a_host_may_leave_out_is_weaker() {
    let deny = |degraded| {
        let mut deny = read(Deny, "/w/**/.env");
        deny.degraded = degraded;
        policy([read(Allow, "/w"), deny])
    };
    let (_, before, after) = one(&deny(false), &deny(true));
    assert_eq!((before, after), (Refused, RefusedIfPossible));
    assert_eq!(
        difference(&deny(true), &deny(false)).at_least_as_strict(),
        Proof::Holds
    );
    // Where nothing else allows it, leaving it out allows nothing.
    let mut alone = read(Deny, "/w/.env");
    alone.degraded = true;
    assert!(difference(&policy([]), &policy([alone])).is_empty());
}

#[test]
fn the_hosts_files_in_place_of_private_memory_are_wider() {
    let scratch = policy([written(
        Allow,
        Subject::Scratch {
            path: "/tmp".to_owned(),
            size_bytes: 1,
        },
    )]);
    let host = policy([files(Allow, &[Read, Write], &["/tmp"])]);
    let (_, before, after) = one(&scratch, &host);
    assert_eq!((before, after), (Private, Allowed));
    assert_eq!(difference(&host, &scratch).at_least_as_strict(), Proof::Holds);
}

#[test]
fn a_ceiling_makes_a_policy_no_wider_and_shows_what_it_takes() {
    let mut ceiling = read(Allow, "/w/src");
    ceiling.layer = 1;
    let free = policy([read(Allow, "/w")]);
    let under = policy([read(Allow, "/w"), ceiling]);
    assert_eq!(one(&free, &under), ("read \"/w\"".to_owned(), Allowed, Refused));
    assert_eq!(at_least_as_strict(&under, &free).0, Proof::Holds);
}

#[test]
fn limits_identity_and_unlocks_have_an_order() {
    let with = |limit: Option<u64>, identity: Identity, unlocked: bool| {
        let limits = limit.map(|value| {
            written(
                Allow,
                Subject::Limit {
                    resource: Resource::Memory,
                    value,
                },
            )
        });
        let mut policy = policy(limits);
        policy.identity = (identity, RuleId::DEFAULT);
        if unlocked {
            policy.unlocks.push(Unlock {
                name: "io-uring".to_owned(),
                because: "a database".to_owned(),
                origin: policy_lang::policy::Origin::BuiltIn,
            });
        }
        policy
    };
    let base = with(Some(10), Identity::Dynamic, false);
    for (new, topic) in [
        (with(Some(11), Identity::Dynamic, false), Topic::Limit),
        (with(None, Identity::Dynamic, false), Topic::Limit),
        (with(Some(10), Identity::User, false), Topic::Identity),
        (with(Some(10), Identity::Dynamic, true), Topic::Unlock),
    ] {
        let found = difference(&base, &new);
        assert_eq!(found.settings.len(), 1, "{:?}", found.settings);
        assert_eq!(
            (found.settings[0].topic, found.settings[0].direction),
            (topic, Direction::Wider)
        );
        assert_eq!(found.at_least_as_strict(), Proof::Fails);
        assert_eq!(difference(&new, &base).at_least_as_strict(), Proof::Holds);
    }
}

#[test]
fn another_value_of_a_variable_counts_as_wider() {
    let set = |value: &str| {
        policy([written(
            Allow,
            Subject::Set {
                name: "CI".to_owned(),
                value: value.to_owned(),
            },
        )])
    };
    let found = difference(&set("true"), &set("false"));
    assert_eq!(found.settings[0].direction, Direction::Other);
    assert_eq!(found.at_least_as_strict(), Proof::Fails);
    assert!(difference(&set("true"), &policy([])).settings.is_empty());
}

#[test]
fn one_rule_that_was_widened_is_one_change() {
    let old = policy((0..50).map(|number| read(Allow, &format!("/w/d{number}"))));
    let new = policy([read(Allow, "/w")]);
    let found = difference(&old, &new);
    assert_eq!(found.changes.len(), 1, "{:?}", found.changes);
    assert_eq!(found.changes[0].domain, Domain::Files);
}

#[test]
fn what_cannot_be_decided_within_bounds_is_no_yes() {
    // A million kinds of names, none of which one of the rules settles.
    let infix = |number: u8| format!("/**/*{}*", char::from(b'a' + number));
    let rules = |effect| (0..20).map(move |number| read(effect, &infix(number)));
    let old = policy(rules(Ask));
    let new = policy(rules(Ask).chain([read(Allow, "/**/*abcdefghijklmnopqrst*")]));
    let found = difference(&old, &new);
    assert_ne!(found.at_least_as_strict(), Proof::Holds);
}
