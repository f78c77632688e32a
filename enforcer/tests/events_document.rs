//! docs/events.md and the events agree: the same fields for each kind, and examples that are events.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artifact::filesystem::FileAccess;
use artifact::network::Verb;
use artifact::rule::{Effect, Mechanism};
use enforcer::event::{
    AdmissionRefused, Ancestor, Degraded, Details, DeviceDetails, Event, ExecDetails, ExitDetails,
    FileDetails, ForkDetails, Loss, LossStage, NetworkDetails, NetworkVerb, PolicyReference, Process,
    Receipt, RuleReference, RunEnded, RunId, RunStarted, SCHEMA, ScopeDetails, SyscallDetails, SysctlDetails,
    Text, Time,
};
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../docs/events.md");

/// One of each kind, with everything that may be left out filled in.
fn samples() -> Vec<Details> {
    let text = || Text::from("x");
    vec![
        Details::RunStarted(RunStarted {
            instance: String::new(),
            kernel: String::new(),
            program: text(),
            arguments: 0,
            working_directory: text(),
            uid: 0,
            gid: 0,
            caller_uid: 0,
            cgroup: 0,
            mechanisms: vec![Mechanism::Seccomp],
            rules: 0,
        }),
        Details::AdmissionRefused(AdmissionRefused {
            reason: String::new(),
        }),
        Details::Degraded(Degraded { gap: String::new() }),
        Details::RunEnded(RunEnded {
            exit_code: 0,
            reason: String::new(),
            duration_ns: 0,
            receipt: Receipt::default(),
        }),
        Details::Exec(ExecDetails {
            path: text(),
            path_hex: Some(String::new()),
        }),
        Details::Fork(ForkDetails { child: 0 }),
        Details::Exit(ExitDetails {
            code: None,
            signal: None,
        }),
        Details::Network(NetworkDetails {
            verb: NetworkVerb::Rule(Verb::Connect),
            protocol: "tcp".into(),
            family: "ipv4".into(),
            address: None,
            port: None,
            hook: "connect",
            socket_type: Some(0),
        }),
        Details::File(FileDetails {
            access: vec![FileAccess::Read],
            path: text(),
            path_hex: Some(String::new()),
            blockers: Vec::new(),
            device: None,
            inode: None,
        }),
        Details::Syscall(SyscallDetails {
            name: None,
            number: 0,
            architecture: String::new(),
            action: "errno",
            candidates: vec![1, 2],
        }),
        Details::Scope(ScopeDetails {
            blockers: Vec::new(),
            target_pid: None,
            target_comm: None,
            object: None,
        }),
        Details::Device(DeviceDetails {
            device_type: None,
            major: None,
            minor: None,
            access: Vec::new(),
            path: None,
            ioctl: Some(String::new()),
        }),
        Details::Sysctl(SysctlDetails { name: text() }),
        Details::Loss(Loss {
            stage: LossStage::Ring,
            count: 0,
            explanation: String::new(),
        }),
    ]
}

fn event(details: Details) -> Value {
    let event = Event {
        schema: SCHEMA,
        time: Time(0),
        host: Arc::from("host"),
        run: RunId::new("run"),
        seq: 1,
        policy: Arc::new(PolicyReference {
            name: String::new(),
            digest: String::new(),
        }),
        effect: Some(Effect::Deny),
        mechanism: Some(Mechanism::Seccomp),
        rule: Some(Arc::new(RuleReference {
            id: 0,
            effect: Effect::Deny,
            label: None,
            location: String::new(),
            ceiling: None,
            group: None,
            text: String::new(),
        })),
        because: None,
        process: Some(Arc::new(Process {
            pid: 1,
            uid: 0,
            comm: Text::default(),
            exe: None,
            exact: true,
            ancestry: vec![Ancestor {
                pid: 1,
                comm: Text::default(),
                exe: None,
            }],
        })),
        details,
    };
    serde_json::to_value(event).unwrap()
}

/// Names of all fields, those of objects inside with a dot.
fn fields(value: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let name = format!("{prefix}{key}");
                fields(value, &format!("{name}."), found);
                found.insert(name);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, prefix, found)),
        _ => {}
    }
}

fn fields_of(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    fields(value, "", &mut found);
    found
}

/// The first column of the tables below each heading that names something in backticks.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let mut sections: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut section = None;
    for line in DOCUMENT.lines() {
        let code = || line.split('`').nth(1).map(str::to_owned);
        if line.starts_with('#') {
            section = code();
            if let Some(name) = &section {
                sections.entry(name.clone()).or_default();
            }
        } else if let (Some(section), true) = (&section, line.starts_with("| `")) {
            sections.get_mut(section).unwrap().insert(code().unwrap());
        }
    }
    sections
}

fn examples() -> Vec<Value> {
    let blocks = DOCUMENT.split("```json\n").skip(1);
    blocks
        .map(|block| serde_json::from_str(block.split("```").next().unwrap()).unwrap())
        .collect()
}

#[test]
fn every_kind_is_documented_with_exactly_its_fields() {
    let mut documented = documented();
    let envelope = documented.remove("event").unwrap();
    let mut kinds = BTreeSet::new();
    for sample in samples() {
        let kind = sample.kind();
        let value = event(sample);
        assert_eq!(value["kind"], kind);
        let mut outside = value.clone();
        outside["details"] = Value::Null;
        let mut common = fields_of(&outside);
        common.insert("chain".to_owned());
        assert_eq!(common, envelope, "fields of every event");
        let table = documented
            .remove(kind)
            .unwrap_or_else(|| panic!("no heading `{kind}`"));
        assert_eq!(fields_of(&value["details"]), table, "details of {kind}");
        kinds.insert(kind);
    }
    assert!(
        documented.is_empty(),
        "documented, but not a kind: {documented:?}"
    );
    assert_eq!(kinds, Details::KINDS.into_iter().collect());
}

#[test]
fn every_kind_has_an_example_that_has_no_other_fields() {
    let documented = documented();
    let mut shown = BTreeSet::new();
    for example in examples() {
        let kind = example["kind"].as_str().unwrap();
        let mut outside = example.clone();
        outside["details"] = Value::Null;
        for field in fields_of(&outside) {
            assert!(
                documented["event"].contains(&field),
                "{field} in the example of {kind}"
            );
        }
        for field in fields_of(&example["details"]) {
            assert!(
                documented[kind].contains(&field),
                "{field} in the example of {kind}"
            );
        }
        shown.insert(kind.to_owned());
    }
    let kinds: BTreeSet<_> = Details::KINDS.into_iter().map(str::to_owned).collect();
    assert_eq!(shown, kinds);
}
