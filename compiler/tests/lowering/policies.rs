//! Policies made by hand, without the parser.

use policy_lang::pattern::{HostPattern, PathPattern};
use policy_lang::policy::{
    Effect, Endpoint, FileAccess, HostEndpoint, Layer, LayerId, Origin, Policy, Protocol, Rule, RuleId,
    Subject, Verb,
};
use proptest::prelude::*;

/// A layer and a rule of it; of every layer where there is none.
pub(crate) type Layered = (Option<u8>, (Effect, Subject));

/// The built-in default, then these, each on a line of its own.
pub(crate) fn policy(rules: Vec<(Effect, Subject)>) -> Policy {
    layered(1, rules.into_iter().map(|rule| (Some(0), rule)).collect())
}

/// The same over several layers.
pub(crate) fn layered(layers: u8, rules: Vec<Layered>) -> Policy {
    let subjects = std::iter::once((None, (Effect::Deny, Subject::Everything))).chain(rules);
    Policy {
        layers: (0..layers)
            .map(|layer| Layer {
                name: format!("layer {layer}"),
                file: format!("{layer}.remit"),
            })
            .collect(),
        rules: (0..)
            .zip(subjects)
            .map(|(id, (layer, (effect, subject)))| Rule {
                id: RuleId(id),
                effect,
                text: format!("rule {id}"),
                subject,
                label: None,
                because: None,
                origin: match id {
                    0 => Origin::BuiltIn,
                    line => Origin::Source {
                        file: "test.remit".to_owned(),
                        line,
                        column: 1,
                    },
                },
                layer: layer.map(LayerId),
                via: None,
                if_present: false,
                permit_degraded: false,
            })
            .collect(),
        ..Policy::built_in("test")
    }
}

pub(crate) fn file(accesses: &[FileAccess], patterns: &[&str]) -> Subject {
    Subject::File {
        accesses: accesses.to_vec(),
        targets: patterns
            .iter()
            .map(|pattern| PathPattern::parse(pattern).unwrap())
            .collect(),
    }
}

pub(crate) fn network(verbs: &[Verb], protocols: &[Protocol], targets: &[(&str, u16, u16)]) -> Subject {
    Subject::Network {
        verbs: verbs.to_vec(),
        protocols: protocols.to_vec(),
        targets: targets
            .iter()
            .map(|(prefix, first, last)| {
                let (address, length) = prefix.split_once('/').unwrap();
                Endpoint {
                    address: address.parse().unwrap(),
                    prefix_len: length.parse().unwrap(),
                    first_port: *first,
                    last_port: *last,
                }
            })
            .collect(),
        hosts: Vec::new(),
    }
}

pub(crate) fn host(pattern: &str, first_port: u16, last_port: u16) -> HostEndpoint {
    HostEndpoint {
        pattern: HostPattern::parse(pattern).unwrap(),
        first_port,
        last_port,
    }
}

pub(crate) fn effects() -> impl Strategy<Value = Effect> {
    prop_oneof![
        4 => Just(Effect::Allow),
        1 => Just(Effect::Ask),
        3 => Just(Effect::Deny),
        1 => Just(Effect::Forbid),
    ]
}

/// Policies of one to three layers with such rules, few of them built in.
pub(crate) fn policies(
    rules: impl Strategy<Value = Vec<(Effect, Subject)>>,
) -> impl Strategy<Value = Policy> {
    (1..=3_u8, rules).prop_flat_map(|(layers, rules)| {
        let of = prop_oneof![1 => Just(None), 9 => (0..layers).prop_map(Some)];
        proptest::collection::vec(of, rules.len())
            .prop_map(move |of| layered(layers, of.into_iter().zip(rules.clone()).collect()))
    })
}
