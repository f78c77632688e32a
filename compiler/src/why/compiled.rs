//! What a compiled artifact decides, asked of the very tables and the very filter that are enforced.

use artifact::environment;
use artifact::filesystem::{self, FileAccess};
use artifact::network::{self, PrefixEntry, slot};
use artifact::rule::Mechanism;
use artifact::seccomp::SeccompFilter;
use artifact::{Artifact, Effect, RuleId, RuleRecord};
use policy_lang::policy;
use policy_lang::reference::Access;

use crate::seccomp::interpret::{SeccompData, check};
use crate::seccomp::{bpf, language_architecture};

/// A decision of the artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// What happens.
    pub effect: Effect,
    /// The rules that can be the reason, the strictest first. None for a call that the filter allows: it keeps no
    /// rule for those.
    pub rules: Vec<RuleId>,
    /// What the kernel does that the rule alone does not tell.
    pub note: Option<&'static str>,
}

/// Asks an artifact.
#[must_use]
pub fn compiled(artifact: &Artifact, access: &Access) -> Compiled {
    let decided = |(effect, rule)| Compiled {
        effect,
        rules: vec![rule],
        note: None,
    };
    match access {
        Access::File { access, path } => decided(filesystem::decide(
            &artifact.filesystem,
            file_access(*access),
            path,
        )),
        Access::Network {
            verb,
            protocol,
            address,
            port,
        } => decided(network::decide(
            &artifact.network,
            network_verb(*verb),
            network_protocol(*protocol),
            *address,
            *port,
        )),
        Access::Host {
            verb,
            protocol,
            address,
            port,
            ..
        } => named(artifact, *verb, *protocol, *address, *port),
        Access::Environment { name } => decided(environment::decide(&artifact.environment, name)),
        Access::Syscall {
            architecture,
            number,
            arguments,
        } => call(artifact, *architecture, *number, *arguments),
    }
}

/// The tables know addresses. A name without one is judged by what is said of every address.
fn named(
    artifact: &Artifact,
    verb: policy::Verb,
    protocol: policy::Protocol,
    address: Option<std::net::IpAddr>,
    port: u16,
) -> Compiled {
    let (verb, protocol) = (network_verb(verb), network_protocol(protocol));
    let (effect, rule) = match address {
        Some(address) => network::decide(&artifact.network, verb, protocol, address, port),
        None => {
            let every = |entry: &&PrefixEntry| entry.prefix_len == 0;
            let lists = artifact
                .network
                .prefixes
                .iter()
                .filter(every)
                .filter_map(|entry| {
                    let list = entry.lists.get(slot(protocol, verb))?;
                    artifact.network.port_lists.get(usize::try_from(*list).ok()?)
                });
            lists
                .flatten()
                .filter(|interval| (interval.first..=interval.last).contains(&port))
                .map(|interval| (interval.effect, interval.rule))
                .max_by_key(|(effect, rule)| (*effect, std::cmp::Reverse(*rule)))
                .unwrap_or((Effect::Deny, RuleId::DEFAULT))
        }
    };
    Compiled {
        effect,
        rules: vec![rule],
        note: Some("the compiled tables hold addresses; a name is judged by the address it leads to"),
    }
}

fn call(
    artifact: &Artifact,
    architecture: policy_lang::syscall::Architecture,
    number: u32,
    arguments: [u64; 6],
) -> Compiled {
    let of_architecture =
        |filter: &&SeccompFilter| language_architecture(filter.architecture) == architecture;
    let refused = |note| Compiled {
        effect: Effect::Deny,
        rules: vec![RuleId::DEFAULT],
        note: Some(note),
    };
    let Some(filter) = artifact.seccomp.iter().find(of_architecture) else {
        return refused("the artifact has no filter for this architecture, so no run starts there");
    };
    let Ok(program) = check(&filter.program) else {
        return refused("the filter is none that the kernel takes, so no run starts");
    };
    let action = program
        .run(&SeccompData {
            number,
            architecture: bpf::audit_arch(filter.architecture),
            instruction_pointer: 0,
            arguments,
        })
        .action;
    if action == bpf::ALLOW {
        return Compiled {
            effect: Effect::Allow,
            rules: Vec::new(),
            note: None,
        };
    }
    let listed = filter.refusals.iter().find(|refusal| refusal.number == number);
    let rules = listed.map_or_else(|| vec![RuleId::DEFAULT], |refusal| refusal.rules.clone());
    let strictest = rules.first().and_then(|rule| record(artifact, *rule));
    Compiled {
        effect: strictest.map_or(Effect::Deny, |rule| rule.effect.max(Effect::Deny)),
        rules,
        note: match action {
            bpf::KILL_PROCESS => Some("the process is killed"),
            _ if action == bpf::ERRNO | bpf::ENOSYS => Some(
                "it fails with ENOSYS, as on a kernel without it: libraries then use an older call, whose arguments \
                 a filter can read",
            ),
            _ => None,
        },
    }
}

/// The rule with an id.
#[must_use]
pub fn record(artifact: &Artifact, id: RuleId) -> Option<&RuleRecord> {
    usize::try_from(id.0).ok().and_then(|at| artifact.rules.get(at))
}

/// Whether a mechanism has a part in an access, of those that a rule on several kinds of them became.
#[must_use]
pub const fn concerns(mechanism: Mechanism, access: &Access) -> bool {
    match mechanism {
        Mechanism::LandlockFs
        | Mechanism::MountAttributes
        | Mechanism::MountMask
        | Mechanism::PrivateMount => {
            matches!(access, Access::File { .. })
        }
        Mechanism::LandlockNet | Mechanism::CgroupBpf => {
            matches!(access, Access::Network { .. } | Access::Host { .. })
        }
        Mechanism::Environment => matches!(access, Access::Environment { .. }),
        Mechanism::Seccomp => matches!(access, Access::Syscall { .. }),
        _ => false,
    }
}

const fn file_access(access: policy::FileAccess) -> FileAccess {
    match access {
        policy::FileAccess::Read => FileAccess::Read,
        policy::FileAccess::Write => FileAccess::Write,
        policy::FileAccess::Execute => FileAccess::Execute,
    }
}

const fn network_verb(verb: policy::Verb) -> network::Verb {
    match verb {
        policy::Verb::Connect => network::Verb::Connect,
        policy::Verb::Bind => network::Verb::Bind,
    }
}

const fn network_protocol(protocol: policy::Protocol) -> network::Protocol {
    match protocol {
        policy::Protocol::Tcp => network::Protocol::Tcp,
        policy::Protocol::Udp => network::Protocol::Udp,
    }
}
