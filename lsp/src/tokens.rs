//! A text as words, strings and marks, whether or not it is a policy yet.
//!
//! Completion and rename look at files in the middle of being typed, which the grammar can only explain and not read.

use policy_lang::Span;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word, a number with its unit, a name with `::`, or a group with its `@`.
    Word,
    /// A string. One without an end goes to the end of its line.
    Text { closed: bool },
    /// `${name}` outside a string.
    Parameter,
    /// Anything else, one character each; comparisons may take several.
    Mark,
    /// A comment of either kind.
    Comment,
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

impl Token {
    pub(crate) fn text<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.span.start..self.span.end).unwrap_or_default()
    }

    /// What stands between the quotes.
    pub(crate) fn inner(&self) -> Span {
        let end = match self.kind {
            Kind::Text { closed: true } => self.span.end - 1,
            _ => self.span.end,
        };
        Span::new((self.span.start + 1).min(end), end)
    }
}

/// Reads a text. Everything but white space is in one token.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(next) = rest.chars().next() else { break };
        if next.is_whitespace() {
            at += next.len_utf8();
            continue;
        }
        let (kind, length) = token(rest, next);
        found.push(Token {
            kind,
            span: Span::new(at, at + length),
        });
        at += length;
    }
    found
}

fn token(rest: &str, next: char) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, rest.find("*/").map_or(rest.len(), |end| end + 2));
    }
    if next == '"' {
        return string(rest);
    }
    if rest.starts_with("${") {
        let line = rest.find('\n').unwrap_or(rest.len());
        let end = rest.find('}').map_or(line, |end| (end + 1).min(line));
        return (Kind::Parameter, end);
    }
    let length = word(rest);
    if length > 0 {
        (Kind::Word, length)
    } else {
        (Kind::Mark, next.len_utf8())
    }
}

fn string(rest: &str) -> (Kind, usize) {
    let mut escaped = false;
    for (at, next) in rest.char_indices().skip(1) {
        match next {
            '\n' => return (Kind::Text { closed: false }, at),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return (Kind::Text { closed: true }, at + 1),
            _ => {}
        }
    }
    (Kind::Text { closed: false }, rest.len())
}

fn word(rest: &str) -> usize {
    let mut length = 0;
    loop {
        let tail = rest.get(length..).unwrap_or_default();
        let Some(next) = tail.chars().next() else { break };
        if next.is_ascii_alphanumeric()
            || matches!(next, '_' | '-' | '%' | '.')
            || (length == 0 && next == '@')
        {
            length += 1;
        } else if length > 0 && tail.starts_with("::") {
            length += 2;
        } else {
            break;
        }
    }
    length
}

/// The parameters in a text, inside strings and outside: names with their spans.
pub(crate) fn parameters(source: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for token in tokens(source) {
        match token.kind {
            Kind::Parameter => found.extend(name(source, token.span.start)),
            Kind::Text { .. } => {
                let inner = token.inner();
                let mut escaped = false;
                let text = source.get(inner.start..inner.end).unwrap_or_default();
                for (at, next) in text.char_indices() {
                    if !escaped && text.get(at..).is_some_and(|rest| rest.starts_with("${")) {
                        found.extend(name(source, inner.start + at));
                    }
                    escaped = !escaped && next == '\\';
                }
            }
            _ => {}
        }
    }
    found
}

/// The name in a `${name}` that begins here.
fn name(source: &str, start: usize) -> Option<Span> {
    let rest = source.get(start + 2..)?;
    let end = rest.find(['}', '"', '\n'])?;
    (rest.as_bytes().get(end) == Some(&b'}')).then(|| Span::new(start + 2, start + 2 + end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).iter().map(|token| token.text(source)).collect()
    }

    #[test]
    fn words_strings_and_marks_are_told_apart() {
        let source =
            "use std::git, @debug // \"c\"\nscratch \"/a \\\" b\" 512MiB ${x} /* \n */ >= 200% \"open\nnext";
        assert_eq!(
            texts(source),
            [
                "use",
                "std::git",
                ",",
                "@debug",
                "// \"c\"",
                "scratch",
                "\"/a \\\" b\"",
                "512MiB",
                "${x}",
                "/* \n */",
                ">",
                "=",
                "200%",
                "\"open",
                "next"
            ]
        );
    }

    #[test]
    fn parameters_are_found_where_they_are_parameters() {
        let source = "allow read \"${a}/b/${c}\" \"\\${no}\" ${d} // ${no}\n \"${open\n";
        let names: Vec<&str> = parameters(source)
            .iter()
            .map(|span| &source[span.start..span.end])
            .collect();
        assert_eq!(names, ["a", "c", "d"]);
    }

    #[test]
    fn no_text_is_too_odd() {
        for source in ["\"", "${", "/*", "\"\\", "é\u{1f512}\"é", "@", "::", "a::"] {
            let found = tokens(source);
            assert!(
                found.iter().all(|token| !token.text(source).is_empty()),
                "{source}"
            );
        }
    }
}
