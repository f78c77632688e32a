//! What the reference semantics decide for the accesses of an `expected.json`.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use policy_lang::host::HostPaths;
use policy_lang::policy::{Effect, FileAccess, Origin, Policy, Protocol, Verb};
use policy_lang::reference::{Access, decide};
use policy_lang::syscall::{Architecture, table};
use policy_lang::{Inputs, SourceFile};
use serde_json::{Map, Value};

use crate::scene::Scene;

/// Differences, as lines. An expectation reads `"read /etc/shadow": "deny policy.remit:20"`.
pub(crate) fn of(scene: &Scene, expected: &Map<String, Value>) -> Vec<String> {
    let policy = policy(scene);
    let mut wrong = Vec::new();
    for (access, expectation) in expected {
        let decided = decided(&policy, &parse(&scene.fill(access)));
        let expectation = expectation.as_str().expect("text");
        if decided != expectation {
            wrong.push(format!("{access}: expected `{expectation}`, decided `{decided}`"));
        }
    }
    wrong
}

fn policy(scene: &Scene) -> Policy {
    let text = std::fs::read_to_string(scene.policy()).expect("a policy");
    let source = SourceFile::new("policy.remit", text);
    let pairs = scene
        .parameters()
        .iter()
        .filter_map(|parameter| parameter.split_once('='));
    let inputs = Inputs {
        parameters: pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect::<BTreeMap<_, _>>(),
        home: "/root".to_owned(),
        working_directory: scene.workspace().display().to_string(),
        paths: &HostPaths,
        files: &policy_lang::loader::NoFiles,
    };
    let parsed = policy_lang::parse(&source);
    let resolved = policy_lang::resolve(&parsed.ast.expect("a tree"), &source, &inputs);
    resolved
        .policy
        .unwrap_or_else(|| panic!("{:?}", resolved.diagnostics))
}

fn decided(policy: &Policy, access: &Access) -> String {
    let decision = decide(policy, access);
    let effect = match decision.effect {
        Effect::Allow => "allow",
        Effect::Ask => "ask",
        Effect::Deny => "deny",
        Effect::Forbid => "forbid",
    };
    let index = usize::try_from(decision.rule.0).expect("an index");
    match &policy.rules[index].origin {
        Origin::BuiltIn if decision.rule.0 == 0 => format!("{effect} default"),
        Origin::BuiltIn => format!("{effect} built-in"),
        Origin::Source { file, line, .. } => format!("{effect} {file}:{line}"),
    }
}

fn parse(text: &str) -> Access {
    let (verb, rest) = text.split_once(' ').expect("a verb and a target");
    let file = |access| Access::File {
        access,
        path: rest.to_owned(),
    };
    match verb {
        "read" => file(FileAccess::Read),
        "write" => file(FileAccess::Write),
        "execute" => file(FileAccess::Execute),
        "connect" => network(Verb::Connect, rest),
        "bind" => network(Verb::Bind, rest),
        "env" => Access::Environment {
            name: rest.to_owned(),
        },
        "syscall" => Access::Syscall {
            architecture: Architecture::X86_64,
            number: table::number(rest, Architecture::X86_64).expect("a system call"),
            arguments: [0; 6],
        },
        other => panic!("`{other}` is no verb"),
    }
}

fn network(verb: Verb, text: &str) -> Access {
    let (protocol, address) = text.split_once(' ').expect("a protocol and an address");
    let address: SocketAddr = address.parse().expect("an address and a port");
    Access::Network {
        verb,
        protocol: match protocol {
            "tcp" => Protocol::Tcp,
            "udp" => Protocol::Udp,
            other => panic!("`{other}` is no protocol"),
        },
        address: address.ip(),
        port: address.port(),
    }
}
