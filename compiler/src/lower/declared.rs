//! What a policy declares beside rules, in the words of an artifact.

use artifact as to;
use policy_lang::policy::{self as from, Policy, Subject};

use super::vocabulary;

pub(super) fn layers(policy: &Policy) -> Vec<to::Layer> {
    let layer = |layer: &from::Layer| to::Layer {
        name: layer.name.clone(),
        file: layer.file.clone(),
    };
    policy.layers.iter().map(layer).collect()
}

pub(super) fn unlocks(policy: &Policy) -> Vec<to::Unlock> {
    let unlock = |unlock: &from::Unlock| to::Unlock {
        name: unlock.name.clone(),
        because: unlock.because.clone(),
        origin: vocabulary::origin(&unlock.origin),
    };
    policy.unlocks.iter().map(unlock).collect()
}

pub(super) fn workspace(policy: &Policy) -> Option<to::Workspace> {
    policy.workspace.as_ref().map(|workspace| to::Workspace {
        from: workspace.from.clone(),
        mode: match workspace.mode {
            from::WorkspaceMode::InPlace => to::WorkspaceMode::InPlace,
            from::WorkspaceMode::Ephemeral => to::WorkspaceMode::Ephemeral,
        },
        keep: match &workspace.keep {
            from::Keep::None => to::Keep::None,
            from::Keep::Review => to::Keep::Review,
            from::Keep::All => to::Keep::All,
            from::Keep::Matching(globs) => to::Keep::Matching(globs.clone()),
        },
        origin: vocabulary::origin(&workspace.origin),
    })
}

pub(super) fn brokers(policy: &Policy) -> Vec<to::Broker> {
    let broker = |rule: &from::Rule| match &rule.subject {
        Subject::Broker(broker) => Some(self::broker(rule, broker)),
        _ => None,
    };
    policy.rules.iter().filter_map(broker).collect()
}

fn broker(rule: &from::Rule, broker: &from::Broker) -> to::Broker {
    let (destination, first_port, last_port) = match &broker.destination {
        from::Destination::Host(host) => (
            to::Destination::Host(host.pattern.to_string()),
            host.first_port,
            host.last_port,
        ),
        from::Destination::Address(endpoint) => (
            to::Destination::Address(endpoint.address, endpoint.prefix_len),
            endpoint.first_port,
            endpoint.last_port,
        ),
    };
    to::Broker {
        rule: vocabulary::rule_id(rule.id),
        name: broker.name.clone(),
        destination,
        first_port,
        last_port,
        scheme: match &broker.scheme {
            from::Scheme::Bearer => to::Scheme::Bearer,
            from::Scheme::Basic => to::Scheme::Basic,
            from::Scheme::Header(name) => to::Scheme::Header(name.clone()),
        },
        source: match &broker.source {
            from::SecretSource::Env(name) => to::SecretSource::Env(name.clone()),
            from::SecretSource::File(file) => to::SecretSource::File(file.clone()),
        },
        ttl_seconds: broker.ttl_seconds,
    }
}
