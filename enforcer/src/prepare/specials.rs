//! FIFOs and sockets in places that may not be written: a read-only mount does not stop writing to them, and Landlock's
//! right to write flows down to them. Each that is there when a run starts gets a mask of its own.

use artifact::Artifact;
use artifact::filesystem::{FileAccess, FileIndex, Node, NodeKind, RegionTree, View, path};

use super::links::walk;
use super::nodes::{PathProblem, record};

/// Each becomes a mount.
const MAX_SPECIALS: usize = 4_096;

/// Returns what the tree has to be told of, and nothing when no grant to write is taken back anywhere.
pub(super) fn in_read_only_places(artifact: &Artifact, tree: &RegionTree) -> Result<Vec<Node>, PathProblem> {
    let mut specials: Vec<Node> = Vec::new();
    for place in &tree.regions {
        if !place.read_only || place.kind != NodeKind::Directory || !shows_host(tree, &place.path) {
            continue;
        }
        let complete = walk(&place.path, &mut |path, found| {
            let enclosing = tree.region_at(path);
            let kind = found.file_type();
            if !(kind.is_dir() || kind.is_file() || kind.is_symlink())
                && enclosing.is_some_and(|region| region.path == place.path)
            {
                specials.push(Node {
                    path: path.to_owned(),
                    kind: NodeKind::Special,
                });
            }
            true
        });
        if !complete || specials.len() > MAX_SPECIALS {
            let (_, rule) = FileIndex::new(&artifact.filesystem).decide(FileAccess::Write, &place.path);
            if record(artifact, rule).is_some_and(|record| record.permit_degraded) {
                continue;
            }
            let problem = format!(
                "{} is too large to search for FIFOs and sockets, which a read-only mount does not close; name a smaller place",
                place.path
            );
            return Err(PathProblem::new(artifact, rule, problem));
        }
    }
    Ok(specials)
}

/// Whether the run sees the host's objects at `place`.
fn shows_host(tree: &RegionTree, place: &str) -> bool {
    let shown = tree
        .regions
        .iter()
        .rev()
        .filter(|region| path::covers(&region.path, place));
    for region in shown {
        match region.view {
            View::InPlace => {}
            View::Base | View::Host => return true,
            View::Mask | View::Private(_) => return false,
        }
    }
    false
}
