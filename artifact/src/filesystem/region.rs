//! What a run finds where: the mount tree and the Landlock rules, as data.
//!
//! This is the value that the model evaluates ([`RegionTree::permits`]) and that the launcher carries out, so the
//! two cannot drift apart. Landlock rights only flow down and unite; a mount takes write and execute away again
//! below a point; a mask takes everything away. See `Documentation/userspace-api/landlock.rst` and mount_setattr(2).

use serde::{Deserialize, Serialize};

use super::{FileAccess, path};

/// An object that exists when the run starts and that a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Absolute, resolved path.
    pub path: String,
    /// What it is.
    pub kind: NodeKind,
}

/// What can be mounted over an object and which rights apply to it depend on this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NodeKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A FIFO, socket or device: a read-only mount does not stop writing to it.
    Special,
}

/// Accesses that are granted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rights {
    /// [`FileAccess::Read`]
    pub read: bool,
    /// [`FileAccess::Write`]
    pub write: bool,
    /// [`FileAccess::Execute`]
    pub execute: bool,
}

impl Rights {
    /// No access at all.
    pub const NONE: Self = Self {
        read: false,
        write: false,
        execute: false,
    };

    /// Whether `access` is among them.
    #[must_use]
    pub const fn contains(self, access: FileAccess) -> bool {
        match access {
            FileAccess::Read => self.read,
            FileAccess::Write => self.write,
            FileAccess::Execute => self.execute,
        }
    }

    /// Whether every access of `other` is among them.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        (self.read || !other.read) && (self.write || !other.write) && (self.execute || !other.execute)
    }

    /// What either has.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            read: self.read || other.read,
            write: self.write || other.write,
            execute: self.execute || other.execute,
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        !(self.read || self.write || self.execute)
    }
}

/// The plan of a run's file system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionTree {
    /// Mounts to make, each after every region that encloses it. The first is `/`, [`View::Base`].
    pub regions: Vec<Region>,
    /// Landlock rules, to be opened inside the finished mount tree.
    pub landlock: Vec<LandlockRule>,
    /// Where this tree is stricter than the policy: read is refused there while write or execute is granted, and
    /// the only means to refuse read beneath a readable directory is to hide the object.
    pub withheld: Vec<Withheld>,
}

/// A place in the run's mount tree that differs from what encloses it. It is always a mount point, which the run
/// can neither rename nor remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Where.
    pub path: String,
    /// What stands there on the host (or, in a private mount, what has to be made there).
    pub kind: NodeKind,
    /// What the run finds there.
    pub view: View,
    /// What is granted here, in the end. Nothing in a mask.
    pub rights: Rights,
    /// `MOUNT_ATTR_RDONLY`, because a Landlock right to write flows down to here and is not granted here. Where
    /// none does, Landlock refuses and records; whoever owns files there is to be kept from changing their mode or
    /// times by a read-only mount all the same, see [`Self::rights`].
    pub read_only: bool,
    /// `MOUNT_ATTR_NOEXEC`, because execute is not granted where something else is: what can be read can be
    /// mapped as code, and Landlock has no say in that.
    pub no_exec: bool,
    /// For [`View::Mask`] and [`View::Private`]: the directories that lead to regions inside, and the mount
    /// points of those regions, each after its parent. The rest of the place stays empty.
    pub skeleton: Vec<Node>,
}

/// What a region shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum View {
    /// The clone of the host's mount tree that everything else is mounted on. Only `/`.
    Base,
    /// What is visible at this path once the enclosing regions are mounted, bound over itself so that it has its
    /// own attributes and cannot be renamed.
    InPlace,
    /// The host's object at this path, which an enclosing mask or private mount covers. Open it before those are
    /// mounted.
    Host,
    /// Nothing: every look is refused.
    Mask,
    /// A file system of the run's own.
    Private(Private),
}

/// File systems of a run's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Private {
    /// procfs of the run's PID namespace.
    Proc,
    /// `/dev` with the harmless devices, `pts` and `shm`.
    Devices,
    /// An empty tmpfs (`/run`, `/tmp`).
    Empty,
    /// A tmpfs the run may write, with a size limit in bytes.
    Scratch(u64),
}

/// One Landlock path-beneath rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LandlockRule {
    /// The path to open.
    pub path: String,
    /// Rights of directories do not apply to files.
    pub kind: NodeKind,
    /// Never empty.
    pub rights: Rights,
}

/// A place where the run gets less than the policy grants. It is never the other way round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withheld {
    /// Where, and everything beneath it that is no region of its own.
    pub path: String,
    /// What the policy grants there and the run does not get.
    pub rights: Rights,
}

impl RegionTree {
    /// Whether the kernel would let the run do this, once the tree is mounted and the Landlock rules are in force.
    /// `path` is absolute and resolved.
    #[must_use]
    pub fn permits(&self, access: FileAccess, path: &str) -> bool {
        let Some(region) = self.region_at(path) else {
            return false;
        };
        let mounted = match region.view {
            View::Mask => false,
            View::Base | View::InPlace | View::Host | View::Private(_) => match access {
                FileAccess::Read => true,
                FileAccess::Write => !region.read_only,
                FileAccess::Execute => !region.no_exec,
            },
        };
        mounted
            && self
                .landlock
                .iter()
                .any(|rule| rule.rights.contains(access) && path::covers(&rule.path, path))
    }

    /// The innermost region that `path` is in.
    #[must_use]
    pub fn region_at(&self, path: &str) -> Option<&Region> {
        // Enclosing regions come first, so the last one that covers the path is the innermost.
        self.regions
            .iter()
            .rev()
            .find(|region| path::covers(&region.path, path))
    }
}
