use super::*;
use serde_json::json;

fn file_probe() -> Probe {
    Probe {
        name: "read-outside".to_owned(),
        boundary: String::new(),
        operation: Operation::Read {
            path: "/srv/secret".to_owned(),
        },
        expected: Expected::Refused(vec![
            Refusal {
                outcomes: vec![Outcome::Errno(libc::EACCES)],
                mechanisms: vec!["landlock-fs", "mount-mask"],
                record: Record::Due(Due {
                    kind: "file",
                    rules: vec![7],
                    named: String::new(),
                    about: About::Path("/srv/secret".to_owned()),
                }),
            },
            Refusal {
                outcomes: vec![Outcome::Errno(libc::EACCES)],
                mechanisms: vec!["mode and owner"],
                record: Record::OfTheFileItself,
            },
        ]),
        control: Some(Operation::Read {
            path: "/srv/open".to_owned(),
        }),
        flip: Flip::Opened {
            key: "read-outside".to_owned(),
            accesses: Vec::new(),
        },
        line: None,
    }
}

fn event(mechanism: &str, rule: u64, path: &str) -> Recorded {
    Recorded {
        seq: 3,
        time: 0,
        kind: "file".to_owned(),
        mechanism: mechanism.to_owned(),
        rule: Some(rule),
        shown: "deny read".to_owned(),
        details: json!({ "path": path, "access": ["read"] }),
    }
}

fn seen(outcome: Outcome, refusals: Vec<Recorded>) -> Seen {
    Seen { outcome, refusals }
}

fn good() -> Evidence {
    Evidence {
        inside: Some(seen(
            Outcome::Errno(libc::EACCES),
            vec![event("landlock-fs", 7, "/srv/secret")],
        )),
        control: Some(seen(Outcome::Done, Vec::new())),
        flipped: Some(Ok(seen(Outcome::Done, Vec::new()))),
        changes: Vec::new(),
        alone: None,
    }
}

#[track_caller]
fn verdict(evidence: &Evidence) -> Verdict {
    judge(&file_probe(), evidence).verdict
}

#[test]
fn the_right_errno_mechanism_rule_control_and_flip_are_a_proof() {
    assert_eq!(verdict(&good()), Verdict::Proved);
}

#[test]
fn each_other_reason_is_a_failure() {
    let inside = |outcome, refusals| Evidence {
        inside: Some(seen(outcome, refusals)),
        ..good()
    };
    let eacces = Outcome::Errno(libc::EACCES);
    let right = || event("landlock-fs", 7, "/srv/secret");
    for (what, evidence) in [
        ("it could be done", inside(Outcome::Done, Vec::new())),
        (
            "the fixture is missing",
            inside(Outcome::Errno(libc::ENOENT), Vec::new()),
        ),
        (
            "another errno",
            inside(Outcome::Errno(libc::EPERM), vec![right()]),
        ),
        ("no event where one is due", inside(eacces, Vec::new())),
        (
            "another rule",
            inside(eacces, vec![event("landlock-fs", 8, "/srv/secret")]),
        ),
        (
            "another mechanism",
            inside(eacces, vec![event("seccomp", 7, "/srv/secret")]),
        ),
        (
            "another path",
            inside(eacces, vec![event("landlock-fs", 7, "/etc/passwd")]),
        ),
        ("killed", inside(Outcome::Killed(9), Vec::new())),
        ("no answer", inside(Outcome::Silent, Vec::new())),
    ] {
        assert_eq!(verdict(&evidence), Verdict::Failed, "{what}");
    }
}

#[test]
fn without_a_control_that_succeeds_nothing_is_proved() {
    let mut evidence = good();
    evidence.control = Some(seen(Outcome::Errno(libc::EACCES), Vec::new()));
    assert_eq!(verdict(&evidence), Verdict::Failed);
    evidence.control = None;
    assert_eq!(verdict(&evidence), Verdict::Failed);
}

#[test]
fn a_flip_that_does_not_flip_is_a_failure_and_one_that_was_not_tried_is_no_proof() {
    let mut evidence = good();
    evidence.flipped = Some(Ok(seen(Outcome::Errno(libc::EACCES), Vec::new())));
    assert_eq!(verdict(&evidence), Verdict::Failed);
    evidence.flipped = Some(Err("the run does not start".to_owned()));
    assert_eq!(verdict(&evidence), Verdict::NotProved);
    evidence.flipped = None;
    assert_eq!(verdict(&evidence), Verdict::NotProved);
}

#[test]
fn a_file_that_refuses_by_itself_counts_only_when_it_does_so_outside_too() {
    let mut evidence = good();
    evidence.inside = Some(seen(Outcome::Errno(libc::EACCES), Vec::new()));
    assert_eq!(verdict(&evidence), Verdict::Failed);
    evidence.alone = Some(Outcome::Done);
    assert_eq!(verdict(&evidence), Verdict::Failed);
    evidence.alone = Some(Outcome::Errno(libc::EACCES));
    assert_eq!(verdict(&evidence), Verdict::Proved);
}

#[test]
fn behind_a_recorded_refusal_the_file_may_refuse_by_itself() {
    let eacces = Outcome::Errno(libc::EACCES);
    let mut evidence = good();
    evidence.flipped = Some(Ok(seen(eacces, Vec::new())));
    assert_eq!(verdict(&evidence), Verdict::Failed);
    evidence.alone = Some(eacces);
    assert_eq!(verdict(&evidence), Verdict::Proved);
    // Not where something of the run still refuses, and not without the first one's record.
    evidence.flipped = Some(Ok(seen(eacces, vec![event("landlock-fs", 0, "/srv/secret")])));
    assert_eq!(verdict(&evidence), Verdict::Failed);
    evidence.flipped = Some(Ok(seen(eacces, Vec::new())));
    evidence.inside = Some(seen(eacces, Vec::new()));
    assert_eq!(verdict(&evidence), Verdict::Failed);
}

#[test]
fn what_must_leave_no_record_fails_with_one() {
    let mut probe = file_probe();
    probe.expected = Expected::Refused(vec![Refusal {
        outcomes: vec![Outcome::Errno(libc::ENOENT)],
        mechanisms: vec!["pid-namespace"],
        record: Record::None("it does not exist"),
    }]);
    let mut evidence = good();
    evidence.inside = Some(seen(Outcome::Errno(libc::ENOENT), Vec::new()));
    assert_eq!(judge(&probe, &evidence).verdict, Verdict::Proved);
    evidence.inside = Some(seen(
        Outcome::Errno(libc::ENOENT),
        vec![event("landlock-fs", 0, "/proc")],
    ));
    assert_eq!(judge(&probe, &evidence).verdict, Verdict::Failed);
}

#[test]
fn a_program_that_starts_may_be_refused_other_files_and_not_itself() {
    let mut probe = file_probe();
    let program = "/srv/set-id".to_owned();
    probe.operation = Operation::SetIdProgram {
        path: program.clone(),
    };
    probe.expected = Expected::Refused(vec![Refusal {
        outcomes: vec![Outcome::Errno(libc::EPERM)],
        mechanisms: vec!["credentials"],
        record: Record::NoneAbout(program, "it starts"),
    }]);
    let with = |path| Evidence {
        inside: Some(seen(
            Outcome::Errno(libc::EPERM),
            vec![event("landlock-fs", 0, path)],
        )),
        ..good()
    };
    assert_eq!(judge(&probe, &with("/proc/1/maps")).verdict, Verdict::Proved);
    assert_eq!(judge(&probe, &with("/srv/set-id")).verdict, Verdict::Failed);
}

#[test]
fn a_call_is_refused_by_the_filter_or_not_at_all() {
    let mut probe = file_probe();
    probe.operation = Operation::call("ptrace", [0; 6]).unwrap();
    probe.control = None;
    probe.expected = Expected::Refused(vec![Refusal {
        outcomes: vec![Outcome::Errno(libc::EPERM)],
        mechanisms: vec!["seccomp"],
        record: Record::Due(Due {
            kind: "syscall",
            rules: vec![9],
            named: String::new(),
            about: About::Call("ptrace".to_owned()),
        }),
    }]);
    let recorded = |candidates: &[u32]| Recorded {
        seq: 1,
        time: 0,
        kind: "syscall".to_owned(),
        mechanism: "seccomp".to_owned(),
        rule: Some(4),
        shown: String::new(),
        details: json!({ "name": "ptrace", "architecture": "x86_64", "candidates": candidates }),
    };
    let mut evidence = good();
    let eperm = Outcome::Errno(libc::EPERM);
    // The kernel's own EPERM looks the same to the program.
    evidence.inside = Some(seen(eperm, Vec::new()));
    assert_eq!(judge(&probe, &evidence).verdict, Verdict::Failed);
    evidence.inside = Some(seen(eperm, vec![recorded(&[4, 9])]));
    assert_eq!(judge(&probe, &evidence).verdict, Verdict::Proved);
    evidence.inside = Some(seen(eperm, vec![recorded(&[4, 5])]));
    assert_eq!(judge(&probe, &evidence).verdict, Verdict::Failed);
    // Past the filter, the kernel may say what it likes.
    evidence.inside = Some(seen(eperm, vec![recorded(&[4, 9])]));
    evidence.flipped = Some(Ok(seen(Outcome::Errno(libc::EFAULT), Vec::new())));
    assert_eq!(judge(&probe, &evidence).verdict, Verdict::Proved);
    evidence.flipped = Some(Ok(seen(eperm, vec![recorded(&[9])])));
    assert_eq!(judge(&probe, &evidence).verdict, Verdict::Failed);
}

#[test]
fn a_grant_that_the_kernel_refuses_is_a_failure() {
    let mut probe = file_probe();
    probe.expected = Expected::Done;
    let mut evidence = good();
    evidence.inside = Some(seen(Outcome::Done, Vec::new()));
    assert_eq!(judge(&probe, &evidence).verdict, Verdict::Granted);
    evidence.inside = Some(seen(
        Outcome::Errno(libc::EACCES),
        vec![event("landlock-fs", 0, "/srv/secret")],
    ));
    assert_eq!(judge(&probe, &evidence).verdict, Verdict::Failed);
}
