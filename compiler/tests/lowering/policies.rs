//! Policies made by hand, without the parser.

use policy_lang::pattern::PathPattern;
use policy_lang::policy::{
    Effect, Endpoint, FileAccess, Origin, Policy, Protocol, Rule, RuleId, Subject, Verb,
};
use proptest::strategy::Strategy;

/// The built-in default, then these, each on a line of its own.
pub(crate) fn policy(rules: Vec<(Effect, Subject)>) -> Policy {
    let subjects = std::iter::once((Effect::Deny, Subject::Everything)).chain(rules);
    Policy {
        rules: (0..)
            .zip(subjects)
            .map(|(id, (effect, subject))| Rule {
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
                layer: None,
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

/// Effects that can be enforced.
pub(crate) fn effects() -> impl Strategy<Value = Effect> {
    proptest::sample::select(&[Effect::Allow, Effect::Deny, Effect::Forbid])
}
