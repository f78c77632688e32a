//! The files domain as data: who may read, write and execute what, and which private file systems a run gets.
//!
//! Paths in an artifact are absolute and were resolved when it was compiled: no component of a literal is a
//! symbolic link. The enforcer opens them with `RESOLVE_NO_SYMLINKS` and refuses when that changed. A glob is
//! matched when the run starts.

pub mod glob;
mod index;
pub mod path;
mod plan;
mod region;

use serde::{Deserialize, Serialize};

use crate::rule::{Effect, LayerId, RuleId};

pub use index::FileIndex;
pub use plan::{PRIVATE, regions};
pub use region::{LandlockRule, Node, NodeKind, Private, Region, RegionTree, Rights, View, Withheld};

/// Everything the mount plan and the Landlock rule set are made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesystemPlan {
    /// Elementary rules: one access, one pattern each. A rule with two verbs and three paths is six of these.
    pub rules: Vec<PathRule>,
    /// The last of the layers that decide, with rules or without.
    pub outermost: LayerId,
    /// Private tmpfs mounts with a size limit. Where several layers have one at a path, it is one mount, as large as
    /// the smallest of them.
    pub scratch: Vec<Scratch>,
}

/// One access to one set of paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathRule {
    /// The rule this came from.
    pub rule: RuleId,
    /// Its effect.
    pub effect: Effect,
    /// The layer it is a rule of; of every layer where there is none.
    pub layer: Option<LayerId>,
    /// The access it speaks of.
    pub access: FileAccess,
    /// The paths it speaks of: each match and, where that is a directory, everything beneath it.
    pub pattern: PathPattern,
    /// A literal that does not exist is skipped (and reported) instead of refused.
    pub if_present: bool,
    /// Indices into [`FilesystemPlan::rules`] of rules this one yields to: same access, a common layer, and a set of
    /// paths strictly inside this one's. A set inside a listed set need not be listed: what is in it is in the listed one too.
    /// Ascending.
    pub yields_to: Vec<u32>,
}

/// The three accesses of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FileAccess {
    /// Open for reading, list a directory.
    Read,
    /// Open for writing, truncate, create, remove, rename, link; change mode, owner, times or attributes.
    Write,
    /// Start as a program, or map as code.
    Execute,
}

/// A set of absolute paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PathPattern {
    /// This path and everything beneath it. Bytes that are not UTF-8 cannot be written in a policy.
    Literal(String),
    /// Paths that match, and everything beneath them. In one component `*` is any run of characters, `?` is
    /// one, `[abc]`/`[a-z]`/`[!a]` is a class; a component `**` is any number of components, none included.
    /// `\` takes the next character as it is.
    Glob(String),
}

/// A private, empty, size-limited tmpfs, writable by the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scratch {
    /// The rule (`scratch` statement) this came from.
    pub rule: RuleId,
    /// Its layer.
    pub layer: Option<LayerId>,
    /// Absolute mount point.
    pub path: String,
    /// Size limit in bytes.
    pub size_bytes: u64,
}

/// Decides one access to one path. To decide many, keep a [`FileIndex`].
#[must_use]
pub fn decide(plan: &FilesystemPlan, access: FileAccess, path: &str) -> (Effect, RuleId) {
    FileIndex::new(plan).decide(access, path)
}
