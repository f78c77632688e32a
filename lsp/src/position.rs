//! Positions as editors count them: lines from 0, and in a line the units of the encoding that was agreed on.
//!
//! For the protocol a line also ends at a lone carriage return. Offsets here are always on character boundaries, also for
//! positions that lie in the middle of a character or beyond a line.

use lsp_types::{Position, PositionEncodingKind, Range};
use policy_lang::Span;

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// 16-bit units: what every client has.
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The first that the client prefers and that is known here.
    pub(crate) fn agreed(offered: Option<&[PositionEncodingKind]>) -> Self {
        let known = |kind: &PositionEncodingKind| match kind.as_str() {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        };
        offered
            .unwrap_or_default()
            .iter()
            .find_map(known)
            .unwrap_or(Self::Utf16)
    }

    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// Where the lines of a text begin.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    starts: Vec<usize>,
    /// Behind each character that has another width than bytes: its end, and by how much bytes are ahead there. So a
    /// column needs no look at its line, which may be the whole file.
    ahead: Vec<(usize, usize)>,
    encoding: Encoding,
}

impl Lines {
    pub(crate) fn new(text: &str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let mut difference = 0;
        let ahead = text.char_indices().filter_map(|(at, next)| {
            let own = next.len_utf8() - encoding.width(next);
            difference += own;
            (own > 0).then_some((at + next.len_utf8(), difference))
        });
        Self {
            ahead: ahead.collect(),
            starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect(),
            encoding,
        }
    }

    /// Units from the beginning of the text.
    fn units(&self, offset: usize) -> usize {
        let passed = self.ahead.partition_point(|(end, _)| *end <= offset);
        let ahead = passed.checked_sub(1).and_then(|last| self.ahead.get(last));
        offset - ahead.map_or(0, |(_, ahead)| *ahead)
    }

    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let offset = floor(text, offset);
        let line = self.starts.partition_point(|start| *start <= offset).max(1) - 1;
        let start = self.starts.get(line).copied().unwrap_or_default();
        let column = self.units(offset) - self.units(start);
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Position::new(number(line), number(column))
    }

    pub(crate) fn range(&self, text: &str, span: Span) -> Range {
        Range::new(self.position(text, span.start), self.position(text, span.end))
    }

    /// The offset of a position: the end of its line if it lies beyond, the end of the text if its line does.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        let Some(start) = self.starts.get(line).copied() else {
            return text.len();
        };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let content = text
            .get(start..end)
            .unwrap_or_default()
            .trim_end_matches(['\r', '\n']);
        let mut left = usize::try_from(position.character).unwrap_or(usize::MAX);
        for (at, next) in content.char_indices() {
            let width = self.encoding.width(next);
            if left < width {
                return start + at;
            }
            left -= width;
        }
        start + content.len()
    }

    pub(crate) fn span(&self, text: &str, range: Range) -> Span {
        let (start, end) = (self.offset(text, range.start), self.offset(text, range.end));
        Span::new(start.min(end), end.max(start))
    }
}

/// The nearest character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\u{e9}\u{1f512}b\r\n\u{8a9e}\rx\n";

    #[test]
    fn columns_count_the_units_of_the_encoding() {
        // The `b` follows one character of two bytes and one of four, which is two units of UTF-16.
        let b = TEXT.find('b').unwrap();
        for (encoding, column) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4), (Encoding::Utf32, 3)] {
            let lines = Lines::new(TEXT, encoding);
            assert_eq!(lines.position(TEXT, b), Position::new(0, column), "{encoding:?}");
            assert_eq!(lines.offset(TEXT, Position::new(0, column)), b, "{encoding:?}");
        }
    }

    #[test]
    fn every_boundary_comes_back() {
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let lines = Lines::new(TEXT, encoding);
            let boundaries = (0..=TEXT.len()).filter(|at| TEXT.is_char_boundary(*at));
            // The end of a line can be written in one way only; between CR and LF is none.
            for at in boundaries.filter(|at| {
                !matches!(TEXT.as_bytes().get(at.wrapping_sub(1)), Some(b'\r'))
                    || *at == TEXT.find('x').unwrap()
            }) {
                assert_eq!(
                    lines.offset(TEXT, lines.position(TEXT, at)),
                    at,
                    "{encoding:?} {at}"
                );
            }
        }
    }

    #[test]
    fn positions_nowhere_are_moved_to_a_boundary() {
        let lines = Lines::new(TEXT, Encoding::Utf16);
        // In the middle of the surrogate pair.
        assert_eq!(lines.offset(TEXT, Position::new(0, 3)), 3);
        assert_eq!(
            lines.offset(TEXT, Position::new(0, 999)),
            TEXT.find('\r').unwrap()
        );
        assert_eq!(lines.offset(TEXT, Position::new(999, 0)), TEXT.len());
        assert_eq!(lines.position(TEXT, 4), Position::new(0, 2));
        assert_eq!(lines.position(TEXT, 9999), Position::new(3, 0));
    }

    #[test]
    fn a_lone_carriage_return_ends_a_line() {
        let lines = Lines::new(TEXT, Encoding::Utf16);
        assert_eq!(lines.position(TEXT, TEXT.find('x').unwrap()), Position::new(2, 0));
    }

    #[test]
    fn the_clients_first_known_choice_is_taken() {
        let offered = [
            PositionEncodingKind::new("utf-7"),
            PositionEncodingKind::UTF8,
            PositionEncodingKind::UTF16,
        ];
        assert_eq!(Encoding::agreed(Some(&offered)), Encoding::Utf8);
        assert_eq!(Encoding::agreed(None), Encoding::Utf16);
        assert_eq!(Encoding::agreed(Some(&[])), Encoding::Utf16);
    }
}
