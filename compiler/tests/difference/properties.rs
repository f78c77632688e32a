use compiler::difference::{Change, Difference, Domain, Outcome, difference};
use policy_lang::inclusion::Proof;
use policy_lang::policy::{Effect, FileAccess, Policy, Subject};
use policy_lang::reference::{Access, decide};
use proptest::prelude::*;

use super::generate::{accesses, rules, small_world};
use super::rules::{Written, policy};

/// Allowed, asked, refused: what the reference tells apart.
fn coarse(effect: Effect) -> u8 {
    match effect {
        Effect::Allow => 0,
        Effect::Ask => 1,
        Effect::Deny | Effect::Forbid => 2,
    }
}

fn coarse_outcome(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Allowed | Outcome::Private => 0,
        Outcome::Asked => 1,
        Outcome::RefusedIfPossible | Outcome::Refused => 2,
    }
}

fn domain(access: &Access) -> Domain {
    match access {
        Access::File { .. } => Domain::Files,
        Access::Network { .. } | Access::Host { .. } => Domain::Network,
        Access::Environment { .. } => Domain::Environment,
        Access::Syscall { .. } => Domain::Syscalls,
    }
}

/// Every witness is judged by the reference as the change says.
fn is_sound(found: &Difference, old: &Policy, new: &Policy) {
    for change in &found.changes {
        let (before, after) = (decide(old, &change.witness), decide(new, &change.witness));
        assert_eq!(
            (before.rule, after.rule),
            (change.before.rule, change.after.rule),
            "{change:?}"
        );
        for witness in std::iter::once(&change.witness).chain(&change.examples) {
            let (before, after) = (decide(old, witness), decide(new, witness));
            assert_eq!(
                coarse(before.effect),
                coarse_outcome(change.before.outcome),
                "{change:?}"
            );
            assert_eq!(
                coarse(after.effect),
                coarse_outcome(change.after.outcome),
                "{change:?}"
            );
            assert_eq!(domain(witness), change.domain);
        }
    }
}

/// What the reference judges differently is among the changes, with the same outcomes.
fn is_complete(found: &Difference, old: &Policy, new: &Policy, access: &Access) {
    let (before, after) = (
        coarse(decide(old, access).effect),
        coarse(decide(new, access).effect),
    );
    let fits = |change: &Change| {
        let outcomes = (
            coarse_outcome(change.before.outcome),
            coarse_outcome(change.after.outcome),
        );
        change.domain == domain(access) && outcomes == (before, after)
    };
    assert!(
        before == after || !found.undecided.is_empty() || found.changes.iter().any(fits),
        "{access} is {before} and then {after}, but: {:?}",
        found.changes
    );
}

/// One rule for each target and verb.
fn split(written: Written) -> Vec<Written> {
    let with = |subject| Written {
        subject,
        ..written.clone()
    };
    match &written.subject {
        Subject::File { accesses, targets } => accesses
            .iter()
            .flat_map(|&access| targets.iter().map(move |target| (access, target.clone())))
            .map(|(access, target)| {
                with(Subject::File {
                    accesses: vec![access],
                    targets: vec![target],
                })
            })
            .collect(),
        Subject::Network {
            verbs,
            protocols,
            targets,
            hosts,
        } => {
            let network = |verb, targets, hosts| {
                with(Subject::Network {
                    verbs: vec![verb],
                    protocols: protocols.clone(),
                    targets,
                    hosts,
                })
            };
            let mut all = Vec::new();
            for &verb in verbs {
                all.extend(
                    targets
                        .iter()
                        .map(|target| network(verb, vec![*target], Vec::new())),
                );
                all.extend(
                    hosts
                        .iter()
                        .map(|host| network(verb, Vec::new(), vec![host.clone()])),
                );
            }
            all
        }
        Subject::Pass { names } => names
            .iter()
            .map(|name| {
                with(Subject::Pass {
                    names: vec![name.clone()],
                })
            })
            .collect(),
        Subject::Syscall { targets } => targets
            .iter()
            .map(|target| {
                with(Subject::Syscall {
                    targets: vec![target.clone()],
                })
            })
            .collect(),
        _ => vec![written],
    }
}

/// Rules of one effect and layer on files with the same verbs, as one rule.
fn merge(rules: Vec<Written>) -> Vec<Written> {
    let mut merged: Vec<Written> = Vec::new();
    for rule in rules {
        let joined = merged.iter_mut().any(|other| {
            if (other.layer, other.effect, other.degraded) != (rule.layer, rule.effect, rule.degraded) {
                return false;
            }
            match (&mut other.subject, &rule.subject) {
                (
                    Subject::File { accesses, targets },
                    Subject::File {
                        accesses: own,
                        targets: more,
                    },
                ) if accesses == own => {
                    targets.extend(more.clone());
                    true
                }
                (Subject::Pass { names }, Subject::Pass { names: more }) => {
                    names.extend(more.clone());
                    true
                }
                _ => false,
            }
        });
        if !joined {
            merged.push(rule);
        }
    }
    merged
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sampled_access_contradicts_a_comparison(
        old in rules(1),
        new in rules(1),
        sampled in prop::collection::vec(accesses(), 60),
    ) {
        let (old, new) = (policy(old), policy(new));
        let found = difference(&old, &new);
        is_sound(&found, &old, &new);
        for access in &sampled {
            is_complete(&found, &old, &new, access);
        }
    }

    #[test]
    fn nor_one_of_policies_with_ceilings(
        old in rules(3),
        new in rules(3),
        sampled in prop::collection::vec(accesses(), 60),
    ) {
        let (old, new) = (policy(old), policy(new));
        let found = difference(&old, &new);
        is_sound(&found, &old, &new);
        for access in &sampled {
            is_complete(&found, &old, &new, access);
        }
    }

    #[test]
    fn a_rule_taken_away_or_added_is_judged_rightly_everywhere(
        base in rules(2),
        more in rules(2),
        keep in 0_usize..9,
    ) {
        let mut changed = base.clone();
        if keep < changed.len() {
            changed.remove(keep);
        }
        changed.extend(more.into_iter().take(1));
        let (old, new) = (policy(base), policy(changed));
        let found = difference(&old, &new);
        prop_assert!(found.undecided.is_empty());
        is_sound(&found, &old, &new);
        for access in small_world() {
            is_complete(&found, &old, &new, &access);
        }
    }

    #[test]
    fn a_refactored_copy_is_no_difference(
        (rules, shuffled) in rules(3).prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
    ) {
        let old = policy(rules);
        let mut copies = vec![
            shuffled.clone(),
            shuffled.iter().cloned().flat_map(split).collect(),
            merge(shuffled),
        ];
        for copy in &mut copies {
            let mut new = policy(std::mem::take(copy));
            // The copy may have lost a layer without rules, which refuses everything.
            new.layers.clone_from(&old.layers);
            for rule in &mut new.rules {
                rule.label = Some(format!("label {}", rule.id.0));
            }
            let found = difference(&old, &new);
            prop_assert!(found.is_empty(), "{:?}", found);
            prop_assert_eq!(found.at_least_as_strict(), Proof::Holds);
        }
    }

    #[test]
    fn adding_a_ceiling_never_widens(rules in rules(1), ceiling in rules(1)) {
        let old = policy(rules.clone());
        let above = ceiling.into_iter().map(|rule| Written { layer: 1, ..rule });
        let new = policy(rules.into_iter().chain(above));
        let found = difference(&old, &new);
        let laxer: Vec<&Change> = found.changes.iter().filter(|change| change.is_wider()).collect();
        // A refusal that a host may leave out can become another's; what is allowed can only shrink.
        prop_assert!(laxer.iter().all(|change| coarse_outcome(change.after.outcome) == 2), "{:?}", laxer);
    }

    #[test]
    fn the_way_back_is_the_other_way_round(old in rules(2), new in rules(2)) {
        let (old, new) = (policy(old), policy(new));
        let (there, back) = (difference(&old, &new), difference(&new, &old));
        let wider = |found: &Difference| found.changes.iter().any(Change::is_wider);
        let narrower = |found: &Difference| found.changes.iter().any(|change| !change.is_wider());
        prop_assert_eq!(wider(&there), narrower(&back));
        prop_assert_eq!(narrower(&there), wider(&back));
    }
}

#[test]
fn the_floor_alone_is_compared_with_everything_allowed() {
    let all = Subject::File {
        accesses: vec![FileAccess::Read, FileAccess::Write, FileAccess::Execute],
        targets: vec![super::rules::path("/")],
    };
    let (old, new) = (policy([]), policy([super::rules::written(Effect::Allow, all)]));
    let found = difference(&old, &new);
    is_sound(&found, &old, &new);
    assert_eq!(found.changes.len(), 1, "{:?}", found.changes);
    assert_eq!(found.changes[0].witness.to_string(), "read \"/\"");
}
