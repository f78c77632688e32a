//! What is found of statements, in the text.

use super::*;

fn found(text: &str) -> (SourceFile, Statement) {
    let source = SourceFile::new("a.remit", text);
    let statement = Statement::at(FileId(0), &source, 0).unwrap();
    (source, statement)
}

#[track_caller]
fn assert_parts(text: &str, whole: &str, head: &str, targets: &[&str]) {
    let (source, statement) = found(text);
    assert_eq!(source.slice(statement.span), whole);
    assert_eq!(source.slice(statement.head), head);
    let found: Vec<&str> = statement.targets.iter().map(|span| source.slice(*span)).collect();
    assert_eq!(found, targets);
}

#[test]
fn a_rule_ends_where_the_next_statement_begins() {
    assert_parts(
        "allow read, write \"/a\", \"/b\" because \"x\" if present\n allow read \"/c\"",
        "allow read, write \"/a\", \"/b\" because \"x\" if present",
        "allow read, write \"/a\", \"/b\"",
        &["\"/a\"", "\"/b\""],
    );
    assert_parts(
        "deny \"/a\" // why\n }",
        "deny \"/a\"",
        "deny \"/a\"",
        &["\"/a\""],
    );
}

#[test]
fn words_of_conditions_and_brokers_begin_no_statement() {
    assert_parts(
        "allow syscall @io, \"fchmod\" where mode & 7 == 0 and mode < LIMIT permit degraded deny syscall \"x\"",
        "allow syscall @io, \"fchmod\" where mode & 7 == 0 and mode < LIMIT permit degraded",
        "allow syscall @io, \"fchmod\" where mode & 7 == 0 and mode < LIMIT",
        &["@io", "\"fchmod\""],
    );
    assert_parts(
        "broker \"T\" for \"a:1\" as bearer from env \"T\" ttl 5m\n pass \"A\"",
        "broker \"T\" for \"a:1\" as bearer from env \"T\" ttl 5m",
        "broker \"T\" for \"a:1\" as bearer from env \"T\" ttl 5m",
        &["\"T\"", "\"a:1\"", "\"T\""],
    );
}

#[test]
fn values_without_targets_are_found_too() {
    assert_parts(
        "limit memory ${size}, open-files 10\n limit cpu 5%",
        "limit memory ${size}, open-files 10",
        "limit memory ${size}, open-files 10",
        &[],
    );
    assert_parts("identity 10:10 }", "identity 10:10", "identity 10:10", &[]);
    assert_parts(
        "use std::git, std::node\n param a: path",
        "use std::git, std::node",
        "use std::git, std::node",
        &[],
    );
    assert_parts(
        "scratch \"/tmp\" 1MiB scratch \"/x\" 2MiB",
        "scratch \"/tmp\" 1MiB",
        "scratch \"/tmp\" 1MiB",
        &["\"/tmp\""],
    );
}

#[test]
fn escapes_and_parameters_stay_inside_their_string() {
    assert_parts(
        "allow \"/a\\\"b${x}\", \"é\" }",
        "allow \"/a\\\"b${x}\", \"é\"",
        "allow \"/a\\\"b${x}\", \"é\"",
        &["\"/a\\\"b${x}\"", "\"é\""],
    );
}

#[test]
fn a_removed_statement_takes_its_line_with_it_unless_something_else_is_there() {
    let source = SourceFile::new("a", "{\n    deny \"/a\"\n    deny \"/b\" // kept\n}");
    let cut = |start: usize| {
        let statement = Statement::at(FileId(0), &source, start).unwrap();
        source.slice(statement.removal(&source)).to_owned()
    };
    assert_eq!(cut(6), "    deny \"/a\"\n");
    assert_eq!(cut(20), "deny \"/b\"");
}

#[test]
fn a_removed_target_takes_one_comma_with_it() {
    let (source, statement) = found("deny \"/a\", \"/b\"");
    assert_eq!(source.slice(statement.removal_of(0).unwrap()), "\"/a\", ");
    assert_eq!(source.slice(statement.removal_of(1).unwrap()), ", \"/b\"");
    assert_eq!(found("deny \"/a\"").1.removal_of(0), None);
}
