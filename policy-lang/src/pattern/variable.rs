//! Patterns of environment variables: a name in which `*` stands for any characters, also none.

/// Whether a name matches.
#[must_use]
pub fn covers(pattern: &str, name: &str) -> bool {
    matches(pattern.as_bytes(), name.as_bytes())
}

/// Whether every name that `inner` matches is matched by `outer`.
///
/// A `*` of `inner` can stand for a character that `outer` has nowhere, so only a `*` of `outer` can take it.
#[must_use]
pub fn includes(outer: &str, inner: &str) -> bool {
    matches(outer.as_bytes(), inner.as_bytes())
}

/// Takes the shortest piece for each `*` and comes back to the last one when that fails: quadratic at worst.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while next < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at, next));
                at += 1;
            }
            Some(byte) if text.get(next) == Some(byte) => {
                at += 1;
                next += 1;
            }
            _ => match retry {
                Some((star, taken)) => {
                    retry = Some((star, taken + 1));
                    at = star + 1;
                    next = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, expected) in [
            ("LC_*", "LC_ALL", true),
            ("LC_*", "LC_", true),
            ("LC_*", "LANG", false),
            ("*", "PATH", true),
            ("A*B*C", "AxBxBxC", true),
            ("A*B*C", "AxBx", false),
            ("PATH", "PATH", true),
            ("PATH", "PATHS", false),
        ] {
            assert_eq!(covers(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn inclusion_agrees_with_membership_over_short_names() {
        let letters = [
            "", "A", "B", "AB", "BA", "ABA", "BAB", "AAB", "ABB", "XAX", "AXB", "XBAX",
        ];
        let patterns = ["*", "A*", "*A", "*A*", "A*B", "AB", "A", "**", "*A*B*"];
        for outer in patterns {
            for inner in patterns {
                let included = letters
                    .iter()
                    .all(|name| !covers(inner, name) || covers(outer, name));
                assert_eq!(includes(outer, inner), included, "{inner} in {outer}");
            }
        }
    }
}
