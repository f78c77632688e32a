//! Globs without classes and escapes, which most are: matched as text, without an automaton.
//!
//! A component `**` takes as few directories as will do and one more whenever the rest does not match; so does `*` with
//! characters. Going back to the last one of them is enough, since what an earlier one could take, the last can.

/// Whether a glob is one of these, and well-formed.
pub(super) fn is_plain(glob: &str) -> bool {
    let Some(rest) = glob.strip_prefix('/') else {
        return false;
    };
    let component = |name: &str| {
        !matches!(name, "" | "." | "..")
            && (name == "**" || !name.contains("**"))
            && !name.bytes().any(|byte| matches!(byte, b'[' | b'\\' | 0))
    };
    rest.split('/').all(component)
}

/// Whether a plain glob matches the path or a directory above it.
pub(super) fn covers(glob: &str, path: &str) -> bool {
    let (mut pattern, mut names) = (components(glob), components(path));
    let mut retry = None;
    loop {
        let Some(component) = pattern.next() else {
            return true;
        };
        if component == "**" {
            retry = Some((pattern.clone(), names.clone()));
            continue;
        }
        if names.next().is_some_and(|name| name_matches(component, name)) {
            continue;
        }
        let Some((behind, from)) = &mut retry else {
            return false;
        };
        if from.next().is_none() {
            return false;
        }
        (pattern, names) = (behind.clone(), from.clone());
    }
}

/// A path that a plain glob matches: `**` and `*` stand for nothing where they can.
pub(super) fn sample(glob: &str) -> Option<String> {
    let mut path = String::with_capacity(glob.len());
    for component in components(glob).filter(|component| *component != "**") {
        path.push('/');
        let start = path.len();
        path.extend(
            component
                .chars()
                .filter(|next| *next != '*')
                .map(|next| match next {
                    '?' => 'a',
                    other => other,
                }),
        );
        match path.get(start..) {
            Some("") => path.push('x'),
            Some("." | "..") => return None,
            _ => {}
        }
    }
    Some(if path.is_empty() { "/".to_owned() } else { path })
}

fn components(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.split('/').filter(|name| !name.is_empty())
}

fn name_matches(pattern: &str, name: &str) -> bool {
    let (mut tokens, mut text) = (pattern.chars(), name.chars());
    let mut retry = None;
    loop {
        let here = text.clone();
        match (tokens.next(), text.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                text = here;
                retry = Some((tokens.clone(), text.clone()));
            }
            (Some(token), Some(character)) if token == '?' || token == character => {}
            _ => {
                let Some((behind, from)) = &mut retry else {
                    return false;
                };
                if from.next().is_none() {
                    return false;
                }
                (tokens, text) = (behind.clone(), from.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pattern::PathPattern;
    use crate::pattern::automaton::Automaton;
    use crate::pattern::glob;

    #[test]
    fn other_globs_are_left_to_the_automaton() {
        for glob in ["/a/[b]*", "/a\\*/*", "/a**", "/*//b", "/*/", "/*/..", "*", "/*\0"] {
            assert!(!is_plain(glob), "{glob:?}");
        }
        assert!(is_plain("/**/.env*/?"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn it_agrees_with_the_automaton(
            components in prop::collection::vec("[ab.é?*]{1,4}|\\*\\*", 1..5),
            path in prop::collection::vec("[ab.é]{1,4}", 0..6),
        ) {
            let glob = format!("/{}", components.join("/"));
            let path = format!("/{}", path.join("/"));
            prop_assume!(is_plain(&glob) && !path.split('/').any(|name| matches!(name, "." | "..")));
            let pattern = PathPattern::Glob(glob.clone());
            let automaton = Automaton::of(&pattern).unwrap();
            prop_assert_eq!(covers(&glob, &path), automaton.covers(&path));
            let sampled = glob::sample(&glob::components(&glob).unwrap());
            prop_assert_eq!(sample(&glob), sampled);
        }
    }
}
