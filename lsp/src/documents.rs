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
