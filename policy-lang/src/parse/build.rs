//! What the grammar recognised, as a tree; what it had to skip, as diagnostics.

use pest::iterators::{Pair, Pairs};

use super::expected::{self, Context};
use super::grammar::Rule;
use super::{FileKind, MAX_GATHERED};
use crate::ast::{Ast, Spanned, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{SourceFile, Span};

mod file;
mod leaves;
mod policy;
mod rules;
mod tests;

/// Makes the tree.
pub(super) fn build(
    mut pairs: Pairs<'_, Rule>,
    source: &SourceFile,
    misspelt: &[Span],
    kind: FileKind,
) -> (Option<Ast>, Vec<Diagnostic>) {
    let mut builder = Builder {
        source,
        misspelt,
        diagnostics: Vec::new(),
        failed: false,
    };
    let mut ast = pairs.next().map(|file| builder.file(file, kind));
    if let Some(ast) = &mut ast {
        ast.complete = !builder.failed;
    }
    (ast, builder.diagnostics)
}

struct Builder<'a> {
    source: &'a SourceFile,
    /// Where the text is wrong below the grammar: a statement derailed by that is not explained again.
    misspelt: &'a [Span],
    diagnostics: Vec<Diagnostic>,
    /// Whether there was an error, also one that is not kept.
    failed: bool,
}

impl Builder<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.failed |= diagnostic.is_error();
        if self.diagnostics.len() < MAX_GATHERED {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Explains what was skipped. After very many findings the tree only gets its holes.
    fn explain(&mut self, context: Context, skipped: Span, previous: Option<Span>) {
        let touches = |error: &Span| error.start < skipped.end && skipped.start < error.end;
        if self.diagnostics.len() < MAX_GATHERED && !self.misspelt.iter().any(touches) {
            let found = expected::explain(self.source, context, skipped, previous);
            self.report(found);
        }
    }

    /// A `policy` or `test` header's name.
    fn block_name(&mut self, pair: &Pair<'_, Rule>, what: &str) -> Text {
        let head = head(pair);
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::string => return self.text(&child),
                Rule::word => {
                    let at = span(&child);
                    self.report(
                        Diagnostic::error(
                            Code::UnexpectedToken,
                            at,
                            format!("the name of a {what} is quoted"),
                        )
                        .label("quotes are missing")
                        .help(format!("write `{what} \"{}\" {{`", child.as_str()))
                        .suggest(at, format!("\"{}\"", child.as_str())),
                    );
                    break;
                }
                Rule::open => {
                    self.report(
                        Diagnostic::error(Code::UnexpectedToken, head, format!("a {what} has a name"))
                            .label("expected a quoted name after this")
                            .help(format!("write `{what} \"name\" {{`"))
                            .suggest(Span::new(head.end, head.end), " \"name\""),
                    );
                    break;
                }
                _ => {}
            }
        }
        Text {
            pieces: Vec::new(),
            span: head,
        }
    }

    /// Goes through the statements of a block: good ones to `good`, skipped ones explained, a missing brace reported.
    fn block<'i>(
        &mut self,
        pair: Pair<'i, Rule>,
        context: Context,
        mut good: impl FnMut(&mut Self, Pair<'i, Rule>) -> Option<()>,
    ) {
        let head = head(&pair);
        // What stands before a skipped stretch may go on in it (`… becuase "…"`), so it is read again with it.
        let mut previous: Option<Span> = None;
        for child in pair.into_inner() {
            let at = span(&child);
            match child.as_rule() {
                rule if is_bad(rule) => {
                    self.explain(context, at, previous);
                    previous = None;
                }
                Rule::unclosed => {
                    let end = self
                        .source
                        .text
                        .get(..at.start)
                        .unwrap_or_default()
                        .trim_end()
                        .len();
                    self.report(
                        Diagnostic::error(
                            Code::MissingBrace,
                            head,
                            format!("{} is not closed", context.described()),
                        )
                        .label("opens here")
                        .also(Span::new(end, end), "a `}` is missing before this line ends")
                        .help("write `}` after its last statement")
                        .suggest(Span::new(end, end), "\n}"),
                    );
                }
                Rule::open | Rule::close | Rule::string | Rule::word | Rule::group_path => {}
                rule if is_keyword_of_block(rule) => {}
                rule => {
                    previous = (!is_block(rule)).then_some(at);
                    if good(self, child).is_none() && !self.failed {
                        self.report(
                            Diagnostic::error(Code::UnexpectedToken, at, "this statement could not be read")
                                .help("this is a fault of Remit; please report it with the file"),
                        );
                    }
                }
            }
        }
    }
}

fn span(pair: &Pair<'_, Rule>) -> Span {
    let span = pair.as_span();
    // Implicit white space at the end of a rule belongs to nobody.
    let text = span.as_str();
    Span::new(span.start(), span.start() + text.trim_end().len())
}

fn spanned<T>(value: T, pair: &Pair<'_, Rule>) -> Spanned<T> {
    Spanned {
        value,
        span: span(pair),
    }
}

/// The first word of a statement or block.
fn head(pair: &Pair<'_, Rule>) -> Span {
    pair.clone()
        .into_inner()
        .next()
        .map_or_else(|| span(pair), |first| span(&first))
}

fn is_bad(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::bad_top
            | Rule::bad_policy
            | Rule::bad_group
            | Rule::bad_filesystem
            | Rule::bad_network
            | Rule::bad_credentials
            | Rule::bad_process
            | Rule::bad_workspace
            | Rule::bad_audit
            | Rule::bad_test
    )
}

fn is_block(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::filesystem | Rule::network | Rule::credentials | Rule::process | Rule::workspace | Rule::audit
    )
}

fn is_keyword_of_block(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::kw_policy
            | Rule::kw_test
            | Rule::kw_group
            | Rule::kw_filesystem
            | Rule::kw_network
            | Rule::kw_credentials
            | Rule::kw_process
            | Rule::kw_workspace
            | Rule::kw_audit
    )
}
