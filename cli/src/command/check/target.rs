//! `--target KERNEL`: the policy is admitted against what a kernel offers, as if it were this host's.
//!
//! The table is that of docs/kernels.md. It assumes a distribution's usual configuration, and root.

use std::collections::BTreeMap;

use artifact::Artifact;
use compiler::check::Options;
use enforcer::admission::{Status, assess, obstacles};
use enforcer::capabilities::{Capabilities, Capability, Presence};
use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Policy, RuleId};
use policy_lang::source::{FileId, Span};

use crate::arguments::Kernel;

impl Kernel {
    const fn release(self) -> &'static str {
        match self {
            Self::V5_15 => "5.15",
            Self::V6_1 => "6.1",
            Self::V6_6 => "6.6",
            Self::V6_12 => "6.12",
            Self::V6_18 => "6.18",
            Self::V7_0 => "7.0",
            Self::V7_2 => "7.2",
        }
    }

    /// The Landlock ABI that came with it.
    const fn landlock_abi(self) -> u32 {
        match self {
            Self::V5_15 => 1,
            Self::V6_1 => 2,
            Self::V6_6 => 3,
            Self::V6_12 => 6,
            Self::V6_18 => 7,
            Self::V7_0 => 8,
            Self::V7_2 => 10,
        }
    }

    /// Whether the kernel has it. None: that is no matter of kernels, but of this version of Remit.
    fn has(self, capability: Capability) -> Option<bool> {
        match capability {
            // Linux 6.1 for the programs that are attached.
            Capability::CgroupBpf => Some(self != Self::V5_15),
            // Linux 6.3.
            Capability::MemfdNoexec => Some(!matches!(self, Self::V5_15 | Self::V6_1)),
            // No distribution can be relied on for it, and nothing depends on it.
            Capability::BpfLsm => Some(false),
            Capability::Approvals
            | Capability::HostNames
            | Capability::Hide
            | Capability::Broker
            | Capability::Workspace
            | Capability::FileAccessRecords => None,
            _ => Some(true),
        }
    }

    fn capabilities(self) -> Capabilities {
        let here = enforcer::capabilities::probe();
        let found: BTreeMap<Capability, Presence> = Capability::ALL
            .into_iter()
            .filter_map(|capability| {
                let presence = match self.has(capability) {
                    Some(present) => Presence {
                        present,
                        evidence: format!("not in Linux {}", self.release()),
                    },
                    None => here.found.get(&capability)?.clone(),
                };
                Some((capability, presence))
            })
            .collect();
        Capabilities {
            kernel: self.release().to_owned(),
            landlock_abi: self.landlock_abi(),
            landlock_errata: 0,
            found,
        }
    }
}

/// What a run would be refused for.
pub(super) fn check(
    kernel: Kernel,
    artifact: &Artifact,
    policy: &Policy,
    options: &Options<'_>,
) -> Vec<Diagnostic> {
    let capabilities = kernel.capabilities();
    let mut found = Vec::new();
    for missing in obstacles(&capabilities) {
        let place = compiler::check::place_of(policy, RuleId::DEFAULT, options);
        found.push(refusal(kernel, place, &missing, "every run is refused there"));
    }
    for requirement in &artifact.requirements {
        if let Err(missing) = capabilities.satisfies(requirement.need) {
            let place = compiler::check::place_of_requirements(policy, options);
            let what = format!("`require {}` is not met: {missing}", requirement.text);
            found.push(refusal(kernel, place, &what, "a run is refused there"));
        }
    }
    for (rule, status) in artifact.rules.iter().zip(assess(artifact, &capabilities)) {
        let (how, why) = match &status.status {
            Status::Enforced => continue,
            Status::Partly { why } => ("partly enforced", why),
            Status::Unenforceable { why } => ("unenforceable", why),
        };
        if !rule.permit_degraded {
            let place = compiler::check::place_of(policy, RuleId(rule.id.0), options);
            found.push(refusal(kernel, place, why, how));
        }
    }
    found
}

fn refusal(kernel: Kernel, (file, span): (FileId, Span), why: &str, how: &str) -> Diagnostic {
    Diagnostic::error(
        Code::UnenforceableOnTarget,
        span,
        format!("on Linux {}: {why}", kernel.release()),
    )
    .in_file(file)
    .label(how)
    .help("run on a newer kernel, write what this one enforces, or accept it on the rule with `permit degraded because \"…\"`")
}
