//! Whatever two policies say, they are compared in bounded time; each witness is decided by the reference as the comparison
//! says, what is included in both directions is equal, and a policy does not differ from itself in another order.
#![no_main]

use compiler::difference::{Outcome, difference};
use libfuzzer_sys::fuzz_target;
use policy_lang::inclusion::Proof;
use policy_lang::pattern::{HostPattern, PathPattern};
use policy_lang::policy::{
    Effect, Endpoint, FileAccess, HostEndpoint, Layer, LayerId, Origin, Policy, Protocol, Rule, RuleId, Subject, Verb,
};
use policy_lang::reference::decide;
use policy_lang::syscall::{Comparison, Condition, SyscallSet, Width};

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::from(self.next()) % from.len()]
    }

    fn subject(&mut self) -> Option<Subject> {
        Some(match self.next() % 5 {
            0 => {
                let mut text = String::new();
                for _ in 0..1 + self.next() % 5 {
                    let names = ["a", "b", "**", "*", "?", "[a-c]*", "[!b]", "*a*", "*.b", ".a", "a*b"];
                    text.push('/');
                    text.push_str(self.pick::<&str>(&names));
                }
                Subject::File {
                    accesses: vec![*self.pick(&[FileAccess::Read, FileAccess::Write])],
                    targets: vec![PathPattern::parse(&text).ok()?],
                }
            }
            kind @ (1 | 2) => {
                let (one, two) = (u16::from(self.next()), u16::from(self.next()));
                let (first_port, last_port) = (one.min(two), one.max(two));
                let (mut targets, mut hosts) = (Vec::new(), Vec::new());
                if kind == 1 {
                    let len = self.next() % 33;
                    let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
                    let bits = u32::from_be_bytes([10, self.next(), 0, self.next()]) & mask;
                    targets.push(Endpoint {
                        address: std::net::Ipv4Addr::from_bits(bits).into(),
                        prefix_len: len,
                        first_port,
                        last_port,
                    });
                } else {
                    let pattern = self.pick(&["x", "a.x", "*.x", "*.a.x", "b.a.x", "y"]);
                    hosts.push(HostEndpoint {
                        pattern: HostPattern::parse(pattern).ok()?,
                        first_port,
                        last_port,
                    });
                }
                Subject::Network {
                    verbs: vec![Verb::Connect],
                    protocols: vec![Protocol::Tcp],
                    targets,
                    hosts,
                }
            }
            3 => Subject::Pass {
                names: vec![(*self.pick(&["A", "AB", "*", "A*", "*B", "*A*", "A*B*"])).to_owned()],
            },
            _ => {
                let mut set = SyscallSet::call(self.pick::<&str>(&["ioctl", "getpid"]))?;
                for _ in 0..self.next() % 4 {
                    let (value, mask) = (u64::from(self.next()), u64::from(self.next()));
                    let comparison = match self.next() % 6 {
                        0 => Comparison::Equal(value),
                        1 => Comparison::NotEqual(value),
                        2 => Comparison::Less(value),
                        3 => Comparison::Greater(value),
                        4 => Comparison::MaskedEqual { mask, value: value & mask },
                        _ => Comparison::MaskedNotEqual { mask, value: value & mask },
                    };
                    set = set.with(Condition {
                        argument: self.next() % 3,
                        width: *self.pick(&[Width::Bits32, Width::Bits64]),
                        comparison,
                    });
                }
                Subject::Syscall { targets: vec![set] }
            }
        })
    }

    fn rules(&mut self) -> Vec<(Effect, u8, bool, Subject)> {
        let mut rules = Vec::new();
        for _ in 0..self.next() % 24 {
            let effect = *self.pick(&[Effect::Allow, Effect::Deny, Effect::Ask, Effect::Forbid, Effect::Allow]);
            let (layer, degraded) = (self.next() % 3, self.next() % 8 == 1);
            if let Some(subject) = self.subject() {
                rules.push((effect, layer, degraded, subject));
            }
        }
        rules
    }
}

fn policy(rules: impl IntoIterator<Item = (Effect, u8, bool, Subject)>) -> Policy {
    let mut policy = Policy::built_in("p");
    for name in ["q", "r"] {
        policy.layers.push(Layer { name: name.to_owned(), file: String::new() });
    }
    for (effect, layer, permit_degraded, subject) in rules {
        policy.rules.push(Rule {
            id: RuleId(policy.rules.len() as u32),
            effect,
            subject,
            text: String::new(),
            label: None,
            because: None,
            origin: Origin::BuiltIn,
            layer: Some(LayerId(layer)),
            via: None,
            if_present: false,
            permit_degraded,
        });
    }
    policy
}

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let (first, second) = (bytes.rules(), bytes.rules());
    let turned = policy(first.iter().rev().cloned());
    let (old, new) = (policy(first), policy(second));
    let found = difference(&old, &new);
    for change in &found.changes {
        for (policy, judged) in [(&old, change.before), (&new, change.after)] {
            let decision = decide(policy, &change.witness);
            assert_eq!(decision.rule, judged.rule, "{change:?}");
            let fits = match judged.outcome {
                Outcome::Allowed | Outcome::Private => decision.effect == Effect::Allow,
                Outcome::Asked => decision.effect == Effect::Ask,
                Outcome::RefusedIfPossible | Outcome::Refused => decision.effect >= Effect::Deny,
            };
            assert!(fits, "{change:?}");
        }
    }
    let back = difference(&new, &old);
    if found.at_least_as_strict() == Proof::Holds && back.at_least_as_strict() == Proof::Holds {
        assert!(found.is_empty() && back.is_empty(), "{found:?}");
    }
    assert!(difference(&old, &turned).changes.is_empty());
});
