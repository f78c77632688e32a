//! Rules and policies in few words.

use policy_lang::pattern::{HostPattern, PathPattern};
use policy_lang::policy::{
    Effect, Endpoint, FileAccess, HostEndpoint, Layer, LayerId, Origin, Policy, Protocol, Rule, RuleId,
    Subject, Verb,
};

pub(crate) use policy_lang::policy::Effect::{Allow, Ask, Deny};
pub(crate) use policy_lang::policy::FileAccess::{Read, Write};

/// An effect and a subject, in a layer.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) layer: u8,
    pub(crate) effect: Effect,
    pub(crate) subject: Subject,
    pub(crate) degraded: bool,
}

pub(crate) fn written(effect: Effect, subject: Subject) -> Written {
    Written {
        layer: 0,
        effect,
        subject,
        degraded: false,
    }
}

/// The floor and some rules, in as many layers as they need.
pub(crate) fn policy(rules: impl IntoIterator<Item = Written>) -> Policy {
    let mut policy = Policy::built_in("p");
    for written in rules {
        let id = RuleId(u32::try_from(policy.rules.len()).unwrap());
        while policy.layers.len() <= usize::from(written.layer) {
            policy.layers.push(Layer {
                name: format!("ceiling {}", policy.layers.len()),
                file: String::new(),
            });
        }
        policy.rules.push(Rule {
            id,
            effect: written.effect,
            text: format!("{} {:?}", written.effect.word(), written.subject),
            subject: written.subject,
            label: None,
            because: None,
            origin: Origin::BuiltIn,
            layer: Some(LayerId(written.layer)),
            via: None,
            if_present: false,
            permit_degraded: written.degraded,
        });
    }
    policy
}

pub(crate) fn path(text: &str) -> PathPattern {
    PathPattern::parse(text).unwrap()
}

pub(crate) fn files(effect: Effect, accesses: &[FileAccess], paths: &[&str]) -> Written {
    written(
        effect,
        Subject::File {
            accesses: accesses.to_vec(),
            targets: paths.iter().map(|text| path(text)).collect(),
        },
    )
}

pub(crate) fn read(effect: Effect, text: &str) -> Written {
    files(effect, &[Read], &[text])
}

/// `address/len:first-last`
pub(crate) fn endpoint(text: &str) -> Endpoint {
    let (prefix, ports) = text.rsplit_once(':').unwrap();
    let (address, len) = prefix.split_once('/').unwrap();
    let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
    Endpoint {
        address: address.parse().unwrap(),
        prefix_len: len.parse().unwrap(),
        first_port: first.parse().unwrap(),
        last_port: last.parse().unwrap(),
    }
}

/// `pattern:first-last`
pub(crate) fn host(text: &str) -> HostEndpoint {
    let (pattern, ports) = text.rsplit_once(':').unwrap();
    let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
    HostEndpoint {
        pattern: HostPattern::parse(pattern).unwrap(),
        first_port: first.parse().unwrap(),
        last_port: last.parse().unwrap(),
    }
}

pub(crate) fn connect(effect: Effect, endpoints: &[&str], hosts: &[&str]) -> Written {
    written(
        effect,
        Subject::Network {
            verbs: vec![Verb::Connect],
            protocols: vec![Protocol::Tcp],
            targets: endpoints.iter().map(|text| endpoint(text)).collect(),
            hosts: hosts.iter().map(|text| host(text)).collect(),
        },
    )
}

pub(crate) fn pass(effect: Effect, names: &[&str]) -> Written {
    written(
        effect,
        Subject::Pass {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        },
    )
}
