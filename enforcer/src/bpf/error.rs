//! Why the BPF side of a run cannot be set up or taken down.

use std::io;
use std::path::{Path, PathBuf};

/// Failures of loading, attaching, pinning and filling tables.
#[derive(Debug, thiserror::Error)]
pub enum BpfError {
    /// Nothing is pinned, or not all of it, or it is of another build.
    #[error("the BPF programs of this instance are not loaded")]
    NotLoaded,
    /// Runs are alive that depend on what is loaded.
    #[error("instance {instance} is in use ({what}): wait for its runs to end, or use another instance")]
    InUse {
        /// The instance.
        instance: String,
        /// By what.
        what: &'static str,
    },
    /// A directory, lock or mount of the state directory.
    #[error("cannot {action} {path}")]
    State {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The embedded object does not load.
    #[error("the kernel does not take the BPF object")]
    Object(#[source] Box<aya::EbpfError>),
    /// The kernel's type information cannot be read.
    #[error("cannot read the kernel's type information (/sys/kernel/btf/vmlinux)")]
    KernelTypes(#[source] Box<aya::BtfError>),
    /// A program is refused by the verifier, or cannot be attached or pinned.
    #[error("cannot {action} the BPF program {program}")]
    Program {
        /// What was tried.
        action: &'static str,
        /// Its name.
        program: String,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// bpf(2) on a map failed.
    #[error("cannot {action} the BPF map {map}")]
    Map {
        /// What was tried.
        action: &'static str,
        /// Its name.
        map: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The tables of the artifact contradict themselves.
    #[error("the policy's network tables are not usable: {0}; compile the policy again")]
    Tables(String),
    /// The cgroup has an entry.
    #[error("cgroup {0} is a run already")]
    Exists(u64),
    /// All ring slots are in use.
    #[error("{0} runs are alive, as many as an instance has rings for: wait for one to end")]
    Rings(u32),
    /// The level of the instance's cgroup is not known.
    #[error(
        "the enforcer must be in the initial cgroup namespace: in this one it cannot know its runs' level"
    )]
    CgroupNamespace,
}

impl BpfError {
    /// For `map_err` on something in the state directory.
    pub(super) fn state(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::State {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// For `map_err` on a map.
    pub(super) fn map(action: &'static str, map: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Map { action, map, source }
    }

    /// For `map_err` on a program.
    pub(super) fn program<E>(action: &'static str, program: &str) -> impl FnOnce(E) -> Self
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        move |source| Self::Program {
            action,
            program: program.to_owned(),
            source: Box::new(source),
        }
    }
}
