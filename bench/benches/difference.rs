//! How long it takes to compare two policies of 10 to 100,000 rules of one kind, and of 1,000 rules of all kinds.
//!
//! `edited` is what a review sees: one rule in twenty differs. `unrelated` has no rule in common, so that nothing can be left
//! out.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a benchmark that cannot run has nothing to report"
)]

use std::hint::black_box;
use std::net::Ipv4Addr;

use compiler::check::ceiling::ceiling;
use compiler::difference::difference;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use policy_lang::pattern::{HostPattern, PathPattern};
use policy_lang::policy::{
    Effect, Endpoint, FileAccess, HostEndpoint, Layer, LayerId, Origin, Policy, Protocol, Rule, RuleId,
    Subject, Verb,
};
use policy_lang::syscall::{Comparison, Condition, SyscallSet, Width};

const SIZES: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];

type Written = (Effect, Subject);
/// The rule with a number, in one of two variants.
type Make = fn(u32, u32) -> Written;

fn add(policy: &mut Policy, rules: impl IntoIterator<Item = Written>, layer: u8) {
    for (effect, subject) in rules {
        let id = RuleId(u32::try_from(policy.rules.len()).expect("few rules"));
        policy.rules.push(Rule {
            id,
            effect,
            subject,
            text: String::new(),
            label: None,
            because: None,
            origin: Origin::BuiltIn,
            layer: Some(LayerId(layer)),
            via: None,
            if_present: false,
            permit_degraded: false,
        });
    }
}

fn policy(rules: impl IntoIterator<Item = Written>) -> Policy {
    let mut policy = Policy::built_in("large");
    add(&mut policy, rules, 0);
    policy
}

fn file(effect: Effect, pattern: &str) -> Written {
    let subject = Subject::File {
        accesses: vec![FileAccess::Read, FileAccess::Write],
        targets: vec![PathPattern::parse(pattern).expect("a pattern")],
    };
    (effect, subject)
}

fn connect(effect: Effect, targets: Vec<Endpoint>, hosts: Vec<HostEndpoint>) -> Written {
    let subject = Subject::Network {
        verbs: vec![Verb::Connect],
        protocols: vec![Protocol::Tcp],
        targets,
        hosts,
    };
    (effect, subject)
}

/// Every third refuses.
fn effect(number: u32) -> Effect {
    if number.is_multiple_of(3) {
        Effect::Deny
    } else {
        Effect::Allow
    }
}

/// A literal in a tree of three levels. Another `variant` is another file beside it.
fn literal(number: u32, variant: u32) -> Written {
    let (one, two) = (number % 50, number / 50 % 40);
    file(effect(number), &format!("/w/d{one}/e{two}/f{number}v{variant}"))
}

/// A prefix, some of them inside others, with one port or a few.
fn prefix(number: u32, variant: u32) -> Written {
    let (address, prefix_len) = if number.is_multiple_of(10) {
        ((10 << 24) | (((number / 10) & 0xfff) << 12), 20)
    } else {
        ((10 << 24) | ((number & 0x000f_ffff) << 4) | (variant << 1), 31)
    };
    let target = Endpoint {
        address: Ipv4Addr::from_bits(address).into(),
        prefix_len,
        first_port: 443,
        last_port: if number.is_multiple_of(2) { 443 } else { 8443 },
    };
    connect(effect(number), vec![target], Vec::new())
}

fn host(number: u32, variant: u32) -> Written {
    let name = format!("h{number}v{variant}.d{}.example.com", number % 100);
    let pattern = if number.is_multiple_of(10) {
        HostPattern::Beneath(name)
    } else {
        HostPattern::Name(name)
    };
    let target = HostEndpoint {
        pattern,
        first_port: 443,
        last_port: 443,
    };
    connect(effect(number), Vec::new(), vec![target])
}

fn variable(number: u32, variant: u32) -> Written {
    let star = if number.is_multiple_of(20) { "*" } else { "" };
    let subject = Subject::Pass {
        names: vec![format!("NAME_{number}_{variant}{star}")],
    };
    (effect(number), subject)
}

fn call(number: u32, variant: u32) -> Written {
    let condition = Condition {
        argument: 1,
        width: Width::Bits32,
        comparison: Comparison::Equal(u64::from(number * 2 + variant)),
    };
    let set = SyscallSet::call("ioctl").expect("a call").with(condition);
    (effect(number), Subject::Syscall { targets: vec![set] })
}

/// A thousand rules of all kinds, twenty of them globs over everything.
fn mixed(variant: impl Fn(u32) -> u32 + Copy) -> Policy {
    let globs = (0..20).map(|number| file(Effect::Deny, &format!("/**/*.secret{number}")));
    let grants = [
        file(Effect::Allow, "/w"),
        (
            Effect::Allow,
            Subject::Syscall {
                targets: vec![SyscallSet::group("@system-service").expect("a group")],
            },
        ),
    ];
    let rules = globs
        .chain(grants)
        .chain((0..478).map(move |number| literal(number, variant(number))))
        .chain((0..250).map(move |number| prefix(number, variant(number))))
        .chain((0..100).map(move |number| host(number, variant(number))))
        .chain((0..100).map(move |number| variable(number, variant(number))))
        .chain((0..50).map(move |number| call(number, variant(number))));
    policy(rules)
}

fn edited(number: u32) -> u32 {
    u32::from(number % 20 == 7)
}

fn growth(criterion: &mut Criterion) {
    let kinds: [(&str, Make); 3] = [("literals", literal), ("prefixes", prefix), ("hosts", host)];
    for (what, rule) in kinds {
        let mut group = criterion.benchmark_group(what);
        group.sample_size(10);
        for size in SIZES {
            group.throughput(Throughput::Elements(u64::from(size)));
            let make =
                |variant: fn(u32) -> u32| policy((0..size).map(|number| rule(number, variant(number))));
            let old = make(|_| 0);
            for (name, new) in [("edited", make(edited)), ("unrelated", make(|_| 1))] {
                group.bench_function(BenchmarkId::new(name, size), |b| {
                    b.iter(|| difference(black_box(&old), black_box(&new)));
                });
            }
        }
    }
}

fn thousand(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mixed");
    group.sample_size(10);
    let old = mixed(|_| 0);
    for (name, new) in [("edited", mixed(edited)), ("unrelated", mixed(|_| 1))] {
        group.bench_function(BenchmarkId::new(name, 1_000), |b| {
            b.iter(|| difference(black_box(&old), black_box(&new)));
        });
    }
    let mut within = mixed(edited);
    within.layers.push(Layer {
        name: "ceiling".to_owned(),
        file: String::new(),
    });
    let above: Vec<Written> = old
        .rules
        .iter()
        .filter(|rule| rule.layer.is_some())
        .map(|rule| (rule.effect, rule.subject.clone()))
        .collect();
    add(&mut within, above, 1);
    group.bench_function(BenchmarkId::new("ceiling", 1_000), |b| {
        b.iter(|| ceiling(black_box(&within)))
    });
}

criterion_group!(benches, thousand, growth);
criterion_main!(benches);
