//! A policy file as text, and positions in it.
//!
//! Bytes that are no policy text (invalid UTF-8, too many of them) do not stop here: the file remembers what was
//! wrong, and [`parse`](crate::parse::parse) reports it like any other mistake, with a place and a way out.

use serde::Serialize;

use crate::diagnostic::{Code, Diagnostic};

/// The longest policy file, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Which of the files that make up a policy: an index into the list that was read. 0 is the policy's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct FileId(pub u16);

/// A half-open range of bytes in [`SourceFile::text`], always on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From `start` up to, not including, `end`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// A file as its loader named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// For people: in diagnostics, rules and events.
    pub name: String,
    /// The text that spans point into. Invalid bytes were replaced by U+FFFD, and reported in `defects`.
    pub text: String,
    /// What made the bytes unfit. Not empty: the text is for display only.
    defects: Vec<Diagnostic>,
    /// Where each line begins, so that finding a position takes no second look at the text.
    lines: Vec<usize>,
}

/// No text at all.
pub(crate) static EMPTY: SourceFile = SourceFile {
    name: String::new(),
    text: String::new(),
    defects: Vec::new(),
    lines: Vec::new(),
};

impl SourceFile {
    /// A file whose contents are text already.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::from_bytes(name, text.into().into_bytes())
    }

    /// A file as it was read. Read at most [`MAX_BYTES`]` + 1` bytes: more is an error anyway.
    #[must_use]
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let name = name.into();
        if bytes.len() > MAX_BYTES {
            let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let shown = first_line.get(..first_line.len().min(120)).unwrap_or_default();
            let text = String::from_utf8_lossy(shown).into_owned();
            let defect = Diagnostic::error(
                Code::FileTooLarge,
                Span::new(0, text.len()),
                format!("a policy file has at most {MAX_BYTES} bytes"),
            )
            .label("this file is longer; only its first line is shown")
            .help("split the policy, or replace long lists of paths by a directory or a glob");
            return Self::indexed(name, text, vec![defect]);
        }
        match String::from_utf8(bytes) {
            Ok(text) => Self::indexed(name, text, Vec::new()),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let byte = error.as_bytes().get(valid).copied().unwrap_or_default();
                let end = (valid + '\u{fffd}'.len_utf8()).min(text.len());
                let defect = Diagnostic::error(
                    Code::InvalidUtf8,
                    Span::new(valid, end),
                    "a policy file is UTF-8 text, and this one is not",
                )
                .label(format!("byte 0x{byte:02x} does not belong here"))
                .help("save the file as UTF-8; Remit does not guess another encoding");
                Self::indexed(name, text, vec![defect])
            }
        }
    }

    fn indexed(name: String, text: String, defects: Vec<Diagnostic>) -> Self {
        let starts = text.match_indices('\n').map(|(newline, _)| newline + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Self {
            name,
            text,
            defects,
            lines,
        }
    }

    /// What made the bytes unfit as policy text, if anything.
    #[must_use]
    pub fn defects(&self) -> &[Diagnostic] {
        &self.defects
    }

    /// Line and column of a byte offset. Both count from 1; columns count characters.
    #[must_use]
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let line_start = self.lines.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(line_start..offset).unwrap_or_default();
        let column = before.chars().count() + 1;
        (
            u32::try_from(line).unwrap_or(u32::MAX),
            u32::try_from(column).unwrap_or(u32::MAX),
        )
    }

    /// The byte offset of a position, as [`Self::position`] counts. Absent: there is no such position.
    #[must_use]
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let before = |number: u32| usize::try_from(number).ok()?.checked_sub(1);
        let start = *self.lines.get(before(line)?)?;
        let text = self.text.get(start..)?;
        let mut offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
        Some(start + offsets.nth(before(column)?)?)
    }

    /// The text under a span.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }
}

/// Characters that are invisible, reorder the text around them, or end a line for some readers only.
#[must_use]
pub fn misleads(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
