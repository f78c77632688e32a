use std::sync::Arc;

use artifact::filesystem::FileAccess;
use artifact::network::Verb;
use artifact::rule::{Effect, Mechanism};

use super::{Person, PersonStyle};
use crate::event::{
    Details, Event, FileDetails, Loss, LossStage, NetworkDetails, NetworkVerb, PolicyReference,
    RuleReference, RunId, SCHEMA, SyscallDetails, Text, Time,
};

fn event(id: u32, because: Option<&str>, mechanism: Mechanism, details: Details) -> Event {
    let (location, text) = match id {
        0 => ("built-in", "nothing is allowed that no rule allows"),
        _ => ("policy.remit:12:5", "deny connect tcp \"10.0.0.0/8:*\""),
    };
    Event {
        schema: SCHEMA,
        time: Time(0),
        host: Arc::from("host"),
        run: RunId::new("run"),
        seq: 1,
        policy: Arc::new(PolicyReference {
            name: "policy".to_owned(),
            digest: "sha256:0".to_owned(),
        }),
        effect: Some(Effect::Deny),
        mechanism: Some(mechanism),
        rule: Some(Arc::new(RuleReference {
            id,
            effect: Effect::Deny,
            label: None,
            location: location.to_owned(),
            ceiling: None,
            group: None,
            text: text.to_owned(),
        })),
        because: because.map(Arc::from),
        process: None,
        details,
    }
}

fn file(path: &str) -> Event {
    let details = Details::File(FileDetails {
        access: vec![FileAccess::Read],
        path: Text::from(path),
        path_hex: None,
        blockers: vec!["fs.read_file".to_owned()],
        device: None,
        inode: None,
    });
    event(0, None, Mechanism::LandlockFs, details)
}

fn connect() -> Event {
    let details = Details::Network(NetworkDetails {
        verb: NetworkVerb::Rule(Verb::Connect),
        protocol: "tcp".into(),
        family: "ipv4".into(),
        address: "10.1.2.3".parse().ok(),
        port: Some(443),
        hook: "connect",
        socket_type: None,
    });
    event(
        1,
        Some("internal hosts are out of bounds"),
        Mechanism::CgroupBpf,
        details,
    )
}

fn plain() -> Person {
    Person::new(PersonStyle {
        colour: false,
        width: None,
    })
}

#[test]
fn a_refusal_says_what_which_rule_and_why() {
    assert_eq!(
        plain().line(&file("/etc/shadow")).unwrap(),
        "remit: refused read /etc/shadow — no rule allows it (default)  [landlock]\n"
    );
    assert_eq!(
        plain().line(&connect()).unwrap(),
        "remit: refused connect tcp 10.1.2.3:443 — policy.remit:12 deny connect tcp \"10.0.0.0/8:*\" because \"internal hosts are out of bounds\"  [bpf]\n"
    );
}

#[test]
fn a_call_that_several_rules_can_refuse_says_so() {
    let details = Details::Syscall(SyscallDetails {
        name: Some("socket".to_owned()),
        number: 41,
        architecture: "x86_64".to_owned(),
        action: "errno",
        candidates: vec![1, 2],
    });
    let line = plain()
        .line(&event(1, None, Mechanism::Seccomp, details))
        .unwrap();
    assert!(
        line.starts_with(
            "remit: refused syscall socket — one of 2 rules about its arguments, such as policy.remit:12 "
        ),
        "{line}"
    );
}

#[test]
fn a_path_cannot_act_on_the_terminal() {
    let line = plain()
        .line(&file("/tmp/\u{1b}]0;owned\u{7}\nremit: all is well"))
        .unwrap();
    assert_eq!(line.matches('\n').count(), 1);
    assert!(
        line.starts_with("remit: refused read /tmp/\\u{1b}]0;owned\\u{7}\\nremit: all is well — "),
        "{line}"
    );
}

#[test]
fn the_same_refusal_is_shown_once_and_counted() {
    let mut person = plain();
    assert!(person.line(&file("/a")).is_some());
    assert!(person.line(&file("/a")).is_none());
    assert!(person.line(&file("/b")).is_some());
    assert_eq!(person.repeated["refused read /a"], 1);
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut person = plain();
    for number in 0..super::REMEMBERED + 5 {
        person.line(&file(&format!("/{number}")));
    }
    assert_eq!((person.repeated.len(), person.unshown), (super::REMEMBERED, 5));
}

#[test]
fn a_narrow_terminal_gets_the_reason_on_a_line_of_its_own() {
    let mut person = Person::new(PersonStyle {
        colour: false,
        width: Some(40),
    });
    assert_eq!(
        person.line(&file("/etc/shadow")).unwrap(),
        "remit: refused read /etc/shadow\n    no rule allows it (default)  [landlock]\n"
    );
}

#[test]
fn colours_are_only_around_the_words() {
    let mut person = Person::new(PersonStyle {
        colour: true,
        width: None,
    });
    let line = person.line(&file("/etc/shadow")).unwrap();
    assert_eq!(
        line,
        "\u{1b}[1;31mremit:\u{1b}[0m refused read /etc/shadow — no rule allows it (default)\u{1b}[2m  [landlock]\u{1b}[0m\n"
    );
}

#[test]
fn a_loss_is_shown_and_an_allowed_access_is_not() {
    let mut allowed = connect();
    allowed.effect = Some(Effect::Allow);
    assert_eq!(plain().line(&allowed), None);
    let mut lost = event(
        0,
        None,
        Mechanism::CgroupBpf,
        Details::Loss(Loss {
            stage: LossStage::Ring,
            count: 3,
            explanation: "the run's ring buffer was full".to_owned(),
        }),
    );
    lost.effect = None;
    assert_eq!(
        plain().line(&lost).unwrap(),
        "remit: 3 records lost: the run's ring buffer was full\n"
    );
}

#[test]
fn what_every_c_library_tries_and_does_without_is_not_shown() {
    let call = |name: &str| {
        let details = Details::Syscall(SyscallDetails {
            name: Some(name.to_owned()),
            number: 435,
            architecture: "x86_64".to_owned(),
            action: "errno",
            candidates: Vec::new(),
        });
        event(1, None, Mechanism::Seccomp, details)
    };
    assert_eq!(plain().line(&call("clone3")), None);
    assert!(plain().line(&call("unshare")).is_some());
}

#[test]
fn a_refusal_by_a_ceiling_or_a_group_names_it() {
    let mut event = connect();
    let mut rule = (**event.rule.as_ref().unwrap()).clone();
    rule.location = "org/baseline.remit:12:5".to_owned();
    rule.ceiling = Some("baseline".to_owned());
    rule.group = Some("std::git".to_owned());
    event.rule = Some(Arc::new(rule));
    let line = plain().line(&event).unwrap();
    assert!(
        line.contains("org/baseline.remit:12 (ceiling \"baseline\") (group \"std::git\") deny connect"),
        "{line}"
    );
}
