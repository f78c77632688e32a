//! `events verify` on recordings that are not whole. Whole ones come from real runs, in the kernel tests.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

fn verify(contents: &str, arguments: &[&str]) -> remit::Outcome {
    let folder = remit::folder();
    let file = folder.path().join("events.jsonl");
    std::fs::write(&file, contents).expect("written");
    remit::output(
        remit::remit()
            .args(["events", "verify"])
            .arg(file)
            .args(arguments),
    )
}

#[test]
fn an_empty_recording_proves_nothing() {
    assert!(
        verify("", &[])
            .expect_code(1)
            .stdout
            .contains("there is no event in it")
    );
}

#[test]
fn what_is_not_an_event_is_named_with_its_line() {
    let outcome = verify("{}\n", &[]).expect_code(1);
    assert!(outcome.stdout.contains("line 1"), "{}", outcome.stdout);
}

#[test]
fn a_program_reads_the_same_verdict() {
    let document = verify("nonsense\n", &["--format", "json"]).expect_code(1).json();
    assert_eq!(document["ok"], false);
    assert!(document["broken"].as_str().expect("a reason").contains("line 1"));
}

#[test]
fn a_recording_that_is_not_there_is_a_failure_of_the_command() {
    let outcome = remit::output(remit::remit().args(["events", "verify", "nowhere.jsonl"])).expect_code(1);
    assert!(
        outcome.stderr.contains("cannot read `nowhere.jsonl`"),
        "{}",
        outcome.stderr
    );
}
