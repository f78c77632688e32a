//! What the model says an operation comes to: the errno, the mechanism, and the record under which rule.

use artifact::Artifact;
use compiler::seccomp::interpret::{SeccompData, check};
use compiler::seccomp::{bpf, language_architecture};
use compiler::why::compiled;
use enforcer::event::mechanism_word;
use policy_lang::policy::{Effect, FileAccess, Identity, Origin, Policy, Protocol, RuleId, Verb};
use policy_lang::reference::{Access, decide, judged_as};
use policy_lang::syscall::table;

use crate::operation::{ARCHITECTURE, Operation, Outcome};

/// What has to come of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// The policy grants it.
    Done,
    /// One of these, the first that fits.
    Refused(Vec<Refusal>),
}

/// One way to be refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What the program sees.
    pub outcomes: Vec<Outcome>,
    /// Who refuses, in the words of events.
    pub mechanisms: Vec<&'static str>,
    /// What is left of it.
    pub record: Record,
}

/// What is left of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// An event of this kind.
    Due(Due),
    /// Nothing, and this says so.
    None(&'static str),
    /// Nothing about this path, and this says so. A program that starts may be refused other things.
    NoneAbout(String, &'static str),
    /// Nothing, because the file's own mode or owner refuses before the policy is asked. Holds where the same user is
    /// refused outside of a run too.
    OfTheFileItself,
}

/// The event that has to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Its kind.
    pub kind: &'static str,
    /// The rules it may name.
    pub rules: Vec<u32>,
    /// The rule that decides, for people.
    pub named: String,
    /// What it is about.
    pub about: About,
}

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// A path, the directory it is in, or for a mask one above.
    Path(String),
    /// A call.
    Call(String),
    /// A number of another architecture.
    Architecture(&'static str),
    /// An address.
    Network {
        /// `connect` or `bind`.
        verb: Verb,
        /// `tcp` or `udp`.
        udp: bool,
        /// As it is judged.
        address: std::net::IpAddr,
        /// Port.
        port: u16,
    },
}

/// The policy in both forms.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// What it means.
    pub policy: &'a Policy,
    /// What it became.
    pub artifact: &'a Artifact,
    /// Landlock ABI of the host.
    pub landlock: u32,
}

/// What the model expects.
#[must_use]
pub fn expected(subject: Subject<'_>, operation: &Operation) -> Expected {
    for access in operation.accesses() {
        // The filter may be stricter than the rules: calls whose flags lie behind a pointer.
        let filtered = matches!(access, Access::Syscall { .. })
            && compiled(subject.artifact, &access).effect != artifact::Effect::Allow;
        if filtered || decide(subject.policy, &access).effect != Effect::Allow {
            return Expected::Refused(refusals(subject, &access));
        }
    }
    Expected::Done
}

fn refusals(subject: Subject<'_>, access: &Access) -> Vec<Refusal> {
    match access {
        Access::File { access, path } => file(subject, *access, path),
        Access::Network {
            verb,
            protocol,
            address,
            port,
        } => network(subject, *verb, *protocol, *address, *port),
        Access::Environment { .. } => vec![Refusal {
            outcomes: vec![Outcome::Errno(libc::ENODATA)],
            mechanisms: vec!["environment"],
            record: Record::None("a variable that is absent is nothing the kernel sees (`remit why`)"),
        }],
        Access::Syscall {
            number, arguments, ..
        } => vec![call(subject, access, *number, *arguments)],
        Access::Host { .. } => Vec::new(),
    }
}

fn file(subject: Subject<'_>, access: FileAccess, path: &str) -> Vec<Refusal> {
    let errno = |number| vec![Outcome::Errno(number)];
    let decided = |access, path: &str| {
        let access = Access::File {
            access,
            path: path.to_owned(),
        };
        decide(subject.policy, &access)
    };
    let parent = path
        .rsplit_once('/')
        .map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
    // What the kernel refuses at a place where a rule allows, it refuses by default.
    let mut rules: Vec<u32> = [path, parent]
        .into_iter()
        .map(|path| decided(access, path))
        .map(|decision| {
            if decision.effect == Effect::Allow {
                0
            } else {
                decision.rule.0
            }
        })
        .collect();
    rules.dedup();
    let allowed = |access, path: &str| decided(access, path).effect == Effect::Allow;
    let mut refusals = vec![Refusal {
        outcomes: errno(libc::EACCES),
        mechanisms: vec!["landlock-fs", "mount-mask"],
        record: Record::Due(Due {
            kind: "file",
            named: named(subject.policy, decided(access, path).rule),
            rules,
            about: About::Path(path.to_owned()),
        }),
    }];
    let silent = |number| Refusal {
        outcomes: errno(number),
        mechanisms: vec!["mount-attributes"],
        record: Record::None("read-only and noexec mounts refuse without a record (`remit explain`)"),
    };
    let beneath_a_grant = ancestors(path).any(|above| allowed(FileAccess::Write, above));
    match access {
        FileAccess::Write if beneath_a_grant || !matches!(subject.policy.identity.0, Identity::Dynamic) => {
            refusals.push(silent(libc::EROFS));
        }
        FileAccess::Execute if allowed(FileAccess::Read, path) || allowed(FileAccess::Write, path) => {
            refusals.push(silent(libc::EACCES));
        }
        _ => {}
    }
    refusals.push(Refusal {
        outcomes: errno(libc::EACCES),
        mechanisms: vec!["mode and owner"],
        record: Record::OfTheFileItself,
    });
    refusals
}

/// The directories above, the nearest first.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::path::Path::new(path)
        .ancestors()
        .skip(1)
        .filter_map(std::path::Path::to_str)
}

fn network(
    subject: Subject<'_>,
    verb: Verb,
    protocol: Protocol,
    address: std::net::IpAddr,
    port: u16,
) -> Vec<Refusal> {
    let access = Access::Network {
        verb,
        protocol,
        address,
        port,
    };
    let tables = &subject.artifact.network;
    let granted = match verb {
        Verb::Connect => &tables.landlock_connect_ports,
        Verb::Bind => &tables.landlock_bind_ports,
    };
    // Landlock is asked first, and looks at nothing but the port.
    let by_port = protocol == Protocol::Tcp
        && subject.landlock >= 4
        && granted.as_ref().is_some_and(|ports| !ports.contains(&port));
    let (errno, mechanism) = if by_port {
        (libc::EACCES, "landlock-net")
    } else {
        (libc::EPERM, "cgroup-bpf")
    };
    vec![Refusal {
        outcomes: vec![Outcome::Errno(errno)],
        mechanisms: vec![mechanism],
        record: Record::Due(Due {
            kind: "network",
            rules: vec![decide(subject.policy, &access).rule.0],
            named: named(subject.policy, decide(subject.policy, &access).rule),
            about: About::Network {
                verb,
                udp: protocol == Protocol::Udp,
                address: judged_as(verb, address),
                port,
            },
        }),
    }]
}

fn call(subject: Subject<'_>, access: &Access, number: u32, arguments: [u64; 6]) -> Refusal {
    let filter = subject
        .artifact
        .seccomp
        .iter()
        .find(|filter| language_architecture(filter.architecture) == ARCHITECTURE);
    let action = filter.and_then(|filter| {
        let data = SeccompData {
            number,
            architecture: bpf::audit_arch(filter.architecture),
            instruction_pointer: 0,
            arguments,
        };
        check(&filter.program)
            .ok()
            .map(|program| program.run(&data).action)
    });
    let outcome = match action {
        Some(action) if action & 0xffff_0000 == bpf::ERRNO => {
            Outcome::Errno(i32::try_from(action & 0xffff).unwrap_or(libc::EPERM))
        }
        _ => Outcome::Killed(libc::SIGSYS),
    };
    let mut rules: Vec<u32> = compiled(subject.artifact, access)
        .rules
        .iter()
        .map(|rule| rule.0)
        .collect();
    let decision = decide(subject.policy, access);
    if decision.effect != Effect::Allow {
        rules = vec![decision.rule.0];
    }
    Refusal {
        outcomes: vec![outcome],
        mechanisms: vec![mechanism_word(artifact::rule::Mechanism::Seccomp)],
        record: Record::Due(Due {
            kind: "syscall",
            named: named(subject.policy, decision.rule),
            rules,
            about: About::Call(table::name(number, ARCHITECTURE).unwrap_or_default().to_owned()),
        }),
    }
}

/// Short, since the built-in ones are long.
fn named(policy: &Policy, rule: RuleId) -> String {
    match policy.rule(rule) {
        Some(rule) if rule.origin == Origin::BuiltIn => compiler::why::place(rule),
        Some(rule) => format!("{} {}", compiler::why::place(rule), rule.text),
        None => String::new(),
    }
}
