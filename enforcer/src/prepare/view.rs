//! From the tree of regions to mounts: what is shown from where, under which attributes, with whose ownership.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;

use artifact::filesystem::{Node, NodeKind, Private, Region, RegionTree, Rights, View, path};

use super::{Ids, Means};
use crate::launch::{Mount, Source};
use crate::mask::{MaskKind, MaskTree};
use crate::sys::mount::{NODEV, NOEXEC, NOSUID, RDONLY};

/// A private mount that the run may write and whose size the policy does not say.
const DEFAULT_BYTES: u64 = 256 << 20;
/// A private mount that stays as it is.
const EMPTY_BYTES: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Laid {
    pub(super) masks: MaskTree,
    pub(super) base_attributes: u64,
    pub(super) mounts: Vec<Mount>,
}

/// Lays the run's mounts out, enclosing ones first.
///
/// Looks at masks are recorded where the host has FUSE; elsewhere an empty, closed place stands in.
pub(super) fn lay_out(tree: &RegionTree, ids: Ids, means: Means) -> Laid {
    let sealed = sealed(ids, means);
    let regions = refine(tree, ids, sealed);
    let mut masks = MaskTree::default();
    let mut base_attributes = NOSUID | NODEV;
    let mut mounts = Vec::with_capacity(regions.len());
    for refined in &regions {
        let region = &refined.region;
        let attributes = attributes(refined, sealed);
        let source = match region.view {
            View::Base => {
                base_attributes = attributes;
                continue;
            }
            View::InPlace if inside_private(&regions, &region.path) => Source::Visible,
            View::InPlace | View::Host => Source::Host,
            View::Mask if means.fuse => Source::Mask(mask(&mut masks, region)),
            View::Mask => Source::Empty,
            View::Private(Private::Proc) => Source::Proc,
            View::Private(Private::Devices) => Source::Devices,
            View::Private(Private::Empty) if region.rights.write => Source::Tmpfs {
                size_bytes: DEFAULT_BYTES,
                mode: 0o1777,
            },
            View::Private(Private::Empty) => Source::Tmpfs {
                size_bytes: EMPTY_BYTES,
                mode: 0o755,
            },
            View::Private(Private::Scratch(size_bytes)) => Source::Tmpfs {
                size_bytes,
                mode: 0o1777,
            },
        };
        mounts.push(Mount {
            path: region.path.clone(),
            kind: region.kind,
            source,
            attributes,
            owner: refined.owner,
            skeleton: region.skeleton.clone(),
        });
    }
    Laid {
        masks,
        base_attributes,
        mounts,
    }
}

/// A region, and whose files in it are shown as the run's own.
struct Refined {
    region: Region,
    owner: Option<(u32, u32)>,
}

/// Adds what depends on the run's user id: a mount wherever owners have to be mapped or a stricter base would
/// take a grant away, and a passage through directories that this user may not search.
fn refine(tree: &RegionTree, ids: Ids, sealed: bool) -> Vec<Refined> {
    let mut regions: Vec<Region> = tree.regions.clone();
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    for rule in &tree.landlock {
        let is_region = tree.regions.iter().any(|region| region.path == rule.path);
        let on_host = tree
            .region_at(&rule.path)
            .is_some_and(|region| !matches!(region.view, View::Private(_)));
        if !is_region && on_host && needs_own_mount(&rule.path, rule.rights, ids, sealed) {
            wanted.insert(&rule.path);
        }
    }
    for path in wanted {
        let rule = tree.landlock.iter().find(|rule| rule.path == path);
        let enclosing = tree.region_at(path);
        if let Some((rule, enclosing)) = rule.zip(enclosing) {
            regions.push(Region {
                path: path.to_owned(),
                kind: rule.kind,
                view: if matches!(enclosing.view, View::Mask) {
                    View::Host
                } else {
                    View::InPlace
                },
                rights: rule.rights,
                read_only: enclosing.read_only,
                no_exec: enclosing.no_exec,
                skeleton: Vec::new(),
            });
        }
    }
    regions.sort_by(|left, right| path::compare(&left.path, &right.path));
    if ids.dynamic {
        regions = with_passages(regions, tree);
    }
    let mut refined: Vec<Refined> = Vec::with_capacity(regions.len());
    for region in regions {
        let owner = match region.view {
            View::InPlace | View::Host => {
                // Inside a place whose owner is mapped, files look foreign unless they are mapped too.
                let within = refined
                    .iter()
                    .rev()
                    .find(|outer| path::covers(&outer.region.path, &region.path));
                let within = within.is_some_and(|outer| outer.owner.is_some());
                mapped_owner(&region.path, region.rights, ids, within)
            }
            View::Base | View::Mask | View::Private(_) => None,
        };
        refined.push(Refined { region, owner });
    }
    refined
}

/// Whether everything that may not be written is read-only: where the run's user may own files, whose modes and times
/// Landlock does not protect, and where Landlock does not protect their length.
const fn sealed(ids: Ids, means: Means) -> bool {
    !ids.dynamic || !means.truncation
}

fn needs_own_mount(path: &str, rights: Rights, ids: Ids, sealed: bool) -> bool {
    mapped_owner(path, rights, ids, false).is_some() || (rights.write && sealed)
}

/// For a dynamic identity: the owner whose files the run is to have as its own. That is the owner of whatever
/// it may write, and of what it may read although the mode keeps others out.
fn mapped_owner(path: &str, rights: Rights, ids: Ids, within: bool) -> Option<(u32, u32)> {
    if !ids.dynamic || rights.is_empty() {
        return None;
    }
    let found = std::fs::symlink_metadata(path).ok()?;
    if !(found.is_dir() || found.is_file()) {
        return None;
    }
    let others = found.mode() & 0o7;
    let closed = (rights.read && others & 4 == 0) || (found.is_dir() && others & 1 == 0);
    (rights.write || closed || within).then_some((found.uid(), found.gid()))
}

/// Covers each directory that the run's user may not search and that leads to a grant with a mask that has only
/// the way through.
fn with_passages(regions: Vec<Region>, tree: &RegionTree) -> Vec<Region> {
    let mut closed: BTreeSet<&str> = BTreeSet::new();
    // Most rules have their directories in common.
    let mut searchable: BTreeMap<&str, bool> = BTreeMap::new();
    for rule in &tree.landlock {
        let outermost = path::ancestors(&rule.path)
            .skip(1)
            .filter(|above| !*searchable.entry(above).or_insert_with(|| may_search(above)))
            .last();
        closed.extend(outermost.filter(|above| is_bare(tree, above)));
    }
    if closed.is_empty() {
        return regions;
    }
    let beneath = |path: &str| {
        closed
            .iter()
            .any(|above| *above != path && path::covers(above, path))
    };
    let mut all: Vec<Region> = regions
        .into_iter()
        .filter(|region| !closed.contains(region.path.as_str()))
        .map(|mut region| {
            if beneath(&region.path) && region.view == View::InPlace {
                region.view = View::Host;
            }
            region
        })
        .collect();
    for rule in &tree.landlock {
        if beneath(&rule.path) && !all.iter().any(|region| region.path == rule.path) {
            let enclosing = tree.region_at(&rule.path);
            all.push(Region {
                path: rule.path.clone(),
                kind: rule.kind,
                view: View::Host,
                rights: rule.rights,
                read_only: enclosing.is_some_and(|region| region.read_only),
                no_exec: enclosing.is_some_and(|region| region.no_exec),
                skeleton: Vec::new(),
            });
        }
    }
    for above in closed {
        let skeleton = skeleton(above, &all);
        all.push(Region {
            path: above.to_owned(),
            kind: NodeKind::Directory,
            view: View::Mask,
            rights: Rights::NONE,
            read_only: true,
            no_exec: true,
            skeleton,
        });
    }
    all.sort_by(|left, right| path::compare(&left.path, &right.path));
    all
}

/// Nothing is granted at this directory itself, and it is the host's.
fn is_bare(tree: &RegionTree, directory: &str) -> bool {
    directory != "/"
        && tree
            .region_at(directory)
            .is_some_and(|region| matches!(region.view, View::Base | View::InPlace))
        && !tree
            .landlock
            .iter()
            .any(|rule| path::covers(&rule.path, directory))
}

fn may_search(directory: &str) -> bool {
    std::fs::metadata(directory).is_ok_and(|found| found.mode() & 1 == 1)
}

/// The ways from a covered directory to the mounts inside it.
fn skeleton(above: &str, regions: &[Region]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut inside: Vec<&Region> = regions
        .iter()
        .filter(|region| region.path != above && path::covers(above, &region.path))
        .collect();
    inside.sort_by(|left, right| path::compare(&left.path, &right.path));
    let mut covered: Option<&str> = None;
    for region in inside {
        if covered.is_some_and(|mount| path::covers(mount, &region.path)) {
            continue;
        }
        covered = Some(&region.path);
        nodes.push(Node {
            path: region.path.clone(),
            kind: region.kind,
        });
    }
    nodes
}

fn inside_private(regions: &[Refined], path: &str) -> bool {
    regions
        .iter()
        .rev()
        .filter(|refined| refined.region.path != path && path::covers(&refined.region.path, path))
        .any(|refined| matches!(refined.region.view, View::Private(_)))
}

fn attributes(refined: &Refined, sealed: bool) -> u64 {
    let region = &refined.region;
    // Whoever owns files could change their modes and times, which Landlock does not see.
    let sealed = sealed || refined.owner.is_some();
    let read_only = region.read_only || (sealed && !region.rights.write);
    let mut attributes = NOSUID;
    if !path::covers("/dev", &region.path) {
        attributes |= NODEV;
    }
    if read_only {
        attributes |= RDONLY;
    }
    if region.no_exec {
        attributes |= NOEXEC;
    }
    attributes
}

fn mask(masks: &mut MaskTree, region: &Region) -> String {
    let name = masks.add_mask(&region.path, mask_kind(region.kind));
    for node in &region.skeleton {
        masks.add_passage(&name, &node.path, mask_kind(node.kind));
    }
    name
}

const fn mask_kind(kind: NodeKind) -> MaskKind {
    match kind {
        NodeKind::Directory => MaskKind::Directory,
        NodeKind::File | NodeKind::Special => MaskKind::File,
    }
}
