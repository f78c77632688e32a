//! The words of the language in the words of an artifact.

use artifact::filesystem as to_files;
use artifact::network as to_network;
use artifact::process as to_process;
use artifact::rule as to;
use policy_lang::pattern::PathPattern;
use policy_lang::policy as from;

pub(super) const fn rule_id(id: from::RuleId) -> to::RuleId {
    to::RuleId(id.0)
}

/// The layer of a rule. Where there is only one there is nothing to tell apart.
pub(super) fn layer(policy: &from::Policy, rule: &from::Rule) -> Option<to::LayerId> {
    rule.layer
        .filter(|_| policy.layers.len() > 1)
        .map(|from::LayerId(layer)| to::LayerId(layer))
}

/// The last layer of a policy.
pub(super) fn outermost(policy: &from::Policy) -> to::LayerId {
    to::LayerId(u8::try_from(policy.layers.len().saturating_sub(1)).unwrap_or(u8::MAX))
}

pub(super) const fn effect(effect: from::Effect) -> to::Effect {
    match effect {
        from::Effect::Allow => to::Effect::Allow,
        from::Effect::Ask => to::Effect::Ask,
        from::Effect::Deny => to::Effect::Deny,
        from::Effect::Forbid => to::Effect::Forbid,
    }
}

pub(super) const fn domain(subject: &from::Subject) -> to::Domain {
    match subject {
        from::Subject::File { .. } | from::Subject::Scratch { .. } | from::Subject::Hide { .. } => {
            to::Domain::Filesystem
        }
        from::Subject::Network { .. } => to::Domain::Network,
        from::Subject::Pass { .. } | from::Subject::Set { .. } | from::Subject::Broker(_) => {
            to::Domain::Credentials
        }
        from::Subject::Everything
        | from::Subject::Syscall { .. }
        | from::Subject::Identity(_)
        | from::Subject::Limit { .. } => to::Domain::Process,
    }
}

pub(super) fn origin(origin: &from::Origin) -> to::Origin {
    match origin {
        from::Origin::BuiltIn => to::Origin::BuiltIn,
        from::Origin::Source { file, line, column } => to::Origin::Policy {
            file: file.clone(),
            line: *line,
            column: *column,
        },
    }
}

pub(super) const fn access(access: from::FileAccess) -> to_files::FileAccess {
    match access {
        from::FileAccess::Read => to_files::FileAccess::Read,
        from::FileAccess::Write => to_files::FileAccess::Write,
        from::FileAccess::Execute => to_files::FileAccess::Execute,
    }
}

pub(super) fn pattern(pattern: &PathPattern) -> to_files::PathPattern {
    match pattern {
        PathPattern::Literal(path) => to_files::PathPattern::Literal(path.clone()),
        PathPattern::Glob(glob) => to_files::PathPattern::Glob(glob.clone()),
    }
}

pub(super) const fn verb(verb: from::Verb) -> to_network::Verb {
    match verb {
        from::Verb::Connect => to_network::Verb::Connect,
        from::Verb::Bind => to_network::Verb::Bind,
    }
}

pub(super) const fn protocol(protocol: from::Protocol) -> to_network::Protocol {
    match protocol {
        from::Protocol::Tcp => to_network::Protocol::Tcp,
        from::Protocol::Udp => to_network::Protocol::Udp,
    }
}

pub(super) const fn identity(identity: from::Identity) -> to_process::Identity {
    match identity {
        from::Identity::User => to_process::Identity::User,
        from::Identity::Ids { uid, gid } => to_process::Identity::Ids { uid, gid },
        from::Identity::Dynamic => to_process::Identity::Dynamic,
    }
}

pub(super) const fn resource(resource: from::Resource) -> to_process::Resource {
    match resource {
        from::Resource::Memory => to_process::Resource::Memory,
        from::Resource::Processes => to_process::Resource::Processes,
        from::Resource::Cpu => to_process::Resource::Cpu,
        from::Resource::OpenFiles => to_process::Resource::OpenFiles,
        from::Resource::Wall => to_process::Resource::Wall,
    }
}

pub(super) const fn need(feature: from::Feature) -> to::Need {
    match feature {
        from::Feature::Landlock(abi) => to::Need::Landlock(abi),
        from::Feature::Seccomp => to::Need::Seccomp,
        from::Feature::CgroupBpf => to::Need::CgroupBpf,
        from::Feature::MemoryController => to::Need::MemoryController,
        from::Feature::PidsController => to::Need::PidsController,
        from::Feature::CpuController => to::Need::CpuController,
        from::Feature::Audit => to::Need::Audit,
    }
}

pub(super) const fn record(record: from::Record) -> to_process::RecordOptions {
    to_process::RecordOptions {
        exec: record.exec,
        connect: record.connect,
        bind: record.bind,
        read: record.read,
        write: record.write,
    }
}
