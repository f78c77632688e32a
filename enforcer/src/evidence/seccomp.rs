//! Refused system calls. seccomp's record has the call but not its arguments, so where several rules speak of a
//! call's arguments the strictest is named and the others are listed.

use std::collections::HashMap;

use artifact::rule::{Effect, Mechanism};
use artifact::seccomp::Architecture;
use artifact::{Artifact, RuleId};

use super::{Decision, Draft, Evidence};
use crate::audit::record::{Seccomp, Stamp};
use crate::event::{Details, SyscallDetails, Time};
use crate::sink::SinkError;

const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
const AUDIT_ARCH_I386: u32 = 0x4000_0003;
const AUDIT_ARCH_AARCH64: u32 = 0xc000_00b7;
const AUDIT_ARCH_ARM: u32 = 0x4000_0028;
const X32_BIT: u32 = 0x4000_0000;

#[derive(Debug)]
pub(super) struct Calls(HashMap<(u32, u32), (String, Vec<RuleId>)>);

impl Calls {
    pub(super) fn new(artifact: &Artifact) -> Self {
        let mut calls = HashMap::new();
        for filter in &artifact.seccomp {
            let arch = match filter.architecture {
                Architecture::X86_64 => AUDIT_ARCH_X86_64,
                Architecture::Aarch64 => AUDIT_ARCH_AARCH64,
            };
            for refusal in &filter.refusals {
                calls.insert(
                    (arch, refusal.number),
                    (refusal.name.clone(), refusal.rules.clone()),
                );
            }
        }
        Self(calls)
    }
}

/// The name of a call of this machine's own architecture. The artifact has only names that a rule speaks of.
fn native_name(refusal: &Seccomp) -> Option<String> {
    const NATIVE: u32 = if cfg!(target_arch = "aarch64") {
        AUDIT_ARCH_AARCH64
    } else {
        AUDIT_ARCH_X86_64
    };
    let call = syscalls::Sysno::new(usize::try_from(refusal.number).ok()?)?;
    (refusal.arch == NATIVE).then(|| call.name().to_owned())
}

pub(super) fn take(evidence: &mut Evidence, stamp: Stamp, refusal: &Seccomp) -> Result<(), SinkError> {
    if !evidence.processes.knows(refusal.pid) {
        // Of another run, unless the record of its birth was lost: see `Evidence::on_counters`.
        evidence.strangers = evidence.strangers.saturating_add(1);
        return Ok(());
    }
    let call = evidence.calls.0.get(&(refusal.arch, refusal.number));
    let name = call
        .map(|(name, _)| name.clone())
        .filter(|name| !name.is_empty())
        .or_else(|| native_name(refusal));
    let rules = call.map(|(_, rules)| rules.clone()).unwrap_or_default();
    let (effect, rule) = rules.first().map_or((Effect::Deny, RuleId::DEFAULT), |rule| {
        evidence.rules.refusal(*rule)
    });
    let process = evidence
        .processes
        .of(refusal.pid, refusal.uid, Some(&refusal.comm));
    evidence.emit(Draft {
        time: stamp_time(stamp),
        decision: Some(Decision {
            effect,
            rule: Some(rule),
            mechanism: Mechanism::Seccomp,
        }),
        process: Some(process),
        details: Details::Syscall(SyscallDetails {
            name,
            number: refusal.number,
            architecture: architecture(refusal.arch, refusal.number),
            action: action(refusal.action),
            candidates: if rules.len() > 1 {
                rules.iter().map(|rule| rule.0).collect()
            } else {
                Vec::new()
            },
        }),
    })
}

/// The stamp as nanoseconds; the kernel keeps milliseconds.
pub(super) const fn stamp_time(stamp: Stamp) -> Time {
    Time(
        stamp
            .seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(stamp.millis as u64 * 1_000_000),
    )
}

fn architecture(arch: u32, number: u32) -> String {
    match arch {
        AUDIT_ARCH_X86_64 if number & X32_BIT != 0 => "x32".to_owned(),
        AUDIT_ARCH_X86_64 => "x86_64".to_owned(),
        AUDIT_ARCH_I386 => "i386".to_owned(),
        AUDIT_ARCH_AARCH64 => "aarch64".to_owned(),
        AUDIT_ARCH_ARM => "arm".to_owned(),
        other => format!("{other:#x}"),
    }
}

const fn action(code: u32) -> &'static str {
    match code & 0xffff_0000 {
        0x8000_0000 => "kill-process",
        0x0000_0000 => "kill-thread",
        0x0003_0000 => "trap",
        0x0005_0000 => "errno",
        0x7fc0_0000 => "notify",
        0x7ff0_0000 => "trace",
        0x7ffc_0000 => "log",
        _ => "allow",
    }
}
