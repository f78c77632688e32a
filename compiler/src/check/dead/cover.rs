//! Intervals of ports, asked whether one of them contains another.

use policy_lang::policy::RuleId;

/// Which rule contains what, among intervals of one effect.
#[derive(Debug, Default)]
pub(super) struct Cover {
    /// By first port; the last port is the greatest so far, with the rule that has it.
    sorted: Vec<(u16, u16, RuleId)>,
}

impl Cover {
    pub(super) fn new(mut intervals: Vec<(u16, u16, RuleId)>) -> Self {
        intervals.sort_unstable_by_key(|(first, last, rule)| (*first, std::cmp::Reverse(*last), *rule));
        let mut greatest: Option<(u16, RuleId)> = None;
        for (_, last, rule) in &mut intervals {
            match greatest {
                Some((most, of)) if most >= *last => (*last, *rule) = (most, of),
                _ => greatest = Some((*last, *rule)),
            }
        }
        Self { sorted: intervals }
    }

    /// A rule whose interval contains this one, perhaps the same.
    pub(super) fn contains(&self, first: u16, last: u16) -> Option<RuleId> {
        self.among(self.sorted.partition_point(|(own, ..)| *own <= first), last)
    }

    /// A rule whose interval contains this one and more.
    pub(super) fn contains_strictly(&self, first: u16, last: u16) -> Option<RuleId> {
        let wider = last.checked_add(1).and_then(|last| self.contains(first, last));
        wider.or_else(|| self.among(self.sorted.partition_point(|(own, ..)| *own < first), last))
    }

    fn among(&self, count: usize, last: u16) -> Option<RuleId> {
        let (_, most, rule) = self.sorted.get(count.checked_sub(1)?)?;
        (*most >= last).then_some(*rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containment_agrees_with_looking_at_each_interval() {
        let intervals = [(1, 5), (2, 9), (2, 3), (4, 4), (8, 9), (0, 1), (7, u16::MAX)];
        let numbered = intervals
            .iter()
            .zip(0..)
            .map(|((first, last), id)| (*first, *last, RuleId(id)));
        let cover = Cover::new(numbered.collect());
        for first in 0..12 {
            for last in first..12 {
                let inside = |(own_first, own_last): &&(u16, u16)| *own_first <= first && last <= *own_last;
                let any = intervals.iter().any(|own| inside(&own));
                let strictly = intervals.iter().filter(inside).any(|own| *own != (first, last));
                assert_eq!(cover.contains(first, last).is_some(), any, "{first}-{last}");
                assert_eq!(
                    cover.contains_strictly(first, last).is_some(),
                    strictly,
                    "{first}-{last}"
                );
            }
        }
        assert_eq!(cover.contains_strictly(8, u16::MAX), Some(RuleId(6)));
        assert_eq!(cover.contains_strictly(7, u16::MAX), None);
    }
}
