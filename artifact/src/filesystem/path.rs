//! Absolute, normalised paths as text: ancestry and order.

use std::cmp::Ordering;

/// Whether `path` is `ancestor` or lies beneath it.
#[must_use]
pub fn covers(ancestor: &str, path: &str) -> bool {
    if ancestor == "/" {
        return path.starts_with('/');
    }
    path.strip_prefix(ancestor)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Order in which a directory comes before everything beneath it, and that before its siblings.
#[must_use]
pub fn compare(left: &str, right: &str) -> Ordering {
    // A slash ends a name, so it counts as less than any byte of one.
    let key = |byte: u8| if byte == b'/' { 0 } else { byte };
    left.bytes().map(key).cmp(right.bytes().map(key))
}

/// The names in a path; none for `/`.
pub fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// The path itself, then each directory above it, ending with `/`.
pub fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| parent(path))
}

/// The directory that holds `path`; none for `/`.
#[must_use]
pub fn parent(path: &str) -> Option<&str> {
    if path == "/" {
        return None;
    }
    match path.rfind('/') {
        Some(0) => Some("/"),
        Some(at) => path.get(..at),
        None => None,
    }
}

/// Whether this is absolute, without `.`, `..`, empty components, NUL or trailing slash.
#[must_use]
pub fn is_normal(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else {
        return false;
    };
    !path.contains('\0') && (rest.is_empty() || rest.split('/').all(|name| !matches!(name, "" | "." | "..")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_only_starts_alike_is_not_beneath() {
        assert!(covers("/a", "/a/b"));
        assert!(covers("/a", "/a"));
        assert!(covers("/", "/a"));
        assert!(!covers("/a", "/ab"));
        assert!(!covers("/a/b", "/a"));
    }

    #[test]
    fn a_directory_sorts_before_its_contents_and_they_before_its_siblings() {
        let mut paths = ["/a-b", "/a/b", "/a", "/", "/a/b/c"];
        paths.sort_by(|left, right| compare(left, right));
        assert_eq!(paths, ["/", "/a", "/a/b", "/a/b/c", "/a-b"]);
    }

    #[test]
    fn only_absolute_paths_without_dots_and_empty_names_are_normal() {
        for path in ["/", "/a", "/a/..b", "/a\nb"] {
            assert!(is_normal(path), "{path:?}");
        }
        for path in ["", "a", "//", "/a/", "/a//b", "/a/./b", "/..", "/a\0"] {
            assert!(!is_normal(path), "{path:?}");
        }
    }

    #[test]
    fn ancestors_end_at_the_root() {
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert_eq!(ancestors("/").collect::<Vec<_>>(), ["/"]);
    }
}
