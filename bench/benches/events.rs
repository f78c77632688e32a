//! From a ring record to a line in a buffer: decoding, attribution, JSON, hash chain.
//!
//! `cargo bench -p bench --bench events`. One iteration is one event; the file is /dev/null, so the disk is not
//! measured. The kernel side (ring reservation and wake-ups) is in the whole-run measurement, see README.md.

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use artifact::Artifact;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ebpf::layout::{EventKind, NetworkHook};
use enforcer::bpf::Record;
use enforcer::event::RunId;
use enforcer::evidence::{Evidence, RunInfo};
use enforcer::sink::{JsonLines, Sinks};
use policy_lang::resolve::Resolution;
use policy_lang::{Inputs, PathResolver, SourceFile};

/// Numbers that no process has, so /proc is not asked about them in the loop.
const LAUNCHER: u32 = 5_000_000;
const SHELL: u32 = 5_000_001;
const AGENT: u32 = 5_000_002;

fn header(kind: EventKind, pid: u32) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(1_000_000_000u64.to_ne_bytes());
    record.extend(7u64.to_ne_bytes());
    for word in [kind as u32, pid, pid, 61_184] {
        record.extend(word.to_ne_bytes());
    }
    record.extend(*b"python3\0\0\0\0\0\0\0\0\0");
    record
}

fn fork(parent: u32, child: u32) -> Vec<u8> {
    let mut record = header(EventKind::Fork, parent);
    record.extend(child.to_ne_bytes());
    record.extend(0u32.to_ne_bytes());
    record
}

fn exec(pid: u32) -> Vec<u8> {
    const PATH: &[u8] = b"/usr/bin/python3";
    let mut record = header(EventKind::Exec, pid);
    record.extend(SHELL.to_ne_bytes());
    record.extend(16u32.to_ne_bytes());
    record.extend(PATH);
    record
}

fn refused_connect(pid: u32) -> Vec<u8> {
    let mut record = header(EventKind::Network, pid);
    record.extend(0u32.to_ne_bytes());
    record.extend([0, NetworkHook::Connect as u8, 6, 4]);
    record.extend(443u16.to_ne_bytes());
    record.extend([0; 6]);
    record.extend([10, 1, 2, 3]);
    record.extend([0; 12]);
    record
}

/// The quickstart, compiled for a host where every path is what it says.
fn quickstart() -> Result<Artifact, &'static str> {
    struct Plain;
    impl PathResolver for Plain {
        fn resolve(&self, path: &str) -> Resolution {
            Resolution::Present {
                path: path.to_owned(),
                link: false,
            }
        }
    }
    let source = SourceFile::new(
        "quickstart.remit",
        include_str!("../../examples/quickstart/policy.remit"),
    );
    let inputs = Inputs {
        parameters: BTreeMap::new(),
        home: "/home/agent".to_owned(),
        working_directory: "/work".to_owned(),
        paths: &Plain,
        files: &policy_lang::loader::NoFiles,
    };
    let ast = policy_lang::parse(&source)
        .ast
        .ok_or("the quickstart does not parse")?;
    let policy = policy_lang::resolve(&ast, &source, &inputs)
        .policy
        .ok_or("it does not resolve")?;
    let plan = compiler::lower(&policy).map_err(|_| "it does not lower")?;
    Ok(compiler::emit(&plan))
}

fn evidence() -> Result<Evidence, Box<dyn Error>> {
    let artifact = quickstart()?;
    let info = RunInfo {
        run: RunId::new("1a22d187c9a00046182871b585"),
        host: "build-7".to_owned(),
        digest: artifact.digest().to_string(),
        cgroup: 7,
    };
    let lines = Some(JsonLines::open(Path::new("/dev/null"))?);
    let mut evidence = Evidence::new(Arc::new(artifact), info, Sinks { lines, person: None });
    evidence.launched(LAUNCHER);
    for record in [fork(LAUNCHER, SHELL), fork(SHELL, AGENT), exec(AGENT)] {
        evidence.on_ring(Record::decode(&record))?;
    }
    Ok(evidence)
}

#[allow(clippy::panic, reason = "without its fixture there is nothing to measure")]
fn events(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("events");
    group.throughput(Throughput::Elements(1));
    for (name, record) in [("refused connect", refused_connect(AGENT)), ("exec", exec(AGENT))] {
        let mut evidence = evidence().unwrap_or_else(|error| panic!("{error}"));
        group.bench_function(name, |bencher| {
            bencher.iter(|| evidence.on_ring(Record::decode(black_box(&record))).is_ok());
        });
    }
    group.finish();
}

criterion_group!(benches, events);
criterion_main!(benches);
