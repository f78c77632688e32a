//! How long it takes to make the default policy's filter, by us and by others. Prints sizes and depths first.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a benchmark that cannot run has nothing to report"
)]

use std::hint::black_box;

use artifact::seccomp::{Architecture, Instruction};
use bench::seccomp::{allows, default_policy, unconditional};
use compiler::seccomp::constant_allow::is_constant_allow;
use compiler::seccomp::interpret::{SeccompData, check};
use compiler::seccomp::{bpf, generate};
use criterion::{Criterion, criterion_group, criterion_main};
use policy_lang::policy::Policy;
use policy_lang::syscall::{self, table};

/// Instructions executed for a call.
fn depth(program: &[Instruction], number: u32, arguments: [u64; 6]) -> usize {
    let data = SeccompData {
        number,
        architecture: bpf::audit_arch(Architecture::X86_64),
        arguments,
        ..SeccompData::default()
    };
    check(program)
        .expect("a filter the kernel takes")
        .run(&data)
        .executed
}

fn mean(values: impl Iterator<Item = usize>) -> f64 {
    let (mut sum, mut count) = (0_u32, 0_u32);
    for value in values {
        sum += u32::try_from(value).unwrap_or(u32::MAX);
        count += 1;
    }
    f64::from(sum) / f64::from(count.max(1))
}

fn report(name: &str, policy: &Policy, program: &[Instruction]) {
    let of = |name| table::number(name, syscall::Architecture::X86_64).expect("a known call");
    let allowed = unconditional(policy);
    let cached = allowed
        .iter()
        .filter(|number| is_constant_allow(program, bpf::audit_arch(Architecture::X86_64), **number))
        .count();
    let refused: Vec<u32> = table::calls(syscall::Architecture::X86_64)
        .map(|(_, number)| number)
        .filter(|number| !allows(policy, *number, [0; 6]))
        .collect();
    println!(
        "{name:12} {:5} instructions; executed: allowed {:.1}, refused {:.1}, ioctl(TCGETS) {}, socket(AF_INET) {}, \
         clone(thread) {}; {cached} of {} allowed calls cached",
        program.len(),
        mean(allowed.iter().map(|number| depth(program, *number, [0; 6]))),
        mean(refused.iter().map(|number| depth(program, *number, [0; 6]))),
        depth(program, of("ioctl"), [0, 0x5401, 0, 0, 0, 0]),
        depth(program, of("socket"), [2, 1, 0, 0, 0, 0]),
        depth(program, of("clone"), [0x003d_0f00, 0, 0, 0, 0, 0]),
        allowed.len(),
    );
}

fn generation(criterion: &mut Criterion) {
    let policy = default_policy();
    let allowed = unconditional(&policy);
    let remit = || generate(&policy, Architecture::X86_64).expect("a filter").program;
    report("remit", &policy, &remit());
    let aarch64 = generate(&policy, Architecture::Aarch64)
        .expect("a filter")
        .program;
    println!("{:12} {:5} instructions", "remit arm64", aarch64.len());
    let seccompiler = || bench::seccomp::seccompiler(&allowed).expect("a filter");
    report("seccompiler", &policy, &seccompiler());
    #[cfg(feature = "libseccomp")]
    report(
        "libseccomp",
        &policy,
        &bench::seccomp::libseccomp(&allowed).expect("a filter"),
    );

    let mut group = criterion.benchmark_group("seccomp");
    group.bench_function("remit", |bencher| bencher.iter(|| black_box(remit())));
    group.bench_function("seccompiler", |bencher| bencher.iter(|| black_box(seccompiler())));
    #[cfg(feature = "libseccomp")]
    group.bench_function("libseccomp", |bencher| {
        bencher.iter(|| black_box(bench::seccomp::libseccomp(&allowed).expect("a filter")));
    });
    group.finish();
}

criterion_group!(benches, generation);
criterion_main!(benches);
