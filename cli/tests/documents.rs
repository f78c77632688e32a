//! The documents: policies in them are sound, links lead somewhere, commands exist.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::path::{Path, PathBuf};

/// Every Markdown file of the repository, but for what others build.
fn documents() -> Vec<PathBuf> {
    let root = remit::root();
    let mut found = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir()
                && name != "target"
                && name != "node_modules"
                && !name.as_encoded_bytes().starts_with(b".")
            {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 10, "only {found:?}");
    found
}

/// Contents of fenced blocks, with what follows the opening fence.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, block)), None) => block.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    blocks
}

#[test]
fn every_whole_policy_in_a_document_is_free_of_errors() {
    let folder = remit::folder();
    let mut tried = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document");
        for (_, policy) in blocks(&text)
            .iter()
            .filter(|(_, block)| block.starts_with("policy \""))
        {
            let file = folder.path().join("policy.remit");
            fs::write(&file, policy).expect("written");
            let outcome = remit::output(
                remit::remit()
                    .current_dir(folder.path())
                    .args(["check", "policy.remit"]),
            );
            assert_eq!(
                outcome.code,
                Some(0),
                "{}:\n{}",
                document.display(),
                outcome.stdout
            );
            tried += 1;
        }
    }
    assert!(tried >= 2, "only {tried} policies were found");
}

#[test]
fn every_link_to_a_file_leads_to_one() {
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document");
        let folder = document.parent().expect("a folder");
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split([')', ' ']).next())
        {
            let path = target.split('#').next().unwrap_or_default();
            let elsewhere = path.is_empty() || target.contains("://");
            assert!(
                elsewhere || folder.join(path).exists(),
                "{}: {target} leads nowhere",
                document.display()
            );
        }
    }
}

#[test]
fn every_command_in_a_console_block_that_is_ours_is_one_we_have() {
    let help = remit::output(remit::remit().arg("--help")).expect_code(0).stdout;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.contains(&"run"), "{help}");
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document");
        for (_, block) in blocks(&text).iter().filter(|(language, _)| language == "console") {
            for line in block.lines().filter_map(|line| line.strip_prefix("$ remit ")) {
                let command = line.split_whitespace().next().unwrap_or_default();
                assert!(commands.contains(&command), "{}: {line}", document.display());
            }
        }
        assert_scripts_exist(&document, &text);
    }
}

fn assert_scripts_exist(document: &Path, text: &str) {
    for (_, block) in blocks(text).iter().filter(|(language, _)| language == "console") {
        for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let program = line.split_whitespace().next().unwrap_or_default();
            if program.contains('/') && !program.starts_with('/') {
                assert!(
                    remit::root().join(program).exists(),
                    "{}: {program} is not there",
                    document.display()
                );
            }
        }
    }
}
