//! The decision graph: what a filter computes, before it is laid out as instructions.
//!
//! A node looks at one 32-bit word of `struct seccomp_data` and goes one of two ways; a leaf is a verdict.
//! Equal nodes are one node, so two calls whose decisions end alike share that end.

use std::collections::HashMap;

use super::bpf;

/// What the filter answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The call happens.
    Allow,
    /// The call is known and refused: `EPERM`.
    Refuse,
    /// The call is newer than the table, or must look so: `ENOSYS`.
    Unknown,
    /// A foreign architecture or x32: the process dies.
    Kill,
}

impl Verdict {
    /// The value the filter returns for it.
    #[must_use]
    pub const fn action(self) -> u32 {
        match self {
            Self::Allow => bpf::ALLOW,
            Self::Refuse => bpf::ERRNO | bpf::EPERM,
            Self::Unknown => bpf::ERRNO | bpf::ENOSYS,
            Self::Kill => bpf::KILL_PROCESS,
        }
    }
}

/// A word of `struct seccomp_data`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Word {
    /// `nr`.
    Number,
    /// `arch`.
    Architecture,
    /// Low half of an argument.
    Low(u8),
    /// High half of an argument.
    High(u8),
}

impl Word {
    /// Where it lies. Both architectures are little-endian: the low half comes first.
    pub(super) const fn offset(self) -> u32 {
        match self {
            Self::Number => bpf::NUMBER_OFFSET,
            Self::Architecture => bpf::ARCHITECTURE_OFFSET,
            Self::Low(argument) => bpf::ARGUMENTS_OFFSET + 8 * argument as u32,
            Self::High(argument) => bpf::ARGUMENTS_OFFSET + 8 * argument as u32 + 4,
        }
    }
}

/// A question about a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Test {
    /// `word == k`
    Equal(u32),
    /// `word >= k`
    AtLeast(u32),
    /// `word & k != 0`
    AnySet(u32),
    /// `word & mask == value`
    Masked {
        /// Mask.
        mask: u32,
        /// Value.
        value: u32,
    },
}

/// Index of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(u32);

impl NodeId {
    /// As an index into a table with one slot for each node.
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// An answer.
    Leaf(Verdict),
    /// A fork.
    Fork {
        /// What is looked at.
        word: Word,
        /// What is asked.
        test: Test,
        /// Where a yes leads.
        yes: NodeId,
        /// Where a no leads.
        no: NodeId,
    },
}

/// All nodes; children come before their parents.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    index: HashMap<Node, NodeId>,
}

impl Graph {
    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node behind an id.
    pub(super) fn node(&self, id: NodeId) -> Node {
        // Ids come from `intern` alone. Should that ever be broken, a kill is the safe answer.
        self.nodes
            .get(id.index())
            .copied()
            .unwrap_or(Node::Leaf(Verdict::Kill))
    }

    /// The leaf for a verdict.
    pub(super) fn leaf(&mut self, verdict: Verdict) -> NodeId {
        self.intern(Node::Leaf(verdict))
    }

    /// A fork, or something equivalent and cheaper.
    pub(super) fn fork(&mut self, word: Word, test: Test, yes: NodeId, no: NodeId) -> NodeId {
        if yes == no {
            return yes;
        }
        match test {
            Test::AtLeast(0) | Test::Masked { mask: 0, value: 0 } => return yes,
            Test::AnySet(0) => return no,
            Test::Masked { mask, value } if value & !mask != 0 => return no,
            Test::Masked {
                mask: u32::MAX,
                value,
            } => return self.fork(word, Test::Equal(value), yes, no),
            Test::Masked { mask, value: 0 } => return self.fork(word, Test::AnySet(mask), no, yes),
            Test::Masked { mask, value } if value == mask && mask.is_power_of_two() => {
                return self.fork(word, Test::AnySet(mask), yes, no);
            }
            // "one of these bits, or else one of those" is one question.
            Test::AnySet(bits) => {
                if let Node::Fork {
                    word: next,
                    test: Test::AnySet(others),
                    yes: same,
                    no: rest,
                } = self.node(no)
                    && next == word
                    && same == yes
                {
                    return self.fork(word, Test::AnySet(bits | others), yes, rest);
                }
            }
            _ => {}
        }
        self.intern(Node::Fork { word, test, yes, no })
    }

    fn intern(&mut self, node: Node) -> NodeId {
        if let Some(id) = self.index.get(&node) {
            return *id;
        }
        // A filter of 2^32 nodes cannot be built in memory; saturating keeps this total.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        self.index.insert(node, id);
        id
    }
}
