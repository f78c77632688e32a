//! Model equals kernel, for files: random rules over random trees, and what a program in the run finds.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

mod attempts;
mod evidence;
#[path = "../common/host.rs"]
mod host;
mod judge;
#[path = "../common/remit.rs"]
mod remit;
#[path = "../common/sampled.rs"]
mod sampled;
mod tree;

use std::fs;
use std::path::Path;

use enforcer::capabilities::Capability;
use host::{Host, host, set_mode};
use judge::Judge;
use sampled::{Disagreements, Random};
use serde_json::Value;
use tree::{Kind, Tree};

fn sample(host: &Host, seed: u64, beneath: &mut usize) -> (usize, usize, usize) {
    let mut random = Random::new(seed);
    let work = host.work().join(format!("s{seed}"));
    fs::create_dir(&work).expect("a directory");
    set_mode(&work, 0o777);
    let mut tree = Tree::from([(work.clone(), Kind::Directory)]);
    tree::grow(&mut random, &work, 0, &mut tree);
    let identity = tree::identity(&mut random, &tree);
    let process = format!("process {{ {identity} allow syscall @system-service }}");
    let file = host.policy_of(&tree::rules(&mut random, &work, &tree), &process);
    // Half of the policies have a ceiling, which takes away here and there.
    let layered = random.chance(50)
        && sampled::put_within(host, &file, || {
            let rules = sampled::relabelled(&tree::rules(&mut random, &work, &tree));
            format!(
                "filesystem {{ allow read, write, execute \"/\"\n{rules} }} credentials {{ pass \"*\" }}
                 process {{ identity user allow syscall @system-service }}"
            )
        });
    *beneath += usize::from(layered);
    let policy = sampled::resolved(host, &file);
    let attempts = attempts::attempts(&mut random, &work, &tree);
    let requests: Vec<Value> = attempts.iter().map(|attempt| attempt.request.clone()).collect();
    let said = sampled::probe(host, &file, &requests);
    let about_tree =
        |event: &Value| event["kind"] == "file" && Path::new(evidence::path(event)).starts_with(&work);
    let events: Vec<Value> = host.events().into_iter().filter(about_tree).collect();
    if std::env::var_os("REMIT_SAMPLE_TRACE").is_some() {
        for (attempt, said) in attempts.iter().zip(&said) {
            println!("{}: {said}", attempt.request);
        }
        for event in &events {
            println!("{} {} {}", event["time"], event["details"], event["rule"]);
        }
    }
    let mut judge = Judge {
        policy: &policy,
        tree: &tree,
        wrong: Disagreements::default(),
        allowed: 0,
        refused: 0,
        recorded: Vec::new(),
    };
    for (attempt, said) in attempts.iter().zip(&said) {
        judge.judge(attempt, said);
    }
    let named = evidence::compare(&policy, &tree, &judge.recorded, &events, &mut judge.wrong);
    judge.wrong.assert_none(&file);
    (judge.allowed, judge.refused, named)
}

#[test]
fn the_kernel_decides_about_files_as_the_reference_does() {
    let Some(host) = host("sampled-files", &[Capability::UserNamespace]) else {
        return;
    };
    let mut total = (0, 0, 0);
    let mut beneath = 0;
    sampled::seeds(32, |seed| {
        let (allowed, refused, named) = sample(&host, seed, &mut beneath);
        total = (total.0 + allowed, total.1 + refused, total.2 + named);
    });
    assert!(
        total.0 > 20 && total.2 > 20 && beneath > 4,
        "the samples mean something: {total:?}, {beneath} beneath a ceiling"
    );
    println!(
        "{} allowed, {} refused, {} of them recorded with a rule of the file; {beneath} policies beneath a ceiling",
        total.0, total.1, total.2
    );
}
