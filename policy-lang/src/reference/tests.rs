use std::net::IpAddr;

use Effect::{Allow, Deny, Forbid};
use FileAccess::{Execute, Read, Write};

use super::*;
use crate::pattern::PathPattern;
use crate::policy::{Endpoint, Origin, Rule, Subject};
use crate::syscall::{Comparison, Condition, SyscallSet, Width, table};

mod cases;
mod properties;

const ALL: [FileAccess; 3] = [Read, Write, Execute];

fn policy(subjects: impl IntoIterator<Item = (Effect, Subject)>) -> Policy {
    let rules = [(Effect::Deny, Subject::Everything)].into_iter().chain(subjects);
    let rule = |(index, (effect, subject))| Rule {
        id: RuleId(index as u32),
        effect,
        subject,
        text: String::new(),
        label: None,
        because: None,
        origin: Origin::BuiltIn,
        layer: None,
        via: None,
        if_present: false,
        permit_degraded: false,
    };
    Policy {
        rules: rules.enumerate().map(rule).collect(),
        ..Policy::built_in("test")
    }
}

fn files(effect: Effect, accesses: &[FileAccess], target: &str) -> (Effect, Subject) {
    let targets = vec![PathPattern::parse(target).unwrap()];
    (
        effect,
        Subject::File {
            accesses: accesses.to_vec(),
            targets,
        },
    )
}

fn endpoint(text: &str) -> Endpoint {
    let (network, ports) = text.rsplit_once(':').unwrap();
    let (address, prefix_len) = network.split_once('/').unwrap_or((network, ""));
    let address: IpAddr = address.trim_matches(['[', ']']).parse().unwrap();
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let (first, last) = match ports.split_once('-') {
        Some(range) => range,
        None if ports == "*" => ("0", "65535"),
        None => (ports, ports),
    };
    Endpoint {
        address,
        prefix_len: if prefix_len.is_empty() {
            longest
        } else {
            prefix_len.parse().unwrap()
        },
        first_port: first.parse().unwrap(),
        last_port: last.parse().unwrap(),
    }
}

fn connect_tcp(effect: Effect, target: &str) -> (Effect, Subject) {
    let targets = vec![endpoint(target)];
    (
        effect,
        Subject::Network {
            verbs: vec![Verb::Connect],
            protocols: vec![Protocol::Tcp],
            hosts: Vec::new(),
            targets,
        },
    )
}

fn syscall(effect: Effect, set: SyscallSet) -> (Effect, Subject) {
    (effect, Subject::Syscall { targets: vec![set] })
}

fn file(access: FileAccess, path: &str) -> Access {
    Access::File {
        access,
        path: path.into(),
    }
}

fn connect(address: &str, port: u16) -> Access {
    let address = address.parse().unwrap();
    Access::Network {
        verb: Verb::Connect,
        protocol: Protocol::Tcp,
        address,
        port,
    }
}

fn call(name: &str, arguments: [u64; 6]) -> Access {
    let architecture = Architecture::X86_64;
    Access::Syscall {
        architecture,
        number: table::number(name, architecture).unwrap(),
        arguments,
    }
}

fn effect(policy: &Policy, access: &Access) -> Effect {
    decide(policy, access).effect
}
