//! The graph as instructions.
//!
//! cBPF jumps forward only, and a conditional jump reaches 255 instructions, so the program is written from
//! its end: when a fork is placed, both of its ends have their place. An end that is out of reach gets a
//! copy of its leaf, or a long jump, right behind the fork.

use artifact::seccomp::Instruction;

use super::bpf;
use super::graph::{Graph, Node, NodeId, Test, Word};

/// How far a conditional jump reaches.
const REACH: usize = u8::MAX as usize;

/// Lays out everything that is reachable from `root`.
pub(super) fn lay_out(graph: &Graph, root: NodeId) -> Vec<Instruction> {
    let order = children_first(graph, root);
    let loads = nodes_that_load(graph, &order, root);
    let mut layout = Layout {
        graph,
        backwards: Vec::new(),
        entries: vec![Entry::default(); graph.len()],
    };
    for id in order {
        layout.place(id, loads.get(id.index()).copied().unwrap_or(true));
    }
    layout.backwards.reverse();
    layout.backwards
}

/// Where a placed node can be entered, as positions counted from the end of the program.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// With nothing of use in the accumulator.
    cold: usize,
    /// With the node's word in the accumulator.
    warm: usize,
}

struct Layout<'g> {
    graph: &'g Graph,
    backwards: Vec<Instruction>,
    entries: Vec<Entry>,
}

impl Layout<'_> {
    fn place(&mut self, id: NodeId, load: bool) {
        match self.graph.node(id) {
            Node::Leaf(verdict) => {
                let at = self.push(bpf::statement(bpf::RETURN, verdict.action()));
                self.enter(id, Entry { cold: at, warm: at });
            }
            Node::Fork { word, test, yes, no } => {
                let after = accumulator_after(word, test);
                // The copy made for `no` moves `yes` one further away.
                self.bring_near(yes, after, 1);
                self.bring_near(no, after, 0);
                let (to_yes, to_no) = (self.distance(yes, after), self.distance(no, after));
                let (code, operand) = match test {
                    Test::Equal(value) | Test::Masked { value, .. } => (bpf::JUMP_EQUAL, value),
                    Test::AtLeast(value) => (bpf::JUMP_AT_LEAST, value),
                    Test::AnySet(mask) => (bpf::JUMP_ANY_SET, mask),
                };
                let mut warm = self.push(Instruction(code, to_yes, to_no, operand));
                if let Test::Masked { mask, .. } = test {
                    warm = self.push(bpf::statement(bpf::AND, mask));
                }
                let cold = if load {
                    self.push(bpf::statement(bpf::LOAD, word.offset()))
                } else {
                    warm
                };
                self.enter(id, Entry { cold, warm });
            }
        }
    }

    /// Makes sure that a jump placed next reaches the node, with `slack` instructions to come in between.
    fn bring_near(&mut self, target: NodeId, accumulator: Option<Word>, slack: usize) {
        let distance = self.backwards.len() - self.position(target, accumulator) - 1;
        if distance + slack <= REACH {
            return;
        }
        match self.graph.node(target) {
            Node::Leaf(verdict) => {
                let at = self.push(bpf::statement(bpf::RETURN, verdict.action()));
                self.enter(target, Entry { cold: at, warm: at });
            }
            Node::Fork { word, .. } => {
                // A program that is too long for the operand is refused for its length anyway.
                let operand = u32::try_from(distance).unwrap_or(u32::MAX);
                let at = self.push(bpf::statement(bpf::JUMP, operand));
                let mut entry = self.entry(target);
                if accumulator == Some(word) {
                    entry.warm = at;
                } else {
                    entry.cold = at;
                }
                self.enter(target, entry);
            }
        }
    }

    fn distance(&self, target: NodeId, accumulator: Option<Word>) -> u8 {
        let distance = self.backwards.len() - self.position(target, accumulator) - 1;
        u8::try_from(distance).unwrap_or(u8::MAX)
    }

    fn position(&self, target: NodeId, accumulator: Option<Word>) -> usize {
        let entry = self.entry(target);
        match self.graph.node(target) {
            Node::Fork { word, .. } if accumulator == Some(word) => entry.warm,
            _ => entry.cold,
        }
    }

    fn entry(&self, id: NodeId) -> Entry {
        self.entries.get(id.index()).copied().unwrap_or_default()
    }

    fn enter(&mut self, id: NodeId, entry: Entry) {
        if let Some(slot) = self.entries.get_mut(id.index()) {
            *slot = entry;
        }
    }

    fn push(&mut self, instruction: Instruction) -> usize {
        self.backwards.push(instruction);
        self.backwards.len() - 1
    }
}

/// The word the accumulator still holds behind a fork: masking destroys it.
fn accumulator_after(word: Word, test: Test) -> Option<Word> {
    (!matches!(test, Test::Masked { .. })).then_some(word)
}

/// Depth first, the near child last, so that a chain of questions lies in one piece.
fn children_first(graph: &Graph, root: NodeId) -> Vec<NodeId> {
    let mut order = Vec::new();
    let mut seen = vec![false; graph.len()];
    // The second visit, when the children are placed, is the one that counts.
    let mut stack = vec![(root, false)];
    while let Some((id, children_done)) = stack.pop() {
        if children_done {
            order.push(id);
            continue;
        }
        match seen.get_mut(id.index()) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        stack.push((id, true));
        if let Node::Fork { yes, no, .. } = graph.node(id) {
            stack.push((no, false));
            stack.push((yes, false));
        }
    }
    order
}

/// Which nodes are reached from somewhere with another word in the accumulator.
fn nodes_that_load(graph: &Graph, order: &[NodeId], root: NodeId) -> Vec<bool> {
    let mut loads = vec![false; graph.len()];
    let mut mark = |id: NodeId| {
        if let Some(load) = loads.get_mut(id.index()) {
            *load = true;
        }
    };
    mark(root);
    for id in order {
        let Node::Fork { word, test, yes, no } = graph.node(*id) else {
            continue;
        };
        for child in [yes, no] {
            if let Node::Fork { word: wanted, .. } = graph.node(child)
                && accumulator_after(word, test) != Some(wanted)
            {
                mark(child);
            }
        }
    }
    loads
}
