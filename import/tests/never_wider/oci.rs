//! Seccomp profiles: a call is allowed when a rule that applies allows it and its conditions hold, else as the default says.

use import::{Format, Options, import};
use policy_lang::policy::Effect;
use policy_lang::reference::{Access, decide};
use policy_lang::syscall::{Architecture, table};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::support::resolved;

const CALLS: &[&str] = &[
    "read",
    "socket",
    "personality",
    "prctl",
    "clone",
    "mount",
    "clone3",
    "ptrace",
    "lseek",
];
const VALUES: &[u64] = &[0, 1, 2, 8, 40, 0xffff_ffff, 1 << 32];

#[derive(Debug, Clone)]
struct Condition {
    index: usize,
    op: &'static str,
    value: u64,
    two: u64,
}

#[derive(Debug, Clone)]
struct Rule {
    names: Vec<&'static str>,
    allows: bool,
    conditions: Vec<Condition>,
    capability: bool,
}

impl Condition {
    fn holds(&self, arguments: &[u64; 6]) -> bool {
        let argument = arguments[self.index];
        match self.op {
            "SCMP_CMP_NE" => argument != self.value,
            "SCMP_CMP_LT" => argument < self.value,
            "SCMP_CMP_LE" => argument <= self.value,
            "SCMP_CMP_EQ" => argument == self.value,
            "SCMP_CMP_GE" => argument >= self.value,
            "SCMP_CMP_GT" => argument > self.value,
            _ => argument & self.value == self.two,
        }
    }

    fn json(&self) -> Value {
        json!({ "index": self.index, "op": self.op, "value": self.value, "valueTwo": self.two })
    }
}

impl Rule {
    fn holds(&self, call: &str, arguments: &[u64; 6]) -> bool {
        let mut indices: Vec<usize> = self.conditions.iter().map(|condition| condition.index).collect();
        indices.sort_unstable();
        indices.dedup();
        let mut held = self.conditions.iter().map(|condition| condition.holds(arguments));
        // Several conditions on one argument are rules of their own.
        let conditions = if indices.len() < self.conditions.len() {
            held.any(|held| held)
        } else {
            held.all(|held| held)
        };
        !self.capability && self.names.contains(&call) && conditions
    }

    fn json(&self) -> Value {
        let conditions: Vec<Value> = self.conditions.iter().map(Condition::json).collect();
        let mut rule = json!({
            "names": self.names,
            "action": if self.allows { "SCMP_ACT_ALLOW" } else { "SCMP_ACT_ERRNO" },
            "args": conditions,
        });
        if self.capability {
            rule["includes"] = json!({ "caps": ["CAP_SYS_ADMIN"] });
        }
        rule
    }
}

fn rule() -> impl Strategy<Value = Rule> {
    let operators = &[
        "SCMP_CMP_NE",
        "SCMP_CMP_LT",
        "SCMP_CMP_LE",
        "SCMP_CMP_EQ",
        "SCMP_CMP_GE",
        "SCMP_CMP_GT",
        "SCMP_CMP_MASKED_EQ",
    ][..];
    // The first argument of these calls has 32 bits that count; a value beyond them is a predicate that never holds.
    let condition = (
        0_usize..3,
        select(operators),
        select(&VALUES[..5]),
        select(&VALUES[..3]),
    )
        .prop_map(|(index, op, value, two)| Condition {
            index,
            op,
            value: value.max(3),
            two,
        });
    (
        vec(select(CALLS), 1..3),
        any::<bool>(),
        vec(condition, 0..3),
        proptest::bool::weighted(0.2),
    )
        .prop_map(|(names, allows, conditions, capability)| Rule {
            names,
            allows,
            conditions,
            capability,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn oci(rules in vec(rule(), 0..5), open in any::<bool>()) {
        let text = json!({
            "defaultAction": if open { "SCMP_ACT_ALLOW" } else { "SCMP_ACT_ERRNO" },
            "syscalls": rules.iter().map(Rule::json).collect::<Vec<_>>(),
        });
        let imported = import(Format::Oci, &text.to_string(), &Options::default()).unwrap();
        let Some(policy) = crate::support::try_resolved(&imported.policy) else {
            // A predicate that can never hold is a diagnostic: nothing was made wider.
            return Ok(());
        };
        for call in CALLS {
            let Some(number) = table::number(call, Architecture::X86_64) else { continue };
            for first in VALUES {
                for second in VALUES {
                    let arguments = [*first, *second, 2, 0, 0, 0];
                    let access = Access::Syscall { architecture: Architecture::X86_64, number, arguments };
                    if decide(&policy, &access).effect != Effect::Allow {
                        continue;
                    }
                    // The kernel looks at the low half of an `int`, and so does a policy.
                    let seen = [arguments, arguments.map(|argument| argument & 0xffff_ffff)];
                    let says = |allows: bool, arguments: &[u64; 6]| {
                        rules.iter().any(|rule| rule.allows == allows && rule.holds(call, arguments))
                    };
                    let allowed = seen.iter().any(|seen| (open || says(true, seen)) && !says(false, seen));
                    prop_assert!(allowed, "{call} {arguments:?}\n{text}\n{}", imported.policy);
                }
            }
        }
    }
}

#[test]
fn oci_profiles_grant_what_they_say() {
    let text = json!({
        "defaultAction": "SCMP_ACT_ERRNO",
        "syscalls": [{ "names": ["personality"], "action": "SCMP_ACT_ALLOW", "args": [{ "index": 0, "op": "SCMP_CMP_EQ", "value": 8 }] }],
    });
    let policy = resolved(
        &import(Format::Oci, &text.to_string(), &Options::default())
            .unwrap()
            .policy,
    );
    let number = table::number("personality", Architecture::X86_64).unwrap();
    let allowed = |argument| {
        let access = Access::Syscall {
            architecture: Architecture::X86_64,
            number,
            arguments: [argument, 0, 0, 0, 0, 0],
        };
        decide(&policy, &access).effect == Effect::Allow
    };
    assert!(allowed(8));
    assert!(!allowed(0));
}
