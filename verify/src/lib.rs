//! Proves a policy on this host from inside a real run.
//!
//! ```text
//! Policy -> Plan -> Observations -> Verdict -> Report
//!       plan   observe          judge      report
//! ```
//!
//! A [`plan`] is a list of probes: what is done, what the model expects of it, a control that must succeed, and how the
//! one control is switched off. [`observe`] does it, inside runs and beside them, and brings back what the kernel said and
//! what was recorded. [`judge`] is pure: a probe is proved when it was refused with the expected errno, by the expected
//! mechanism, on record under the expected rule, and succeeds once the control is off.
//!
//! No probe leaves the host: whatever touches a network does so in a namespace that [`world`] makes, in which every
//! address is this machine's own.

pub mod expect;
pub mod judge;
pub mod observe;
pub mod open;
pub mod operation;
pub mod plan;
pub mod prober;
pub mod report;
pub mod stage;
mod sys;
pub mod world;

use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use artifact::Artifact;
use enforcer::Capabilities;
use enforcer::capabilities::Capability;
use policy_lang::policy::Policy;

use expect::Subject;
use observe::Worlds;
use plan::{Facts, Plan};
use report::{Entry, Report};
use stage::{Stage, VerifyError};

/// What is to be verified.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What the policy means.
    pub policy: &'a Policy,
    /// What it compiles to.
    pub artifact: &'a Artifact,
    /// Its file, for the report.
    pub file: &'a str,
    /// Where runs start.
    pub working_directory: &'a Path,
    /// What the host has.
    pub capabilities: &'a Capabilities,
    /// Beginnings of the names of probes; none: all.
    pub only: &'a [String],
}

/// Verifies. Needs root.
///
/// # Errors
/// When it cannot be carried out. Nothing of it is left on the host then.
pub fn verify(request: Request<'_>) -> Result<Report, VerifyError> {
    let (time, begun) = (SystemTime::now(), Instant::now());
    let mut stage = Stage::new(request.policy, request.working_directory)?;
    let (policy, artifact, added) = granted(request.policy, &stage.needed())?;
    let subject = Subject {
        policy: &policy,
        artifact: &artifact,
        landlock: request.capabilities.landlock_abi,
    };
    let quiet = stage.world(&world::Ports::default())?;
    let mut wanted = stage.needed();
    wanted.extend(stage.neighbour_workspace());
    let (_, other, _) = granted(&Policy::built_in("verify-neighbour"), &wanted)?;
    let neighbour = stage.neighbour(&other, &quiet)?;
    let mut plan = plan::plan(subject, &stage.facts(&neighbour));
    plan.only(request.only);
    stage.set(plan.variables());
    for path in plan.absent(&policy) {
        stage.place(&path)?;
    }
    let worlds = Worlds {
        busy: stage.world(&plan.ports())?,
        quiet,
    };
    let evidence = observe::observe(&plan, &stage, &worlds, subject)?;
    let entries = plan.probes.iter().zip(&evidence).map(|(probe, evidence)| {
        let judgement = judge::judge(probe, evidence);
        Entry::new(probe, evidence, judgement)
    });
    let tested = report::Policy {
        name: request.policy.name.clone(),
        file: request.file.to_owned(),
        digest: request.artifact.digest().to_string(),
        tested_digest: artifact.digest().to_string(),
        added,
    };
    Ok(Report::new(
        time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        host(request.capabilities),
        tested,
        entries.collect(),
    ))
}

/// What would be tried. Asks nothing of the host but whether controls are there.
#[must_use]
pub fn list(policy: &Policy, artifact: &Artifact, capabilities: &Capabilities) -> Plan {
    let subject = Subject {
        policy,
        artifact,
        landlock: capabilities.landlock_abi,
    };
    let somewhere = || "/remit-verify".to_owned();
    plan::plan(
        subject,
        &Facts {
            program: somewhere(),
            outside: somewhere(),
            neighbour: somewhere(),
            neighbour_pid: 0,
            variable: stage::VARIABLE.to_owned(),
            descriptor: 0,
            set_id_program: somewhere(),
        },
    )
}

/// A policy with a few grants more, compiled, and what was added.
fn granted(
    policy: &Policy,
    accesses: &[policy_lang::reference::Access],
) -> Result<(Policy, Artifact, Vec<String>), VerifyError> {
    let open = open::opened(policy, accesses).map_err(|closed| VerifyError::Compile(closed.to_string()))?;
    let plan = compiler::lower(&open.policy).map_err(|errors| {
        VerifyError::Compile(errors.first().map(ToString::to_string).unwrap_or_default())
    })?;
    let artifact = compiler::emit(&plan);
    Ok((open.policy, artifact, open.changes))
}

fn host(capabilities: &Capabilities) -> report::Host {
    let uname = rustix::system::uname();
    let found = |capability: &Capability| {
        capabilities
            .found
            .get(capability)
            .map(|found| (*capability, found))
    };
    report::Host {
        name: uname.nodename().to_string_lossy().into_owned(),
        kernel: capabilities.kernel.clone(),
        architecture: uname.machine().to_string_lossy().into_owned(),
        landlock: capabilities.landlock_abi,
        capabilities: Capability::ALL
            .iter()
            .filter_map(found)
            .map(|(capability, found)| report::Capability {
                name: capability.name(),
                present: found.present,
                evidence: found.evidence.clone(),
            })
            .collect(),
        remit: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Whether this process was started as a part of a verification. Ask before arguments are read.
#[must_use]
pub fn requested() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| {
        [prober::FLAG, prober::WHO_FLAG, world::FLAG]
            .iter()
            .any(|flag| word == *flag)
    })
}

/// The whole life of such a process.
#[must_use]
pub fn main() -> std::process::ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(prober::FLAG) => prober::main(),
        Some(prober::WHO_FLAG) => prober::who(),
        _ => world::main(),
    }
}
