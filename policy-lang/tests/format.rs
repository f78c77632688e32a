//! The formatter: one layout, nothing lost, the same meaning, and the same again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use policy_lang::SourceFile;
use policy_lang::format::{FormatError, MAX_WIDTH, format};
use proptest::prelude::*;

#[path = "support/scatter.rs"]
mod scatter;

fn formatted(text: &str) -> String {
    format(&SourceFile::new("p.remit", text)).unwrap_or_else(|error| panic!("{error}: {error:?}\n{text}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Files of the repository with one of these extensions, but for what others build and what is wrong on purpose.
fn files(extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let skipped =
                name.starts_with('.') || ["target", "node_modules", "fixtures"].contains(&name.as_str());
            if entry.file_type().unwrap().is_dir() && !skipped {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|found| found == extension) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_policy_of_the_repository_is_formatted() {
    let files = files("remit");
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text, formatted(&text), "{}: call `remit fmt`", file.display());
    }
}

#[test]
fn every_whole_policy_in_a_document_is_formatted() {
    let mut tried = 0;
    for file in files("md") {
        let text = fs::read_to_string(&file).unwrap();
        let blocks = text.split("\n```").skip(1).step_by(2);
        for block in blocks.filter_map(|block| block.split_once('\n').map(|(_, block)| block)) {
            if ["policy \"", "group ", "test \""]
                .iter()
                .any(|start| block.starts_with(start))
            {
                let block = format!("{}\n", block.trim_end());
                assert_eq!(block, formatted(&block), "{}", file.display());
                tried += 1;
            }
        }
    }
    assert!(tried >= 2, "only {tried} policies were found");
}

#[test]
fn a_crowded_file_is_laid_out_as_reviewed() {
    insta::assert_snapshot!(formatted(include_str!("fixtures/format/crowded.remit")));
}

#[test]
fn the_sketch_of_the_design_keeps_its_columns() {
    insta::assert_snapshot!(formatted(include_str!("fixtures/format/sketch.remit")));
}

#[test]
fn lines_end_before_the_widest_column_where_they_can() {
    for line in formatted(include_str!("fixtures/format/crowded.remit")).lines() {
        assert!(line.chars().count() <= MAX_WIDTH, "{line}");
        assert_eq!(line, line.trim_end());
    }
}

#[test]
fn layout_of_a_laid_out_file_changes_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut tried = 0;
    for kind in [
        "format",
        "good",
        "files",
        "meaning",
        "parameters",
        "values",
        "names",
    ] {
        for entry in fs::read_dir(folder.join(kind)).unwrap().flatten() {
            if entry.path().is_dir() {
                continue;
            }
            let source = SourceFile::from_bytes("p.remit", fs::read(entry.path()).unwrap());
            let Ok(once) = format(&source) else { continue };
            assert_eq!(once, formatted(&once), "{}", entry.path().display());
            tried += 1;
        }
    }
    assert!(tried > 20, "only {tried} files were laid out");
}

#[test]
fn line_ends_become_one_kind() {
    let text = "policy \"p\" {\r\n    // a\r\n    /* b\r\n       c */\r\n}\r\n";
    assert_eq!(
        formatted(text),
        "policy \"p\" {\n    // a\n    /* b\n       c */\n}\n"
    );
}

#[test]
fn files_of_groups_and_of_tests_are_laid_out_too() {
    assert_eq!(
        formatted("group g{}\ngroup h::i{summary \"s\"}"),
        "group g { }\n\ngroup h::i { summary \"s\" }\n"
    );
    assert_eq!(
        formatted("// why\ntest \"t\"{env \"A\" is absent\n}"),
        "// why\ntest \"t\" {\n    env \"A\" is absent\n}\n"
    );
    assert_eq!(formatted("// nothing yet\n"), "// nothing yet\n");
    assert_eq!(formatted(""), "");
}

#[test]
fn a_file_with_mistakes_is_refused_with_its_findings() {
    let source = SourceFile::new("p.remit", "policy \"p\" { filesystem { alow read \"/a\" } }");
    let Err(FormatError::Mistakes(found)) = format(&source) else {
        panic!("it was laid out");
    };
    assert_eq!(found.len(), 1);
    assert_eq!(source.slice(found.first().unwrap().span), "alow");
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    let source = SourceFile::from_bytes("p.remit", b"policy \"\xff\" { }".to_vec());
    assert!(matches!(format(&source), Err(FormatError::Mistakes(found)) if found.len() == 1));
}

/// Generous: a debug build on a busy machine. The square of any of these would take minutes.
#[track_caller]
fn is_laid_out_soon(text: &str) -> String {
    let begun = std::time::Instant::now();
    let once = formatted(text);
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    once
}

#[test]
fn ten_thousand_rules_are_laid_out_in_bounded_time() {
    let rules: String = (0..10_000)
        .map(|index| format!("allow read \"/a/{index}\" because \"{index}\" // {index}\n"))
        .collect();
    let once = is_laid_out_soon(&format!("policy \"p\" {{ filesystem {{ {rules} }} }}"));
    assert_eq!(once.lines().count(), 10_004);
}

#[test]
fn long_lines_are_laid_out_in_bounded_time() {
    let on_one_line = "allow read \"/a\" ".repeat(20_000);
    is_laid_out_soon(&format!("policy \"p\" {{ filesystem {{ {on_one_line} }} }}"));
    let without_a_break = "read, ".repeat(50_000);
    is_laid_out_soon(&format!(
        "policy \"p\" {{ filesystem {{ allow {without_a_break} read \"/a\" }} }}"
    ));
    let comments = "/**/".repeat(50_000);
    is_laid_out_soon(&format!(
        "policy \"p\" {{ {comments} filesystem {{ allow read {comments} \"/a\" }} }}"
    ));
    let targets = "\"/a\", ".repeat(50_000);
    is_laid_out_soon(&format!(
        "policy \"p\" {{ filesystem {{ allow read {targets} \"/b\" }} }}"
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_generated_policy_keeps_its_tokens_and_comments_and_settles_at_once(pieces in scatter::policy()) {
        let text = scatter::join(&pieces);
        let once = formatted(&text);
        prop_assert_eq!(&once, &formatted(&once), "from {}", text);
        prop_assert_eq!(scatter::essence(&once), scatter::essence(&text));
    }

    #[test]
    fn white_space_within_lines_does_not_matter(pieces in scatter::policy(), width in 1..9_usize) {
        let text = scatter::join(&pieces);
        let wide = scatter::widen(&pieces, width);
        prop_assert_eq!(formatted(&wide), formatted(&text));
    }

    #[test]
    fn whatever_the_bytes_are_the_answer_is_a_layout_or_a_finding(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let source = SourceFile::from_bytes("p.remit", bytes);
        match format(&source) {
            Ok(text) => prop_assert_eq!(&text, &formatted(&text)),
            Err(FormatError::Mistakes(found)) => prop_assert!(!found.is_empty()),
            Err(fault @ FormatError::Fault(_)) => prop_assert!(false, "{fault}"),
        }
    }
}
