//! One look at every character before the grammar sees the text.
//!
//! It bounds nesting, so that nothing after it can be made to recurse deeply; finds strings and comments that do not
//! end; and refuses characters that make a reviewer see something else than the parser does (controls, invisible and
//! direction-changing characters, see Unicode TR 39 and CVE-2021-42574). Time is linear.

use super::MAX_GATHERED;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{SourceFile, Span, misleads};

/// Brackets within brackets. A policy needs three.
pub(crate) const MAX_DEPTH: usize = 16;

/// What was found.
pub(crate) struct Scan {
    /// In source order.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether the grammar can be let loose on the text.
    pub(crate) parsable: bool,
}

pub(crate) fn scan(source: &SourceFile) -> Scan {
    let mut scanner = Scanner {
        text: &source.text,
        at: 0,
        open: Vec::new(),
        diagnostics: Vec::new(),
        first_crlf: None,
    };
    let parsable = scanner.run();
    if let Some(span) = scanner.first_crlf {
        scanner.diagnostics.push(
            Diagnostic::warning(
                Code::CarriageReturns,
                span,
                "the lines of this file end with CR LF",
            )
            .label("here first")
            .help("save the file with LF line endings, so that its digest is the same everywhere"),
        );
    }
    scanner.diagnostics.sort_by_key(|found| found.span);
    Scan {
        diagnostics: scanner.diagnostics,
        parsable,
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Span>,
    diagnostics: Vec<Diagnostic>,
    first_crlf: Option<Span>,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn run(&mut self) -> bool {
        if self.rest().starts_with('\u{feff}') {
            let span = Span::new(0, '\u{feff}'.len_utf8());
            self.diagnostics.push(
                Diagnostic::error(
                    Code::ForbiddenCharacter,
                    span,
                    "the file begins with a byte order mark",
                )
                .label("U+FEFF is here, and cannot be seen")
                .help("save the file as UTF-8 without a byte order mark")
                .suggest(span, ""),
            );
            self.at = span.end;
        }
        while let Some(next) = self.rest().chars().next() {
            if self.diagnostics.len() > MAX_GATHERED {
                return false;
            }
            if self.rest().starts_with("//") {
                self.line_comment();
            } else if self.rest().starts_with("/*") {
                self.block_comment();
            } else if next == '"' {
                self.string();
            } else if matches!(next, '{' | '[' | '(') {
                self.open.push(Span::new(self.at, self.at + 1));
                if self.open.len() > MAX_DEPTH {
                    self.too_deep();
                    return false;
                }
                self.at += 1;
            } else {
                if matches!(next, '}' | ']' | ')') {
                    self.open.pop();
                }
                self.character(next);
            }
        }
        true
    }

    fn too_deep(&mut self) {
        let span = Span::new(self.at, self.at + 1);
        let mut found = Diagnostic::error(
            Code::NestedTooDeeply,
            span,
            format!("brackets nest deeper than {MAX_DEPTH} levels"),
        )
        .label("one level too many")
        .help(
            "a policy has blocks inside `policy { }` and nothing deeper; close the brackets before this one",
        );
        if let Some(first) = self.open.first() {
            found = found.also(*first, "the outermost bracket opens here");
        }
        self.diagnostics.push(found);
    }

    /// Steps over one character outside or inside anything, and says so if it does not belong in a policy.
    fn character(&mut self, next: char) {
        let span = Span::new(self.at, self.at + next.len_utf8());
        self.at = span.end;
        if next == '\r' && self.rest().starts_with('\n') {
            self.first_crlf.get_or_insert(span);
        } else if misleads(next) && self.diagnostics.len() <= MAX_GATHERED {
            let escape = format!("\\u{{{:x}}}", u32::from(next));
            let help = if next == '\0' {
                "remove it; no path, address or name can contain a NUL".to_owned()
            } else {
                format!("remove it, or write `{escape}` if a string needs it")
            };
            self.diagnostics.push(
                Diagnostic::error(
                    Code::ForbiddenCharacter,
                    span,
                    format!("U+{:04X} cannot stand in a policy file", u32::from(next)),
                )
                .label("a reader cannot see this character")
                .help(help)
                .suggest(span, ""),
            );
        }
    }

    fn line_comment(&mut self) {
        while let Some(next) = self.rest().chars().next() {
            if next == '\n' {
                return;
            }
            self.character(next);
        }
    }

    fn block_comment(&mut self) {
        let start = self.at;
        self.at += 2;
        while let Some(next) = self.rest().chars().next() {
            if self.rest().starts_with("*/") {
                self.at += 2;
                return;
            }
            self.character(next);
        }
        self.diagnostics.push(
            Diagnostic::error(
                Code::Unterminated,
                Span::new(start, self.text.len()),
                "this comment does not end",
            )
            .label("everything from here on is comment")
            .help("write `*/` where the comment ends"),
        );
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        while let Some(next) = self.rest().chars().next() {
            match next {
                '\n' => break,
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    if let Some(escaped) = self.rest().chars().next().filter(|next| *next != '\n') {
                        self.character(escaped);
                    }
                }
                other => self.character(other),
            }
        }
        let end = start + self.text.get(start..self.at).unwrap_or_default().trim_end().len();
        self.diagnostics.push(
            Diagnostic::error(
                Code::Unterminated,
                Span::new(start, end),
                "this string does not end on its line",
            )
            .label("a closing `\"` is missing")
            .help("strings end on the line they begin on; a line break in a name is written `\\n`")
            .suggest(Span::new(end, end), "\""),
        );
    }
}
