//! The resolver over a real file tree: links, what is absent, what cannot be known.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use policy_lang::PathResolver;
use policy_lang::host::{HostPaths, HostTree, load};
use policy_lang::resolve::Resolution;

struct Tree {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Self {
            _folder: folder,
            root,
        }
    }

    fn path(&self, below: &str) -> String {
        self.root.join(below).into_os_string().into_string().unwrap()
    }

    fn resolve(&self, below: &str) -> Resolution {
        let path = self.path(below);
        let answer = HostPaths.resolve(&path);
        assert_eq!(HostTree::default().resolve(&path), answer, "{path}");
        answer
    }
}

#[test]
fn a_plain_path_is_itself() {
    let tree = Tree::new();
    fs::create_dir_all(tree.path("a/b")).unwrap();
    let expected = Resolution::Present {
        path: tree.path("a/b"),
        link: false,
    };
    assert_eq!(tree.resolve("a/b"), expected);
}

#[test]
fn links_are_followed_on_the_way_and_at_the_end() {
    let tree = Tree::new();
    fs::create_dir_all(tree.path("store/d")).unwrap();
    symlink("store", tree.path("way")).unwrap();
    symlink("../store/d", tree.path("store/end")).unwrap();
    let through = Resolution::Present {
        path: tree.path("store/d"),
        link: false,
    };
    assert_eq!(tree.resolve("way/d"), through);
    let at_the_end = Resolution::Present {
        path: tree.path("store/d"),
        link: true,
    };
    assert_eq!(tree.resolve("way/end"), at_the_end);
}

#[test]
fn what_is_absent_is_resolved_as_far_as_it_exists() {
    let tree = Tree::new();
    fs::create_dir(tree.path("store")).unwrap();
    symlink("store", tree.path("way")).unwrap();
    let expected = Resolution::Absent {
        path: tree.path("store/x/y"),
    };
    assert_eq!(tree.resolve("way/x/y"), expected);
}

#[test]
fn a_path_beneath_a_file_is_absent() {
    // A git worktree: `.git` is a file, and a rule names `.git/hooks`.
    let tree = Tree::new();
    fs::write(tree.path(".git"), "gitdir: elsewhere\n").unwrap();
    let expected = Resolution::Absent {
        path: tree.path(".git/hooks"),
    };
    assert_eq!(tree.resolve(".git/hooks"), expected);
}

#[test]
fn a_dangling_link_is_absent_where_it_stands() {
    let tree = Tree::new();
    symlink("nowhere", tree.path("dangling")).unwrap();
    let expected = Resolution::Absent {
        path: tree.path("dangling"),
    };
    assert_eq!(tree.resolve("dangling"), expected);
}

#[test]
fn a_loop_of_links_cannot_be_known() {
    let tree = Tree::new();
    symlink("two", tree.path("one")).unwrap();
    symlink("one", tree.path("two")).unwrap();
    assert!(matches!(tree.resolve("one/x"), Resolution::Unknown { .. }));
}

#[test]
fn a_link_to_a_name_that_is_no_text_cannot_be_known() {
    let tree = Tree::new();
    let odd = tree.root.join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&odd).unwrap();
    symlink(&odd, tree.path("link")).unwrap();
    assert!(matches!(tree.resolve("link"), Resolution::Unknown { .. }));
}

#[test]
fn a_file_is_named_on_one_line() {
    let tree = Tree::new();
    let path = tree.root.join("new\nline.remit");
    fs::write(&path, "policy \"p\" {\n}\n").unwrap();
    let source = load(&path).unwrap();
    assert!(source.name.ends_with("new\\u{a}line.remit"), "{}", source.name);
}

/// Every way to link three names to each other, in two directories: loops, dangling links, links to files and beyond.
#[test]
fn a_remembered_tree_gives_the_answers_of_realpath() {
    let targets = [
        "a",
        "b",
        "d/a",
        "../a",
        "d",
        "d/",
        "b/",
        ".",
        "..",
        "a/b",
        "missing/a",
        "/",
        "d/../a/.",
    ];
    for (first, second) in targets.iter().flat_map(|a| targets.iter().map(move |b| (a, b))) {
        let tree = Tree::new();
        fs::create_dir_all(tree.path("t/d")).unwrap();
        fs::write(tree.path("t/f"), "").unwrap();
        symlink(first, tree.path("t/a")).unwrap();
        symlink(second, tree.path("t/b")).unwrap();
        symlink(second, tree.path("t/d/a")).unwrap();
        symlink("../f", tree.path("t/d/b")).unwrap();
        let remembered = HostTree::default();
        for below in [
            "a", "b", "d/a", "d/b", "f/a", "d/b/a", "a/b", "a/b/a", "b/a/x", "d/a/b", "d/a/a/f", "a/x/y", "f",
        ] {
            let path = tree.path(&format!("t/{below}"));
            let expected = HostPaths.resolve(&path);
            assert_eq!(
                remembered.resolve(&path),
                expected,
                "{path} with {first} and {second}"
            );
        }
    }
}
