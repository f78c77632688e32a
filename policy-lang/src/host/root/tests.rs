//! What a root gives and what it refuses, both ways of opening.

use std::os::unix::fs::symlink;

use super::*;

fn tree() -> tempfile::TempDir {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("root");
    std::fs::create_dir_all(root.join("org/deep")).unwrap();
    std::fs::write(root.join("org/a.remit"), "group a { }").unwrap();
    std::fs::write(root.join("org/deep/b.remit"), "group b { }").unwrap();
    std::fs::write(outside.path().join("secret.remit"), "group secret { }").unwrap();
    symlink("a.remit", root.join("org/link.remit")).unwrap();
    symlink("org", root.join("linked")).unwrap();
    symlink("../secret.remit", root.join("out.remit")).unwrap();
    symlink("/", root.join("top")).unwrap();
    rustix::fs::mknodat(
        CWD,
        root.join("fifo.remit"),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    outside
}

fn root(tree: &tempfile::TempDir) -> Root {
    Root::open(&tree.path().join("root"), Path::new("policies")).unwrap()
}

#[test]
fn files_beneath_the_root_are_read_and_named_by_it() {
    let tree = tree();
    let source = root(&tree).load("org/deep/b.remit").unwrap();
    assert_eq!(source.name, "policies/org/deep/b.remit");
    assert_eq!(source.text, "group b { }");
}

#[test]
fn links_at_any_place_are_refused() {
    let tree = tree();
    for name in ["org/link.remit", "linked/a.remit", "out.remit", "top/etc/passwd"] {
        assert_eq!(root(&tree).load(name).unwrap_err(), LoadError::Outside, "{name}");
    }
}

#[test]
fn what_is_not_there_or_no_file_is_said_so() {
    let tree = tree();
    for (name, expected) in [
        ("org/none.remit", LoadError::Missing),
        ("none/a.remit", LoadError::Missing),
        ("org/a.remit/b.remit", LoadError::Missing),
        ("org", LoadError::NotAFile),
        ("fifo.remit", LoadError::NotAFile),
    ] {
        assert_eq!(root(&tree).load(name).unwrap_err(), expected, "{name}");
    }
}

#[test]
fn names_that_lead_out_are_refused_by_the_kernel_too() {
    let tree = tree();
    for name in ["../secret.remit", "org/../../secret.remit", "/etc/passwd"] {
        assert_eq!(root(&tree).load(name).unwrap_err(), LoadError::Outside, "{name}");
    }
}

#[test]
fn walking_opens_and_refuses_the_same() {
    let tree = tree();
    let root = root(&tree);
    assert!(root.walk("org/deep/b.remit").is_ok());
    for name in [
        "org/link.remit",
        "linked/a.remit",
        "out.remit",
        "top/etc/passwd",
        "../secret.remit",
        "org/../../secret.remit",
    ] {
        let kernel = root.file(name).unwrap_err();
        let walked = root.walk(name).unwrap_err();
        let leads_out = |errno: Errno| matches!(errno, Errno::LOOP | Errno::XDEV);
        assert!(
            leads_out(kernel) && leads_out(walked),
            "{name}: {kernel} {walked}"
        );
    }
    assert_eq!(root.walk("org/none.remit").unwrap_err(), Errno::NOENT);
}

#[test]
fn the_marker_of_the_caller_moves_the_root_up() {
    let tree = tree();
    let policy = tree.path().join("root/org/deep/p.remit");
    std::fs::write(&policy, "policy \"p\" { }").unwrap();
    let real = std::fs::canonicalize(tree.path().join("root")).unwrap();
    assert_eq!(root_of(&policy), real.join("org/deep"));
    std::fs::write(real.join(MARKER), "").unwrap();
    assert_eq!(root_of(&policy), real);
    std::fs::write(real.join("org").join(MARKER), "").unwrap();
    assert_eq!(root_of(&policy), real.join("org"));
}

#[test]
fn a_marker_that_is_a_link_or_a_directory_counts_for_nothing() {
    let tree = tree();
    let policy = tree.path().join("root/org/deep/p.remit");
    std::fs::write(&policy, "policy \"p\" { }").unwrap();
    let real = std::fs::canonicalize(tree.path().join("root")).unwrap();
    symlink("a.remit", real.join("org").join(MARKER)).unwrap();
    std::fs::create_dir(real.join(MARKER)).unwrap();
    assert_eq!(root_of(&policy), real.join("org/deep"));
}
