//! What each rule becomes, with what that needs from the host and what it cannot do.
//!
//! A rule is enforced when one of its mechanisms is exact and its needs are met, so alternatives and second lines of
//! defence stand side by side. A refusing rule is often enforced by what is *not* granted; only beneath a grant does
//! it need a mechanism of its own.

use artifact::rule::{Lowering, Mechanism, Need};
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{
    Effect, Endpoint, FileAccess, HostEndpoint, Identity, Origin, Policy, Protocol, Resource, Rule, Subject,
    Verb,
};
use policy_lang::syscall::{Architecture, SyscallSet, table};

use super::files::Grants;
use super::vocabulary;
use crate::error::Reason;
use crate::plan::NetworkPlan;

/// Files from the first Landlock ABI on. Below ABI 3, which has a right for truncation, the launcher makes everything
/// read-only that may not be written.
const FILES: Need = Need::Landlock(1);
/// Landlock ABI that knows TCP ports.
const TCP_PORTS: Need = Need::Landlock(4);

/// What is hidden is refused in every way.
const HIDDEN: [FileAccess; 3] = [FileAccess::Read, FileAccess::Write, FileAccess::Execute];

/// The label of the built-in denial.
const UNIX_SOCKETS: &str = "built-in:unix-sockets";

/// What is known about a policy when its rules are explained.
pub(super) struct Context<'p> {
    pub(super) policy: &'p Policy,
    pub(super) grants: Grants<'p>,
    pub(super) network: &'p NetworkPlan,
}

impl Context<'_> {
    /// The mechanisms of a rule.
    pub(super) fn mechanisms(&self, rule: &Rule) -> Result<Vec<Lowering>, Reason> {
        let mut lowering = match &rule.subject {
            Subject::Everything => everything(),
            Subject::File { accesses, targets } => self.file(rule, accesses, targets),
            Subject::Hide { targets } => needing(Need::Hide, self.file(rule, &HIDDEN, targets)),
            Subject::Network {
                verbs,
                protocols,
                targets,
                hosts,
            } => self.network(verbs, protocols, targets, hosts),
            Subject::Pass { .. } | Subject::Set { .. } => vec![exact(Mechanism::Environment, &[])],
            Subject::Broker(_) => vec![exact(Mechanism::Broker, &[Need::Broker])],
            Subject::Syscall { targets } => self.syscall(rule, targets)?,
            Subject::Scratch { .. } => vec![exact(Mechanism::PrivateMount, &[Need::MountNamespace])],
            Subject::Identity(_) => vec![exact(Mechanism::Credentials, &[])],
            Subject::Limit { resource, .. } => limit(*resource, self.policy.identity.0),
        };
        if rule.effect == Effect::Ask {
            lowering = needing(Need::Approvals, lowering);
        }
        Ok(lowering)
    }

    fn file(&self, rule: &Rule, accesses: &[FileAccess], targets: &[PathPattern]) -> Vec<Lowering> {
        let mut lowering = match rule.effect {
            Effect::Allow => self.granted(accesses, targets),
            // Until somebody says yes, what is to be asked is refused.
            Effect::Ask | Effect::Deny | Effect::Forbid => self.refused(accesses, targets),
        };
        if let Some(gap) = self.created_later(rule.effect, targets) {
            for mechanism in &mut lowering {
                mechanism.gap = Some(gap.clone());
            }
        }
        lowering
    }

    fn granted(&self, accesses: &[FileAccess], targets: &[PathPattern]) -> Vec<Lowering> {
        let mut lowering = granted(accesses);
        let reads = |target: &PathPattern| {
            self.grants
                .include(artifact::filesystem::FileAccess::Read, target)
        };
        if accesses.contains(&FileAccess::Execute) && !targets.iter().all(reads) {
            let note =
                "the kernel reads what it starts: where read is not allowed too, nothing can be started";
            for mechanism in &mut lowering {
                mechanism.note = Some(note.to_owned());
            }
        }
        lowering
    }

    /// Beneath no grant, Landlock refuses by having no rule. Beneath one, mounts have to take the right away.
    fn refused(&self, accesses: &[FileAccess], targets: &[PathPattern]) -> Vec<Lowering> {
        let beneath = |access: FileAccess| {
            accesses.contains(&access)
                && targets
                    .iter()
                    .any(|target| self.grants.reach(vocabulary::access(access), target))
        };
        let hidden = beneath(FileAccess::Read);
        if hidden {
            let spared = [FileAccess::Write, FileAccess::Execute]
                .into_iter()
                .any(|access| !accesses.contains(&access));
            let mut mask = exact(Mechanism::MountMask, &[Need::MountNamespace]);
            mask.note = spared.then(|| {
                "what is hidden cannot be written or executed either, whatever other rules allow".to_owned()
            });
            return vec![mask];
        }
        if beneath(FileAccess::Write) || beneath(FileAccess::Execute) {
            return vec![exact(Mechanism::MountAttributes, &[Need::MountNamespace])];
        }
        granted(accesses)
    }

    /// A glob is matched when the run starts. That leaves a refusing glob open where the run can make new files.
    fn created_later(&self, effect: Effect, targets: &[PathPattern]) -> Option<String> {
        if effect == Effect::Allow {
            return None;
        }
        let open = targets.iter().find(|target| {
            matches!(target, PathPattern::Glob(_))
                && self.grants.reach(artifact::filesystem::FileAccess::Write, target)
        })?;
        let (PathPattern::Glob(text) | PathPattern::Literal(text)) = open;
        Some(format!(
            "\"{text}\" is matched when the run starts; files that the run creates or renames later are not covered"
        ))
    }

    fn syscall(&self, rule: &Rule, targets: &[SyscallSet]) -> Result<Vec<Lowering>, Reason> {
        let mut lowering = syscall(targets)?;
        if rule.effect == Effect::Allow && self.opens_unix_sockets(targets) {
            for mechanism in &mut lowering {
                mechanism.gap = Some(
                    "a UNIX socket reaches every daemon whose socket the run can see by its path, whatever \
                     `filesystem` says"
                        .to_owned(),
                );
            }
        }
        Ok(lowering)
    }

    /// Whether a target lies strictly inside the built-in denial, and so takes a part of it back.
    fn opens_unix_sockets(&self, targets: &[SyscallSet]) -> bool {
        let built_in =
            |rule: &&Rule| rule.origin == Origin::BuiltIn && rule.label.as_deref() == Some(UNIX_SOCKETS);
        self.policy
            .rules
            .iter()
            .filter(built_in)
            .filter_map(|rule| match &rule.subject {
                Subject::Syscall { targets } => Some(targets),
                _ => None,
            })
            .flatten()
            .any(|shut| {
                let opens =
                    |target: &SyscallSet| shut.includes(target).holds() && !target.includes(shut).holds();
                targets.iter().any(opens)
            })
    }

    fn network(
        &self,
        verbs: &[Verb],
        protocols: &[Protocol],
        targets: &[Endpoint],
        hosts: &[HostEndpoint],
    ) -> Vec<Lowering> {
        if let Some(first) = hosts.first() {
            let by_name = exact(Mechanism::CgroupBpf, &[Need::CgroupBpf, Need::HostNames]);
            if targets.is_empty() {
                return vec![by_name];
            }
            let gap = format!(
                "what it says of names, such as `{}`, has no effect",
                first.pattern
            );
            return vec![by_name, partial(Mechanism::CgroupBpf, &[Need::CgroupBpf], &gap)];
        }
        let mut lowering = vec![exact(Mechanism::CgroupBpf, &[Need::CgroupBpf])];
        let listed = verbs.iter().any(|verb| match verb {
            Verb::Connect => self.network.landlock_connect_ports.is_some(),
            Verb::Bind => self.network.landlock_bind_ports.is_some(),
        });
        if listed && protocols.contains(&Protocol::Tcp) {
            lowering.push(partial(
                Mechanism::LandlockNet,
                &[TCP_PORTS],
                "Landlock looks at the port, not at the address",
            ));
        }
        lowering
    }
}

/// The same mechanisms, which are of use only together with this.
fn needing(need: Need, mut lowering: Vec<Lowering>) -> Vec<Lowering> {
    for mechanism in &mut lowering {
        mechanism.needs.push(need);
    }
    lowering
}

/// The default: every domain starts closed.
fn everything() -> Vec<Lowering> {
    vec![
        exact(Mechanism::LandlockFs, &[FILES]),
        exact(Mechanism::LandlockScope, &[Need::Landlock(6)]),
        exact(Mechanism::CgroupBpf, &[Need::CgroupBpf]),
        exact(Mechanism::Seccomp, &[Need::Seccomp]),
        exact(Mechanism::Environment, &[]),
    ]
}

/// Landlock grants; mounts add what it has no right for.
fn granted(accesses: &[FileAccess]) -> Vec<Lowering> {
    if !accesses.contains(&FileAccess::Execute) {
        return vec![exact(Mechanism::LandlockFs, &[FILES])];
    }
    vec![
        partial(
            Mechanism::LandlockFs,
            &[FILES],
            "a file that may be read could still be mapped as code",
        ),
        exact(Mechanism::MountAttributes, &[FILES, Need::MountNamespace]),
    ]
}

fn syscall(targets: &[SyscallSet]) -> Result<Vec<Lowering>, Reason> {
    let known = |name: &String| {
        [Architecture::X86_64, Architecture::Aarch64]
            .into_iter()
            .any(|architecture| table::number(name, architecture).is_some())
    };
    if targets.iter().flat_map(|target| &target.names).any(known) {
        Ok(vec![exact(Mechanism::Seccomp, &[Need::Seccomp])])
    } else {
        Err(Reason::Nothing {
            why: "no architecture has any of its system calls".to_owned(),
        })
    }
}

fn limit(resource: Resource, identity: Identity) -> Vec<Lowering> {
    match resource {
        Resource::Memory => vec![
            exact(Mechanism::CgroupController, &[Need::MemoryController]),
            partial(
                Mechanism::Rlimit,
                &[],
                "without a memory controller, RLIMIT_AS bounds each process, not the run as a whole",
            ),
        ],
        Resource::Processes => {
            let by_user = match identity {
                // No process outside the run has its user id.
                Identity::Dynamic => exact(Mechanism::Rlimit, &[]),
                Identity::User | Identity::Ids { .. } => partial(
                    Mechanism::Rlimit,
                    &[],
                    "without a pids controller, RLIMIT_NPROC counts every process of the user, and not root's",
                ),
            };
            vec![
                exact(Mechanism::CgroupController, &[Need::PidsController]),
                by_user,
            ]
        }
        Resource::Cpu => vec![exact(Mechanism::CgroupController, &[Need::CpuController])],
        Resource::OpenFiles => vec![exact(Mechanism::Rlimit, &[])],
        Resource::Wall => vec![exact(Mechanism::Supervisor, &[])],
    }
}

fn exact(mechanism: Mechanism, needs: &[Need]) -> Lowering {
    Lowering {
        mechanism,
        needs: needs.to_vec(),
        gap: None,
        note: None,
    }
}

fn partial(mechanism: Mechanism, needs: &[Need], gap: &str) -> Lowering {
    Lowering {
        gap: Some(gap.to_owned()),
        ..exact(mechanism, needs)
    }
}
