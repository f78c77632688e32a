//! How long it takes to compile policies of 10 to 10,000 rules, and the quickstart policy stage by stage.
//!
//! The stages of `remit run POLICY` up to admission are parse, resolve, lower, emit and digest; encode and decode are
//! what `remit compile` and `remit run ARTIFACT` add.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a benchmark that cannot run has nothing to report"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::net::Ipv4Addr;

use artifact::codec::{decode, encode};
use artifact::filesystem::{Node, NodeKind, PathPattern as Pattern, regions};
use compiler::{emit, lower};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{
    Effect, Endpoint, FileAccess, Origin, Policy, Protocol, Rule, RuleId, Subject, Verb,
};
use policy_lang::resolve::{AsWritten, Inputs, resolve};
use policy_lang::source::SourceFile;

const SIZES: [u32; 4] = [10, 100, 1_000, 10_000];

fn policy(rules: impl IntoIterator<Item = (Effect, Subject)>) -> Policy {
    let subjects = std::iter::once((Effect::Deny, Subject::Everything)).chain(rules);
    Policy {
        rules: (0..)
            .zip(subjects)
            .map(|(id, (effect, subject))| Rule {
                id: RuleId(id),
                effect,
                subject,
                text: format!("rule {id}"),
                label: None,
                because: None,
                origin: Origin::BuiltIn,
                layer: None,
                via: None,
                if_present: false,
                permit_degraded: false,
            })
            .collect(),
        ..Policy::built_in("large")
    }
}

/// One prefix for each rule inside a denied network, every third denied, with few or many ports.
fn prefixes(count: u32) -> Policy {
    let rule = |effect, address, prefix_len, first_port, last_port| {
        let subject = Subject::Network {
            verbs: vec![Verb::Connect],
            protocols: vec![Protocol::Tcp],
            targets: vec![Endpoint {
                address: Ipv4Addr::from_bits(address).into(),
                prefix_len,
                first_port,
                last_port,
            }],
            hosts: Vec::new(),
        };
        (effect, subject)
    };
    let own = (0..count).map(|number| {
        let effect = if number % 3 == 0 {
            Effect::Deny
        } else {
            Effect::Allow
        };
        let last_port = if number % 2 == 0 { 443 } else { u16::MAX };
        rule(effect, 10 << 24 | number << 8, 24, 443, last_port)
    });
    policy(std::iter::once(rule(Effect::Deny, 10 << 24, 8, 0, u16::MAX)).chain(own))
}

/// One literal for each rule in a tree of three levels, every third denied, and ten denying globs over all of it.
fn files(count: u32) -> Policy {
    let all = || vec![FileAccess::Read, FileAccess::Write, FileAccess::Execute];
    let rule = |effect, accesses, pattern: String| {
        let targets = vec![PathPattern::parse(&pattern).expect("a pattern")];
        (effect, Subject::File { accesses, targets })
    };
    let grants = [
        rule(Effect::Allow, vec![FileAccess::Read], "/".to_owned()),
        rule(Effect::Allow, all(), "/w".to_owned()),
    ];
    let globs = (0..10).map(|number| {
        let pattern = format!("/w/**/.env{number}*");
        rule(Effect::Deny, vec![FileAccess::Read], pattern)
    });
    let literals = (0..count).map(|number| {
        let effect = if number % 3 == 0 {
            Effect::Deny
        } else {
            Effect::Allow
        };
        let pattern = format!("/w/d{}/e{}/f{number}", number % 50, number % 7);
        rule(effect, all(), pattern)
    });
    policy(grants.into_iter().chain(globs).chain(literals))
}

fn sizes(criterion: &mut Criterion) {
    for (what, make) in [("prefixes", prefixes as fn(u32) -> Policy), ("files", files)] {
        let mut group = criterion.benchmark_group(what);
        group.sample_size(10);
        for size in SIZES {
            let policy = make(size);
            let plan = lower(&policy).expect("it compiles");
            let artifact = emit(&plan);
            let text = encode(&artifact).expect("it is valid");
            group.bench_function(BenchmarkId::new("lower", size), |b| {
                b.iter(|| lower(black_box(&policy)))
            });
            group.bench_function(BenchmarkId::new("emit", size), |b| {
                b.iter(|| emit(black_box(&plan)))
            });
            group.bench_function(BenchmarkId::new("digest", size), |b| {
                b.iter(|| black_box(&artifact).digest())
            });
            group.bench_function(BenchmarkId::new("encode", size), |b| {
                b.iter(|| encode(black_box(&artifact)))
            });
            group.bench_function(BenchmarkId::new("decode", size), |b| {
                b.iter(|| decode(black_box(text.as_bytes())));
            });
        }
    }
}

/// The mount tree of a run in which every literal exists.
fn region_trees(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("regions");
    group.sample_size(10);
    for size in SIZES {
        let artifact = emit(&lower(&files(size)).expect("it compiles"));
        let nodes: Vec<Node> = artifact
            .filesystem
            .rules
            .iter()
            .filter_map(|rule| match &rule.pattern {
                Pattern::Literal(path) => Some(Node {
                    path: path.clone(),
                    kind: NodeKind::Directory,
                }),
                Pattern::Glob(_) => None,
            })
            .collect();
        group.bench_function(BenchmarkId::from_parameter(size), |b| {
            b.iter(|| regions(black_box(&artifact.filesystem), &nodes));
        });
    }
}

fn quickstart(criterion: &mut Criterion) {
    let source = SourceFile::from_bytes(
        "policy.remit".to_owned(),
        include_bytes!("../../examples/quickstart/policy.remit").to_vec(),
    );
    let inputs = Inputs {
        parameters: BTreeMap::new(),
        home: "/home/agent".to_owned(),
        working_directory: "/home/agent/work".to_owned(),
        paths: &AsWritten,
        files: &policy_lang::loader::NoFiles,
    };
    let ast = policy_lang::parse::parse(&source).ast.expect("it parses");
    let policy = resolve(&ast, &source, &inputs).policy.expect("it resolves");
    let plan = lower(&policy).expect("it compiles");
    let artifact = emit(&plan);
    let text = encode(&artifact).expect("it is valid");
    let mut group = criterion.benchmark_group("quickstart");
    group.bench_function("parse", |b| {
        b.iter(|| policy_lang::parse::parse(black_box(&source)))
    });
    group.bench_function("resolve", |b| {
        b.iter(|| resolve(black_box(&ast), &source, &inputs))
    });
    group.bench_function("lower", |b| b.iter(|| lower(black_box(&policy))));
    group.bench_function("emit", |b| b.iter(|| emit(black_box(&plan))));
    group.bench_function("digest", |b| b.iter(|| black_box(&artifact).digest()));
    group.bench_function("encode", |b| b.iter(|| encode(black_box(&artifact))));
    group.bench_function("decode", |b| b.iter(|| decode(black_box(text.as_bytes()))));
}

criterion_group!(benches, quickstart, sizes, region_trees);
criterion_main!(benches);
