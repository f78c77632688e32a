//! docs/std.md, made of the files under `policy-lang/std`.

use std::fmt::Write as _;

use policy_lang::ast::{CredentialStatement, Item, Text};
use policy_lang::{FileKind, SourceFile, Span, parse_as};

const HEAD: &str = "# Groups of the language

A policy says `use std::git` and gets the rules of that group, as if they were written in it. The groups are written in the
language itself, in [`policy-lang/std`](../policy-lang/std), and `remit explain` shows each rule with its file and line.

No group grants a secret, something that is both written and executed, or settings that make a person's other programs start
something; none but those of the agent harnesses reaches the network. Paths that a system may lack are skipped where they are
absent (`if present`). Groups say nothing of the workspace, which is the policy's own: `allow read, write \".\"`.

One thing to know: caches of downloaded packages can be written, since package managers cannot work otherwise, and whoever
builds from the same cache later builds from what a run left there. Where that matters, keep them as they are (`deny write
\"~/.cargo/registry\"`) or give the run caches of its own (`set \"CARGO_HOME\" = \"${workspace}/.cargo\"`).

Directories of package managers are named at their usual places. Where a variable such as `CARGO_HOME` moves one, the policy
grants it itself. The groups of the agent harnesses have rules on host names, which a host that cannot enforce them refuses at
admission.

This page is made from those files by a test (`REMIT_WRITE_PAGES=1 cargo test -p policy-lang --test std_groups`).
";

/// Name and text of each group.
pub(crate) fn of(groups: &[(&str, &str)]) -> String {
    let mut page = HEAD.to_owned();
    page.push_str("\n| group | what it is for |\n| --- | --- |\n");
    for (name, text) in groups {
        let summary = summary(text);
        writeln!(page, "| [`std::{name}`](#std{}) | {summary} |", name).unwrap();
    }
    for (name, text) in groups {
        section(&mut page, name, text);
    }
    page
}

fn summary(text: &str) -> String {
    let ast = parse_as(&SourceFile::new("", text), FileKind::Groups)
        .ast
        .unwrap();
    let found = ast.groups[0].items.iter().find_map(|item| match item {
        Item::Summary(_, text) => text.literal().map(str::to_owned),
        _ => None,
    });
    found.unwrap()
}

fn section(page: &mut String, name: &str, text: &str) {
    let source = SourceFile::new("", text);
    let ast = parse_as(&source, FileKind::Groups).ast.unwrap();
    writeln!(page, "\n## std::{name}\n").unwrap();
    let comment = text.lines().take_while(|line| line.starts_with("//"));
    for line in comment {
        let line = line.trim_start_matches("//");
        writeln!(page, "{}", line.strip_prefix(' ').unwrap_or(line).trim_end()).unwrap();
    }
    page.push_str("\n| it grants | because |\n| --- | --- |\n");
    for item in &ast.groups[0].items {
        match item {
            Item::Use(_, names) => {
                for name in names {
                    writeln!(page, "| everything of `{}` | |", name.text).unwrap();
                }
            }
            Item::Filesystem(_, statements) => {
                for statement in statements {
                    let policy_lang::ast::FileStatement::Rule(rule) = statement else {
                        panic!("a group of the language has other statements on files");
                    };
                    row(page, &source, rule.span, rule.suffix.because.as_ref());
                }
            }
            Item::Network(_, rules) => {
                for rule in rules {
                    row(page, &source, rule.span, rule.suffix.because.as_ref());
                }
            }
            Item::Credentials(_, statements) => {
                for statement in statements {
                    let CredentialStatement::Pass { span, suffix, .. } = statement else {
                        panic!("a group of the language sets or brokers something");
                    };
                    row(page, &source, *span, suffix.because.as_ref());
                }
            }
            Item::Process(_, statements) => {
                for statement in statements {
                    let policy_lang::ast::ProcessStatement::Syscall(rule) = statement else {
                        panic!("a group of the language limits something");
                    };
                    row(page, &source, rule.span, rule.suffix.because.as_ref());
                }
            }
            _ => {}
        }
    }
}

/// The rule on one line, without its reason.
fn row(page: &mut String, source: &SourceFile, span: Span, because: Option<&Text>) {
    let because = because.unwrap();
    let written = source.slice(Span::new(span.start, because.span.start));
    let words: Vec<&str> = written.split_whitespace().collect();
    let rule = words.join(" ");
    let rule = rule.strip_suffix(" because").unwrap();
    writeln!(page, "| `{rule}` | {} |", because.literal().unwrap()).unwrap();
}
