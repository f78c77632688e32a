//! What rules become, and what cannot be compiled.

use artifact::rule::{Lowering, Mechanism, Need};
use compiler::{Reason, lower};
use policy_lang::policy::{Effect, FileAccess, Identity, Protocol, Resource, Subject, Verb};
use policy_lang::syscall::SyscallSet;

use crate::policies::{file, network, policy};

use FileAccess::{Execute, Read, Write};

/// The mechanisms of the last rule.
fn last(rules: Vec<(Effect, Subject)>) -> Vec<Lowering> {
    lower(&policy(rules)).unwrap().rules.pop().unwrap().lowering
}

fn mechanisms(lowering: &[Lowering]) -> Vec<Mechanism> {
    lowering.iter().map(|lowering| lowering.mechanism).collect()
}

#[test]
fn a_refusal_beneath_no_grant_is_left_to_landlock() {
    let lowering = last(vec![(Effect::Deny, file(&[Read, Write], &["/etc/shadow"]))]);
    assert_eq!(mechanisms(&lowering), [Mechanism::LandlockFs]);
    assert_eq!(lowering[0].needs, [Need::Landlock(1)]);
    assert_eq!(lowering[0].gap, None);
}

#[test]
fn a_refusal_beneath_a_grant_takes_a_mount() {
    let grant = || (Effect::Allow, file(&[Read, Write], &["/w"]));
    let lowering = last(vec![grant(), (Effect::Deny, file(&[Write], &["/w/f"]))]);
    assert_eq!(mechanisms(&lowering), [Mechanism::MountAttributes]);
    let lowering = last(vec![
        grant(),
        (Effect::Deny, file(&[Read, Write, Execute], &["/w/f"])),
    ]);
    assert_eq!(mechanisms(&lowering), [Mechanism::MountMask]);
    assert_eq!(lowering[0].note, None);
    let lowering = last(vec![grant(), (Effect::Deny, file(&[Read], &["/w/f"]))]);
    assert!(lowering[0].note.as_ref().unwrap().contains("cannot be written"));
}

#[test]
fn a_refusing_glob_has_a_gap_only_where_the_run_can_make_files() {
    let deny = || (Effect::Deny, file(&[Read], &["/w/**/.env"]));
    let lowering = last(vec![(Effect::Allow, file(&[Read, Write], &["/w/src"])), deny()]);
    assert!(lowering[0].gap.as_ref().unwrap().contains("/w/**/.env"));
    let lowering = last(vec![
        (Effect::Allow, file(&[Read], &["/w"])),
        (Effect::Allow, file(&[Write], &["/v"])),
        deny(),
    ]);
    assert_eq!(lowering[0].gap, None);
}

#[test]
fn execute_needs_a_mount_beside_landlock() {
    let lowering = last(vec![(Effect::Allow, file(&[Read, Execute], &["/usr"]))]);
    assert!(lowering[0].gap.is_some());
    assert_eq!(lowering[1].mechanism, Mechanism::MountAttributes);
    assert_eq!(lowering[1].gap, None);
}

#[test]
fn few_tcp_ports_are_listed_for_landlock_and_many_are_not() {
    let rule = |last_port| {
        let ports = [("10.0.0.0/8", 1, last_port)];
        (Effect::Allow, network(&[Verb::Connect], &[Protocol::Tcp], &ports))
    };
    assert_eq!(
        mechanisms(&last(vec![rule(64)])),
        [Mechanism::CgroupBpf, Mechanism::LandlockNet]
    );
    assert_eq!(mechanisms(&last(vec![rule(65)])), [Mechanism::CgroupBpf]);
    let plan = lower(&policy(vec![rule(3)])).unwrap();
    assert_eq!(plan.network.landlock_connect_ports, Some(vec![1, 2, 3]));
    assert_eq!(plan.network.landlock_bind_ports, Some(vec![]));
}

#[test]
fn a_process_limit_without_a_controller_is_exact_only_for_a_user_of_its_own() {
    let limit = || {
        let resource = Resource::Processes;
        (Effect::Allow, Subject::Limit { resource, value: 64 })
    };
    let by_user = &last(vec![limit()])[1];
    assert_eq!((by_user.mechanism, &by_user.gap), (Mechanism::Rlimit, &None));
    let mut shared = policy(vec![limit()]);
    shared.identity.0 = Identity::User;
    let record = lower(&shared).unwrap().rules.pop().unwrap();
    assert!(record.lowering[1].gap.is_some());
}

#[test]
fn the_lowest_limit_holds() {
    let limit = |value| {
        let resource = Resource::Memory;
        (Effect::Allow, Subject::Limit { resource, value })
    };
    let plan = lower(&policy(vec![limit(3), limit(2), limit(4)])).unwrap();
    assert_eq!(plan.process.limits.len(), 1);
    assert_eq!(
        (plan.process.limits[0].value, plan.process.limits[0].rule.0),
        (2, 2)
    );
}

#[test]
fn what_cannot_be_enforced_does_not_compile() {
    let set = |value: &str| {
        let (name, value) = ("A".to_owned(), value.to_owned());
        (Effect::Allow, Subject::Set { name, value })
    };
    let nothing = Subject::Syscall {
        targets: vec![SyscallSet {
            names: ["no_such_call".to_owned()].into(),
            conditions: Vec::new(),
        }],
    };
    let long = format!("/{}", "x".repeat(256));
    let errors = lower(&policy(vec![
        set("1"),
        set("1"),
        set("2"),
        (Effect::Allow, nothing),
        (Effect::Allow, file(&[Read], &[&long])),
    ]))
    .unwrap_err();
    let said: Vec<_> = errors.iter().map(ToString::to_string).collect();
    for (rule, words) in [
        (3, "already set to another value, at test.remit:1:1"),
        (4, "becomes nothing"),
        (5, "longer than 255 bytes"),
    ] {
        let error = errors.iter().position(|error| error.rule.0 == rule);
        let error = &said[error.unwrap_or_else(|| panic!("no error about rule {rule} in {said:?}"))];
        assert!(error.starts_with(&format!("test.remit:{rule}:1: ")), "{error}");
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(errors.len(), 3, "{said:?}");
}

#[test]
fn a_policy_without_a_place_in_an_artifact_is_an_error_not_a_panic() {
    let mut too_long = policy(Vec::new());
    too_long.name = "x".repeat(70_000);
    let errors = lower(&too_long).unwrap_err();
    assert!(matches!(&errors[0].reason, Reason::Bound(invalid) if invalid.at == "policy.name"));
}
