//! The mount tree and the Landlock rules for hand-made plans: what is made, and what a run may then do.

use artifact::filesystem::{
    FileAccess, FilesystemPlan, LandlockRule, Node, NodeKind, PathPattern, PathRule, Private, Region,
    RegionTree, Rights, Scratch, View, regions,
};
use artifact::{Effect, LayerId, RuleId};

use FileAccess::{Execute, Read, Write};

const ALL: [FileAccess; 3] = [Read, Write, Execute];

/// Literal rules whose `yields_to` is worked out the slow way.
fn plan(rules: &[(Effect, &[FileAccess], &str)]) -> FilesystemPlan {
    let mut plan = FilesystemPlan::default();
    for (id, (effect, accesses, path)) in (1..).zip(rules) {
        for access in *accesses {
            plan.rules.push(PathRule {
                rule: RuleId(id),
                effect: *effect,
                layer: None,
                access: *access,
                pattern: PathPattern::Literal((*path).to_owned()),
                if_present: false,
                yields_to: Vec::new(),
            });
        }
    }
    let rules = plan.rules.clone();
    for rule in &mut plan.rules {
        let PathPattern::Literal(path) = &rule.pattern else {
            unreachable!()
        };
        rule.yields_to = (0..)
            .zip(&rules)
            .filter(|(_, other)| match &other.pattern {
                PathPattern::Literal(inner) => {
                    other.access == rule.access
                        && inner != path
                        && artifact::filesystem::path::covers(path, inner)
                }
                PathPattern::Glob(_) => false,
            })
            .map(|(index, _)| index)
            .collect();
    }
    plan
}

fn directories(paths: &[&str]) -> Vec<Node> {
    nodes(NodeKind::Directory, paths)
}

fn nodes(kind: NodeKind, paths: &[&str]) -> Vec<Node> {
    paths
        .iter()
        .map(|path| Node {
            path: (*path).to_owned(),
            kind,
        })
        .collect()
}

fn region<'t>(tree: &'t RegionTree, path: &str) -> Option<&'t Region> {
    tree.regions.iter().find(|region| region.path == path)
}

fn permitted(tree: &RegionTree, path: &str) -> Vec<FileAccess> {
    ALL.into_iter()
        .filter(|access| tree.permits(*access, path))
        .collect()
}

#[test]
fn nothing_granted_is_left_to_landlock_which_records() {
    let tree = regions(&FilesystemPlan::default(), &[]);
    let paths: Vec<_> = tree.regions.iter().map(|region| region.path.as_str()).collect();
    assert_eq!(paths, ["/", "/dev", "/proc", "/run", "/tmp"]);
    assert!(
        tree.regions
            .iter()
            .all(|region| !region.read_only && !region.no_exec)
    );
    assert!(tree.landlock.is_empty());
    assert!(permitted(&tree, "/etc/passwd").is_empty());
}

#[test]
fn a_read_only_file_in_a_writable_directory_is_a_mount_point() {
    let plan = plan(&[
        (Effect::Allow, &[Read, Write], "/w"),
        (Effect::Deny, &[Write], "/w/f"),
    ]);
    let mut present = directories(&["/w"]);
    present.extend(nodes(NodeKind::File, &["/w/f"]));
    let tree = regions(&plan, &present);
    let f = region(&tree, "/w/f").unwrap();
    assert_eq!((f.view, f.read_only), (View::InPlace, true));
    assert_eq!(permitted(&tree, "/w/f"), [Read]);
    assert_eq!(permitted(&tree, "/w/g"), [Read, Write]);
}

#[test]
fn a_denied_tree_is_masked_and_what_is_granted_inside_comes_back() {
    let plan = plan(&[
        (Effect::Allow, &[Read], "/"),
        (Effect::Deny, &ALL, "/p"),
        (Effect::Allow, &[Read], "/p/w"),
        (Effect::Allow, &[Read, Write], "/p/w/x"),
    ]);
    let tree = regions(&plan, &directories(&["/", "/p", "/p/w", "/p/w/x"]));
    let mask = region(&tree, "/p").unwrap();
    assert_eq!(mask.view, View::Mask);
    assert_eq!(mask.skeleton, directories(&["/p/w"]));
    assert_eq!(region(&tree, "/p/w").unwrap().view, View::Host);
    assert_eq!(region(&tree, "/p/w/x").unwrap().view, View::InPlace);
    assert!(permitted(&tree, "/p/q").is_empty());
    assert_eq!(permitted(&tree, "/p/w/f"), [Read]);
    assert_eq!(permitted(&tree, "/p/w/x/f"), [Read, Write]);
    assert!(tree.withheld.is_empty());
}

#[test]
fn directories_above_a_protected_path_cannot_be_renamed_away() {
    let plan = plan(&[
        (Effect::Allow, &[Read, Write], "/w"),
        (Effect::Forbid, &[Write], "/w/a/.git/hooks"),
    ]);
    let tree = regions(&plan, &directories(&["/w", "/w/a/.git/hooks"]));
    for pinned in ["/w/a", "/w/a/.git"] {
        let pin = region(&tree, pinned).unwrap();
        assert_eq!((pin.view, pin.read_only), (View::InPlace, false), "{pinned}");
        assert_eq!(permitted(&tree, &format!("{pinned}/f")), [Read, Write]);
    }
    assert!(!tree.permits(Write, "/w/a/.git/hooks/post-commit"));
}

#[test]
fn a_grant_inside_a_writable_tree_pins_nothing() {
    let plan = plan(&[
        (Effect::Allow, &[Read, Write], "/w"),
        (Effect::Allow, &[Execute], "/w/node_modules/.bin"),
    ]);
    let tree = regions(&plan, &directories(&["/w", "/w/node_modules/.bin"]));
    assert_eq!(region(&tree, "/w/node_modules"), None);
    assert_eq!(permitted(&tree, "/w/node_modules/.bin/x"), ALL);
}

#[test]
fn hiding_from_read_withholds_a_write_grant_and_says_so() {
    let plan = plan(&[
        (Effect::Allow, &[Read, Write], "/w"),
        (Effect::Deny, &[Read], "/w/.env"),
    ]);
    let mut present = directories(&["/w"]);
    present.extend(nodes(NodeKind::File, &["/w/.env"]));
    let tree = regions(&plan, &present);
    assert_eq!(region(&tree, "/w/.env").unwrap().view, View::Mask);
    assert_eq!(tree.withheld.len(), 1);
    assert!(tree.withheld[0].rights.write && !tree.withheld[0].rights.read);
    assert!(permitted(&tree, "/w/.env").is_empty());
}

#[test]
fn a_directory_that_may_only_be_written_needs_no_mask() {
    let plan = plan(&[(Effect::Allow, &[Write], "/drop")]);
    let tree = regions(&plan, &directories(&["/drop"]));
    let rights = Rights {
        write: true,
        ..Rights::NONE
    };
    assert_eq!(
        tree.landlock,
        [LandlockRule {
            path: "/drop".to_owned(),
            kind: NodeKind::Directory,
            rights
        }]
    );
    assert_eq!(permitted(&tree, "/drop/f"), [Write]);
}

#[test]
fn a_fifo_that_may_not_be_written_is_hidden_since_a_read_only_mount_lets_it_be_written() {
    let plan = plan(&[
        (Effect::Allow, &[Read, Write], "/w"),
        (Effect::Deny, &[Write], "/w/fifo"),
    ]);
    let mut present = directories(&["/w"]);
    present.extend(nodes(NodeKind::Special, &["/w/fifo"]));
    let tree = regions(&plan, &present);
    assert_eq!(region(&tree, "/w/fifo").unwrap().view, View::Mask);
    assert!(tree.withheld[0].rights.read);
}

#[test]
fn a_workspace_in_tmp_is_bound_into_the_private_tmp_and_nothing_else_is() {
    let plan = plan(&[
        (Effect::Allow, &[Read], "/"),
        (Effect::Allow, &[Read, Write], "/tmp/job/ws"),
        (Effect::Deny, &[Read], "/tmp/other"),
    ]);
    let tree = regions(&plan, &directories(&["/", "/tmp/job/ws", "/tmp/other"]));
    let tmp = region(&tree, "/tmp").unwrap();
    assert_eq!(tmp.view, View::Private(Private::Empty));
    assert_eq!(tmp.skeleton, directories(&["/tmp/job", "/tmp/job/ws"]));
    assert_eq!(region(&tree, "/tmp/job/ws").unwrap().view, View::Host);
    assert_eq!(region(&tree, "/tmp/other"), None);
    assert_eq!(permitted(&tree, "/tmp/job/ws/f"), [Read, Write]);
    assert_eq!(permitted(&tree, "/tmp/f"), [Read]);
}

#[test]
fn a_denied_path_in_a_scratch_is_closed_before_the_run_can_make_it() {
    let mut plan = plan(&[
        (Effect::Allow, &[Read, Write], "/tmp"),
        (Effect::Deny, &ALL, "/tmp/a/b"),
    ]);
    plan.scratch.push(Scratch {
        rule: RuleId(1),
        layer: None,
        path: "/tmp".to_owned(),
        size_bytes: 4096,
    });
    let tree = regions(&plan, &[]);
    let tmp = region(&tree, "/tmp").unwrap();
    assert_eq!(tmp.view, View::Private(Private::Scratch(4096)));
    assert_eq!(tmp.skeleton, directories(&["/tmp/a", "/tmp/a/b"]));
    assert_eq!(region(&tree, "/tmp/a").unwrap().view, View::InPlace);
    assert_eq!(region(&tree, "/tmp/a/b").unwrap().view, View::Mask);
    assert_eq!(permitted(&tree, "/tmp/a/f"), [Read, Write]);
    assert!(permitted(&tree, "/tmp/a/b/c").is_empty());
}

/// The policy grants the host's `/tmp/job` by name, and its ceiling has a scratch at `/tmp`.
fn beneath_a_ceilings_scratch(ceiling_names_it: bool) -> RegionTree {
    let mut plan = plan(&[
        (Effect::Allow, &[Read, Write], "/tmp/job"),
        (Effect::Allow, &[Read, Write], "/tmp"),
        (Effect::Allow, &[Read, Write], "/tmp/job"),
    ]);
    plan.outermost = LayerId(1);
    for rule in &mut plan.rules {
        rule.layer = Some(LayerId(u8::from(rule.rule != RuleId(1))));
    }
    if !ceiling_names_it {
        plan.rules.retain(|rule| rule.rule != RuleId(3));
        for rule in &mut plan.rules {
            rule.yields_to.clear();
        }
    }
    for (layer, size_bytes) in [(1, 4096), (0, 8192)] {
        if layer == 1 || ceiling_names_it {
            plan.scratch.push(Scratch {
                rule: RuleId(2),
                layer: Some(LayerId(layer)),
                path: "/tmp".to_owned(),
                size_bytes,
            });
        }
    }
    regions(&plan, &directories(&["/tmp/job"]))
}

#[test]
fn beneath_a_ceilings_scratch_is_the_scratch_and_not_the_host() {
    let tree = beneath_a_ceilings_scratch(false);
    assert_eq!(region(&tree, "/tmp/job").unwrap().view, View::InPlace);
    assert_eq!(permitted(&tree, "/tmp/job/f"), [Read, Write]);
    assert_eq!(permitted(&tree, "/tmp/f"), []);
    let scratch = region(&tree, "/tmp").unwrap();
    assert_eq!(scratch.view, View::Private(Private::Scratch(4096)));
}

#[test]
fn the_smallest_scratch_is_mounted_and_what_every_layer_names_is_the_hosts() {
    let tree = beneath_a_ceilings_scratch(true);
    assert_eq!(region(&tree, "/tmp/job").unwrap().view, View::Host);
    let scratch = region(&tree, "/tmp").unwrap();
    assert_eq!(scratch.view, View::Private(Private::Scratch(4096)));
}

#[test]
fn mounts_refuse_only_where_landlock_cannot() {
    let plan = plan(&[
        (Effect::Allow, &[Read, Execute], "/usr"),
        (Effect::Allow, &[Read], "/etc"),
        (Effect::Allow, &[Read, Write], "/w"),
        (Effect::Deny, &[Write], "/w/protected"),
        (Effect::Allow, &ALL, "/w/bin"),
    ]);
    let tree = regions(
        &plan,
        &directories(&["/usr", "/etc", "/w", "/w/protected", "/w/bin"]),
    );
    let attributes = |path| region(&tree, path).map(|region| (region.read_only, region.no_exec));
    assert_eq!(attributes("/"), Some((false, false)));
    assert_eq!(attributes("/usr"), None);
    assert_eq!(attributes("/etc"), Some((false, true)));
    assert_eq!(attributes("/w"), Some((false, true)));
    assert_eq!(attributes("/w/protected"), Some((true, true)));
    assert_eq!(attributes("/w/bin"), Some((false, false)));
}
