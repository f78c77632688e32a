//! The top level of a file: what it holds, and whether a file of its kind may.

use pest::iterators::Pair;

use super::super::FileKind;
use super::super::expected::Context;
use super::super::grammar::Rule;
use super::leaves::{child, name};
use super::{Builder, head, span};
use crate::ast::{Ast, GroupBlock, Include, Name};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl Builder<'_> {
    pub(super) fn file(&mut self, file: Pair<'_, Rule>, kind: FileKind) -> Ast {
        let mut ast = Ast::default();
        let mut first_policy: Option<Span> = None;
        let mut skipped = false;
        for pair in file.into_inner() {
            self.permitted(&pair, kind);
            match pair.as_rule() {
                Rule::include => {
                    if let Some(path) = child(&pair, Rule::string) {
                        let path = self.text(&path);
                        ast.includes.push(Include {
                            span: span(&pair),
                            path,
                        });
                    }
                }
                Rule::group_block => ast.groups.push(self.group_block(pair)),
                Rule::policy => {
                    let head = head(&pair);
                    let block = self.policy(pair);
                    match first_policy {
                        Some(first) => self.report(
                            Diagnostic::error(Code::PolicyCount, head, "a file has one policy")
                                .label("this is the second")
                                .also(first, "the first")
                                .help("move it to a file of its own"),
                        ),
                        None => {
                            first_policy = Some(head);
                            ast.policy = Some(block);
                        }
                    }
                }
                Rule::test => ast.tests.push(self.test(pair)),
                Rule::bad_top => {
                    skipped = true;
                    self.explain(Context::Top, span(&pair), None);
                }
                _ => {}
            }
        }
        if kind == FileKind::Policy && ast.policy.is_none() && !skipped {
            self.no_policy(!ast.groups.is_empty());
        }
        ast
    }

    fn no_policy(&mut self, groups: bool) {
        let end = self.source.text.chars().next().map_or(0, char::len_utf8);
        let help = if groups {
            "a file of groups is read by a policy that says `include`; check that policy"
        } else {
            "write `policy \"name\" { }`; an empty policy allows nothing"
        };
        self.report(
            Diagnostic::error(Code::PolicyCount, Span::new(0, end), "this file has no policy")
                .label("expected `policy \"name\" { … }`")
                .help(help),
        );
    }

    /// Says so where a file of this kind may not hold such a block.
    fn permitted(&mut self, pair: &Pair<'_, Rule>, kind: FileKind) {
        let (what, is) = match (kind, pair.as_rule()) {
            (FileKind::Groups, Rule::policy) => ("a policy", "a file that is included"),
            (FileKind::Groups, Rule::test) => ("a test", "a file that is included"),
            (FileKind::Tests, Rule::policy) => ("a policy", "a file of tests"),
            (FileKind::Tests, Rule::group_block) => ("a group", "a file of tests"),
            (FileKind::Tests, Rule::include) => ("an `include`", "a file of tests"),
            _ => return,
        };
        let holds = if kind == FileKind::Groups {
            "it holds `group` blocks and `include` statements; a policy that limits another is named by `within`"
        } else {
            "it holds `test` blocks, which are judged against the policy that the command names"
        };
        self.report(
            Diagnostic::error(
                Code::WrongFile,
                head(pair),
                format!("{what} cannot stand in {is}"),
            )
            .label("not in this file")
            .help(holds),
        );
    }

    fn group_block(&mut self, pair: Pair<'_, Rule>) -> GroupBlock {
        let at = span(&pair);
        let name = self.group_name(&pair);
        let mut items = Vec::new();
        self.block(pair, Context::Group, |builder, statement| {
            builder.item(statement).map(|item| items.push(item))
        });
        GroupBlock {
            span: at,
            name,
            items,
        }
    }

    fn group_name(&mut self, pair: &Pair<'_, Rule>) -> Name {
        if let Some(path) = child(pair, Rule::group_path) {
            return name(&path);
        }
        let head = head(pair);
        match child(pair, Rule::string) {
            Some(quoted) => {
                let at = span(&quoted);
                let bare = quoted.as_str().trim_matches('"').to_owned();
                let found = Diagnostic::error(Code::UnexpectedToken, at, "the name of a group is not quoted")
                    .label("quotes around a name that rules use")
                    .help("write `group org::name {`");
                let word = |part: &str| {
                    part.starts_with(|first: char| first.is_ascii_alphabetic())
                        && part
                            .chars()
                            .all(|next| next.is_ascii_alphanumeric() || matches!(next, '_' | '-'))
                };
                let found = if bare.split("::").all(word) {
                    found.suggest(at, bare)
                } else {
                    found
                };
                self.report(found);
            }
            None => self.report(
                Diagnostic::error(Code::UnexpectedToken, head, "a group has a name")
                    .label("expected a name after this")
                    .help("write `group org::name {`")
                    .suggest(Span::new(head.end, head.end), " name"),
            ),
        }
        Name {
            text: String::new(),
            span: head,
        }
    }
}
