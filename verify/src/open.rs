//! One control switched off: the same policy with the narrowest grants that open an access.
//!
//! It is done to what the policy means, not to its text, so that ceilings and the floor can be opened too. Each layer gets
//! a grant of exactly the access. A rule that still refuses is one that nothing overcomes (a `forbid`, a `deny` of
//! exactly this) and is taken away. What comes out is only ever given to a throw-away run.

use std::collections::BTreeSet;

use policy_lang::pattern::PathPattern;
use policy_lang::policy::{Effect, Endpoint, LayerId, Origin, Policy, Rule, RuleId, Subject};
use policy_lang::reference::{Access, decide, judged_as};
use policy_lang::syscall::{Comparison, Condition, SyscallSet, Width, table};

/// The other policy.
#[derive(Debug, Clone)]
pub struct Opened {
    /// What it means.
    pub policy: Policy,
    /// What is different, as a person would write it.
    pub changes: Vec<String>,
}

/// Why an access cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no grant of the language opens `{0}`")]
pub struct Closed(pub String);

/// Opens accesses, each as narrowly as the language can say.
///
/// # Errors
/// When nothing opens one of them.
pub fn opened(policy: &Policy, accesses: &[Access]) -> Result<Opened, Closed> {
    let mut open = Opened {
        policy: policy.clone(),
        changes: Vec::new(),
    };
    for access in accesses {
        if !allows(&open.policy, access) {
            open.one(access)?;
        }
    }
    Ok(open)
}

/// Whether the model allows an access.
#[must_use]
pub fn allows(policy: &Policy, access: &Access) -> bool {
    decide(policy, access).effect == Effect::Allow
}

impl Opened {
    fn one(&mut self, access: &Access) -> Result<(), Closed> {
        let closed = || Closed(access.to_string());
        let subject = subject(access).ok_or_else(closed)?;
        let text = format!("allow {access}");
        for layer in (0..).map(LayerId).take(self.policy.layers.len().max(1)) {
            let id = RuleId(u32::try_from(self.policy.rules.len()).map_err(|_| closed())?);
            self.policy.rules.push(grant(id, layer, subject.clone(), &text));
        }
        self.changes.push(text);
        while !allows(&self.policy, access) {
            let rule = decide(&self.policy, access).rule;
            if rule == RuleId::DEFAULT {
                return Err(closed());
            }
            self.remove(rule).ok_or_else(closed)?;
        }
        Ok(())
    }

    fn remove(&mut self, rule: RuleId) -> Option<()> {
        let at = usize::try_from(rule.0).ok()?;
        if at >= self.policy.rules.len() {
            return None;
        }
        let removed = self.policy.rules.remove(at);
        self.changes.push(format!("without `{}`", removed.text));
        for (id, rule) in (0..).zip(&mut self.policy.rules) {
            rule.id = RuleId(id);
        }
        let identity = &mut self.policy.identity.1;
        if *identity > rule {
            *identity = RuleId(identity.0 - 1);
        }
        Some(())
    }
}

fn grant(id: RuleId, layer: LayerId, subject: Subject, text: &str) -> Rule {
    Rule {
        id,
        effect: Effect::Allow,
        subject,
        text: text.to_owned(),
        label: None,
        because: Some("opened for a verification".to_owned()),
        origin: Origin::Source {
            file: "remit verify".to_owned(),
            line: 1,
            column: 1,
        },
        layer: Some(layer),
        via: None,
        if_present: true,
        permit_degraded: true,
    }
}

/// The set of exactly one access.
fn subject(access: &Access) -> Option<Subject> {
    Some(match access {
        Access::File { access, path } => Subject::File {
            accesses: vec![*access],
            targets: vec![PathPattern::Literal(path.clone())],
        },
        Access::Network {
            verb,
            protocol,
            address,
            port,
        } => {
            let address = judged_as(*verb, *address);
            Subject::Network {
                verbs: vec![*verb],
                protocols: vec![*protocol],
                targets: vec![Endpoint {
                    address,
                    prefix_len: if address.is_ipv4() { 32 } else { 128 },
                    first_port: *port,
                    last_port: *port,
                }],
                hosts: Vec::new(),
            }
        }
        Access::Environment { name } => Subject::Pass {
            names: vec![name.clone()],
        },
        Access::Syscall {
            architecture,
            number,
            arguments,
        } => {
            let name = table::name(*number, *architecture)?;
            // Only numbers that the call knows by name: others are addresses, or nothing.
            let conditions = if name == "socket" {
                (0_u8..)
                    .zip(arguments)
                    .take(3)
                    .map(|(argument, value)| Condition {
                        argument,
                        width: Width::Bits32,
                        comparison: Comparison::Equal(*value),
                    })
                    .collect()
            } else {
                Vec::new()
            };
            Subject::Syscall {
                targets: vec![SyscallSet {
                    names: BTreeSet::from([name.to_owned()]),
                    conditions,
                }],
            }
        }
        Access::Host { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_lang::policy::{FileAccess, Protocol, Verb};

    fn metadata() -> Access {
        Access::Network {
            verb: Verb::Connect,
            protocol: Protocol::Tcp,
            address: [169, 254, 169, 254].into(),
            port: 80,
        }
    }

    #[test]
    fn what_the_default_refuses_takes_one_grant() {
        let policy = Policy::built_in("p");
        let access = Access::File {
            access: FileAccess::Read,
            path: "/srv/secret".to_owned(),
        };
        let open = opened(&policy, std::slice::from_ref(&access)).unwrap();
        assert_eq!(open.changes, ["allow read \"/srv/secret\""]);
        assert!(allows(&open.policy, &access));
        let beside = Access::File {
            access: FileAccess::Read,
            path: "/srv/other".to_owned(),
        };
        assert!(!allows(&open.policy, &beside));
    }

    #[test]
    fn a_part_of_the_floor_is_taken_away_and_nothing_else_opens() {
        let policy = Policy::built_in("p");
        let open = opened(&policy, &[metadata()]).unwrap();
        assert!(
            open.changes
                .iter()
                .any(|change| change.starts_with("without `forbid"))
        );
        assert!(allows(&open.policy, &metadata()));
        let ids: Vec<u32> = open.policy.rules.iter().map(|rule| rule.id.0).collect();
        assert!(ids.iter().zip(0..).all(|(id, at)| *id == at));
    }

    #[test]
    fn what_is_allowed_changes_nothing() {
        let policy = Policy::built_in("p");
        let once = opened(&policy, &[metadata()]).unwrap();
        assert_eq!(
            opened(&once.policy, &[metadata()]).unwrap().changes,
            Vec::<String>::new()
        );
    }
}
