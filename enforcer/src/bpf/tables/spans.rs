//! Sorted keys, cut up into spans, and the nodes that hold the spans.
//!
//! A span is what the programs search without a branch: a power of two of intervals, at a multiple of its size. So
//! nodes are given away as a buddy allocator gives memory away. A group of intervals is as much as a look-up should
//! have to bring into the processor's cache; fences say which group.

use ebpf::layout::value::{self, Next};
use ebpf::layout::{GROUP_ENTRIES, Group, NODE_GROUPS, Node};

use crate::bpf::error::BpfError;

/// Intervals that a node holds.
const NODE_ENTRIES: usize = NODE_GROUPS * GROUP_ENTRIES;

/// The logarithms of a group's intervals, of the largest span but a whole node, and of the groups that a whole node
/// is searched as.
const GROUP_LOG: u32 = GROUP_ENTRIES.ilog2();
const LARGEST_LOG: u32 = NODE_ENTRIES.ilog2();
const WHOLE_LOG: u32 = NODE_GROUPS.next_power_of_two().ilog2();

/// What a key leads to: a value of a [`Node`], and how many spans are passed from there until there is a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) value: u32,
    pub(super) steps: usize,
}

impl Target {
    /// The default rule refuses.
    pub(super) const REFUSED: Self = Self::decision(false, 0);

    pub(super) const fn decision(allow: bool, rule: u32) -> Self {
        Self {
            value: value::decision(allow, rule),
            steps: 0,
        }
    }

    /// Whether it can be reached without the key having been looked up.
    fn needs_no_key(self) -> bool {
        let kind = self.value >> 30;
        kind == 0 || kind == Next::Ports as u32
    }
}

/// Keys from zero up, each with what it and those after it lead to, as far as the next.
#[derive(Debug)]
pub(super) struct Cuts(Vec<(u32, Target)>);

impl Cuts {
    pub(super) fn new(target: Target) -> Self {
        Self(vec![(0, target)])
    }

    /// From `key` on, which is not below any before; the last word on a key counts.
    pub(super) fn put(&mut self, key: u32, target: Target) {
        match self.0.last_mut() {
            Some(last) if last.0 == key => last.1 = target,
            _ => self.0.push((key, target)),
        }
    }
}

/// Nodes being filled.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// Node and first interval of the spans that nothing is in, by the logarithm of their size.
    free: [Vec<(u32, u32)>; LARGEST_LOG as usize + 1],
}

impl Nodes {
    /// The first node, with the two roots refusing.
    pub(super) fn new() -> Result<Self, BpfError> {
        let mut nodes = Self {
            nodes: Vec::new(),
            free: Default::default(),
        };
        nodes.new_shared()?;
        Ok(nodes)
    }

    /// Where a look-up begins.
    pub(super) fn set_roots(&mut self, ipv4: Target, ipv6: Target) -> Result<(), BpfError> {
        for root in [ipv4, ipv6] {
            if root.steps >= value::STEPS_MAX {
                return Err(too_large());
            }
        }
        let node = self.nodes.first_mut().ok_or_else(too_large)?;
        node.roots = [ipv4.value, ipv6.value];
        Ok(())
    }

    pub(super) fn into_vec(self) -> Vec<Node> {
        self.nodes
    }

    /// Puts cuts into a span, or several with one on top, and returns what leads there.
    pub(super) fn add(&mut self, next: Next, cuts: Cuts) -> Result<Target, BpfError> {
        let Cuts(mut cuts) = cuts;
        cuts.dedup_by(|later, earlier| later.1 == earlier.1);
        match cuts.as_slice() {
            [(_, only)] if only.needs_no_key() => return Ok(*only),
            _ => {}
        }
        while cuts.len() > NODE_ENTRIES {
            let mut above = Vec::with_capacity(cuts.len().div_ceil(NODE_ENTRIES));
            for part in cuts.chunks(NODE_ENTRIES) {
                let key = part.first().map_or(0, |cut| cut.0);
                above.push((key, self.span(Next::Same, part)?));
            }
            cuts = above;
        }
        self.span(next, &cuts)
    }

    fn span(&mut self, next: Next, cuts: &[(u32, Target)]) -> Result<Target, BpfError> {
        let log = cuts.len().next_power_of_two().ilog2();
        let ((node, first), groups) = if log > LARGEST_LOG {
            ((self.new_node()?, 0), WHOLE_LOG)
        } else {
            (self.take(log)?, log.saturating_sub(GROUP_LOG))
        };
        self.write(node, first, cuts, 1 << log)?;
        let deepest = cuts.iter().map(|cut| cut.1.steps).max().unwrap_or(0);
        Ok(Target {
            value: value::span(next, node, first, groups, log.min(GROUP_LOG)),
            steps: deepest + 1,
        })
    }

    /// Copies cuts into a span of `size` intervals. What is left of it is never reached: the last cut ends at the
    /// largest key.
    fn write(&mut self, node: u32, first: u32, cuts: &[(u32, Target)], size: usize) -> Result<(), BpfError> {
        let ends = cuts.iter().skip(1).map(|cut| cut.0.wrapping_sub(1));
        let mut filled = ends
            .chain([u32::MAX])
            .zip(cuts)
            .map(|(last, cut)| (last, cut.1.value));
        let node = self.nodes.get_mut(index(node)).ok_or_else(too_large)?;
        let groups = node.groups.iter_mut().zip(&mut node.fences);
        let (first_group, in_group) = (index(first) / GROUP_ENTRIES, index(first) % GROUP_ENTRIES);
        let mut left = size;
        for (group, fence) in groups.skip(first_group) {
            let entries = group.last.iter_mut().zip(&mut group.values);
            for (last, value) in entries.skip(in_group).take(left) {
                (*last, *value) = filled.next().unwrap_or((u32::MAX, 0));
                left -= 1;
                *fence = *last;
            }
            if left == 0 {
                break;
            }
        }
        Ok(())
    }

    /// A free span of `1 << log` intervals: the halves of a larger one where there is none.
    fn take(&mut self, log: u32) -> Result<(u32, u32), BpfError> {
        if let Some(found) = self.free.get_mut(index(log)).and_then(Vec::pop) {
            return Ok(found);
        }
        if log >= LARGEST_LOG {
            self.new_shared()?;
            return self.take(log);
        }
        let (node, first) = self.take(log + 1)?;
        if let Some(free) = self.free.get_mut(index(log)) {
            free.push((node, first + (1 << log)));
        }
        Ok((node, first))
    }

    /// A node for several spans: all of it is free.
    fn new_shared(&mut self) -> Result<(), BpfError> {
        let node = self.new_node()?;
        let (mut first, mut left) = (0, NODE_ENTRIES);
        for (log, free) in self.free.iter_mut().enumerate().rev() {
            if left >= 1 << log {
                free.push((node, first));
                first += 1 << log;
                left -= 1 << log;
            }
        }
        Ok(())
    }

    fn new_node(&mut self) -> Result<u32, BpfError> {
        if self.nodes.len() == value::NODES_MAX {
            return Err(too_large());
        }
        let number = u32::try_from(self.nodes.len()).map_err(|_| too_large())?;
        let group = Group {
            last: [u32::MAX; GROUP_ENTRIES],
            values: [0; GROUP_ENTRIES],
        };
        self.nodes.push(Node {
            roots: [0; 2],
            reserved: [0; 12],
            fences: [u32::MAX; 32],
            groups: [group; NODE_GROUPS],
        });
        Ok(number)
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn too_large() -> BpfError {
    BpfError::Tables("they are larger than the kernel's tables can be".to_owned())
}
