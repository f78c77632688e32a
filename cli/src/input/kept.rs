//! A policy that was compiled before, from the same of everything, is not compiled again.
//!
//! Every stage is pure, so the same inputs give the same bytes. Inputs are: this program, the policy's text and name, what
//! the caller bound, and what the file system answered. All but the last make the name under which an artifact is kept;
//! the answers are kept with it, and asked for again before it is used.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use artifact::{Artifact, Digest, codec};
use enforcer::Kept;
use policy_lang::host::{HostTree, Root};
use policy_lang::loader::{LoadError, Loader};
use policy_lang::resolve::Resolution;
use policy_lang::{PathResolver, SourceFile};
use serde::{Deserialize, Serialize};

use super::Given;

/// What is kept of one compilation.
#[derive(Serialize, Deserialize)]
struct Entry<'a> {
    paths: BTreeMap<String, Answer>,
    /// Files beneath the policy root, and what stands for their content.
    files: BTreeMap<String, String>,
    digest: Digest,
    /// As [`codec::pack`] gives it.
    artifact: &'a [u8],
}

/// [`Resolution`], where it is one that a policy can be compiled with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Answer {
    Present { path: String, link: bool },
    Absent { path: String },
    Unknown,
}

impl From<&Resolution> for Answer {
    fn from(resolution: &Resolution) -> Self {
        match resolution {
            Resolution::Present { path, link } => Self::Present {
                path: path.clone(),
                link: *link,
            },
            Resolution::Absent { path } => Self::Absent { path: path.clone() },
            Resolution::Unknown { .. } => Self::Unknown,
        }
    }
}

/// The file system, and what it was asked.
pub(super) struct Witness<'a> {
    tree: HostTree,
    root: &'a Root,
    paths: RefCell<BTreeMap<String, Answer>>,
    files: RefCell<BTreeMap<String, String>>,
}

impl<'a> Witness<'a> {
    pub(super) fn new(root: &'a Root) -> Self {
        Self {
            tree: HostTree::default(),
            root,
            paths: RefCell::default(),
            files: RefCell::default(),
        }
    }
}

impl Loader for Witness<'_> {
    fn load(&self, name: &str) -> Result<SourceFile, LoadError> {
        let loaded = self.root.load(name);
        self.files.borrow_mut().insert(name.to_owned(), content(&loaded));
        loaded
    }
}

/// Stands for what loading gave. A failure makes a diagnostic, so it is never compared.
fn content(loaded: &Result<SourceFile, LoadError>) -> String {
    match loaded {
        Ok(source) => Kept::name([source.name.as_bytes(), source.text.as_bytes()]),
        Err(error) => error.to_string(),
    }
}

impl PathResolver for Witness<'_> {
    fn resolve(&self, path: &str) -> Resolution {
        let resolution = self.tree.resolve(path);
        self.paths
            .borrow_mut()
            .insert(path.to_owned(), Answer::from(&resolution));
        resolution
    }
}

/// Where the artifact of these inputs is kept.
pub(super) struct Place<'a> {
    kept: &'a Kept,
    name: String,
}

impl<'a> Place<'a> {
    /// Nothing when this program cannot tell itself from another.
    pub(super) fn of(kept: &'a Kept, source: &SourceFile, given: &Given) -> Option<Self> {
        let program = std::fs::metadata("/proc/self/exe").ok()?;
        let program: Vec<u8> = [program.dev(), program.ino(), program.size()]
            .into_iter()
            .map(u64::cast_signed)
            .chain([program.mtime(), program.mtime_nsec()])
            .chain([program.ctime(), program.ctime_nsec()])
            .flat_map(i64::to_le_bytes)
            .collect();
        let mut inputs: Vec<&[u8]> = vec![
            &program,
            source.name.as_bytes(),
            source.text.as_bytes(),
            given.home.as_bytes(),
            given.working_directory.as_bytes(),
        ];
        for (name, value) in &given.parameters {
            inputs.extend([name.as_bytes(), value.as_bytes()]);
        }
        Some(Self {
            kept,
            name: Kept::name(inputs),
        })
    }

    /// What was compiled before, if the file system still answers as it did.
    pub(super) fn artifact(&self, root: impl FnOnce() -> anyhow::Result<Root>) -> Option<Artifact> {
        let bytes = self.kept.get(&self.name)?;
        let entry: Entry<'_> = postcard::from_bytes(&bytes).ok()?;
        let tree = HostTree::default();
        let same = |(path, answer): (&String, &Answer)| Answer::from(&tree.resolve(path)) == *answer;
        if !entry.paths.iter().all(same) {
            return None;
        }
        if !entry.files.is_empty() {
            let root = root().ok()?;
            let mut files = entry.files.iter();
            if !files.all(|(name, known)| content(&root.load(name)) == *known) {
                return None;
            }
        }
        codec::unpack(entry.artifact, entry.digest).ok()
    }

    /// Keeps what was compiled. It is made again if that fails.
    pub(super) fn keep(&self, witness: Witness<'_>, artifact: &Artifact) {
        let entry = Entry {
            paths: witness.paths.into_inner(),
            files: witness.files.into_inner(),
            digest: artifact.digest(),
            artifact: &codec::pack(artifact),
        };
        let kept = postcard::to_stdvec(&entry)
            .map_err(std::io::Error::other)
            .and_then(|bytes| self.kept.put(&self.name, &bytes));
        if let Err(error) = kept {
            tracing::debug!(%error, "the compiled policy is not kept");
        }
    }
}
