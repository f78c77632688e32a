//! `key=value` text of an audit record.
//!
//! The kernel writes a string that a program can choose (a path, a name) between double quotes when it is
//! printable and has no space and no quote, and as upper-case hexadecimal otherwise (`audit_log_untrustedstring`
//! in `kernel/audit.c`). So a quoted value never contains a quote, and an unquoted one never a space.

/// The next `key=value` of a record, both as they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// Left of the first `=`.
    pub(super) key: &'a [u8],
    /// Right of it.
    pub(super) value: Value<'a>,
}

/// A value as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// Between double quotes.
    Quoted(&'a [u8]),
    /// Up to the next space.
    Plain(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The value of a string field: quoted text as it is, hexadecimal decoded. `(null)` and other text that is
    /// neither stays as it is.
    pub(super) fn text(self) -> Vec<u8> {
        match self {
            Self::Quoted(text) => text.to_vec(),
            Self::Plain(text) => unhex(text).unwrap_or_else(|| text.to_vec()),
        }
    }

    /// The bytes as written, without quotes.
    pub(super) const fn raw(self) -> &'a [u8] {
        match self {
            Self::Quoted(text) | Self::Plain(text) => text,
        }
    }

    /// An unquoted decimal number.
    pub(super) fn decimal<N: std::str::FromStr>(self) -> Option<N> {
        std::str::from_utf8(self.raw()).ok()?.parse().ok()
    }

    /// An unquoted hexadecimal number, with or without `0x`.
    pub(super) fn hexadecimal(self) -> Option<u64> {
        let text = std::str::from_utf8(self.raw()).ok()?;
        u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
    }
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() || !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    text.chunks_exact(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

/// Walks over a record's fields. Words without `=` are skipped; nothing makes it fail.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Fields of this text.
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        loop {
            let start = self.rest.iter().position(|byte| !is_space(*byte))?;
            let word = self.rest.get(start..)?;
            let end = word
                .iter()
                .position(|byte| *byte == b'=' || is_space(*byte))
                .unwrap_or(word.len());
            let (key, rest) = word.split_at_checked(end)?;
            let Some((b'=', value)) = rest.split_first() else {
                self.rest = rest;
                continue;
            };
            let value = match value.split_first() {
                Some((b'"', quoted)) => match quoted.iter().position(|byte| *byte == b'"') {
                    Some(close) => {
                        self.rest = quoted.get(close + 1..).unwrap_or_default();
                        Value::Quoted(quoted.get(..close).unwrap_or_default())
                    }
                    None => self.plain(value),
                },
                _ => self.plain(value),
            };
            return Some(Field { key, value });
        }
    }
}

impl<'a> Fields<'a> {
    fn plain(&mut self, value: &'a [u8]) -> Value<'a> {
        let end = value
            .iter()
            .position(|byte| is_space(*byte))
            .unwrap_or(value.len());
        self.rest = value.get(end..).unwrap_or_default();
        Value::Plain(value.get(..end).unwrap_or_default())
    }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\0')
}

#[cfg(test)]
mod tests {
    use super::{Field, Fields, Value};

    fn values(text: &str) -> Vec<(String, Vec<u8>)> {
        Fields::new(text.as_bytes())
            .map(|Field { key, value }| (String::from_utf8_lossy(key).into_owned(), value.text()))
            .collect()
    }

    #[test]
    fn quoted_hexadecimal_and_plain_values_are_told_apart() {
        let found =
            values(r#"path="/a=b" name=2F746D702F6120620A22 dev="vda" ino=12 x= y word comm=(null) odd=ABC"#);
        let expected: [(&str, &[u8]); 8] = [
            ("path", b"/a=b"),
            ("name", b"/tmp/a b\n\""),
            ("dev", b"vda"),
            ("ino", b"\x12"),
            ("x", b""),
            ("comm", b"(null)"),
            ("odd", b"ABC"),
            ("", b""),
        ];
        let expected: Vec<_> = expected
            .iter()
            .take(7)
            .map(|(key, value)| ((*key).to_owned(), value.to_vec()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_open_quote_does_not_swallow_the_rest() {
        let found: Vec<_> = Fields::new(b"a=\"x b=1").collect();
        assert_eq!(found[0].value, Value::Plain(b"\"x"));
        assert_eq!(found[1].value.decimal::<u32>(), Some(1));
    }
}
