//! The answer from the policy and the answer from what it compiles to are the same answer.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;

use compiler::why::proposal::{Answer, Request, propose};
use compiler::why::{compiled, reasons};
use compiler::{emit, lower};
use policy_lang::loader::InMemory;
use policy_lang::policy::{Effect, FileAccess, LayerId, Policy, Protocol, Verb};
use policy_lang::reference::{Access, decide, decide_in};
use policy_lang::resolve::AsWritten;
use policy_lang::syscall::{Architecture, table};
use policy_lang::{Inputs, SourceFile};
use proptest::prelude::*;
use proptest::sample::select;

const EFFECTS: [&str; 3] = ["allow", "deny", "forbid"];
const PATHS: [&str; 8] = ["/a", "/a/b", "/a/b/c", "/a/*", "/a/**/c", "/a/[bc]", "/", "/b?"];
const ADDRESSES: [&str; 7] = [
    "10.0.0.0/8",
    "10.1.0.0/16",
    "10.1.2.3",
    "*",
    "[2001:db8::]/32",
    "[2001:db8::1]",
    "0.0.0.0/0",
];
const PORTS: [&str; 5] = ["443", "80", "*", "100-500", "443-443"];
const CALLS: [&str; 8] = [
    "@system-service",
    "@debug",
    "\"ptrace\"",
    "\"ioctl\" where request == 5",
    "\"ioctl\" where request < 10 and arg == 1",
    "\"socket\" where domain == 1",
    "\"clone\" where flags & CLONE_NEWUSER == 0",
    "\"kill\"",
];
const NAMES: [&str; 4] = ["PATH", "LANG", "CI", "TERM"];

fn rule() -> impl Strategy<Value = (usize, String)> {
    let files = (
        select(&EFFECTS),
        select(&["", "read ", "write, execute "]),
        select(&PATHS),
    )
        .prop_map(|(effect, verbs, path)| (0, format!("{effect} {verbs}\"{path}\"")));
    let network = (
        select(&EFFECTS),
        select(&["", "connect ", "bind "]),
        select(&["", "tcp ", "udp "]),
        select(&ADDRESSES),
        select(&PORTS),
    )
        .prop_map(|(effect, verb, protocol, address, port)| {
            (1, format!("{effect} {verb}{protocol}\"{address}:{port}\""))
        });
    let calls =
        (select(&EFFECTS), select(&CALLS)).prop_map(|(effect, call)| (2, format!("{effect} syscall {call}")));
    let variables = select(&NAMES).prop_map(|name| (3, format!("pass \"{name}\"")));
    prop_oneof![files, network, calls, variables]
}

/// A policy, perhaps with a ceiling over it.
#[derive(Debug, Clone)]
struct Texts {
    own: String,
    ceiling: Option<String>,
}

impl Texts {
    fn resolve(&self, own: &str) -> Result<Policy, String> {
        let ceiling = self
            .ceiling
            .iter()
            .map(|text| ("org.remit".to_owned(), text.clone()));
        let inputs = Inputs {
            parameters: BTreeMap::new(),
            home: "/home/me".to_owned(),
            working_directory: "/work".to_owned(),
            paths: &AsWritten,
            files: &InMemory(ceiling.collect()),
        };
        let resolved = policy_lang::check(&SourceFile::new("p.remit", own), &inputs);
        resolved
            .policy
            .ok_or_else(|| format!("{:?}", resolved.diagnostics))
    }

    fn policy(&self) -> Policy {
        self.resolve(&self.own).unwrap()
    }
}

fn blocks() -> impl Strategy<Value = String> {
    proptest::collection::vec(rule(), 0..10).prop_map(|rules| {
        let mut blocks = [String::new(), String::new(), String::new(), String::new()];
        let mut seen = Vec::new();
        for (block, rule) in rules {
            // A variable is passed once.
            if !seen.contains(&rule) {
                blocks[block].push_str(&format!("{rule}\n"));
                seen.push(rule);
            }
        }
        let [files, network, process, credentials] = blocks;
        format!(
            "filesystem {{\n{files}}}\nnetwork {{\n{network}}}\nprocess {{\n{process}}}\ncredentials \
             {{\n{credentials}}}\n"
        )
    })
}

fn texts() -> impl Strategy<Value = Texts> {
    (blocks(), proptest::option::of(blocks())).prop_map(|(own, ceiling)| Texts {
        own: match ceiling {
            Some(_) => format!("policy \"p\" {{\nwithin \"org.remit\"\n{own}}}\n"),
            None => format!("policy \"p\" {{\n{own}}}\n"),
        },
        ceiling: ceiling.map(|blocks| format!("policy \"org\" {{\n{blocks}}}\n")),
    })
}

fn access() -> impl Strategy<Value = Access> {
    let accesses = [FileAccess::Read, FileAccess::Write, FileAccess::Execute];
    let paths = ["/", "/a", "/a/b", "/a/b/c", "/a/b/c/d", "/b", "/b1", "/a/c", "/c"];
    let files = (select(accesses.to_vec()), select(paths.to_vec())).prop_map(|(access, path)| Access::File {
        access,
        path: path.to_owned(),
    });
    let addresses = [
        "10.1.2.3",
        "10.1.2.4",
        "10.2.0.0",
        "11.0.0.1",
        "::ffff:10.1.2.3",
        "2001:db8::1",
        "2001:db8::2",
        "::1",
        "169.254.169.254",
        "0.0.0.0",
    ];
    let network = (
        select(&[Verb::Connect, Verb::Bind]),
        select(&[Protocol::Tcp, Protocol::Udp]),
        select(addresses.to_vec()),
        select(&[0_u16, 80, 99, 100, 443, 500, 501, 65535]),
    )
        .prop_map(|(verb, protocol, address, port)| Access::Network {
            verb,
            protocol,
            address: address.parse().unwrap(),
            port,
        });
    let names = ["PATH", "LANG", "CI", "TERM", "HOME"];
    let variables = select(names.to_vec()).prop_map(|name| Access::Environment {
        name: name.to_owned(),
    });
    let calls = [
        "ptrace", "ioctl", "socket", "clone", "clone3", "openat2", "kill", "read", "bpf", "reboot",
    ];
    let registers = select(&[0_u64, 1, 5, 6, 10, 16, 0x1000_0000, 0x1_0000_0005]);
    let calls = (
        select(&Architecture::ALL),
        select(calls.to_vec()),
        proptest::array::uniform3(registers),
    )
        .prop_map(|(architecture, name, [one, two, three])| Access::Syscall {
            architecture,
            number: table::number(name, architecture).unwrap(),
            arguments: [one, two, three, 0, 0, 0],
        });
    prop_oneof![files, network, variables, calls]
}

fn accesses() -> impl Strategy<Value = Vec<Access>> {
    proptest::collection::vec(access(), 40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn policy_and_artifact_agree(texts in texts(), accesses in accesses()) {
        let policy = texts.policy();
        let Ok(plan) = lower(&policy) else {
            // What does not compile has no second answer; the generator's rules all do.
            return Err(TestCaseError::fail("it does not compile"));
        };
        let artifact = emit(&plan);
        for access in &accesses {
            let decision = decide(&policy, access);
            let found = compiled(&artifact, access);
            let allowed = found.effect == artifact::Effect::Allow;
            if let Access::Syscall { .. } = access {
                // Only a call whose arguments lie behind a pointer is refused although it is allowed.
                let hidden = found.note.is_some_and(|note| note.contains("ENOSYS"));
                prop_assert!(allowed == (decision.effect == Effect::Allow) || hidden && !allowed, "{access}: {found:?}");
                prop_assert!(
                    allowed || hidden || found.rules.iter().any(|rule| rule.0 == decision.rule.0),
                    "{access}: {decision:?} {found:?}"
                );
            } else {
                prop_assert_eq!(format!("{:?}", found.effect), format!("{:?}", decision.effect), "{}", access);
                prop_assert_eq!(found.rules[0].0, decision.rule.0, "{}", access);
            }
        }
    }

    #[test]
    fn reasons_name_every_matching_rule_once_and_the_decider_is_no_loser(
        texts in texts(),
        accesses in accesses(),
    ) {
        let policy = texts.policy();
        for access in &accesses {
            let reasons = reasons(&policy, access);
            prop_assert_eq!(reasons.decision, decide(&policy, access));
            for layer in &reasons.layers {
                let mut losers: Vec<_> = layer.losers.iter().map(|loser| loser.rule).collect();
                prop_assert!(!losers.contains(&layer.decision.rule));
                let before = losers.len();
                losers.dedup();
                prop_assert_eq!(losers.len(), before);
            }
        }
    }

    #[test]
    fn a_proposal_allows_what_was_asked_and_nothing_outside_its_rule(
        texts in texts(),
        accesses in proptest::collection::vec(access(), 12),
        generalise in any::<bool>(),
    ) {
        let policy = texts.policy();
        let above = || (1..).map(LayerId).take(policy.layers.len() - 1);
        for access in &accesses {
            let answer = propose(&Request {
                text: &texts.own,
                policy: &policy,
                accesses: std::slice::from_ref(access),
                generalise,
                resolve: &|text| texts.resolve(text),
            });
            let effect = decide(&policy, access).effect;
            let out_of_reach = effect == Effect::Forbid
                || above().any(|layer| decide_in(layer, &policy, access).effect != Effect::Allow);
            match answer {
                Answer::Allowed => prop_assert_eq!(effect, Effect::Allow),
                Answer::Refused(obstacles) => prop_assert!(!obstacles.is_empty()),
                Answer::Rule(proposal) => {
                    prop_assert!(!out_of_reach, "{access}: {}", proposal.rule);
                    let changed = texts.resolve(&proposal.text).unwrap();
                    prop_assert_eq!(decide(&changed, access).effect, Effect::Allow, "{}", &proposal.rule);
                    prop_assert!(proposal.text.lines().nth(proposal.line - 1).unwrap().contains(&proposal.rule));
                    let alone = alone(&proposal.rule, access);
                    for other in &accesses {
                        let (before, after) = (decide(&policy, other).effect, decide(&changed, other).effect);
                        let inside = decide(&alone, other).effect == Effect::Allow;
                        prop_assert!(before == after || inside, "{other} by {}", proposal.rule);
                    }
                }
            }
        }
    }
}

/// A policy of one rule.
fn alone(rule: &str, access: &Access) -> Policy {
    let block = compiler::testing::domain(access);
    let texts = Texts {
        own: String::new(),
        ceiling: None,
    };
    texts
        .resolve(&format!("policy \"alone\" {{ {block} {{ {rule} }} }}"))
        .unwrap()
}
