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
mod tree;

use std::collections::{BTreeMap, HashMap};

use artifact::seccomp::{Architecture, Refusal, SeccompFilter};
use policy_lang::inclusion::Proof;
use policy_lang::policy::{Effect, Policy, RuleId, Subject};
use policy_lang::syscall::{self, SyscallSet, table};
use thiserror::Error;

use decision::{CallDecision, Candidate, decide_call};
use formula::Formula;
pub use graph::Verdict;
use graph::{Graph, Test, Word};

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
    let mut graph = Graph::default();

    let mut calls: Vec<(u32, &'static str)> = table::calls(language)
        .map(|(name, number)| (number, name))
        .collect();
    calls.sort_unstable();
    let about = targets.by_call(language);

    let mut decided: HashMap<&[usize], CallDecision> = HashMap::new();
    let mut decisions: BTreeMap<u32, (&'static str, CallDecision)> = BTreeMap::new();
    for (number, name) in calls {
        let positions = about.get(&number).map_or(&[][..], Vec::as_slice);
        let decision = match decided.get(positions) {
            Some(decision) => decision.clone(),
            None => {
                let decision = targets.decide(&mut graph, positions, name)?;
                decided.insert(positions, decision.clone());
                decision
            }
        };
        decisions.insert(number, (name, decision));
    }
    hide_behind_pointers(&mut graph, &mut decisions, language);

    let unknown = graph.leaf(Verdict::Unknown);
    let count = decisions
        .last_key_value()
        .map_or(0, |(number, _)| number.saturating_add(1));
    let nodes: Vec<_> = (0..count)
        .map(|number| {
            decisions
                .get(&number)
                .map_or(unknown, |(_, decision)| decision.node)
        })
        .collect();
    let calls = tree::build(&mut graph, &nodes, unknown);
    let root = guard(&mut graph, architecture, calls);
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
        refusals: refusals(decisions),
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
fn guard(graph: &mut Graph, architecture: Architecture, calls: graph::NodeId) -> graph::NodeId {
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
fn hide_behind_pointers(
    graph: &mut Graph,
    decisions: &mut BTreeMap<u32, (&'static str, CallDecision)>,
    language: syscall::Architecture,
) {
    let allow = graph.leaf(Verdict::Allow);
    let unknown = graph.leaf(Verdict::Unknown);
    for (hidden, plain) in BEHIND_A_POINTER {
        let plain = table::number(plain, language).and_then(|number| decisions.get(&number));
        let arguments_are_free = plain.is_some_and(|(_, decision)| decision.node == allow);
        let hidden = table::number(hidden, language).and_then(|number| decisions.get_mut(&number));
        if let Some((_, decision)) = hidden
            && !(arguments_are_free && decision.node == allow)
        {
            decision.node = unknown;
        }
    }
}

fn refusals(decisions: BTreeMap<u32, (&'static str, CallDecision)>) -> Vec<Refusal> {
    decisions
        .into_iter()
        .filter(|(_, (_, decision))| !decision.reasons.is_empty())
        .map(|(number, (name, decision))| Refusal {
            number,
            name: name.to_owned(),
            rules: decision
                .reasons
                .into_iter()
                .map(|RuleId(index)| artifact::RuleId(index))
                .collect(),
        })
        .collect()
}

/// The elementary rules about system calls: one for each target of each rule.
struct Targets<'p> {
    list: Vec<(RuleId, Effect, &'p SyscallSet)>,
    /// Whether the set at the first position lies strictly inside the one at the second, once that was asked.
    inside: HashMap<(usize, usize), Option<bool>>,
}

impl<'p> Targets<'p> {
    fn of(policy: &'p Policy) -> Self {
        let list = policy
            .rules
            .iter()
            .filter_map(|rule| match &rule.subject {
                Subject::Syscall { targets } => Some((rule, targets)),
                _ => None,
            })
            .flat_map(|(rule, targets)| targets.iter().map(|target| (rule.id, rule.effect, target)))
            .collect();
        Self {
            list,
            inside: HashMap::new(),
        }
    }

    /// For each number, the positions of the targets that speak of it.
    fn by_call(&self, language: syscall::Architecture) -> HashMap<u32, Vec<usize>> {
        let mut about: HashMap<u32, Vec<usize>> = HashMap::new();
        for (position, (_, _, set)) in self.list.iter().enumerate() {
            for number in set.names.iter().filter_map(|name| table::number(name, language)) {
                about.entry(number).or_default().push(position);
            }
        }
        about
    }

    fn decide(
        &mut self,
        graph: &mut Graph,
        positions: &[usize],
        call: &'static str,
    ) -> Result<CallDecision, GenerateError> {
        let own: Vec<_> = positions
            .iter()
            .filter_map(|position| Some((*position, *self.list.get(*position)?)))
            .collect();
        let too_complex = || GenerateError::TooComplex {
            call,
            rules: own.iter().map(|(_, (rule, ..))| *rule).collect(),
        };
        let mut candidates = Vec::with_capacity(own.len());
        for (at, (rule, effect, set)) in &own {
            let mut yields_to = Vec::new();
            for (position, (other_at, (_, other_effect, other))) in own.iter().enumerate() {
                let matters = match effect {
                    Effect::Forbid => false,
                    Effect::Allow => *other_effect != Effect::Allow,
                    Effect::Deny | Effect::Ask => true,
                };
                if !matters {
                    continue;
                }
                let inside = self
                    .inside
                    .entry((*other_at, *at))
                    .or_insert_with(|| lies_strictly_inside(other, set));
                // A proof that gave up would leave the order of the rules open; better to say so.
                if inside.ok_or_else(too_complex)? {
                    yields_to.push(position);
                }
            }
            candidates.push(Candidate {
                rule: *rule,
                effect: *effect,
                conditions: set.conditions.iter().map(Formula::from_condition).collect(),
                yields_to,
            });
        }
        decide_call(graph, &candidates).map_err(|_| too_complex())
    }
}

/// Whether every call of `inner` is one of `outer`, and not the other way round. `None` if that was not found out.
fn lies_strictly_inside(inner: &SyscallSet, outer: &SyscallSet) -> Option<bool> {
    let forth = outer.includes(inner);
    if forth == Proof::Fails {
        return Some(false);
    }
    match (forth, inner.includes(outer)) {
        (_, Proof::Holds) => Some(false),
        (Proof::Holds, Proof::Fails) => Some(true),
        _ => None,
    }
}
