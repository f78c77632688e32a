//! The examples on the page of lints show what they say: the first has the finding, what to write instead has not.

use policy_lang::SourceFile;
use policy_lang::diagnostic::Code;

use super::{checked, render};

fn examples(page: &str) -> Vec<&str> {
    let blocks = page.split("```remit\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

#[test]
fn the_first_example_has_the_finding_and_the_second_has_not() {
    let mut tried = 0;
    for code in Code::ALL.iter().filter(|code| code.as_str().starts_with("R06")) {
        let examples = examples(code.page());
        for (index, example) in examples.iter().enumerate() {
            let source = SourceFile::new("example", format!("policy \"x\" {{\n{example}\n}}\n"));
            let (files, found) = checked(&source, false);
            let has = found.iter().any(|found| found.code == *code);
            assert_eq!(
                has,
                index == 0,
                "{code}, example {index}:\n{}",
                render(&files, &found)
            );
            tried += 1;
        }
    }
    assert!(tried >= 60, "only {tried} examples");
}
