//! Where a new rule goes in the text of a policy: at the end of the last block of its domain, or in a new block.
//!
//! Whether the text then means what it should is not this module's to say; it is resolved again and compared.

use crate::check::place::{Kind, tokens};

/// A text with a rule in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) text: String,
    /// The line the rule stands on, from 1.
    pub(super) line: usize,
}

/// A block of the policy.
struct Block {
    /// Behind its `{`.
    inside: usize,
    /// Its `}`.
    end: usize,
}

/// Puts a rule into a block of a policy that parses.
pub(super) fn place(text: &str, block: &str, rule: &str) -> Option<Placed> {
    let policy = policy(text)?;
    match last_block(text, &policy, block) {
        Some(found) => Some(inside(text, &found, rule)),
        None => {
            let opening = format!("{block} {{");
            let indent = indentation(text, policy.end);
            let inner = step(text, &policy);
            let whole = format!("{opening}\n{indent}{inner}{inner}{rule}\n{indent}{inner}}}");
            let mut placed = inside(text, &policy, &whole);
            placed.line += 1;
            Some(placed)
        }
    }
}

/// `policy "name" { … }`
fn policy(text: &str) -> Option<Block> {
    let at = tokens(text, 0).scan(0_usize, |depth, token| {
        match token.text {
            "{" => *depth += 1,
            "}" => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some((*depth, token))
    });
    let word = at
        .filter(|(depth, token)| *depth == 0 && token.kind == Kind::Word && token.text == "policy")
        .map(|(_, token)| token.span.end)
        .next()?;
    block_from(text, word)
}

/// The block whose `{` is the first behind an offset.
fn block_from(text: &str, from: usize) -> Option<Block> {
    let mut depth = 0_usize;
    let mut inside = None;
    for token in tokens(text, from).filter(|token| token.kind == Kind::Brace) {
        if token.text == "{" {
            depth += 1;
            inside.get_or_insert(token.span.end);
        } else {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(Block {
                    inside: inside?,
                    end: token.span.start,
                });
            }
        }
    }
    None
}

fn last_block(text: &str, policy: &Block, name: &str) -> Option<Block> {
    let mut depth = 0_usize;
    let mut last = None;
    let mut previous = None;
    for token in tokens(text, policy.inside).take_while(|token| token.span.start < policy.end) {
        match (token.kind, token.text) {
            (Kind::Brace, "{") => {
                if depth == 0 && previous == Some(name) {
                    last = block_from(text, token.span.start);
                }
                depth += 1;
            }
            (Kind::Brace, _) => depth = depth.saturating_sub(1),
            _ => {}
        }
        previous = Some(token.text);
    }
    last
}

/// Before the closing brace: on a line of its own where the brace has one.
fn inside(text: &str, block: &Block, rule: &str) -> Placed {
    let before = text.get(..block.end).unwrap_or_default();
    let after = text.get(block.end..).unwrap_or_default();
    let head = before.trim_end_matches([' ', '\t']);
    let (written, line) = if head.ends_with('\n') {
        let indent = indentation(text, block.end);
        let step = step(text, block);
        (
            format!("{head}{indent}{step}{rule}\n{indent}{after}"),
            head.matches('\n').count() + 1,
        )
    } else {
        let space = if before.ends_with(char::is_whitespace) {
            ""
        } else {
            " "
        };
        (
            format!("{before}{space}{rule} {after}"),
            before.matches('\n').count() + 1,
        )
    };
    Placed { text: written, line }
}

/// What stands before an offset on its line, if that is only space.
fn indentation(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let space = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..space).unwrap_or_default()
}

/// By how much a block indents what is in it.
fn step<'t>(text: &'t str, block: &Block) -> &'t str {
    let outer = indentation(text, block.end);
    let within = text.get(block.inside..block.end).unwrap_or_default();
    within
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .find_map(|line| {
            let space = line.len() - line.trim_start_matches([' ', '\t']).len();
            line.get(..space)?
                .strip_prefix(outer)
                .filter(|step| !step.is_empty())
        })
        .unwrap_or("    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(text: &str, block: &str) -> (String, usize) {
        let placed = place(text, block, "allow read \"/x\"").unwrap();
        (placed.text, placed.line)
    }

    #[test]
    fn a_rule_goes_to_the_end_of_the_last_block_as_that_is_indented() {
        let text = "policy \"p\" {\n  filesystem {\n    allow read \"/a }\" // }\n  }\n  filesystem {\n    deny read \"/b\"\n  }\n}\n";
        let expected = "policy \"p\" {\n  filesystem {\n    allow read \"/a }\" // }\n  }\n  filesystem {\n    deny read \"/b\"\n    allow read \"/x\"\n  }\n}\n";
        assert_eq!(placed(text, "filesystem"), (expected.to_owned(), 7));
    }

    #[test]
    fn a_block_on_one_line_stays_on_it() {
        assert_eq!(
            placed("policy \"p\" { filesystem { allow read \"/a\" } }", "filesystem").0,
            "policy \"p\" { filesystem { allow read \"/a\" allow read \"/x\" } }"
        );
        assert_eq!(
            placed("policy \"p\" { filesystem {} }", "filesystem").0,
            "policy \"p\" { filesystem { allow read \"/x\" } }"
        );
    }

    #[test]
    fn a_block_that_is_not_there_is_made() {
        let text = "policy \"p\" {\n    network {\n    }\n}\ntest \"filesystem\" {\n}\n";
        let expected = "policy \"p\" {\n    network {\n    }\n    filesystem {\n        allow read \"/x\"\n    }\n}\ntest \"filesystem\" {\n}\n";
        assert_eq!(placed(text, "filesystem"), (expected.to_owned(), 5));
    }

    #[test]
    fn a_test_before_the_policy_is_not_the_policy() {
        let text = "test \"policy\" { read \"/x\" is denied }\npolicy \"p\" { filesystem { } }";
        assert_eq!(
            placed(text, "filesystem").0,
            "test \"policy\" { read \"/x\" is denied }\npolicy \"p\" { filesystem { allow read \"/x\" } }"
        );
    }
}
