//! Every fixture under `tests/fixtures` is checked, and what a person would read is compared with its snapshot.
//!
//! A fixture is a policy file. The folder says what it is about. `good/` has none but warnings. Files that fixtures include
//! are in `lib/` beside them; the folder of a fixture is its policy root.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::path::{Path, PathBuf};

#[path = "support/rendering.rs"]
mod rendering;
#[path = "support/tree.rs"]
mod tree;

use policy_lang::diagnostic::{Code, Suggestion};
use policy_lang::{Diagnostic, LoadError, Loader, Resolved, SourceFile};
use rendering::render;
use tree::check_among;

fn fixtures() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // What others include, and what the formatter is tried on, says nothing about findings.
            if path.ends_with("lib") || path.ends_with("format") {
                continue;
            }
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "remit") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&folder(), &mut found);
    found.sort();
    found
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn name_of(path: &Path) -> String {
    path.strip_prefix(folder())
        .unwrap()
        .with_extension("")
        .to_string_lossy()
        .into_owned()
}

fn load(path: &Path) -> SourceFile {
    SourceFile::from_bytes(format!("{}.remit", name_of(path)), std::fs::read(path).unwrap())
}

/// The folder of a fixture, as its policy root.
struct Beside(PathBuf);

impl Loader for Beside {
    fn load(&self, name: &str) -> Result<SourceFile, LoadError> {
        if name.contains("linked") {
            return Err(LoadError::Outside);
        }
        match std::fs::read(self.0.join(name)) {
            Ok(bytes) => Ok(SourceFile::from_bytes(name, bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(LoadError::Missing),
            Err(_) => Err(LoadError::NotAFile),
        }
    }
}

fn check_beside(name: &str, source: &SourceFile) -> Resolved {
    let beside = folder().join(name).parent().unwrap().to_owned();
    check_among(source, &Beside(beside))
}

fn checked() -> Vec<(String, SourceFile, Resolved)> {
    fixtures()
        .iter()
        .map(|path| {
            let source = load(path);
            let resolved = check_beside(&name_of(path), &source);
            (name_of(path), source, resolved)
        })
        .collect()
}

#[test]
fn diagnostics_read_as_their_snapshots_say() {
    let checked = checked();
    assert!(checked.len() >= 50, "only {} fixtures", checked.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder().join("../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, _, resolved) in &checked {
            let text = render(&resolved.files, &resolved.diagnostics);
            insta::assert_snapshot!(name.replace('/', "__"), text);
        }
    });
}

#[test]
fn good_files_have_a_policy_and_the_others_have_none() {
    for (name, _, resolved) in checked() {
        let failed = resolved.diagnostics.iter().any(Diagnostic::is_error);
        assert_eq!(name.starts_with("good/"), !failed, "{name}");
        assert_eq!(resolved.policy.is_some(), !failed, "{name}");
    }
}

#[test]
fn every_error_says_what_to_do_and_points_into_the_file() {
    for (name, _, resolved) in checked() {
        for found in &resolved.diagnostics {
            let source = &resolved.files[usize::from(found.file.0)];
            assert!(found.help.is_some(), "{name}: {} has no help", found.message);
            assert!(!found.message.ends_with('.'), "{name}: {}", found.message);
            assert!(!found.label.is_empty(), "{name}: {} has no label", found.message);
            for label in &found.secondary {
                let other = label.file.unwrap_or(found.file);
                let text = &resolved.files[usize::from(other.0)].text;
                assert!(text.get(label.span.start..label.span.end).is_some(), "{name}");
            }
            let spans = [found.span]
                .into_iter()
                .chain(found.suggestion.iter().map(|suggestion| suggestion.span));
            for span in spans {
                assert!(
                    source.text.get(span.start..span.end).is_some(),
                    "{name}: {}: {span:?}",
                    found.message
                );
            }
        }
    }
}

/// What the file would be with the suggestion taken.
fn repaired(source: &SourceFile, suggestion: &Suggestion) -> SourceFile {
    let mut text = source.text.clone();
    text.replace_range(
        suggestion.span.start..suggestion.span.end,
        &suggestion.replacement,
    );
    SourceFile::new(source.name.clone(), text)
}

#[test]
fn a_suggestion_repairs_what_it_is_made_for() {
    let mut taken = 0;
    for (name, source, resolved) in checked() {
        for found in &resolved.diagnostics {
            // Repairing a file that is included takes another file than this one.
            let Some(suggestion) = found.suggestion.as_ref().filter(|_| found.file.0 == 0) else {
                continue;
            };
            taken += 1;
            let count = |diagnostics: &[Diagnostic]| {
                diagnostics
                    .iter()
                    .filter(|other| other.code == found.code && other.message == found.message)
                    .count()
            };
            let after = check_beside(&name, &repaired(&source, suggestion)).diagnostics;
            assert!(
                count(&after) < count(&resolved.diagnostics),
                "{name}: `{}` stays after {suggestion:?}",
                found.message
            );
        }
    }
    assert!(taken >= 25, "only {taken} suggestions");
}

#[test]
fn every_code_of_the_language_has_a_fixture() {
    let checked = checked();
    let seen = |code: Code| {
        checked
            .iter()
            .any(|(_, _, resolved)| resolved.diagnostics.iter().any(|found| found.code == code))
    };
    let of_the_language =
        |code: &&Code| matches!(code.as_str().get(..3), Some("R01" | "R02" | "R03" | "R07"));
    // A file of more than a mebibyte is made in `limits.rs`.
    let missing: Vec<&str> = Code::ALL
        .iter()
        .filter(of_the_language)
        .filter(|code| **code != Code::FileTooLarge && !seen(**code))
        .map(|code| code.as_str())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn reference() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md")).unwrap()
}

#[test]
fn the_reference_lists_every_code() {
    let reference = reference();
    for code in Code::ALL {
        let row = format!("| {} | {}", code.as_str(), code.summary().trim());
        assert!(reference.contains(&row), "docs/language.md has no row `{row}`");
    }
}
