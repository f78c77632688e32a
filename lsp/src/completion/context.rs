//! The block and the statement that the cursor is in.

use crate::hover::in_syscall;
use crate::tokens::{Kind, Token};

/// A kind of block, by the word that opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    File,
    Policy,
    Group,
    Filesystem,
    Network,
    Credentials,
    Process,
    Workspace,
    Audit,
    Test,
    Unknown,
}

impl Block {
    fn of(word: &str) -> Self {
        match word {
            "policy" => Self::Policy,
            "group" => Self::Group,
            "filesystem" => Self::Filesystem,
            "network" => Self::Network,
            "credentials" => Self::Credentials,
            "process" => Self::Process,
            "workspace" => Self::Workspace,
            "audit" => Self::Audit,
            "test" => Self::Test,
            _ => Self::Unknown,
        }
    }

    /// Words that begin a statement.
    pub(super) const fn heads(self) -> &'static [&'static str] {
        match self {
            Self::File => &["include", "group", "policy", "test"],
            Self::Policy => &[
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
            ],
            Self::Group => &[
                "summary",
                "use",
                "filesystem",
                "network",
                "credentials",
                "process",
            ],
            Self::Filesystem => &["allow", "ask", "deny", "forbid", "scratch", "hide"],
            Self::Network => &["allow", "ask", "deny", "forbid"],
            Self::Credentials => &["pass", "set", "broker", "allow", "ask", "deny", "forbid"],
            Self::Process => &["identity", "limit", "allow", "ask", "deny", "forbid"],
            Self::Workspace => &["from", "mode", "keep"],
            Self::Audit => &["record"],
            Self::Test => &["read", "write", "execute", "connect", "bind", "env", "syscall"],
            Self::Unknown => &[],
        }
    }
}

/// Where the cursor is.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) block: Block,
    /// Tokens of the statement, comments left out.
    pub(super) statement: Vec<(Kind, &'a str)>,
    tokens: &'a [Token],
    source: &'a str,
}

impl<'a> Context<'a> {
    /// Reads what stands before the cursor.
    pub(super) fn new(tokens: &'a [Token], source: &'a str) -> Self {
        let mut blocks = vec![Block::File];
        let mut statement: Vec<(Kind, &str)> = Vec::new();
        for token in tokens.iter().filter(|token| token.kind != Kind::Comment) {
            let text = token.text(source);
            let block = blocks.last().copied().unwrap_or(Block::File);
            match (token.kind, text) {
                (Kind::Mark, "{") => {
                    blocks.push(Block::of(statement.first().map_or("", |(_, head)| head)));
                    statement.clear();
                }
                (Kind::Mark, "}") => {
                    // What is closed too often is still the file.
                    if blocks.len() > 1 {
                        blocks.pop();
                    }
                    statement.clear();
                }
                (Kind::Word, _) if block.heads().contains(&text) && begins(block, &statement, text) => {
                    statement = vec![(token.kind, text)];
                }
                _ => statement.push((token.kind, text)),
            }
        }
        Self {
            block: blocks.last().copied().unwrap_or(Block::File),
            statement,
            tokens,
            source,
        }
    }

    /// The token before the cursor, in its statement.
    pub(super) fn last(&self) -> Option<&'a str> {
        self.statement.last().map(|(_, text)| *text)
    }

    pub(super) fn head(&self) -> Option<&'a str> {
        self.statement.first().map(|(_, text)| *text)
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.statement
            .iter()
            .any(|(kind, text)| *kind == Kind::Word && *text == word)
    }

    pub(super) fn has_text(&self) -> bool {
        self.statement
            .iter()
            .any(|(kind, _)| matches!(kind, Kind::Text { .. }))
    }

    pub(super) fn ends_in_text(&self) -> bool {
        self.statement
            .last()
            .is_some_and(|(kind, _)| matches!(kind, Kind::Text { .. }))
    }

    /// The last word of these that the statement has.
    pub(super) fn last_of(&self, words: &[&str]) -> Option<&'a str> {
        let back = self.statement.iter().rev();
        back.filter(|(kind, _)| *kind == Kind::Word)
            .map(|(_, text)| *text)
            .find(|text| words.contains(text))
    }

    /// The last string of the statement, without quotes.
    pub(super) fn last_text(&self) -> Option<&'a str> {
        let back = self.statement.iter().rev();
        back.filter(|(kind, _)| matches!(kind, Kind::Text { .. }))
            .map(|(_, text)| text.trim_matches('"'))
            .next()
    }

    /// Whether a string here would name a system call.
    pub(super) fn names_syscall(&self) -> bool {
        in_syscall(self.tokens, self.source)
    }
}

/// Whether a word begins a statement, or goes on with this one.
fn begins(block: Block, statement: &[(Kind, &str)], word: &str) -> bool {
    match (block, statement) {
        // `deny pass`
        (Block::Credentials, [(_, "allow" | "ask" | "deny" | "forbid")]) => word != "pass",
        // `broker … from env`
        (Block::Workspace, []) => true,
        // `param use: path` is a parameter.
        (Block::Policy, [(_, "param")]) => false,
        _ => true,
    }
}
