//! Words, strings, numbers and signs of a text that parses.

use policy_lang::source::Span;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `allow`, `std::git`, `open-files`
    Word,
    /// `"…"`, with its quotes
    Text,
    /// `@system-service`
    Group,
    /// `512MiB`
    Number,
    /// `${size}` outside of a string
    Parameter,
    /// `{` or `}`
    Brace,
    /// `,`, `=` and other signs
    Symbol,
    /// `// …`
    Comment,
}

/// A piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// What it is.
    pub(crate) kind: Kind,
    /// As written.
    pub(crate) text: &'a str,
    /// Where.
    pub(crate) span: Span,
}

/// The tokens of a text from an offset on, without comments.
pub(crate) fn tokens(text: &str, start: usize) -> impl Iterator<Item = Token<'_>> {
    all(text, start).filter(|token| token.kind != Kind::Comment)
}

/// The same with comments.
pub(crate) fn all(text: &str, start: usize) -> impl Iterator<Item = Token<'_>> {
    Scan { text, at: start }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Scan<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let rest = self.text.get(self.at..)?;
        let trimmed = rest.trim_start();
        let start = self.at + (rest.len() - trimmed.len());
        let (kind, length) = measure(trimmed)?;
        let text = trimmed.get(..length)?;
        self.at = start + length;
        Some(Token {
            kind,
            text,
            span: Span::new(start, self.at),
        })
    }
}

/// The kind and the length of the first token. A text never ends inside one, since it parses.
fn measure(text: &str) -> Option<(Kind, usize)> {
    let first = text.chars().next()?;
    let run = |is_part: fn(char) -> bool| text.find(|next| !is_part(next)).unwrap_or(text.len());
    let after = |skipped: usize, end: &str| {
        let rest = text.get(skipped..).unwrap_or_default();
        rest.find(end).map_or(text.len(), |at| skipped + at + end.len())
    };
    Some(match first {
        '/' if text.starts_with("//") => (Kind::Comment, text.find('\n').unwrap_or(text.len())),
        '/' if text.starts_with("/*") => (Kind::Comment, after(2, "*/")),
        '"' => (Kind::Text, quoted(text)),
        '{' | '}' => (Kind::Brace, 1),
        '$' => (Kind::Parameter, after(1, "}")),
        '@' => {
            let name = text.get(1..).unwrap_or_default();
            let length = name.find(|next: char| !is_word(next)).unwrap_or(name.len());
            (Kind::Group, 1 + length)
        }
        '0'..='9' => (
            Kind::Number,
            run(|next| is_word(next) || matches!(next, '%' | '.')),
        ),
        _ if first.is_ascii_alphabetic() || first == '_' => {
            let mut length = run(is_word);
            while let Some(name) = text.get(length..).and_then(|rest| rest.strip_prefix("::")) {
                let more = name.find(|next: char| !is_word(next)).unwrap_or(name.len());
                length += 2 + more;
            }
            (Kind::Word, length)
        }
        _ => (Kind::Symbol, first.len_utf8()),
    })
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// The length of the string that the text begins with.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, next) in text.char_indices().skip(1) {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
