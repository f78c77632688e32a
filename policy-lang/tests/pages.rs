//! The pages on codes: one for each, and their examples show what they say.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "support/tree.rs"]
mod tree;

use policy_lang::SourceFile;
use policy_lang::diagnostic::Code;

/// The examples of a page: the mistake, then what to write instead.
fn examples(page: &str) -> Vec<&str> {
    let blocks = page.split("```remit\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

#[test]
fn every_code_has_a_page_that_begins_with_its_summary() {
    for code in Code::ALL {
        let page = code.page();
        let summary = code.summary().trim().trim_end_matches('.');
        assert!(page.starts_with("**"), "{code} has no page: {page:?}");
        let words = page.replace('\n', " ").replace("**", "");
        assert!(
            words.starts_with(summary),
            "{code}: {summary:?} against {:?}",
            words.get(..80)
        );
    }
}

#[test]
fn no_page_is_about_a_code_that_does_not_exist() {
    for page in ["diagnostics.md", "lints.md"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../docs")
            .join(page);
        let text = std::fs::read_to_string(path).unwrap();
        for heading in text.lines().filter_map(|line| line.strip_prefix("## ")) {
            assert!(Code::parse(heading).is_some(), "{page}: {heading}");
        }
    }
}

#[test]
fn examples_of_errors_have_the_error_and_what_to_write_instead_has_not() {
    let mut tried = 0;
    for code in Code::ALL.iter().filter(|code| !code.as_str().starts_with("R06")) {
        let examples = examples(code.page());
        for (index, example) in examples.iter().enumerate() {
            let source = SourceFile::new("example", format!("policy \"x\" {{\n{example}\n}}\n"));
            let found = tree::check(&source).diagnostics;
            let has = found.iter().any(|found| found.code == *code);
            assert_eq!(has, index == 0, "{code}, example {index}: {found:#?}");
        }
        tried += examples.len();
    }
    assert!(tried >= 50, "only {tried}");
}
