//! Open buffers, as the client's changes leave them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::position::{Encoding, Lines};
use crate::uri;

/// An open buffer.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) text: String,
    pub(crate) lines: Lines,
    /// Where it is kept, if it is.
    pub(crate) path: Option<PathBuf>,
}

/// Every open buffer, by the text of its address.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: BTreeMap<String, Document>,
}

impl Documents {
    pub(crate) fn open(&mut self, uri: Uri, version: i32, text: String, encoding: Encoding) {
        let document = Document {
            path: uri::path(&uri),
            lines: Lines::new(&text, encoding),
            version,
            text,
            uri,
        };
        self.open.insert(document.uri.as_str().to_owned(), document);
    }

    /// Applies changes in order. Each is meant for what the one before left. `false` if no such buffer is open.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> bool {
        let Some(document) = self.open.get_mut(uri.as_str()) else {
            return false;
        };
        document.version = version;
        for change in changes {
            match change.range {
                Some(range) => {
                    let span = document.lines.span(&document.text, range);
                    document.text.replace_range(span.start..span.end, &change.text);
                }
                None => document.text = change.text,
            }
            document.lines = Lines::new(&document.text, encoding);
        }
        true
    }

    pub(crate) fn close(&mut self, uri: &Uri) -> bool {
        self.open.remove(uri.as_str()).is_some()
    }

    pub(crate) fn get(&self, uri: &Uri) -> Option<&Document> {
        self.open.get(uri.as_str())
    }

    /// The buffer of a file.
    pub(crate) fn at(&self, path: &std::path::Path) -> Option<&Document> {
        self.iter()
            .find(|document| document.path.as_deref() == Some(path))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Document> {
        self.open.values()
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range};
    use proptest::prelude::*;

    use super::*;

    const URI: &str = "untitled:1";

    /// Where a character stands, counted the slow way.
    fn position(text: &[char], index: usize, encoding: Encoding) -> Position {
        let (mut line, mut column) = (0, 0);
        for next in text.get(..index).unwrap_or_default() {
            if *next == '\n' {
                (line, column) = (line + 1, 0);
            } else {
                column += match encoding {
                    Encoding::Utf8 => next.len_utf8(),
                    Encoding::Utf16 => next.len_utf16(),
                    Encoding::Utf32 => 1,
                };
            }
        }
        Position::new(line, u32::try_from(column).unwrap())
    }

    fn text() -> impl Strategy<Value = Vec<char>> {
        let characters = prop::sample::select(vec!['a', '"', '\n', '\u{e9}', '\u{8a9e}', '\u{1f512}', ' ']);
        prop::collection::vec(characters, 0..24)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_buffer_is_what_its_changes_make_of_it(
            begin in text(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), text()), 0..8),
            encoding in prop::sample::select(vec![Encoding::Utf8, Encoding::Utf16, Encoding::Utf32]),
        ) {
            let uri: Uri = URI.parse().unwrap();
            let mut documents = Documents::default();
            documents.open(uri.clone(), 1, begin.iter().collect(), encoding);
            let mut model = begin;
            for (one, other, replacement) in edits {
                let (one, other) = (one.index(model.len() + 1), other.index(model.len() + 1));
                let (start, end) = (one.min(other), one.max(other));
                let range = Range::new(position(&model, start, encoding), position(&model, end, encoding));
                let change = TextDocumentContentChangeEvent {
                    range: Some(range),
                    range_length: None,
                    text: replacement.iter().collect(),
                };
                prop_assert!(documents.change(&uri, 2, vec![change], encoding));
                model.splice(start..end, replacement);
                prop_assert_eq!(&documents.get(&uri).unwrap().text, &model.iter().collect::<String>());
            }
        }
    }

    #[test]
    fn a_change_of_a_buffer_that_is_not_open_is_passed_over() {
        let uri: Uri = URI.parse().unwrap();
        assert!(!Documents::default().change(&uri, 1, Vec::new(), Encoding::Utf16));
    }
}
