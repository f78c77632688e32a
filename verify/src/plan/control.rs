//! What the policy grants, so that a refusal can be told from a prober that can do nothing at all.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use policy_lang::pattern::PathPattern;
use policy_lang::policy::{Effect, FileAccess, Policy, Protocol, Rule, Subject as RuleSubject, Verb};

use crate::expect::{Expected, Subject, expected};
use crate::operation::Operation;

/// One granted operation of each kind, where the policy grants one.
#[derive(Debug, Clone, Default)]
pub(super) struct Controls {
    pub(super) read: Option<Operation>,
    pub(super) write: Option<Operation>,
    pub(super) tcp: Option<Operation>,
    pub(super) udp: Option<Operation>,
    pub(super) variable: Option<Operation>,
    pub(super) call: Option<Operation>,
}

impl Controls {
    pub(super) fn of(subject: Subject<'_>) -> Self {
        let granted = |operation: &Operation| expected(subject, operation) == Expected::Done;
        let policy = subject.policy;
        Self {
            read: files(policy, FileAccess::Read)
                .map(|path| Operation::Read { path })
                .find(granted),
            write: scratches(policy)
                .chain(files(policy, FileAccess::Write))
                .map(|path| Operation::Write { path })
                .find(granted),
            tcp: endpoints(policy, Protocol::Tcp).find(granted),
            udp: endpoints(policy, Protocol::Udp).find(granted),
            variable: variables(policy)
                .map(|name| Operation::Variable { name })
                .find(granted),
            call: Operation::call("getpid", [0; 6]).filter(granted),
        }
    }
}

fn grants(policy: &Policy) -> impl Iterator<Item = &Rule> {
    policy.rules.iter().filter(|rule| rule.effect == Effect::Allow)
}

/// In memory, so that nothing of the host is touched.
fn scratches(policy: &Policy) -> impl Iterator<Item = String> {
    grants(policy).filter_map(|rule| match &rule.subject {
        RuleSubject::Scratch { path, .. } => Some(path.clone()),
        _ => None,
    })
}

fn files(policy: &Policy, access: FileAccess) -> impl Iterator<Item = String> {
    let literals = grants(policy).filter_map(move |rule| match &rule.subject {
        RuleSubject::File { accesses, targets } if accesses.contains(&access) => Some(targets),
        _ => None,
    });
    literals.flatten().filter_map(|target| match target {
        PathPattern::Literal(path) if Path::new(path).exists() => Some(path.clone()),
        PathPattern::Literal(_) | PathPattern::Glob(_) => None,
    })
}

fn endpoints(policy: &Policy, wanted: Protocol) -> impl Iterator<Item = Operation> {
    let granted = grants(policy).filter_map(move |rule| match &rule.subject {
        RuleSubject::Network {
            verbs,
            protocols,
            targets,
            ..
        } if verbs.contains(&Verb::Connect) && protocols.contains(&wanted) => Some(targets),
        _ => None,
    });
    granted.flatten().map(move |endpoint| Operation::Connect {
        udp: wanted == Protocol::Udp,
        // In a prefix of every address, loopback: there is no network behind the others.
        address: match endpoint.address {
            IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            address => address,
        },
        port: endpoint.first_port.max(1),
    })
}

fn variables(policy: &Policy) -> impl Iterator<Item = String> {
    let set = grants(policy).filter_map(|rule| match &rule.subject {
        RuleSubject::Set { name, .. } => Some(vec![name.clone()]),
        // What is passed has to be there.
        RuleSubject::Pass { names } => Some(
            names
                .iter()
                .filter(|name| std::env::var_os(name).is_some())
                .cloned()
                .collect(),
        ),
        _ => None,
    });
    set.flatten()
}
