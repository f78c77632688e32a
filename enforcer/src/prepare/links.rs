//! Hard links: a second name of a denied file is a path of its own, to Landlock and to every mount.
//!
//! A run cannot make such a name (a link is refused where its target would gain rights), but it may find one that
//! was there before. So for each file that a rule refuses and that has more names than the refused ones, the
//! granted trees are searched; a name found there would undo the rule, and the run does not start unless the
//! rule says `permit degraded`.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;

use artifact::Artifact;
use artifact::filesystem::{FileAccess, FileIndex, Node, NodeKind, RegionTree, View};
use artifact::rule::{Effect, Origin, RuleId};

use super::nodes::{PathProblem, record};

/// Directory entries that one start looks at for this.
const MAX_ENTRIES: u64 = 1_000_000;

/// A file with several names, some of them refused.
#[derive(Debug)]
struct Linked {
    rule: RuleId,
    path: String,
    /// Names that are not among the refused ones.
    elsewhere: u64,
}

/// Device and inode.
type FileKey = (u64, u64);

/// Returns the rules that a hard link undoes and that permit it.
pub(super) fn audit(
    artifact: &Artifact,
    tree: &RegionTree,
    nodes: &[Node],
) -> Result<Vec<(RuleId, String)>, PathProblem> {
    let index = FileIndex::new(&artifact.filesystem);
    let mut degraded = Vec::new();
    for access in [FileAccess::Read, FileAccess::Write, FileAccess::Execute] {
        if !super::grants(artifact, access) {
            continue;
        }
        let linked = refused_files(artifact, &index, access, nodes);
        if linked.is_empty() {
            continue;
        }
        for (rule, problem) in granted_names(tree, access, linked) {
            if record(artifact, rule).is_some_and(|record| record.permit_degraded) {
                degraded.push((rule, problem));
            } else {
                return Err(PathProblem::new(artifact, rule, problem));
            }
        }
    }
    Ok(degraded)
}

/// Files with names beyond those that a rule of the policy refuses.
fn refused_files(
    artifact: &Artifact,
    index: &FileIndex<'_>,
    access: FileAccess,
    nodes: &[Node],
) -> BTreeMap<FileKey, Linked> {
    let mut linked: BTreeMap<FileKey, Linked> = BTreeMap::new();
    let refused = |path: &str| match index.decide(access, path) {
        (Effect::Allow, _) => None,
        (_, rule) => record(artifact, rule)
            .filter(|record| record.origin != Origin::BuiltIn)
            .map(|_| rule),
    };
    let mut seen = std::collections::BTreeSet::new();
    for node in nodes
        .iter()
        .filter(|node| node.kind != NodeKind::Special && refused(&node.path).is_some())
    {
        walk(&node.path, &mut |path, found| {
            if !seen.insert(path.to_owned()) {
                return false;
            }
            let Some(rule) = refused(path) else { return true };
            if found.is_file() && found.nlink() > 1 {
                let entry = linked
                    .entry((found.dev(), found.ino()))
                    .or_insert_with(|| Linked {
                        rule,
                        path: path.to_owned(),
                        elsewhere: found.nlink(),
                    });
                entry.elsewhere = entry.elsewhere.saturating_sub(1);
            }
            true
        });
    }
    linked.retain(|_, file| file.elsewhere > 0);
    linked
}

/// Which of these have a name that the run is granted.
fn granted_names(
    tree: &RegionTree,
    access: FileAccess,
    linked: BTreeMap<FileKey, Linked>,
) -> BTreeMap<RuleId, String> {
    let mut problems = BTreeMap::new();
    let granted = tree.landlock.iter().filter(|rule| rule.rights.contains(access));
    for rule in granted {
        let private = tree
            .region_at(&rule.path)
            .is_some_and(|region| matches!(region.view, View::Private(_)));
        if private {
            continue;
        }
        let complete = walk(&rule.path, &mut |path, found| {
            if let Some(file) = linked.get(&(found.dev(), found.ino()))
                && tree.permits(access, path)
            {
                let problem = format!(
                    "{} is also reachable as {path}, a hard link; remove the link",
                    file.path
                );
                problems.entry(file.rule).or_insert(problem);
            }
            true
        });
        if !complete {
            for file in linked.values() {
                let problem = format!(
                    "{} has {} other name(s), and {} is too large to search for them",
                    file.path, file.elsewhere, rule.path,
                );
                problems.entry(file.rule).or_insert(problem);
            }
        }
    }
    problems
}

/// Visits everything at and below a path, without following symbolic links or leaving its file system. A visitor
/// that returns false is not shown what is below. Returns whether everything was visited.
pub(super) fn walk(start: &str, visit: &mut dyn FnMut(&str, &Metadata) -> bool) -> bool {
    let Ok(top) = fs::symlink_metadata(start) else {
        return true;
    };
    let mut entries = 0u64;
    let mut pending = vec![(start.to_owned(), top.clone())];
    while let Some((path, found)) = pending.pop() {
        if !visit(&path, &found) || !found.is_dir() || found.dev() != top.dev() {
            continue;
        }
        let Ok(listing) = fs::read_dir(&path) else {
            continue;
        };
        for entry in listing.flatten() {
            entries += 1;
            if entries > MAX_ENTRIES {
                return false;
            }
            if let (Ok(found), Some(path)) = (entry.metadata(), entry.path().to_str()) {
                pending.push((path.to_owned(), found));
            }
        }
    }
    true
}
