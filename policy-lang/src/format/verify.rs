//! Whether two texts are the same policy: the same syntax tree but for positions, and the same comments.
//!
//! The tree of the grammar is compared, not the one made of it: it holds every token, so nothing that a later stage
//! might read can differ.

use pest::iterators::{Pair, Pairs};

use super::tree::{Form, elements, leaves};
use crate::parse::grammar::Rule;

/// Compares two files that the grammar accepted.
///
/// # Errors
/// Where they part, in words.
pub(super) fn same(
    old_text: &str,
    old: Pairs<'_, Rule>,
    new_text: &str,
    new: Pairs<'_, Rule>,
) -> Result<(), String> {
    same_comments(old_text, &old, new_text, &new)?;
    same_trees(old, new)
}

fn same_comments(
    old_text: &str,
    old: &Pairs<'_, Rule>,
    new_text: &str,
    new: &Pairs<'_, Rule>,
) -> Result<(), String> {
    // With the number of tokens before each: a comment must not move to another place either.
    let comments = |text: &str, pairs: &Pairs<'_, Rule>| {
        let mut found = Vec::new();
        let mut tokens = 0_usize;
        for element in elements(text, leaves(pairs.clone())) {
            match element.form {
                Form::Token => tokens += 1,
                Form::LineComment | Form::BlockComment => {
                    let lines: Vec<String> =
                        element.text.lines().map(|line| line.trim().to_owned()).collect();
                    found.push((tokens, lines));
                }
            }
        }
        found
    };
    if comments(old_text, old) == comments(new_text, new) {
        Ok(())
    } else {
        Err("a comment was lost or moved".to_owned())
    }
}

fn same_trees(old: Pairs<'_, Rule>, new: Pairs<'_, Rule>) -> Result<(), String> {
    let (mut old, mut new) = (old.flatten(), new.flatten());
    loop {
        match (old.next(), new.next()) {
            (None, None) => return Ok(()),
            (Some(old), Some(new)) if alike(&old, &new) => {}
            (Some(old), _) => return Err(format!("`{}`", excerpt(old.as_str()))),
            (None, Some(new)) => return Err(format!("`{}` was added", excerpt(new.as_str()))),
        }
    }
}

/// Rule, number of parts, and for a token its text. Visited in order, that determines the tree.
fn alike(old: &Pair<'_, Rule>, new: &Pair<'_, Rule>) -> bool {
    let parts = |pair: &Pair<'_, Rule>| pair.clone().into_inner().count();
    let token = parts(old) == 0 || matches!(old.as_rule(), Rule::string | Rule::quantity | Rule::ids);
    old.as_rule() == new.as_rule() && parts(old) == parts(new) && (!token || old.as_str() == new.as_str())
}

fn excerpt(text: &str) -> String {
    text.split_whitespace()
        .flat_map(|word| [word, " "])
        .collect::<String>()
        .chars()
        .take(40)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use pest::Parser as _;

    use super::*;
    use crate::parse::grammar::Grammar;

    fn compare(old: &str, new: &str) -> Result<(), String> {
        let read = |text| Grammar::parse(Rule::file, text).unwrap();
        same(old, read(old), new, read(new))
    }

    const OLD: &str = "policy \"p\" { filesystem { allow read \"/a\", \"/b\" if present // why\n } }";

    #[test]
    fn space_and_line_ends_do_not_count() {
        let new =
            "policy \"p\" {\r\n  filesystem {\n allow\tread \"/a\" ,\n\"/b\" if present\n// why  \n}}\n";
        assert_eq!(compare(OLD, new), Ok(()));
    }

    #[test]
    fn every_other_difference_is_found() {
        for (from, to) in [
            ("allow", "deny"),
            ("\"/a\"", "\"/ a\""),
            ("\"/a\", \"/b\"", "\"/b\", \"/a\""),
            ("if present", ""),
            ("// why", ""),
            ("// why", "// who"),
            ("\"/a\",", "\"/a\", // why\n"),
            ("}", "deny \"/c\" }"),
            ("filesystem {", "filesystem { } filesystem {"),
            ("\"/b\"", "// \"/b\"\n\"/b\""),
        ] {
            let new = OLD.replacen(from, to, 1);
            assert_ne!(new, OLD);
            assert!(compare(OLD, &new).is_err(), "{new}");
        }
    }

    #[test]
    fn a_comment_that_moved_past_a_token_is_found() {
        let new = "policy \"p\" { filesystem { allow read \"/a\", \"/b\" // why\n if present } }";
        assert_eq!(compare(OLD, new), Err("a comment was lost or moved".to_owned()));
    }

    #[test]
    fn the_place_where_trees_part_is_named() {
        let new = OLD.replace("\"/b\"", "\"/c\"");
        assert_eq!(compare(OLD, &new), Err("`\"/b\"`".to_owned()));
    }
}
