//! What rules become, and what cannot be compiled.

use artifact::rule::{Lowering, Mechanism, Need};
use compiler::{Reason, lower};
use policy_lang::policy::{
    Broker, Destination, Effect, FileAccess, Identity, Keep, Protocol, Resource, Scheme, SecretSource,
    Subject, Unlock, Verb, Workspace, WorkspaceMode,
};
use policy_lang::syscall::SyscallSet;

use crate::policies::{file, host, layered, network, policy};

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
fn what_is_to_be_asked_is_refused_like_a_denial_and_needs_approvals() {
    let grant = || (Effect::Allow, file(&[Read, Write], &["/w"]));
    let lowering = last(vec![grant(), (Effect::Ask, file(&[Write], &["/w/f"]))]);
    assert_eq!(mechanisms(&lowering), [Mechanism::MountAttributes]);
    assert!(lowering[0].needs.contains(&Need::Approvals));
    let target = [("10.0.0.0/8", 443, 443)];
    let ask = (Effect::Ask, network(&[Verb::Connect], &[Protocol::Tcp], &target));
    for mechanism in last(vec![ask]) {
        assert!(mechanism.needs.contains(&Need::Approvals), "{mechanism:?}");
    }
    let targets = vec![SyscallSet::call("ptrace").unwrap()];
    let lowering = last(vec![(Effect::Ask, Subject::Syscall { targets })]);
    assert!(lowering[0].needs.contains(&Need::Approvals));
    let names = vec!["HOME".to_owned()];
    let lowering = last(vec![(Effect::Ask, Subject::Pass { names })]);
    assert!(lowering[0].needs.contains(&Need::Approvals));
}

#[test]
fn names_need_a_host_that_knows_them_and_addresses_beside_them_do_not() {
    let named = |targets: &[(&str, u16, u16)]| {
        let mut subject = network(&[Verb::Connect], &[Protocol::Tcp], targets);
        if let Subject::Network { hosts, .. } = &mut subject {
            hosts.push(host("*.example.com", 443, 443));
        }
        lower(&policy(vec![(Effect::Allow, subject)])).unwrap()
    };
    let by_name = named(&[]);
    let lowering = &by_name.rules[1].lowering;
    assert_eq!(mechanisms(lowering), [Mechanism::CgroupBpf]);
    assert_eq!(lowering[0].needs, [Need::CgroupBpf, Need::HostNames]);
    assert_eq!(by_name.network.hosts.len(), 1);
    assert_eq!(by_name.network.hosts[0].pattern, "*.example.com");
    assert_eq!(by_name.network.prefixes, []);
    let both = named(&[("10.0.0.0/8", 443, 443)]);
    let [exact, partial] = &both.rules[1].lowering[..] else {
        panic!("{:?}", both.rules[1].lowering)
    };
    assert!(exact.needs.contains(&Need::HostNames) && exact.gap.is_none());
    assert!(partial.gap.as_ref().unwrap().contains("`*.example.com`"));
    assert_eq!(both.network.prefixes.len(), 1);
}

#[test]
fn what_is_hidden_is_denied_in_every_way_and_needs_a_view_without_names() {
    let hide = Subject::Hide {
        targets: vec![policy_lang::pattern::PathPattern::parse("/w/f").unwrap()],
    };
    let plan = lower(&policy(vec![
        (Effect::Allow, file(&[Read, Write], &["/w"])),
        (Effect::Deny, hide),
    ]))
    .unwrap();
    assert_eq!(mechanisms(&plan.rules[2].lowering), [Mechanism::MountMask]);
    assert!(plan.rules[2].lowering[0].needs.contains(&Need::Hide));
    let hidden: Vec<_> = plan.files.rules.iter().filter(|rule| rule.rule.0 == 2).collect();
    assert_eq!(hidden.len(), 3);
    assert!(hidden.iter().all(|rule| rule.effect == artifact::Effect::Deny));
}

#[test]
fn a_credential_is_declared_without_its_secret() {
    let broker = Broker {
        name: "NPM_TOKEN".to_owned(),
        destination: Destination::Host(host("registry.npmjs.org", 443, 443)),
        scheme: Scheme::Header("x-token".to_owned()),
        source: SecretSource::Env("NPM_TOKEN".to_owned()),
        ttl_seconds: Some(900),
    };
    let plan = lower(&policy(vec![(Effect::Allow, Subject::Broker(broker))])).unwrap();
    assert_eq!(mechanisms(&plan.rules[1].lowering), [Mechanism::Broker]);
    assert_eq!(plan.rules[1].lowering[0].needs, [Need::Broker]);
    let [declared] = &plan.brokers[..] else {
        panic!("{:?}", plan.brokers)
    };
    assert_eq!(
        (declared.rule.0, declared.first_port, declared.ttl_seconds),
        (1, 443, Some(900))
    );
    assert_eq!(
        declared.destination,
        artifact::Destination::Host("registry.npmjs.org".to_owned())
    );
    assert_eq!(
        declared.source,
        artifact::SecretSource::Env("NPM_TOKEN".to_owned())
    );
    assert!(plan.environment.rules.is_empty(), "the run gets no variable");
}

/// A grant that only one layer makes is none, so nothing flows that a refusal would have to stop.
#[test]
fn a_refusal_beneath_a_grant_that_a_ceiling_does_not_make_is_left_to_landlock() {
    let glob = || (Effect::Deny, file(&[Read], &["/w/**/.env"]));
    let granted = |layer| (Some(layer), (Effect::Allow, file(&[Read, Write], &["/w"])));
    let plan = lower(&layered(2, vec![granted(1), (Some(0), glob())])).unwrap();
    let lowering = &plan.rules[2].lowering;
    assert_eq!(
        (mechanisms(lowering), &lowering[0].gap),
        (vec![Mechanism::LandlockFs], &None)
    );
    let plan = lower(&layered(2, vec![granted(1), granted(0), (Some(0), glob())])).unwrap();
    assert!(plan.rules[3].lowering[0].gap.is_some());
}

#[test]
fn rules_and_declarations_say_where_they_are_from() {
    let mut policy = layered(
        2,
        vec![
            (None, (Effect::Forbid, file(&[Read], &["/x"]))),
            (Some(0), (Effect::Allow, file(&[Read], &["/a"]))),
            (Some(1), (Effect::Allow, file(&[Read], &["/a"]))),
        ],
    );
    policy.rules[2].via = Some("std::git".to_owned());
    policy.unlocks = vec![Unlock {
        name: "io-uring".to_owned(),
        because: "measured".to_owned(),
        origin: policy.rules[2].origin.clone(),
    }];
    policy.workspace = Some(Workspace {
        from: Some("/w".to_owned()),
        mode: WorkspaceMode::Ephemeral,
        keep: Keep::Matching(vec!["src/**".to_owned()]),
        origin: policy.rules[2].origin.clone(),
    });
    policy.record.read = true;
    let artifact = compiler::emit(&lower(&policy).unwrap());
    let layers: Vec<_> = artifact
        .rules
        .iter()
        .map(|rule| rule.layer.map(|layer| layer.0))
        .collect();
    assert_eq!(layers, [None, None, Some(0), Some(1)]);
    assert_eq!(artifact.rules[2].via.as_deref(), Some("std::git"));
    let names: Vec<_> = artifact.layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names, ["layer 0", "layer 1"]);
    assert_eq!(artifact.unlocks[0].name, "io-uring");
    let workspace = artifact.workspace.as_ref().unwrap();
    assert_eq!(workspace.mode, artifact::WorkspaceMode::Ephemeral);
    assert_eq!(
        workspace.keep,
        artifact::Keep::Matching(vec!["src/**".to_owned()])
    );
    assert!(artifact.record.read && !artifact.record.write);
    // Where there is only one layer, nothing says so.
    let single = lower(&crate::policies::policy(vec![(
        Effect::Allow,
        file(&[Read], &["/a"]),
    )]))
    .unwrap();
    assert_eq!(single.rules[1].layer, None);
    assert_eq!(single.files.rules[0].layer, None);
}

#[test]
fn of_several_scratches_of_a_layer_the_smallest_counts_and_each_layer_keeps_its_own() {
    let scratch = |layer, size_bytes| {
        let path = "/tmp".to_owned();
        (
            Some(layer),
            (Effect::Allow, Subject::Scratch { path, size_bytes }),
        )
    };
    let plan = lower(&layered(2, vec![scratch(0, 3), scratch(0, 2), scratch(1, 4)])).unwrap();
    let sizes: Vec<_> = plan
        .files
        .scratch
        .iter()
        .map(|scratch| (scratch.layer.unwrap().0, scratch.size_bytes, scratch.rule.0))
        .collect();
    assert_eq!(sizes, [(0, 2, 2), (1, 4, 3)]);
}

#[test]
fn a_policy_without_a_place_in_an_artifact_is_an_error_not_a_panic() {
    let mut too_long = policy(Vec::new());
    too_long.name = "x".repeat(70_000);
    let errors = lower(&too_long).unwrap_err();
    assert!(matches!(&errors[0].reason, Reason::Bound(invalid) if invalid.at == "policy.name"));
}
