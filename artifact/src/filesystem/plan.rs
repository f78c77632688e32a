//! From rules and the objects that exist to the mount tree and the Landlock rules.
//!
//! What is decided for a path depends only on the rules that match it or a directory above it. So with one node
//! for every literal and every match of a glob, a path is decided like the innermost node that covers it, and it
//! is enough to make the run's tree right at the nodes.

use std::collections::{BTreeMap, BTreeSet};

use super::region::{LandlockRule, Node, NodeKind, Private, Region, RegionTree, Rights, View, Withheld};
use super::{FileIndex, FilesystemPlan, path};

/// Where every run has a file system of its own, whatever its policy says. What the policy grants there is
/// granted on that file system; a host path beneath `/run` or `/tmp` appears where a rule allows it by name.
pub const PRIVATE: [(&str, Private); 4] = [
    ("/dev", Private::Devices),
    ("/proc", Private::Proc),
    ("/run", Private::Empty),
    ("/tmp", Private::Empty),
];

/// Computes the tree for a plan.
///
/// `nodes` are the literals of the plan that exist and every object that a glob of the plan matches, with what
/// they are; their order does not matter. Literals that are not among them do not exist.
#[must_use]
pub fn regions(plan: &FilesystemPlan, nodes: &[Node]) -> RegionTree {
    let index = FileIndex::new(plan);
    let mut tree = Builder::default();
    for site in sites(plan, &index, nodes) {
        tree.visit(&index, &site);
    }
    tree.pin();
    tree.finish()
}

/// A node, and how it comes to be in the run's tree.
struct Site<'a> {
    path: &'a str,
    kind: NodeKind,
    /// It is on the host.
    exists: bool,
    private: Option<Private>,
}

/// Every place at which something has to be decided, enclosing ones first.
fn sites<'a>(plan: &'a FilesystemPlan, index: &FileIndex<'a>, nodes: &'a [Node]) -> Vec<Site<'a>> {
    let mut private: BTreeMap<&str, Private> = PRIVATE.into_iter().collect();
    for scratch in &plan.scratch {
        // Of the sizes that several layers give to one, the smallest holds.
        let smallest = match private.get(scratch.path.as_str()) {
            Some(Private::Scratch(other)) => scratch.size_bytes.min(*other),
            _ => scratch.size_bytes,
        };
        private.insert(&scratch.path, Private::Scratch(smallest));
    }
    let mut sites: BTreeMap<&str, Site<'a>> = BTreeMap::new();
    let mut add = |path, kind, exists| {
        sites.entry(path).or_insert(Site {
            path,
            kind,
            exists,
            private: private.get(path).copied(),
        });
    };
    add("/", NodeKind::Directory, true);
    for path in private.keys() {
        add(path, NodeKind::Directory, true);
    }
    for node in nodes {
        add(&node.path, node.kind, true);
    }
    // A path that is not there yet can only come to be in a private mount, so only there it needs a place.
    for literal in index.literals() {
        if private.keys().any(|mount| path::covers(mount, literal)) {
            add(literal, NodeKind::Directory, false);
        }
    }
    let mut sites: Vec<_> = sites.into_values().collect();
    sites.sort_by(|left, right| path::compare(left.path, right.path));
    sites
}

#[derive(Default)]
struct Builder {
    regions: Vec<Region>,
    landlock: Vec<LandlockRule>,
    withheld: Vec<Withheld>,
    /// The sites above the current one.
    open: Vec<Frame>,
}

struct Frame {
    path: String,
    /// Innermost region here, an index into `Builder::regions`.
    region: usize,
    /// Landlock rights that hold here and below.
    flow: Rights,
}

/// What a site becomes.
enum Outcome {
    /// Like what encloses it, but for a Landlock rule.
    Same,
    /// Not there at all.
    Absent,
    /// A region of its own.
    Region(View),
}

impl Builder {
    fn visit(&mut self, index: &FileIndex<'_>, site: &Site<'_>) {
        while self
            .open
            .pop_if(|frame| !path::covers(&frame.path, site.path))
            .is_some()
        {}
        let rights = index.rights(site.path);
        let (enclosing, flow) = self
            .open
            .last()
            .map_or((0, Rights::NONE), |frame| (frame.region, frame.flow));
        let hidden =
            (flow.read && !rights.read) || (site.kind == NodeKind::Special && flow.write && !rights.write);
        let outcome = match self.regions.get(enclosing) {
            None => Outcome::Region(View::Base),
            Some(enclosing) => outcome(index, site, rights, flow, enclosing),
        };
        if hidden && !rights.is_empty() && !matches!(outcome, Outcome::Absent) {
            self.withheld.push(Withheld {
                path: site.path.to_owned(),
                rights,
            });
        }
        let region = match outcome {
            Outcome::Absent => return,
            Outcome::Same => enclosing,
            Outcome::Region(view) => {
                self.regions.push(region(site, view, rights, flow));
                self.regions.len() - 1
            }
        };
        let grants = !hidden && !flow.includes(rights);
        if grants {
            self.landlock.push(LandlockRule {
                path: site.path.to_owned(),
                kind: site.kind,
                rights,
            });
        }
        self.open.push(Frame {
            path: site.path.to_owned(),
            region,
            flow: if grants { flow.union(rights) } else { flow },
        });
    }

    /// Makes the directories between a writable region and a stricter one inside it mount points too: otherwise
    /// the run could rename one of them away and make the stricter path anew, without its restriction.
    fn pin(&mut self) {
        let mut pins: BTreeSet<String> = BTreeSet::new();
        let by_path: BTreeMap<&str, &Region> = self.regions.iter().map(|r| (r.path.as_str(), r)).collect();
        for region in &self.regions {
            let mut candidates = Vec::new();
            let mut enclosed = Vec::new();
            for ancestor in path::ancestors(&region.path).skip(1) {
                let Some(above) = by_path.get(ancestor) else {
                    candidates.push(ancestor);
                    continue;
                };
                // The directories passed since the last region lie in this one.
                let between = std::mem::take(&mut candidates);
                if is_writable(above) {
                    enclosed.extend(between);
                }
                if is_writable(above) && takes_away(above, region) {
                    pins.extend(enclosed.iter().map(|path: &&str| (*path).to_owned()));
                }
            }
        }
        let pins: Vec<Region> = pins
            .into_iter()
            .filter_map(|path| {
                let above = path::ancestors(&path).find_map(|above| by_path.get(above))?;
                Some(Region {
                    kind: NodeKind::Directory,
                    view: View::InPlace,
                    rights: above.rights,
                    read_only: above.read_only,
                    no_exec: above.no_exec,
                    skeleton: Vec::new(),
                    path,
                })
            })
            .collect();
        self.regions.extend(pins);
        self.regions
            .sort_by(|left, right| path::compare(&left.path, &right.path));
    }

    /// Fills in the skeletons of masks and private mounts.
    fn finish(mut self) -> RegionTree {
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.regions.len() {
            let Some(region) = self.regions.get(at) else { break };
            let (path, kind) = (region.path.clone(), region.kind);
            while open
                .pop_if(|above| {
                    !self
                        .regions
                        .get(*above)
                        .is_some_and(|r| path::covers(&r.path, &path))
                })
                .is_some()
            {}
            // What is bound in place shows the same objects, so what it encloses has to be made further up.
            let maker = open.iter().rev().copied().find(|above| {
                self.regions
                    .get(*above)
                    .is_some_and(|region| region.view != View::InPlace)
            });
            if let Some(maker) = maker.and_then(|maker| self.regions.get_mut(maker))
                && starts_empty(maker.view)
            {
                extend_skeleton(maker, &path, kind);
            }
            open.push(at);
        }
        RegionTree {
            regions: self.regions,
            landlock: self.landlock,
            withheld: self.withheld,
        }
    }
}

fn outcome(
    index: &FileIndex<'_>,
    site: &Site<'_>,
    rights: Rights,
    flow: Rights,
    enclosing: &Region,
) -> Outcome {
    let hidden = is_hidden(site, rights, flow);
    match enclosing.view {
        View::Mask if hidden => Outcome::Same,
        View::Mask => match site.private {
            Some(private) => Outcome::Region(View::Private(private)),
            None if site.exists && !index.is_replaced(site.path) => Outcome::Region(View::Host),
            None => Outcome::Absent,
        },
        _ if hidden && !starts_empty(enclosing.view) => Outcome::Region(View::Mask),
        _ if let Some(private) = site.private => Outcome::Region(if hidden {
            View::Mask
        } else {
            View::Private(private)
        }),
        View::Private(Private::Empty | Private::Scratch(_)) => {
            let stricter = is_writable(enclosing)
                && index.exactly(site.path).next().is_some()
                && (hidden || !rights.write || (enclosing.rights.execute && !rights.execute));
            if !hidden && site.exists && index.grants_by_name(site.path) && !index.is_replaced(site.path) {
                Outcome::Region(View::Host)
            } else if stricter && (hidden || rights.is_empty()) {
                Outcome::Region(View::Mask)
            } else if stricter || (!enclosing.rights.includes(rights) && index.is_replaced(site.path)) {
                // In place of the host's object stands one that is made in the scratch.
                Outcome::Region(View::InPlace)
            } else {
                Outcome::Absent
            }
        }
        View::Private(Private::Proc | Private::Devices) | View::Base | View::InPlace | View::Host => {
            let own = region(site, View::InPlace, rights, flow);
            // A device or a FIFO has no use for `noexec`, and `/dev/null` needs no mount to be written.
            let differs = own.read_only != enclosing.read_only
                || site.kind != NodeKind::Special
                    && (own.rights.write != enclosing.rights.write || own.no_exec != enclosing.no_exec);
            if !site.exists {
                Outcome::Absent
            } else if differs {
                Outcome::Region(View::InPlace)
            } else {
                Outcome::Same
            }
        }
    }
}

const fn starts_empty(view: View) -> bool {
    matches!(
        view,
        View::Mask | View::Private(Private::Empty | Private::Scratch(_))
    )
}

/// Whether only a mask will do: nothing else stops reads that flow down, and a read-only mount does not stop writes
/// to FIFOs, sockets and devices.
fn is_hidden(site: &Site<'_>, rights: Rights, flow: Rights) -> bool {
    (flow.read && !rights.read) || (site.kind == NodeKind::Special && flow.write && !rights.write)
}

fn region(site: &Site<'_>, view: View, rights: Rights, flow: Rights) -> Region {
    let rights = if view == View::Mask { Rights::NONE } else { rights };
    let something = rights.read || rights.write || flow.execute;
    Region {
        path: site.path.to_owned(),
        kind: site.kind,
        view,
        rights,
        read_only: flow.write && !rights.write,
        no_exec: something && !rights.execute,
        skeleton: Vec::new(),
    }
}

const fn is_writable(region: &Region) -> bool {
    region.rights.write
}

const fn takes_away(above: &Region, region: &Region) -> bool {
    (above.rights.write && !region.rights.write)
        || (above.rights.execute && !region.rights.execute)
        || matches!(region.view, View::Mask)
}

/// Adds `path` and the directories that lead to it.
fn extend_skeleton(enclosing: &mut Region, path: &str, kind: NodeKind) {
    let mut missing = vec![Node {
        path: path.to_owned(),
        kind,
    }];
    for ancestor in path::ancestors(path).skip(1) {
        if ancestor == enclosing.path {
            break;
        }
        missing.push(Node {
            path: ancestor.to_owned(),
            kind: NodeKind::Directory,
        });
    }
    while let Some(node) = missing.pop() {
        if !enclosing
            .skeleton
            .iter()
            .rev()
            .any(|known| known.path == node.path)
        {
            enclosing.skeleton.push(node);
        }
    }
}
