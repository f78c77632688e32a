//! Every example, with the real binary on the real kernel: decisions of the policy, what the agent prints, what is
//! recorded, and that nothing is left.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "common/decisions.rs"]
mod decisions;
#[path = "common/remit.rs"]
mod remit;
#[path = "common/scene.rs"]
mod scene;

use scene::Scene;
use serde_json::Value;

#[test]
fn quickstart_reads_the_system_writes_its_workspace_and_reaches_one_port() {
    play("quickstart");
}

#[test]
fn git_review_reads_history_and_rewrites_nothing() {
    play("git-review");
}

#[test]
fn python_task_runs_its_pool_and_loop_and_nothing_more() {
    play("python-task");
}

#[test]
fn node_task_builds_and_serves_on_loopback_only() {
    play("node-task");
}

#[test]
fn rust_build_builds_offline_and_leaves_its_sources() {
    play("rust-build");
}

#[test]
fn hostile_gets_nothing_that_was_not_given() {
    play("hostile");
}

fn play(name: &str) {
    let scene = Scene::new(name);
    let expected: Value =
        serde_json::from_slice(&std::fs::read(scene.file("expected.json")).expect("expected.json"))
            .expect("expected.json parses");

    remit::output(
        remit::remit()
            .current_dir(scene.workspace())
            .arg("check")
            .arg(scene.policy())
            .args(scene.bindings()),
    )
    .expect_code(0);
    let decisions = decisions::of(&scene, expected["decisions"].as_object().expect("decisions"));
    assert!(
        decisions.is_empty(),
        "{name}: the model decides otherwise:\n{}",
        decisions.join("\n")
    );

    let outcome = scene.run();
    println!("{}\n{}", outcome.stdout, outcome.stderr);
    let code = i32::try_from(expected["exit_code"].as_i64().expect("exit_code")).expect("a code");
    assert_eq!(
        outcome.code,
        Some(code),
        "{name}:\n{}\n{}",
        outcome.stdout,
        outcome.stderr
    );
    for line in expected["prints"].as_array().expect("prints") {
        let line = scene.fill(line.as_str().expect("a line"));
        assert!(
            outcome.stdout.contains(&line),
            "{name} does not print `{line}`:\n{}",
            outcome.stdout
        );
    }

    let events = scene.events();
    for wanted in expected["events"].as_array().expect("events") {
        let wanted = scene.fill_json(wanted);
        let found = events.iter().any(|event| is_part_of(&wanted, event));
        assert!(
            found,
            "{name}: no event like {wanted}; there are:\n{}",
            scene.refusals()
        );
    }
    remit::output(remit::remit().args(["events", "verify"]).arg(scene.events_file())).expect_code(0);

    scene.report();
    scene.leave_nothing();
}

/// Every field that is wanted is there with that value; text wanted as `…x` may be anywhere in the text found.
fn is_part_of(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted
            .iter()
            .all(|(name, value)| found.get(name).is_some_and(|found| is_part_of(value, found))),
        (Value::Array(wanted), Value::Array(found)) => wanted
            .iter()
            .all(|value| found.iter().any(|found| is_part_of(value, found))),
        (Value::String(wanted), Value::String(found)) => match wanted.strip_prefix('…') {
            Some(part) => found.contains(part),
            None => wanted == found,
        },
        _ => wanted == found,
    }
}
