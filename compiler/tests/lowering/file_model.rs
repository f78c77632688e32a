//! File rules and the run's mount tree against the reference semantics.

use std::collections::BTreeSet;

use artifact::filesystem::glob::Glob;
use artifact::filesystem::{
    self as plan, FilesystemPlan, Node, NodeKind, PathPattern, RegionTree, View, path, regions,
};
use compiler::{emit, lower};
use policy_lang::policy::{Effect, FileAccess, Policy, Subject};
use policy_lang::reference::{Access, decide};
use proptest::prelude::*;

use crate::policies::{effects, file, policies};

const ACCESSES: [(FileAccess, plan::FileAccess); 3] = [
    (FileAccess::Read, plan::FileAccess::Read),
    (FileAccess::Write, plan::FileAccess::Write),
    (FileAccess::Execute, plan::FileAccess::Execute),
];

const NAMES: [&str; 4] = ["a", "b", "ab", ".e"];
const WILD: [&str; 7] = ["*", "**", "?", "[ab]", "[!a]*", "a*", "*b"];
const DEPTH: usize = 4;

/// Every path of up to [`DEPTH`] of the names.
fn universe() -> Vec<String> {
    let mut paths = vec![String::new()];
    let mut level = paths.clone();
    for _ in 0..DEPTH {
        level = level
            .iter()
            .flat_map(|above| NAMES.map(|name| format!("{above}/{name}")))
            .collect();
        paths.extend(level.iter().cloned());
    }
    paths[0] = "/".to_owned();
    paths
}

fn literal() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&NAMES), 0..=3)
        .prop_map(|names| format!("/{}", names.join("/")))
}

fn glob() -> impl Strategy<Value = String> {
    let names = proptest::sample::select([NAMES.as_slice(), WILD.as_slice()].concat());
    proptest::collection::vec(names, 1..=4).prop_map(|names| format!("/{}", names.join("/")))
}

fn rules(patterns: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<(Effect, Subject)>> {
    let all = vec![FileAccess::Read, FileAccess::Write, FileAccess::Execute];
    let accesses = proptest::sample::subsequence(all, 1..=3);
    let patterns = proptest::collection::vec(patterns, 1..3);
    let rule = (effects(), accesses, patterns, 0..8_u8).prop_map(|(effect, accesses, patterns, kind)| {
        let patterns: Vec<_> = patterns.iter().map(String::as_str).collect();
        match file(&accesses, &patterns) {
            Subject::File { targets, .. } if kind == 0 => (Effect::Deny, Subject::Hide { targets }),
            subject => (effect, subject),
        }
    });
    proptest::collection::vec(rule, 0..10)
}

pub(crate) fn any_rules() -> impl Strategy<Value = Vec<(Effect, Subject)>> {
    rules(prop_oneof![literal(), glob()])
}

fn expected(policy: &Policy, access: FileAccess, path: &str) -> (Effect, u32) {
    let path = path.to_owned();
    let decision = decide(policy, &Access::File { access, path });
    (decision.effect, decision.rule.0)
}

/// A tree of some of the paths, with some of its leaves as files and some as FIFOs.
fn world() -> impl Strategy<Value = Vec<Node>> {
    let chosen = proptest::sample::subsequence(universe(), 1..60);
    (chosen, proptest::collection::vec(0..4_u8, 400)).prop_map(|(chosen, kinds)| {
        let present: BTreeSet<&str> = chosen.iter().flat_map(|leaf| path::ancestors(leaf)).collect();
        let parents: BTreeSet<&str> = present.iter().filter_map(|path| path::parent(path)).collect();
        present
            .iter()
            .zip(kinds)
            .map(|(path, kind)| Node {
                path: (*path).to_owned(),
                kind: match kind {
                    _ if parents.contains(path) => NodeKind::Directory,
                    0 => NodeKind::Special,
                    1 => NodeKind::File,
                    _ => NodeKind::Directory,
                },
            })
            .collect()
    })
}

/// What the enforcer finds at start: the literals that exist, and every match of a glob.
fn nodes(plan: &FilesystemPlan, world: &[Node]) -> Vec<Node> {
    let speaks_of = |path: &str| {
        plan.rules.iter().any(|rule| match &rule.pattern {
            PathPattern::Literal(literal) => literal == path,
            PathPattern::Glob(glob) => {
                let glob = Glob::parse(glob).unwrap();
                let states =
                    path::components(path).fold(glob.start(), |states, name| glob.step(states, name));
                glob.is_match(states)
            }
        })
    };
    world
        .iter()
        .filter(|node| speaks_of(&node.path))
        .cloned()
        .collect()
}

/// The tree may withhold what it lists, and nothing else, and never permits more than the policy.
fn assert_model(policy: &Policy, tree: &RegionTree, world: &[Node]) -> Result<(), TestCaseError> {
    for node in world {
        for (access, plan_access) in ACCESSES {
            if access == FileAccess::Execute && node.kind == NodeKind::Special {
                // The kernel starts and maps regular files only.
                continue;
            }
            let allowed = expected(policy, access, &node.path).0 == Effect::Allow;
            let permitted = tree.permits(plan_access, &node.path);
            let withheld = || {
                let hidden = tree
                    .region_at(&node.path)
                    .is_some_and(|region| region.view == View::Mask);
                hidden
                    && tree
                        .withheld
                        .iter()
                        .any(|held| held.rights.contains(plan_access) && path::covers(&held.path, &node.path))
            };
            prop_assert!(!permitted || allowed, "{access:?} {} is open", node.path);
            prop_assert!(
                permitted || !allowed || withheld(),
                "{access:?} {} is closed",
                node.path
            );
        }
    }
    Ok(())
}

/// What a path is permitted once the run has renamed `moved` away and made it anew: the mounts at and beneath it
/// and the Landlock rules on objects in it went with it.
fn permits_after_rename(tree: &RegionTree, moved: &str, access: plan::FileAccess, path: &str) -> bool {
    let rest = RegionTree {
        regions: tree
            .regions
            .iter()
            .filter(|region| !path::covers(moved, &region.path))
            .cloned()
            .collect(),
        landlock: tree
            .landlock
            .iter()
            .filter(|rule| !path::covers(moved, &rule.path))
            .cloned()
            .collect(),
        withheld: Vec::new(),
    };
    rest.permits(access, path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn file_rules_decide_as_the_reference_does(policy in policies(any_rules())) {
        let artifact = emit(&lower(&policy).unwrap());
        let index = plan::FileIndex::new(&artifact.filesystem);
        for path in universe() {
            for (access, plan_access) in ACCESSES {
                let (effect, rule) = index.decide(plan_access, &path);
                let (expected, expected_rule) = expected(&policy, access, &path);
                prop_assert_eq!(
                    (format!("{effect:?}"), rule.0),
                    (format!("{expected:?}"), expected_rule),
                    "{:?} {}",
                    access,
                    path
                );
            }
        }
    }

    #[test]
    fn the_mount_tree_and_landlock_permit_what_the_policy_allows(
        policy in policies(any_rules()),
        world in world(),
    ) {
        let artifact = emit(&lower(&policy).unwrap());
        let tree = regions(&artifact.filesystem, &nodes(&artifact.filesystem, &world));
        assert_model(&policy, &tree, &world)?;
    }

    #[test]
    fn no_rename_opens_what_was_closed(policy in policies(rules(literal()))) {
        let artifact = emit(&lower(&policy).unwrap());
        let world: Vec<Node> = universe()
            .into_iter()
            .map(|path| Node { path, kind: NodeKind::Directory })
            .collect();
        let tree = regions(&artifact.filesystem, &nodes(&artifact.filesystem, &world));
        for directory in &world {
            let Some(parent) = path::parent(&directory.path) else { continue };
            let is_mount_point = tree.regions.iter().any(|region| region.path == directory.path);
            if is_mount_point || !tree.permits(plan::FileAccess::Write, parent) {
                continue;
            }
            for inside in world.iter().filter(|inside| path::covers(&directory.path, &inside.path)) {
                for (access, plan_access) in ACCESSES {
                    let permitted = permits_after_rename(&tree, &directory.path, plan_access, &inside.path);
                    let allowed = expected(&policy, access, &inside.path).0 == Effect::Allow;
                    prop_assert!(
                        !permitted || allowed,
                        "renaming {} opens {access:?} of {}",
                        directory.path,
                        inside.path
                    );
                }
            }
        }
    }
}
