//! Every fixture is checked, and what a person would read is compared with its snapshot.
//!
//! A fixture is a policy that parses and resolves; its folder is a family of findings. `clean/` has none.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::path::{Path, PathBuf};

#[path = "../../../policy-lang/tests/support/rendering.rs"]
mod rendering;
#[path = "../../../policy-lang/tests/support/tree.rs"]
mod tree;

mod growth;
mod meaning;
mod pages;

use compiler::check::{Options, check};
use policy_lang::diagnostic::{Code, Suggestion};
use policy_lang::{Diagnostic, LoadError, Loader, SourceFile};
use rendering::render;

const HOME: &str = "/home/agent";

/// What fixtures may include or be held within.
struct Library;

impl Loader for Library {
    fn load(&self, name: &str) -> Result<SourceFile, LoadError> {
        let text = std::fs::read_to_string(folder().join(name)).map_err(|_| LoadError::Missing)?;
        Ok(SourceFile::new(name, text))
    }
}

struct Fixture {
    name: String,
    /// The fixture itself first.
    files: Vec<SourceFile>,
    found: Vec<Diagnostic>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check/fixtures")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("lib") {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "remit") {
            found.push(path);
        }
    }
}

/// Resolves and checks a text. A run of `root` is started by root.
fn checked(source: &SourceFile, root: bool) -> (Vec<SourceFile>, Vec<Diagnostic>) {
    let resolved = tree::check_among(source, &Library);
    let Some(policy) = resolved.policy else {
        panic!(
            "{}:\n{}",
            source.name,
            render(&resolved.files, &resolved.diagnostics)
        );
    };
    let options = Options {
        files: &resolved.files,
        home: HOME,
        caller_is_root: root,
    };
    let found = check(&policy, &options);
    (resolved.files, found)
}

fn fixtures() -> Vec<Fixture> {
    let mut paths = Vec::new();
    files(&folder(), &mut paths);
    paths.sort();
    let fixtures = paths.iter().map(|path| {
        let name = path.strip_prefix(folder()).unwrap().with_extension("");
        let name = name.to_string_lossy().into_owned();
        let source = SourceFile::new(format!("{name}.remit"), std::fs::read_to_string(path).unwrap());
        let (files, found) = checked(&source, name.contains("root"));
        Fixture { name, files, found }
    });
    fixtures.collect()
}

#[test]
fn findings_read_as_their_snapshots_say() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder().join("../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for fixture in fixtures() {
            let text = render(&fixture.files, &fixture.found);
            insta::assert_snapshot!(fixture.name.replace('/', "__"), text);
        }
    });
}

#[test]
fn clean_policies_have_nothing_to_be_said_about_them() {
    for fixture in fixtures() {
        let is_clean = fixture.name.starts_with("clean/");
        assert_eq!(
            fixture.found.is_empty(),
            is_clean,
            "{}:\n{}",
            fixture.name,
            render(&fixture.files, &fixture.found)
        );
    }
}

#[test]
fn every_finding_has_help_and_a_label_and_points_at_something() {
    for fixture in fixtures() {
        for found in &fixture.found {
            let place = format!("{}: {}", fixture.name, found.message);
            assert!(found.help.is_some(), "{place} has no help");
            assert!(!found.label.is_empty(), "{place} has no label");
            assert!(!found.message.ends_with('.'), "{place}");
            assert!(
                !fixture.files[usize::from(found.file.0)]
                    .slice(found.span)
                    .trim()
                    .is_empty(),
                "{place} points nowhere"
            );
        }
    }
}

fn repaired(source: &SourceFile, suggestion: &Suggestion) -> SourceFile {
    let mut text = source.text.clone();
    let span = suggestion.span.start..suggestion.span.end;
    text.replace_range(span, &suggestion.replacement);
    SourceFile::new(source.name.clone(), text)
}

#[test]
fn a_suggestion_silences_the_finding_it_is_made_for() {
    let mut taken = 0;
    for fixture in fixtures() {
        let count = |found: &[Diagnostic], like: &Diagnostic| {
            let same = |other: &&Diagnostic| other.code == like.code;
            found.iter().filter(same).count()
        };
        for found in &fixture.found {
            let Some(suggestion) = &found.suggestion else {
                continue;
            };
            taken += 1;
            let (_, after) = checked(
                &repaired(&fixture.files[0], suggestion),
                fixture.name.contains("root"),
            );
            assert!(
                count(&after, found) < count(&fixture.found, found),
                "{}: `{}` stays after {suggestion:?}",
                fixture.name,
                found.message
            );
        }
    }
    assert!(taken >= 15, "only {taken} suggestions");
}

#[test]
fn every_code_of_a_lint_has_a_fixture() {
    let fixtures = fixtures();
    let seen = |code: &Code| {
        fixtures
            .iter()
            .any(|fixture| fixture.found.iter().any(|found| found.code == *code))
    };
    let lint = |code: &&Code| code.as_str().starts_with("R06");
    // What a kernel lacks is found by the command, which knows about kernels.
    // The front end finds values and identities that ceilings do not have, since it reads both.
    let elsewhere = ["R0670", "R0602", "R0603"];
    let missing: Vec<&str> = Code::ALL
        .iter()
        .filter(lint)
        .filter(|code| !elsewhere.contains(&code.as_str()) && !seen(code))
        .map(|code| code.as_str())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
