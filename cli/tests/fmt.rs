//! `remit fmt`: what is written, what is left alone, and what is said.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;

use remit::{Outcome, folder, output};

const CROWDED: &str = "policy \"p\"{\n// why\nfilesystem {allow read \"/usr\"}}\n";
const LAID_OUT: &str = "policy \"p\" {\n    // why\n    filesystem { allow read \"/usr\" }\n}\n";
const BROKEN: &str = "policy \"p\" { filesystem { alow read \"/usr\" } }\n";

fn fmt(folder: &Path, arguments: &[&str]) -> Outcome {
    output(remit::remit().current_dir(folder).arg("fmt").args(arguments))
}

fn piped(input: &str, arguments: &[&str]) -> Outcome {
    let mut child = remit::remit()
        .arg("fmt")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("remit starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("written");
    drop(stdin);
    Outcome::from(child.wait_with_output().expect("remit ends"))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn a_file_is_laid_out_in_place_and_named() {
    let folder = folder();
    let file = folder.path().join("p.remit");
    write(&file, CROWDED);
    let outcome = fmt(folder.path(), &["p.remit"]).expect_code(0);
    assert_eq!(outcome.stdout, "p.remit: formatted\n");
    assert_eq!(read(&file), LAID_OUT);

    let again = fmt(folder.path(), &["p.remit"]).expect_code(0);
    assert_eq!(again.stdout, "");
}

#[test]
fn a_file_that_is_laid_out_is_not_written() {
    let folder = folder();
    let file = folder.path().join("p.remit");
    write(&file, LAID_OUT);
    let before = fs::metadata(&file).expect("a file").ino();
    fmt(folder.path(), &["p.remit"]).expect_code(0);
    assert_eq!(fs::metadata(&file).expect("a file").ino(), before);
}

#[test]
fn the_mode_stays_and_nothing_is_left_beside_it() {
    let folder = folder();
    let file = folder.path().join("p.remit");
    write(&file, CROWDED);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("set");
    fmt(folder.path(), &["p.remit"]).expect_code(0);
    assert_eq!(
        fs::metadata(&file).expect("a file").permissions().mode() & 0o7777,
        0o640
    );
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_check_shows_the_difference_and_writes_nothing() {
    let folder = folder();
    let file = folder.path().join("p.remit");
    write(&file, CROWDED);
    write(&folder.path().join("good.remit"), LAID_OUT);
    let outcome = fmt(folder.path(), &["--check", "p.remit", "good.remit"]).expect_code(1);
    insta::assert_snapshot!(outcome.stdout);
    assert_eq!(read(&file), CROWDED);

    fmt(folder.path(), &["--check", "good.remit"]).expect_code(0);
}

#[test]
fn a_file_with_errors_is_left_alone_and_its_errors_are_shown() {
    let folder = folder();
    let file = folder.path().join("broken.remit");
    write(&file, BROKEN);
    write(&folder.path().join("p.remit"), CROWDED);
    let outcome = fmt(folder.path(), &["."]).expect_code(1);
    assert!(outcome.stderr.contains("alow"), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("broken.remit: left as it is"),
        "{}",
        outcome.stderr
    );
    assert_eq!(read(&file), BROKEN);
    assert_eq!(
        outcome.stdout, "p.remit: formatted\n",
        "the others are laid out all the same"
    );
}

#[test]
fn a_folder_means_its_policy_files_without_links_and_hidden_folders() {
    let folder = folder();
    let path = folder.path();
    for name in ["a.remit", "b/c.remit", ".hidden/d.remit", "e.txt"] {
        write(&path.join(name), CROWDED);
    }
    symlink(path.join(".hidden"), path.join("link")).expect("linked");
    symlink(path.join(".hidden/d.remit"), path.join("f.remit")).expect("linked");
    let outcome = fmt(path, &[]).expect_code(0);
    assert_eq!(outcome.stdout, "a.remit: formatted\nb/c.remit: formatted\n");
    assert_eq!(read(&path.join(".hidden/d.remit")), CROWDED);
    assert_eq!(read(&path.join("e.txt")), CROWDED);
}

#[test]
fn a_link_is_refused_by_name() {
    let folder = folder();
    let target = folder.path().join("target.remit");
    write(&target, CROWDED);
    symlink(&target, folder.path().join("link.remit")).expect("linked");
    let outcome = fmt(folder.path(), &["link.remit"]).expect_code(1);
    assert!(
        outcome.stderr.contains("is a symbolic link"),
        "{}",
        outcome.stderr
    );
    assert_eq!(read(&target), CROWDED);
}

#[test]
fn a_folder_without_policies_is_an_error() {
    let folder = folder();
    let outcome = fmt(folder.path(), &[]).expect_code(1);
    assert!(outcome.stderr.contains("no `*.remit` file"), "{}", outcome.stderr);
}

#[test]
fn standard_input_comes_out_laid_out() {
    assert_eq!(piped(CROWDED, &["-"]).expect_code(0).stdout, LAID_OUT);
    assert_eq!(piped(LAID_OUT, &["-"]).expect_code(0).stdout, LAID_OUT);
    assert_eq!(piped(LAID_OUT, &["-", "--check"]).expect_code(0).stdout, "");
    assert!(
        piped(CROWDED, &["-", "--check"])
            .expect_code(1)
            .stdout
            .contains("<stdin>: not formatted")
    );
}

#[test]
fn standard_input_with_errors_gives_no_text() {
    let outcome = piped(BROKEN, &["-"]).expect_code(1);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains("alow"), "{}", outcome.stderr);
}

#[test]
fn standard_input_stands_alone() {
    let outcome = piped(LAID_OUT, &["-", "p.remit"]).expect_code(1);
    assert!(outcome.stderr.contains("stands alone"), "{}", outcome.stderr);
}

#[test]
fn a_program_reads_what_happened_to_each_file() {
    let folder = folder();
    write(&folder.path().join("a.remit"), CROWDED);
    write(&folder.path().join("b.remit"), BROKEN);
    write(&folder.path().join("c.remit"), LAID_OUT);
    let check = fmt(folder.path(), &["--check", "--format", "json", "."])
        .expect_code(1)
        .json();
    let status = |document: &serde_json::Value| -> Vec<String> {
        let files = document["files"].as_array().cloned().unwrap_or_default();
        files
            .iter()
            .filter_map(|file| file["status"].as_str().map(str::to_owned))
            .collect()
    };
    assert_eq!(status(&check), ["not-formatted", "refused", "unchanged"]);
    assert_eq!(check["files"][1]["findings"][0]["code"], "R0108");
    let written = fmt(folder.path(), &["--format", "json", "."])
        .expect_code(1)
        .json();
    assert_eq!(status(&written), ["formatted", "refused", "unchanged"]);
    let text = piped(CROWDED, &["-", "--format", "json"]).expect_code(0).json();
    assert_eq!(text["files"][0]["text"], LAID_OUT);
}
