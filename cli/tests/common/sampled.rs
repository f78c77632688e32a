//! Accesses that are really made in a real run, and what the reference semantics says of them.
#![allow(
    dead_code,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests; each binary uses a part"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use policy_lang::host::HostPaths;
use policy_lang::loader::InMemory;
use policy_lang::policy::{Effect, Policy};
use policy_lang::reference::{Access, Decision, decide};
use policy_lang::{Inputs, SourceFile};
use serde_json::Value;

use crate::host::Host;
use crate::remit;

const PROBE: &str = include_str!("probe.py");

/// `SplitMix64`: the samples of a seed are the same everywhere and for ever.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.bits() % u64::try_from(bound).expect("small")).expect("small")
    }

    /// True in `percent` of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Some of them, in their order; at least one.
    pub(crate) fn some<'a, T>(&mut self, from: &'a [T]) -> Vec<&'a T> {
        loop {
            let chosen: Vec<&T> = from.iter().filter(|_| self.bits() & 1 == 1).collect();
            if !chosen.is_empty() {
                return chosen;
            }
        }
    }
}

/// Calls `sample` for each of the seeds, or for those of `REMIT_SAMPLE_SEEDS` (`7` or `100-200`), and says which one
/// failed.
pub(crate) fn seeds(count: u64, mut sample: impl FnMut(u64)) {
    let number = |text: &str| {
        text.parse::<u64>()
            .expect("REMIT_SAMPLE_SEEDS is a number or a range")
    };
    let chosen = match std::env::var("REMIT_SAMPLE_SEEDS") {
        Ok(range) => {
            let (first, last) = range.split_once('-').unwrap_or((&range, &range));
            number(first)..=number(last)
        }
        Err(_) => 1..=count,
    };
    for seed in chosen {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sample(seed)));
        if let Err(panic) = caught {
            eprintln!("repeat this with REMIT_SAMPLE_SEEDS={seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// The policy as `remit run` in the workspace understands it.
pub(crate) fn resolved(host: &Host, path: &Path) -> Policy {
    resolve(host, path).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The same, or what the language has against it.
pub(crate) fn resolve(host: &Host, path: &Path) -> Result<Policy, String> {
    let mut source = policy_lang::host::load(path).expect("a policy");
    source = SourceFile::new(&source.name, &source.text);
    let inputs = Inputs {
        parameters: std::collections::BTreeMap::new(),
        home: "/root".to_owned(),
        working_directory: host.work().display().to_string(),
        paths: &HostPaths,
        files: &beside(path),
    };
    let parsed = policy_lang::parse(&source);
    let ast = parsed.ast.ok_or_else(|| format!("{:?}", parsed.diagnostics))?;
    let resolved = policy_lang::resolve(&ast, &source, &inputs);
    resolved
        .policy
        .ok_or_else(|| format!("{:?}\n{}", resolved.diagnostics, source.text))
}

/// The policies of a folder, as a loader gives them.
fn beside(path: &Path) -> InMemory {
    let folder = fs::read_dir(path.parent().expect("a folder")).expect("a listing");
    let paths = folder.map(|entry| entry.expect("an entry").path());
    let policies = paths.filter(|path| path.extension().is_some_and(|extension| extension == "remit"));
    let text = |path: std::path::PathBuf| {
        let name = path.file_name()?.to_str()?.to_owned();
        Some((name, fs::read_to_string(&path).ok()?))
    };
    InMemory(policies.filter_map(text).collect())
}

/// Puts a ceiling above a policy: one with these blocks, made up until the policy's grants are possible beneath it. No ceiling
/// where none was found: whether there is one.
pub(crate) fn put_within(host: &Host, policy: &Path, mut blocks: impl FnMut() -> String) -> bool {
    let alone = fs::read_to_string(policy).expect("a policy");
    let beneath = alone.replacen('{', "{ within \"ceiling.remit\"\n", 1);
    fs::write(policy, beneath).expect("written");
    for _ in 0..8 {
        let text = format!("policy \"ceiling\" {{ {} }}", blocks());
        fs::write(host.beside("ceiling.remit"), text).expect("written");
        let mut check = remit::remit();
        check.current_dir(host.work()).arg("check").arg(policy);
        if remit::output(&mut check).code == Some(0) {
            return true;
        }
    }
    fs::write(policy, alone).expect("written");
    false
}

/// The same rules, with labels of their own.
pub(crate) fn relabelled(rules: &str) -> String {
    rules.replace("label \"r", "label \"c")
}

/// What the kernel says of each access when no policy does, to a user without privileges.
pub(crate) fn probe_outside(host: &Host, accesses: &[Value]) -> Vec<String> {
    let list = host.beside("accesses.json");
    fs::write(&list, Value::from(accesses.to_vec()).to_string()).expect("written");
    let mut command = Command::new("setpriv");
    command.args([
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
        "--no-new-privs",
    ]);
    command
        .args(["/usr/bin/python3", "-ISc", PROBE])
        .current_dir(host.work());
    let outcome = remit::output(command.stdin(Stdio::from(fs::File::open(list).expect("the list"))));
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", outcome.stdout, outcome.stderr))
}

/// What the probe said of each access, in a run of its own within the policy.
pub(crate) fn probe(host: &Host, policy: &Path, accesses: &[Value]) -> Vec<String> {
    let events = host.beside("events.jsonl");
    let _ = fs::remove_file(events);
    let list = host.beside("accesses.json");
    fs::write(&list, Value::from(accesses.to_vec()).to_string()).expect("written");
    let mut command = host.remit_run(policy, &["/usr/bin/python3", "-ISc", PROBE]);
    let outcome = remit::output(command.stdin(Stdio::from(fs::File::open(list).expect("the list"))));
    let text = || fs::read_to_string(policy).unwrap_or_default();
    assert_eq!(
        outcome.code,
        Some(0),
        "{}\n{}\n{}",
        outcome.stdout,
        outcome.stderr,
        text()
    );
    let said: Vec<String> = serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", outcome.stdout, outcome.stderr));
    assert_eq!(said.len(), accesses.len());
    said
}

pub(crate) fn allows(policy: &Policy, access: &Access) -> bool {
    decide(policy, access).effect == Effect::Allow
}

/// How an event says what was decided. What the kernel refuses although a rule allows it is refused by default.
pub(crate) fn as_recorded(decision: Decision) -> (u64, &'static str) {
    match decision.effect {
        Effect::Allow => (0, "deny"),
        Effect::Ask => (decision.rule.0.into(), "ask"),
        Effect::Deny => (decision.rule.0.into(), "deny"),
        Effect::Forbid => (decision.rule.0.into(), "forbid"),
    }
}

pub(crate) fn recorded(event: &Value) -> (u64, &str) {
    (
        event["rule"]["id"].as_u64().expect("a rule"),
        event["effect"].as_str().expect("an effect"),
    )
}

/// Whatever disagrees, collected so that one failure shows all of it.
#[derive(Default)]
pub(crate) struct Disagreements(Vec<String>);

impl Disagreements {
    pub(crate) fn add(&mut self, what: String) {
        self.0.push(what);
    }

    pub(crate) fn assert_none(&self, policy: &Path) {
        let ceiling = policy.with_file_name("ceiling.remit");
        assert!(
            self.0.is_empty(),
            "{}\n{}\n{} disagreements:\n{}",
            fs::read_to_string(policy).unwrap_or_default(),
            fs::read_to_string(ceiling).unwrap_or_default(),
            self.0.len(),
            self.0.join("\n")
        );
    }
}
