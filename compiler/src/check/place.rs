//! Where in the text a rule and its parts stand.
//!
//! A resolved policy keeps one position for each rule. The rest is read off the text again, and only for rules that
//! something is said about. The text parsed without a mistake, so a scan for words, strings and commas is enough.

use std::collections::HashMap;

use policy_lang::policy::{Origin, Rule};
use policy_lang::source::{FileId, Span};
use policy_lang::{Diagnostic, SourceFile};

mod scan;

pub(crate) use scan::{Kind, all, tokens};

/// Words that begin a statement, besides those of a suffix.
const STATEMENTS: &[&str] = &[
    "allow",
    "ask",
    "deny",
    "forbid",
    "hide",
    "scratch",
    "pass",
    "set",
    "broker",
    "identity",
    "limit",
    "from",
    "mode",
    "keep",
    "record",
    "summary",
    "within",
    "use",
    "param",
    "require",
    "unlock",
    "filesystem",
    "network",
    "credentials",
    "process",
    "workspace",
    "audit",
];

/// Words that more must follow.
const OPEN: &[&str] = &[
    "where", "and", "for", "as", "from", "env", "file", "ttl", "label", "because", "if", "permit",
];

/// A stretch of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The file.
    pub(crate) file: FileId,
    /// Where in it.
    pub(crate) span: Span,
}

impl Place {
    /// A finding here.
    pub(crate) fn found(self, make: impl FnOnce(Span) -> Diagnostic) -> Diagnostic {
        make(self.span).in_file(self.file)
    }
}

/// A statement and its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The file.
    pub(crate) file: FileId,
    /// All of it, suffixes too.
    pub(crate) span: Span,
    /// What stands before the suffixes.
    pub(crate) head: Span,
    /// Strings and groups before the first suffix, in order.
    pub(crate) targets: Vec<Span>,
    /// Words before the first target.
    pub(crate) words: Vec<Span>,
}

/// Finds places.
pub(crate) struct Places<'a> {
    files: &'a [SourceFile],
    by_name: HashMap<&'a str, FileId>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(files: &'a [SourceFile]) -> Self {
        let ids = (0..).map(FileId);
        let by_name = files.iter().map(|file| file.name.as_str()).zip(ids).collect();
        Self { files, by_name }
    }

    /// The text of a file.
    pub(crate) fn file(&self, id: FileId) -> Option<&'a SourceFile> {
        self.files.get(usize::from(id.0))
    }

    /// Where something begins.
    pub(crate) fn start(&self, origin: &Origin) -> Option<(FileId, &'a SourceFile, usize)> {
        let Origin::Source { file, line, column } = origin else {
            return None;
        };
        let id = *self.by_name.get(file.as_str())?;
        let source = self.file(id)?;
        Some((id, source, source.offset(*line, *column)?))
    }

    /// The statement that begins at an origin.
    pub(crate) fn statement(&self, origin: &Origin) -> Option<Statement> {
        let (file, source, start) = self.start(origin)?;
        Statement::at(file, source, start)
    }

    /// A rule without its suffixes. What is written nowhere stands at the beginning of the policy.
    pub(crate) fn rule(&self, rule: &Rule) -> Place {
        match self.statement(&rule.origin) {
            Some(statement) => Place {
                file: statement.file,
                span: statement.head,
            },
            None => self.policy(),
        }
    }

    /// One target of a rule, counted as written; the rule where it cannot be told.
    pub(crate) fn target(&self, rule: &Rule, index: usize) -> Place {
        let statement = self.statement(&rule.origin);
        let target = statement
            .as_ref()
            .and_then(|statement| Some((statement.file, *statement.targets.get(index)?)));
        match target {
            Some((file, span)) => Place { file, span },
            None => self.rule(rule),
        }
    }

    /// The first statement of the policy's own file that begins with a word.
    pub(crate) fn word(&self, word: &str) -> Option<Place> {
        let file = FileId::default();
        let source = self.file(file)?;
        let mut tokens = tokens(&source.text, 0);
        let found = tokens.find(|token| token.kind == Kind::Word && token.text == word)?;
        let span = Statement::at(file, source, found.span.start)?.head;
        Some(Place { file, span })
    }

    /// The name in a `use` statement of the policy's own file.
    pub(crate) fn import(&self, group: &str) -> Option<Place> {
        let file = FileId::default();
        let source = self.file(file)?;
        let mut in_use = false;
        for token in tokens(&source.text, 0) {
            match token.kind {
                Kind::Word if in_use && token.text == group => {
                    return Some(Place {
                        file,
                        span: token.span,
                    });
                }
                Kind::Word if STATEMENTS.contains(&token.text) => in_use = token.text == "use",
                Kind::Brace | Kind::Text => in_use = false,
                _ => {}
            }
        }
        None
    }

    /// `policy "name"`, in the policy's own file.
    pub(crate) fn policy(&self) -> Place {
        let file = FileId::default();
        let nowhere = Place {
            file,
            span: Span::new(0, 0),
        };
        let Some(source) = self.file(file) else {
            return nowhere;
        };
        let mut tokens = tokens(&source.text, 0).skip_while(|token| token.text != "policy");
        match (tokens.next(), tokens.next()) {
            (Some(word), Some(name)) => Place {
                file,
                span: word.span.to(name.span),
            },
            _ => nowhere,
        }
    }
}

impl Statement {
    /// Reads the statement that begins at an offset.
    pub(crate) fn at(file: FileId, source: &SourceFile, start: usize) -> Option<Statement> {
        let mut tokens = tokens(&source.text, start).peekable();
        let first = tokens.next()?;
        let mut found = Statement {
            file,
            span: first.span,
            head: first.span,
            targets: Vec::new(),
            words: vec![first.span],
        };
        let is_broker = first.text == "broker";
        let mut in_head = true;
        // An item of a list is one by itself.
        let mut complete = !STATEMENTS.contains(&first.text);
        for token in tokens {
            let suffix = matches!(token.text, "because" | "label" | "if" | "permit");
            match token.kind {
                Kind::Brace => break,
                Kind::Word
                    if complete
                        && STATEMENTS.contains(&token.text)
                        && !(is_broker && token.text == "from") =>
                {
                    break;
                }
                Kind::Word if suffix && complete => in_head = false,
                Kind::Word if in_head && found.targets.is_empty() => found.words.push(token.span),
                Kind::Text | Kind::Group if in_head => found.targets.push(token.span),
                _ => {}
            }
            complete = match token.kind {
                Kind::Word => !OPEN.contains(&token.text),
                Kind::Symbol => false,
                _ => true,
            };
            found.span = found.span.to(token.span);
            if in_head {
                found.head = found.head.to(token.span);
            }
        }
        Some(found)
    }

    /// What to cut so that nothing of the statement is left, not even its line.
    pub(crate) fn removal(&self, source: &SourceFile) -> Span {
        let before = source.text.get(..self.span.start).unwrap_or_default();
        let after = source.text.get(self.span.end..).unwrap_or_default();
        let indent = before.len() - before.trim_end_matches([' ', '\t']).len();
        let begins_line = before.trim_end_matches([' ', '\t']).ends_with('\n');
        let blank = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
        let ends_line = after.get(blank..).is_some_and(|rest| rest.starts_with('\n'));
        if begins_line && ends_line {
            Span::new(self.span.start - indent, self.span.end + blank + 1)
        } else {
            self.span
        }
    }

    /// What to cut so that one of several targets is gone, with its comma.
    pub(crate) fn removal_of(&self, index: usize) -> Option<Span> {
        let target = self.targets.get(index)?;
        match (
            index.checked_sub(1).and_then(|before| self.targets.get(before)),
            self.targets.get(index + 1),
        ) {
            (Some(before), _) => Some(Span::new(before.end, target.end)),
            (None, Some(after)) => Some(Span::new(target.start, after.start)),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests;
