//! How the chain from text to digest grows with the number of rules, stage by stage, and beside it Cedar reading as many
//! policies, where the feature `cedar` is on.
//!
//! `cargo bench -p bench --bench language -- [SIZE…]`. Each figure is the processor time of the median of several passes over the same text; all
//! stages of all sizes run in one process, one after the other.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot run has nothing to report"
)]

#[cfg(feature = "cedar")]
mod cedar;
mod text;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use compiler::{emit, lower};
use policy_lang::loader::{InMemory, Loader as _};
use policy_lang::parse::parse;
use policy_lang::resolve::{AsWritten, Inputs, resolve};

const SIZES: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];

/// Passes, so that each size takes about as long.
fn passes(rules: u32) -> usize {
    match rules {
        0..=100 => 101,
        101..=1_000 => 31,
        1_001..=10_000 => 7,
        _ => 3,
    }
}

fn main() {
    let sizes: Vec<u32> = std::env::args()
        .skip(1)
        .filter_map(|size| size.parse().ok())
        .collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    for rules in sizes {
        let mut stages = Stages::default();
        for _ in 0..passes(rules) {
            chain(rules, &mut stages);
        }
        stages.print(rules);
        #[cfg(feature = "cedar")]
        {
            let mut stages = Stages::default();
            for _ in 0..passes(rules) {
                cedar::chain(rules, &mut stages);
            }
            stages.print(rules);
        }
    }
}

/// One pass from text to digest.
fn chain(rules: u32, stages: &mut Stages) {
    let files = InMemory(text::policy(rules));
    let inputs = Inputs {
        parameters: BTreeMap::new(),
        home: "/home/agent".to_owned(),
        working_directory: "/home/agent/work".to_owned(),
        paths: &AsWritten,
        files: &files,
    };
    let resolved = stages.time("read", || {
        let source = files.load("policy.remit").expect("a file");
        let ast = parse(&source).ast.expect("it parses");
        resolve(&ast, &source, &inputs)
    });
    let policy = resolved.policy.expect("it resolves");
    let options = compiler::check::Options {
        files: &resolved.files,
        home: &inputs.home,
        caller_is_root: false,
    };
    stages.time("check", || compiler::check::check(&policy, &options));
    let plan = stages.time("lower", || lower(&policy)).expect("it compiles");
    let artifact = stages.time("emit", || emit(&plan));
    stages
        .time("validate", || artifact.validate())
        .expect("it is valid");
    stages.time("digest", || artifact.digest());
    // A part of `read`, and no part of the sum.
    stages.time(PARSE, || {
        for name in files.0.keys() {
            let source = files.load(name).expect("a file");
            assert!(parse(&source).ast.is_some());
        }
    });
}

/// Said beside the sum.
const PARSE: &str = "parse alone";

/// What each stage took, in the order of their first pass.
#[derive(Default)]
pub struct Stages {
    taken: Vec<(&'static str, Vec<Duration>)>,
}

impl Stages {
    /// Runs a stage.
    pub fn time<T>(&mut self, stage: &'static str, run: impl FnOnce() -> T) -> T {
        let start = processor_time();
        let result = black_box(run());
        let taken = processor_time().saturating_sub(start);
        match self.taken.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, all)) => all.push(taken),
            None => self.taken.push((stage, vec![taken])),
        }
        result
    }

    fn print(&mut self, rules: u32) {
        let mut total = Duration::ZERO;
        print!("{rules:>7} rules");
        for (stage, taken) in &mut self.taken {
            taken.sort_unstable();
            let median = taken.get(taken.len() / 2).copied().unwrap_or_default();
            if *stage != PARSE {
                total += median;
            }
            print!("  {stage} {:.3}", millis(median));
        }
        let each = total.as_secs_f64() * 1e6 / f64::from(rules);
        println!("  total {:.3} ms, {each:.2} us a rule", millis(total));
    }
}

/// Time this thread had a processor, which other work on the machine does not lengthen.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).expect("a clock that counts up")
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
