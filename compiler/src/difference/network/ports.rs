//! Ports in segments on which the same rules match.

use super::super::cells::Cells;
use super::super::view::Items;
use super::Target;

/// Rules added to segments, beside those that disjoint ports need.
const WORK_MAX: usize = 4_000_000;

/// How much has been done, and may be.
pub(super) struct Work {
    left: usize,
}

impl Work {
    pub(super) fn new(items: usize) -> Self {
        Self {
            left: WORK_MAX + 256 * items,
        }
    }

    pub(super) fn spend(&mut self, amount: usize) -> bool {
        self.left = self.left.saturating_sub(amount);
        !self.is_over()
    }

    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }
}

/// A range of ports.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) cells: Cells,
}

impl Segment {
    /// The port that a reader would think of.
    pub(super) fn witness(&self) -> u16 {
        [443, 80, 8080]
            .into_iter()
            .find(|port| (self.first..=self.last).contains(port))
            .unwrap_or(if self.first == 0 {
                self.last.min(1)
            } else {
                self.first
            })
    }
}

/// Disjoint segments in order. A map of a prefix or a name has only the ports that its own rules speak of; the others are as
/// they are around it.
#[derive(Debug, Clone)]
pub(super) struct PortMap(pub(super) Vec<Segment>);

impl PortMap {
    /// Every port, and no rule.
    pub(super) fn everything() -> Self {
        Self(vec![Segment {
            first: 0,
            last: u16::MAX,
            cells: Cells::default(),
        }])
    }

    /// A map of every port with some more rules.
    pub(super) fn with(self, boxes: &[u32], items: &Items<Target>, work: &mut Work) -> Self {
        let own = within(std::slice::from_ref(&self), boxes, items, work);
        let mut segments: Vec<Segment> = own.0;
        let covered: Vec<(u16, u16)> = segments.iter().map(|own| (own.first, own.last)).collect();
        for gap in gaps(&covered, 0, u16::MAX) {
            segments.extend(look_up(std::slice::from_ref(&self), gap.0, gap.1));
        }
        segments.sort_unstable_by_key(|segment| segment.first);
        Self(segments)
    }
}

/// The map of some rules inside those of the maps around them, innermost last.
pub(super) fn within(around: &[PortMap], boxes: &[u32], items: &Items<Target>, work: &mut Work) -> PortMap {
    let ports = |item: u32| items.set(item).map(Target::ports);
    let mut starts: Vec<(u16, u16, u32)> = boxes
        .iter()
        .filter_map(|&item| ports(item).map(|(first, last)| (first, last, item)))
        .collect();
    starts.sort_unstable();
    let mut edges: Vec<u32> = starts
        .iter()
        .flat_map(|&(first, last, _)| [u32::from(first), u32::from(last) + 1])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let mut coming = starts.into_iter().peekable();
    let mut open: Vec<(u16, u32)> = Vec::new();
    let mut segments = Vec::new();
    for (&start, &end) in edges.iter().zip(edges.iter().skip(1)) {
        open.retain(|&(last, _)| u32::from(last) >= start);
        while let Some((_, last, item)) = coming.next_if(|&(first, ..)| u32::from(first) == start) {
            open.push((last, item));
        }
        let (Ok(first), Ok(last)) = (u16::try_from(start), u16::try_from(end - 1)) else {
            continue;
        };
        if open.is_empty() {
            continue;
        }
        for mut segment in look_up(around, first, last) {
            for &(_, item) in &open {
                segment.cells.add(item, items);
            }
            if !work.spend(open.len() * (1 + segment.cells.entries().len())) {
                return PortMap(segments);
            }
            segments.push(segment);
        }
    }
    PortMap(segments)
}

/// What is said of a range of ports by the innermost of several maps that says something.
fn look_up(maps: &[PortMap], first: u16, last: u16) -> Vec<Segment> {
    let Some((innermost, around)) = maps.split_last() else {
        return Vec::new();
    };
    let own = &innermost.0;
    let start = own.partition_point(|segment| segment.last < first);
    let inside = own.iter().skip(start).take_while(|segment| segment.first <= last);
    let mut found: Vec<Segment> = inside
        .map(|segment| Segment {
            first: segment.first.max(first),
            last: segment.last.min(last),
            cells: segment.cells.clone(),
        })
        .collect();
    let covered: Vec<(u16, u16)> = found.iter().map(|own| (own.first, own.last)).collect();
    for gap in gaps(&covered, first, last) {
        found.extend(look_up(around, gap.0, gap.1));
    }
    found.sort_unstable_by_key(|segment| segment.first);
    found
}

/// What disjoint ranges in order leave of another.
fn gaps(covered: &[(u16, u16)], first: u16, last: u16) -> Vec<(u16, u16)> {
    let mut gaps = Vec::new();
    let mut next = u32::from(first);
    for &(start, end) in covered {
        if let (Ok(from), Some(to)) = (u16::try_from(next), start.checked_sub(1))
            && from <= to
        {
            gaps.push((from, to));
        }
        next = u32::from(end) + 1;
    }
    if let Ok(from) = u16::try_from(next)
        && from <= last
    {
        gaps.push((from, last));
    }
    gaps
}
