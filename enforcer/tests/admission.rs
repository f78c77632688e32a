//! Case P9: hosts that lack something. The capabilities are made by hand; nothing here touches the kernel.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::BTreeMap;

use artifact::process::{Identity, ProcessPlan, RecordOptions, Requirement};
use artifact::rule::{Domain, Effect, LayerId, Lowering, Mechanism, Need, Origin, RuleId, RuleRecord};
use artifact::seccomp::{Architecture, Instruction, SeccompFilter};
use artifact::{Artifact, Keep, Layer, PolicyIdentity, Workspace, WorkspaceMode};
use enforcer::admission::Reason;
use enforcer::capabilities::{Capabilities, Capability, Presence};
use enforcer::{Status, admit, assess};

fn host(landlock_abi: u32, without: &[Capability]) -> Capabilities {
    let found = Capability::ALL
        .into_iter()
        .map(|capability| {
            let present = !without.contains(&capability);
            let evidence = if present { "asked: there" } else { "asked: ENOSYS" }.to_owned();
            (capability, Presence { present, evidence })
        })
        .collect();
    Capabilities {
        kernel: "6.1.0".into(),
        landlock_abi,
        landlock_errata: 0,
        found,
    }
}

fn lowering(mechanism: Mechanism, needs: &[Need], gap: Option<&str>) -> Lowering {
    Lowering {
        mechanism,
        needs: needs.to_vec(),
        gap: gap.map(str::to_owned),
        note: None,
    }
}

fn rule(id: u32, permit_degraded: bool, lowering: Vec<Lowering>) -> RuleRecord {
    RuleRecord {
        id: RuleId(id),
        effect: Effect::Deny,
        domain: Domain::Filesystem,
        text: format!("deny something {id}"),
        label: None,
        because: None,
        origin: Origin::Policy {
            file: "a.remit".into(),
            line: id + 10,
            column: 5,
        },
        layer: None,
        via: None,
        permit_degraded,
        lowering,
    }
}

fn artifact(rules: Vec<RuleRecord>, requirements: Vec<Requirement>) -> Artifact {
    let mut default = rule(
        0,
        false,
        vec![lowering(Mechanism::LandlockFs, &[Need::Landlock(1)], None)],
    );
    default.origin = Origin::BuiltIn;
    let architectures = [Architecture::X86_64, Architecture::Aarch64];
    Artifact {
        policy: PolicyIdentity {
            name: "test".into(),
            summary: None,
        },
        parameters: BTreeMap::new(),
        layers: vec![Layer {
            name: "test".into(),
            file: "a.remit".into(),
        }],
        unlocks: Vec::new(),
        rules: std::iter::once(default).chain(rules).collect(),
        requirements,
        filesystem: Default::default(),
        network: Default::default(),
        environment: Default::default(),
        brokers: Vec::new(),
        workspace: None,
        process: ProcessPlan {
            identity: Identity::Dynamic,
            identity_rule: RuleId(0),
            limits: Vec::new(),
        },
        seccomp: architectures
            .map(|architecture| SeccompFilter {
                architecture,
                program: vec![Instruction(6, 0, 0, 0)],
                refusals: Vec::new(),
            })
            .into(),
        record: RecordOptions::default(),
    }
}

#[test]
fn a_host_without_landlock_is_refused_with_what_is_missing() {
    let refusal = admit(artifact(vec![], vec![]), &host(0, &[Capability::Landlock])).unwrap_err();
    let text = refusal.to_string();
    assert!(text.contains("Landlock is missing (asked: ENOSYS)"), "{text}");
    assert!(
        refusal
            .reasons
            .iter()
            .any(|reason| matches!(reason, Reason::Base { .. }))
    );
}

#[test]
fn each_thing_every_run_needs_is_refused_by_name_when_it_is_missing() {
    for capability in [
        Capability::Privileges,
        Capability::Landlock,
        Capability::SeccompLog,
        Capability::CgroupBpf,
        Capability::KernelBtf,
        Capability::MountSetattr,
        Capability::PidNamespace,
        Capability::Audit,
    ] {
        let refusal = admit(artifact(vec![], vec![]), &host(7, &[capability])).unwrap_err();
        assert!(refusal.to_string().contains(capability.name()), "{refusal}");
    }
    for spared in [Capability::BpfLsm, Capability::MemfdNoexec] {
        assert!(
            admit(artifact(vec![], vec![]), &host(7, &[spared])).is_ok(),
            "{}",
            spared.name()
        );
    }
}

#[test]
fn the_default_is_enforced_only_if_everything_it_lowers_to_is_here() {
    let with_default = |lowering: Vec<Lowering>| {
        let mut artifact = artifact(vec![], vec![]);
        artifact.rules[0].lowering = lowering;
        artifact
    };
    let files = lowering(Mechanism::LandlockFs, &[Need::Landlock(3)], None);
    let network = lowering(Mechanism::CgroupBpf, &[Need::CgroupBpf], None);
    let scopes = lowering(Mechanism::LandlockScope, &[Need::Landlock(6)], None);
    let all = with_default(vec![files, network, scopes]);
    let refusal = admit(all.clone(), &host(2, &[])).unwrap_err();
    assert!(
        refusal.to_string().contains("Landlock ABI 3 is needed"),
        "{refusal}"
    );
    assert!(admit(all, &host(3, &[])).is_ok(), "scopes are a second line");
}

#[test]
fn an_older_abi_refuses_the_rule_that_needs_a_newer_one_and_says_where_it_is() {
    let needs_four = vec![lowering(Mechanism::LandlockNet, &[Need::Landlock(4)], None)];
    let refusal = admit(artifact(vec![rule(1, false, needs_four)], vec![]), &host(2, &[])).unwrap_err();
    let [
        Reason::Rule {
            rule,
            place,
            why,
            how,
            ..
        },
    ] = refusal.reasons.as_slice()
    else {
        panic!("{refusal}")
    };
    assert_eq!(
        (*rule, place.as_str(), *how),
        (RuleId(1), "a.remit:11", "unenforceable")
    );
    assert!(
        why.contains("Landlock ABI 4 is needed and this kernel (6.1.0) has 2"),
        "{why}"
    );
    assert!(refusal.to_string().contains("permit degraded"), "{refusal}");
}

#[test]
fn a_rule_that_permits_it_runs_degraded_and_is_named() {
    let rules = vec![
        rule(
            1,
            true,
            vec![lowering(Mechanism::LandlockScope, &[Need::Landlock(6)], None)],
        ),
        rule(
            2,
            true,
            vec![lowering(
                Mechanism::MountMask,
                &[],
                Some("files created later are not covered"),
            )],
        ),
    ];
    let admitted = admit(artifact(rules, vec![]), &host(5, &[])).unwrap();
    let [first, second] = admitted.degraded() else {
        panic!("{:?}", admitted.degraded())
    };
    assert_eq!((first.rule, second.rule), (RuleId(1), RuleId(2)));
    assert!(matches!(&first.status, Status::Unenforceable { why } if why.contains("ABI 6")));
    assert!(matches!(&second.status, Status::Partly { why } if why.contains("created later")));
}

#[test]
fn an_exact_mechanism_makes_up_for_a_missing_one() {
    let both = vec![
        lowering(Mechanism::LandlockNet, &[Need::Landlock(4)], Some("ports only")),
        lowering(Mechanism::CgroupBpf, &[Need::CgroupBpf], None),
    ];
    let statuses = assess(&artifact(vec![rule(1, false, both)], vec![]), &host(1, &[]));
    assert_eq!(statuses.last().unwrap().status, Status::Enforced);
}

#[test]
fn a_rule_without_a_mechanism_counts_as_unenforceable() {
    let refusal = admit(artifact(vec![rule(1, false, vec![])], vec![]), &host(7, &[])).unwrap_err();
    assert!(
        refusal.to_string().contains("lowers to no mechanism"),
        "{refusal}"
    );
}

#[test]
fn masks_without_fuse_are_refused_unless_the_rule_permits_hiding_without_a_record() {
    let masked = |permit| {
        vec![rule(
            1,
            permit,
            vec![lowering(Mechanism::MountMask, &[Need::MountNamespace], None)],
        )]
    };
    let without = host(7, &[Capability::Fuse]);
    let refusal = admit(artifact(masked(false), vec![]), &without).unwrap_err();
    assert!(
        refusal.to_string().contains("no look at it is recorded"),
        "{refusal}"
    );
    assert_eq!(
        admit(artifact(masked(true), vec![]), &without)
            .unwrap()
            .degraded()
            .len(),
        1
    );
}

#[test]
fn every_unmet_requirement_is_named_as_it_was_written() {
    let requirement = |need, text: &str| Requirement {
        need,
        text: text.to_owned(),
    };
    let requirements = vec![
        requirement(Need::Landlock(8), "landlock >= 8"),
        requirement(Need::MemoryController, "memory-controller"),
        requirement(Need::CgroupBpf, "cgroup-bpf"),
    ];
    let refusal = admit(
        artifact(vec![], requirements),
        &host(7, &[Capability::MemoryController]),
    )
    .unwrap_err();
    let clauses: Vec<_> = refusal
        .reasons
        .iter()
        .filter_map(|reason| match reason {
            Reason::Requirement { clause, .. } => Some(clause.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(clauses, ["landlock >= 8", "memory-controller"]);
}

#[test]
fn what_no_host_carries_out_yet_is_refused_with_what_to_write_or_degraded_with_what_happens_instead() {
    let missing = [
        (
            Need::Approvals,
            Capability::Approvals,
            "write `allow` or `deny`",
            "so it refuses",
        ),
        (
            Need::HostNames,
            Capability::HostNames,
            "write addresses",
            "has no effect",
        ),
        (
            Need::Hide,
            Capability::Hide,
            "write `deny`",
            "every access to them is refused",
        ),
        (
            Need::Broker,
            Capability::Broker,
            "write `pass`",
            "the credential is absent",
        ),
    ];
    for (need, capability, help, instead) in missing {
        let lowering = || vec![lowering(Mechanism::CgroupBpf, &[Need::CgroupBpf, need], None)];
        let host = host(7, &[capability]);
        let refusal = admit(artifact(vec![rule(1, false, lowering())], vec![]), &host).unwrap_err();
        let text = refusal.to_string();
        assert!(
            text.contains("a.remit:11: `deny something 1` is unenforceable"),
            "{text}"
        );
        assert!(text.contains(capability.name()) && text.contains(help), "{text}");
        let admitted = admit(artifact(vec![rule(1, true, lowering())], vec![]), &host).unwrap();
        let [degraded] = admitted.degraded() else {
            panic!("{:?}", admitted.degraded())
        };
        let Status::Unenforceable { why } = &degraded.status else {
            panic!("{degraded:?}")
        };
        assert!(why.contains(instead), "{why}");
    }
}

#[test]
fn statements_that_no_host_carries_out_yet_are_refused_one_by_one() {
    let mut artifact = artifact(vec![], vec![]);
    artifact.record.read = true;
    artifact.record.write = true;
    artifact.workspace = Some(Workspace {
        from: Some("/w".into()),
        mode: WorkspaceMode::Ephemeral,
        keep: Keep::All,
        origin: Origin::Policy {
            file: "a.remit".into(),
            line: 3,
            column: 1,
        },
    });
    let host = host(7, &[Capability::Workspace, Capability::FileAccessRecords]);
    let text = admit(artifact.clone(), &host).unwrap_err().to_string();
    for said in [
        "a.remit:3: `from \"/w\"` cannot",
        "a.remit:3: `mode ephemeral` cannot",
        "a.remit:3: `keep all` cannot",
        "`record read` cannot",
        "`record write` cannot",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    artifact.record = RecordOptions::default();
    artifact.workspace = Some(Workspace {
        from: None,
        mode: WorkspaceMode::InPlace,
        keep: Keep::Review,
        origin: Origin::BuiltIn,
    });
    assert!(admit(artifact, &host).is_ok(), "in place is how every run works");
}

#[test]
fn a_refusal_says_which_ceiling_or_group_a_rule_is_of() {
    let needs_four = || vec![lowering(Mechanism::LandlockNet, &[Need::Landlock(4)], None)];
    let mut ceiling = rule(1, false, needs_four());
    ceiling.layer = Some(LayerId(1));
    let mut group = rule(2, false, needs_four());
    group.layer = Some(LayerId(0));
    group.via = Some("std::git".into());
    let mut artifact = artifact(vec![ceiling, group], vec![]);
    artifact.layers.push(Layer {
        name: "baseline".into(),
        file: "org/baseline.remit".into(),
    });
    let text = admit(artifact, &host(2, &[])).unwrap_err().to_string();
    assert!(text.contains("a.remit:11 (ceiling \"baseline\"): "), "{text}");
    assert!(text.contains("a.remit:12 (group \"std::git\"): "), "{text}");
}

#[test]
fn an_artifact_without_a_usable_filter_or_default_is_refused() {
    let mut none = artifact(vec![], vec![]);
    none.seccomp.clear();
    let mut empty = artifact(vec![], vec![]);
    empty.seccomp.iter_mut().for_each(|filter| filter.program.clear());
    let mut lax = artifact(vec![], vec![]);
    lax.rules.iter_mut().for_each(|rule| rule.effect = Effect::Allow);
    let mut shifted = artifact(vec![], vec![]);
    shifted.rules.iter_mut().for_each(|rule| rule.id = RuleId(3));
    for broken in [none, empty, lax, shifted] {
        let refusal = admit(broken, &host(7, &[])).unwrap_err();
        assert!(
            refusal
                .reasons
                .iter()
                .any(|reason| matches!(reason, Reason::Artifact(_))),
            "{refusal}"
        );
    }
}
