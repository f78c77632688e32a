//! The seccomp backend: a policy's rules about system calls as one classic BPF program.
//!
//! ```text
//! rules --precedence--> decision of each call --merge--> tree over numbers --layout--> instructions
//!       decision.rs                            tree.rs                     layout.rs
//! ```
//!
//! A call that is allowed whatever its arguments is answered from `nr` and `arch` alone, so the kernel
//! (`seccomp_is_const_allow` in `kernel/seccomp.c`, since 5.11) caches the answer and never runs the filter
//! for it. A foreign architecture and x32 numbers kill the process: no table speaks of them. Known calls that
//! are refused get `EPERM`; numbers that no table knows get `ENOSYS`, which is what a program expects of an
//! older kernel.
//!
//! The decisions equal `policy_lang::reference::decide`; `tests/seccomp` holds the two together.

pub mod bpf;
pub mod constant_allow;
mod decision;
pub mod disassemble;
mod facts;
mod formula;
mod graph;
pub mod interpret;
mod layout;
mod targets;
mod tree;

use artifact::seccomp::{Architecture, Refusal, SeccompFilter};
use policy_lang::policy::{Policy, RuleId};
use policy_lang::syscall::{self, table};
use thiserror::Error;

pub use graph::Verdict;
use graph::{Graph, NodeId, Test, Word};
use targets::{Decided, Targets};

/// A policy whose system call rules cannot become a filter.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum GenerateError {
    /// The program is longer than the kernel takes.
    #[error(
        "the system call rules need a filter of {instructions} instructions on {architecture}, and the kernel takes \
         at most {}; use fewer argument conditions, or groups in place of single calls with conditions",
        bpf::MAX_INSTRUCTIONS
    )]
    TooLong {
        /// What it would take.
        instructions: usize,
        /// Where.
        architecture: &'static str,
    },
    /// The rules about one call depend on each other in too many ways.
    #[error(
        "the rules about {call:?} combine their argument conditions in too many ways to be decided in a filter; use \
         fewer conditions on it, or make them exclude each other"
    )]
    TooComplex {
        /// The call.
        call: &'static str,
        /// The rules about it.
        rules: Vec<RuleId>,
    },
}

/// Generates the filter of a policy for one architecture.
///
/// The same policy gives the same program, byte for byte.
///
/// # Errors
///
/// When the rules take more than the kernel's 4,096 instructions, or more states than can be told apart.
///
/// # Minimum kernel version
///
/// 4.14, for `SECCOMP_RET_KILL_PROCESS` and logging of refusals.
pub fn generate(policy: &Policy, architecture: Architecture) -> Result<SeccompFilter, GenerateError> {
    generate_from(&mut Targets::of(policy), architecture)
}

/// Generates the filters of every architecture, as [`generate`] does, but compares the rules only once.
///
/// # Errors
///
/// As for [`generate`], the first that occurs.
pub fn generate_all(policy: &Policy) -> Result<Vec<SeccompFilter>, GenerateError> {
    let mut targets = Targets::of(policy);
    [Architecture::X86_64, Architecture::Aarch64]
        .into_iter()
        .map(|architecture| generate_from(&mut targets, architecture))
        .collect()
}

fn generate_from(
    targets: &mut Targets<'_>,
    architecture: Architecture,
) -> Result<SeccompFilter, GenerateError> {
    let language = language_architecture(architecture);
    let calls: Vec<(&'static str, u32)> = table::calls(language).collect();
    let subjects = targets.sort(&calls);

    let mut graph = Graph::default();
    let decided = targets.decide(&mut graph, &subjects, &calls)?;
    let unknown = graph.leaf(Verdict::Unknown);
    let mut nodes = vec![unknown; usize::try_from(table::highest_number(language)).unwrap_or(0) + 1];
    for ((_, number), decision) in calls.iter().zip(decided.each_call()) {
        if let Some(node) = usize::try_from(*number)
            .ok()
            .and_then(|number| nodes.get_mut(number))
        {
            *node = decision.node;
        }
    }
    hide_behind_pointers(&mut graph, &mut nodes, language);

    let tree = tree::build(&mut graph, &nodes, unknown);
    let root = guard(&mut graph, architecture, tree);
    let program = layout::lay_out(&graph, root);
    if program.len() > bpf::MAX_INSTRUCTIONS {
        return Err(GenerateError::TooLong {
            instructions: program.len(),
            architecture: language.name(),
        });
    }
    Ok(SeccompFilter {
        architecture,
        program,
        refusals: refusals(&calls, &decided),
    })
}

/// The language's name for an architecture of the artifact.
#[must_use]
pub const fn language_architecture(architecture: Architecture) -> syscall::Architecture {
    match architecture {
        Architecture::X86_64 => syscall::Architecture::X86_64,
        Architecture::Aarch64 => syscall::Architecture::Aarch64,
    }
}

/// The architecture, then the x32 bit, before any number is looked at: a number means nothing without them.
fn guard(graph: &mut Graph, architecture: Architecture, calls: NodeId) -> NodeId {
    let kill = graph.leaf(Verdict::Kill);
    let ours = match architecture {
        Architecture::X86_64 => {
            // -1 has the bit too, and is what a tracer writes to have the kernel skip a call.
            let unknown = graph.leaf(Verdict::Unknown);
            let x32 = graph.fork(Word::Number, Test::Equal(u32::MAX), unknown, kill);
            graph.fork(Word::Number, Test::AnySet(bpf::X32_BIT), x32, calls)
        }
        Architecture::Aarch64 => calls,
    };
    graph.fork(
        Word::Architecture,
        Test::Equal(bpf::audit_arch(architecture)),
        ours,
        kill,
    )
}

/// Calls that take in memory what a sibling takes in registers.
const BEHIND_A_POINTER: [(&str, &str); 2] = [("clone3", "clone"), ("openat2", "openat")];

/// A filter cannot look behind a pointer. Where the arguments of the plain call are looked at, its younger sibling must
/// seem not to exist: libraries then fall back to the plain one.
fn hide_behind_pointers(graph: &mut Graph, nodes: &mut [NodeId], language: syscall::Architecture) {
    let allow = graph.leaf(Verdict::Allow);
    let unknown = graph.leaf(Verdict::Unknown);
    let position = |name| table::number(name, language).and_then(|number| usize::try_from(number).ok());
    for (hidden, plain) in BEHIND_A_POINTER {
        let plain = position(plain).and_then(|plain| nodes.get(plain).copied());
        let hidden = position(hidden).and_then(|hidden| nodes.get_mut(hidden));
        if let Some(hidden) = hidden
            && !(plain == Some(allow) && *hidden == allow)
        {
            *hidden = unknown;
        }
    }
}

fn refusals(calls: &[(&'static str, u32)], decided: &Decided) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = calls
        .iter()
        .zip(decided.each_call())
        .filter(|(_, decision)| !decision.reasons.is_empty())
        .map(|((name, number), decision)| Refusal {
            number: *number,
            name: (*name).to_owned(),
            rules: decision
                .reasons
                .iter()
                .map(|RuleId(index)| artifact::RuleId(*index))
                .collect(),
        })
        .collect();
    refusals.sort_unstable_by_key(|refusal| refusal.number);
    refusals
}
