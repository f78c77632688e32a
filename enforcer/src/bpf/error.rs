//! Why the BPF side of a run cannot be set up or taken down.

use std::io;
use std::path::PathBuf;

/// Failures of loading, attaching, pinning and filling tables.
#[derive(Debug, thiserror::Error)]
pub enum BpfError {
    /// Nothing is pinned, or not all of it.
    #[error("the BPF programs of this instance are not loaded")]
    NotLoaded,
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
    /// The tables of the artifact do not fit the kernel's.
    #[error("the policy's network tables are not usable: {0}")]
    Tables(String),
    /// All ring slots are in use.
    #[error("{0} runs are alive, as many as this instance has rings for: wait for one to end")]
    Rings(u32),
    /// The level of the instance's cgroup is not known.
    #[error("the enforcer must run in the initial cgroup namespace: cgroup levels are not known in this one")]
    CgroupNamespace,
}
