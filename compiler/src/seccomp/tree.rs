//! The decision tree over call numbers.
//!
//! Neighbouring numbers with one decision are one range. Ranges are gathered into clusters: a background
//! decision with a few single numbers that differ from it, each of which costs one equality test where a
//! range in a tree would cost two. The clusters are the leaves of a search tree, halved by weight: the kernel
//! caches unconditional allows and never runs the filter for them, so calls whose arguments are looked at
//! weigh most.

use std::ops::RangeInclusive;

use super::graph::{Graph, Node, NodeId, Test, Verdict, Word};

/// Equality tests in a row before the tree splits once more. More would save a few instructions and cost
/// every call of the cluster a longer way.
const MAX_SINGLES: usize = 4;

/// Consecutive numbers with one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    /// The numbers.
    pub(super) numbers: RangeInclusive<u32>,
    /// What happens to them.
    pub(super) node: NodeId,
}

/// Builds the tree for all 2^32 numbers. `decisions` holds one node for each number from zero; `above` is for
/// every number after the last.
pub(super) fn build(graph: &mut Graph, decisions: &[NodeId], above: NodeId) -> NodeId {
    let ranges = merge(decisions, above);
    let clusters = gather(&ranges);
    let weighed: Vec<(Cluster, u64)> = clusters
        .into_iter()
        .map(|cluster| {
            let weight = weigh(graph, cluster.ranges(&ranges));
            (cluster, weight)
        })
        .collect();
    split(graph, &ranges, &weighed).unwrap_or(above)
}

/// Ranges in order, without gaps, neighbours different.
pub(super) fn merge(decisions: &[NodeId], above: NodeId) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for (number, node) in (0_u32..).zip(decisions.iter().copied().chain([above])) {
        match ranges.last_mut() {
            Some(last) if last.node == node => last.numbers = *last.numbers.start()..=number,
            _ => ranges.push(Range {
                numbers: number..=number,
                node,
            }),
        }
    }
    if let Some(last) = ranges.last_mut() {
        last.numbers = *last.numbers.start()..=u32::MAX;
    }
    ranges
}

/// Some consecutive ranges: all of one decision, but for single numbers.
#[derive(Debug, Clone)]
struct Cluster {
    first: usize,
    len: usize,
    background: NodeId,
}

impl Cluster {
    fn ranges<'r>(&self, ranges: &'r [Range]) -> &'r [Range] {
        ranges.get(self.first..self.first + self.len).unwrap_or_default()
    }
}

/// Cuts the ranges into clusters so that equality tests and splits together are fewest, then the splits.
fn gather(ranges: &[Range]) -> Vec<Cluster> {
    // best[n]: cheapest way to cut the first n ranges, as (cost, clusters, start of the last one, background).
    let mut best: Vec<(usize, usize, usize, NodeId)> = Vec::with_capacity(ranges.len() + 1);
    let Some(any) = ranges.first().map(|range| range.node) else {
        return Vec::new();
    };
    best.push((0, 0, 0, any));
    for end in 1..=ranges.len() {
        let mut choice: Option<(usize, usize, usize, NodeId)> = None;
        // A cluster has at most one background range between any two singles and at either end.
        for start in (end.saturating_sub(2 * MAX_SINGLES + 1)..end).rev() {
            let Some((singles, background)) = ranges.get(start..end).and_then(as_cluster) else {
                continue;
            };
            let Some((cost, clusters, ..)) = best.get(start).copied() else {
                continue;
            };
            let candidate = (cost + singles + 1, clusters + 1, start, background);
            if choice.is_none_or(|(cost, clusters, ..)| (candidate.0, candidate.1) < (cost, clusters)) {
                choice = Some(candidate);
            }
        }
        // One range alone always is a cluster.
        best.extend(choice);
    }
    let mut clusters = Vec::new();
    let mut end = ranges.len();
    while end > 0 {
        let Some((_, _, first, background)) = best.get(end).copied() else {
            break;
        };
        clusters.push(Cluster {
            first,
            len: end - first,
            background,
        });
        end = first;
    }
    clusters.reverse();
    clusters
}

/// How many single numbers differ from the background, and the background. `None` if these ranges are no
/// cluster.
fn as_cluster(ranges: &[Range]) -> Option<(usize, NodeId)> {
    let is_single = |range: &Range| range.numbers.start() == range.numbers.end();
    let background = match ranges.iter().find(|range| !is_single(range)) {
        Some(wide) => wide.node,
        // Singles only: the decision that occurs most often, the first of those.
        None => {
            let count = |node: NodeId| ranges.iter().filter(|range| range.node == node).count();
            let mut most: Option<(usize, NodeId)> = None;
            for range in ranges {
                let times = count(range.node);
                if most.is_none_or(|(best, _)| times > best) {
                    most = Some((times, range.node));
                }
            }
            most?.1
        }
    };
    let mut singles = 0;
    for range in ranges.iter().filter(|range| range.node != background) {
        if !is_single(range) {
            return None;
        }
        singles += 1;
    }
    (singles <= MAX_SINGLES).then_some((singles, background))
}

/// How much it matters that these ranges are found quickly.
fn weigh(graph: &Graph, ranges: &[Range]) -> u64 {
    ranges.iter().map(|range| weight(graph, range)).sum()
}

fn weight(graph: &Graph, range: &Range) -> u64 {
    match graph.node(range.node) {
        Node::Fork { .. } => 16,
        Node::Leaf(Verdict::Allow) => {
            let calls = u64::from(range.numbers.end() - range.numbers.start()) + 1;
            1 + calls.min(64) / 8
        }
        Node::Leaf(_) => 1,
    }
}

fn split(graph: &mut Graph, ranges: &[Range], clusters: &[(Cluster, u64)]) -> Option<NodeId> {
    if let [(cluster, _)] = clusters {
        return Some(chain(graph, cluster, cluster.ranges(ranges)));
    }
    let total: u64 = clusters.iter().map(|(_, weight)| weight).sum();
    let mut best: Option<(u64, usize)> = None;
    let mut left = 0;
    for (at, (_, weight)) in (1..clusters.len()).zip(clusters) {
        left += weight;
        let imbalance = left.abs_diff(total - left);
        if best.is_none_or(|(smallest, _)| imbalance < smallest) {
            best = Some((imbalance, at));
        }
    }
    let (low, high) = clusters.split_at_checked(best?.1)?;
    let boundary = *high.first()?.0.ranges(ranges).first()?.numbers.start();
    let below = split(graph, ranges, low)?;
    let from = split(graph, ranges, high)?;
    Some(graph.fork(Word::Number, Test::AtLeast(boundary), from, below))
}

/// Equality tests, the heaviest first.
fn chain(graph: &mut Graph, cluster: &Cluster, ranges: &[Range]) -> NodeId {
    let mut singles: Vec<&Range> = ranges
        .iter()
        .filter(|range| range.node != cluster.background)
        .collect();
    singles.sort_by_key(|range| weight(graph, range));
    singles.into_iter().fold(cluster.background, |otherwise, range| {
        graph.fork(
            Word::Number,
            Test::Equal(*range.numbers.start()),
            range.node,
            otherwise,
        )
    })
}
