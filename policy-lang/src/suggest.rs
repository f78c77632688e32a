//! "Did you mean …": the nearest of a set of known words.

/// The candidate nearest to a word, if one is near enough to be a slip: one edit, or one for each three letters.
///
/// Ties go to the candidate that comes first.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer words are no slip of anything known, and the comparison is quadratic.
    if word.is_empty() || word.len() > 64 {
        return None;
    }
    let wanted: Vec<char> = word.to_lowercase().chars().collect();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other: Vec<char> = candidate.to_lowercase().chars().collect();
        let allowed = (wanted.len().min(other.len()) / 3).max(1);
        let found = distance(&wanted, &other);
        if found <= allowed && best.is_none_or(|(least, _)| found < least) {
            best = Some((found, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Optimal string alignment: insertions, deletions, replacements, and swaps of neighbours count one each.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let at = |cells: &[usize], index: usize| cells.get(index).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&last, column) + usize::from(letter != other);
            let mut cost = replaced
                .min(at(&last, column + 1) + 1)
                .min(at(&current, column) + 1);
            let swapped = row > 0
                && column > 0
                && left.get(row - 1) == Some(other)
                && right.get(column - 1) == Some(letter);
            if swapped {
                cost = cost.min(at(&before, column - 1) + 1);
            }
            current.push(cost);
        }
        before = last;
        last = current;
    }
    last.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_different_word_is_not() {
        let effects = ["allow", "ask", "deny", "forbid"];
        assert_eq!(nearest("alow", effects), Some("allow"));
        assert_eq!(nearest("dney", effects), Some("deny"));
        assert_eq!(nearest("ALLOW", effects), Some("allow"));
        assert_eq!(nearest("permit", effects), None);
        assert_eq!(nearest("", effects), None);
    }

    #[test]
    fn the_distance_counts_edits() {
        let count = |left: &str, right: &str| {
            distance(
                &left.chars().collect::<Vec<_>>(),
                &right.chars().collect::<Vec<_>>(),
            )
        };
        assert_eq!(count("", ""), 0);
        assert_eq!(count("abc", ""), 3);
        assert_eq!(count("", "abc"), 3);
        assert_eq!(count("becuase", "because"), 1);
        assert_eq!(count("kitten", "sitting"), 3);
    }
}
