//! What the server keeps: open buffers, what is known of each, and what clients were told.

use std::collections::{BTreeMap, BTreeSet};

use lsp_server::Notification;
use lsp_types::{
    Location, PublishDiagnosticsParams, Range, TextDocumentContentChangeEvent, TextDocumentPositionParams,
    Uri,
};
use policy_lang::Span;
use policy_lang::source::FileId;

use super::requests::Refusal;
use crate::analysis::{Analysis, Settings};
use crate::diagnostics;
use crate::documents::{Document, Documents};
use crate::position::{Encoding, Lines};

/// Everything but the connection.
pub(super) struct State {
    encoding: Encoding,
    settings: Settings,
    documents: Documents,
    /// By the address of the buffer. Absent: to be made.
    analyses: BTreeMap<String, Analysis>,
    /// Buffers whose findings are to be made again.
    stale: BTreeSet<String>,
    /// Findings that were sent, by buffer and file.
    told: BTreeMap<String, BTreeMap<String, Vec<lsp_types::Diagnostic>>>,
    /// Findings to be sent, by file.
    to_tell: BTreeSet<String>,
}

impl State {
    pub(super) fn new(encoding: Encoding, settings: Settings) -> Self {
        Self {
            encoding,
            settings,
            documents: Documents::default(),
            analyses: BTreeMap::new(),
            stale: BTreeSet::new(),
            told: BTreeMap::new(),
            to_tell: BTreeSet::new(),
        }
    }

    pub(super) fn open(&mut self, uri: Uri, version: i32, text: String) {
        self.documents.open(uri.clone(), version, text, self.encoding);
        self.touched(&uri);
    }

    pub(super) fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        if self.documents.change(uri, version, changes, self.encoding) {
            self.touched(uri);
        }
    }

    pub(super) fn close(&mut self, uri: &Uri) {
        // Whoever reads the file reads what is stored from now on.
        self.touched(uri);
        if self.documents.close(uri) {
            let key = uri.as_str();
            self.analyses.remove(key);
            self.stale.remove(key);
            let told = self.told.remove(key).unwrap_or_default();
            self.to_tell.extend(told.into_keys());
        }
    }

    /// A buffer is another than before: it and all that read it are looked at again.
    pub(super) fn touched(&mut self, uri: &Uri) {
        let path = self.documents.get(uri).and_then(|document| document.path.clone());
        let reads = |(key, analysis): &(&String, &Analysis)| {
            key.as_str() == uri.as_str() || path.as_deref().is_some_and(|path| analysis.depends_on(path))
        };
        let mut stale: Vec<String> = self
            .analyses
            .iter()
            .filter(reads)
            .map(|(key, _)| key.clone())
            .collect();
        // A file that was missing may be this one.
        let waiting = self
            .analyses
            .iter()
            .filter(|(_, analysis)| analysis.policy.is_none());
        stale.extend(waiting.map(|(key, _)| key.clone()));
        if self.documents.get(uri).is_some() {
            stale.push(uri.as_str().to_owned());
        }
        for key in stale {
            self.analyses.remove(&key);
            self.stale.insert(key);
        }
    }

    pub(super) fn all_touched(&mut self) {
        self.analyses.clear();
        self.stale = self
            .documents
            .iter()
            .map(|document| document.uri.as_str().to_owned())
            .collect();
    }

    /// The next findings to be sent, one file at a time, so that a message that comes meanwhile is not kept waiting.
    pub(super) fn next_findings(&mut self) -> Option<Notification> {
        loop {
            if let Some(key) = self.to_tell.pop_first() {
                return self.findings_of(&key);
            }
            let key = self.stale.pop_first()?;
            self.look(&key);
        }
    }

    /// Makes a buffer's findings, and notes which files have others than before.
    fn look(&mut self, key: &str) {
        let Some(document) = self
            .documents
            .iter()
            .find(|document| document.uri.as_str() == key)
        else {
            return;
        };
        let analysis = Analysis::new(document, &self.documents, &self.settings);
        let place = Place {
            document,
            analysis: &analysis,
            documents: &self.documents,
            settings: &self.settings,
            encoding: self.encoding,
            offset: 0,
        };
        let found = diagnostics::by_file(&place);
        let before = self
            .told
            .insert(key.to_owned(), found.clone())
            .unwrap_or_default();
        let changed = before
            .keys()
            .chain(found.keys())
            .filter(|file| before.get(*file) != found.get(*file));
        self.to_tell.extend(changed.cloned());
        // The client waits for an answer to each version.
        self.to_tell.insert(key.to_owned());
        self.analyses.insert(key.to_owned(), analysis);
    }

    /// All that any buffer found in a file.
    fn findings_of(&self, file: &str) -> Option<Notification> {
        let uri: Uri = file.parse().ok()?;
        let mut diagnostics: Vec<lsp_types::Diagnostic> = Vec::new();
        for found in self.told.values().filter_map(|found| found.get(file)).flatten() {
            if !diagnostics.contains(found) {
                diagnostics.push(found.clone());
            }
        }
        let version = self.documents.get(&uri).map(|document| document.version);
        let params = PublishDiagnosticsParams::new(uri, diagnostics, version);
        Some(Notification::new(
            "textDocument/publishDiagnostics".to_owned(),
            params,
        ))
    }

    /// A buffer and a place in it.
    pub(super) fn place(&mut self, params: &TextDocumentPositionParams) -> Result<Place<'_>, Refusal> {
        let mut place = self.whole(&params.text_document.uri)?;
        place.offset = place.document.lines.offset(&place.document.text, params.position);
        Ok(place)
    }

    /// A buffer.
    pub(super) fn whole(&mut self, uri: &Uri) -> Result<Place<'_>, Refusal> {
        let document = self
            .documents
            .get(uri)
            .ok_or_else(|| Refusal::failed(format!("`{}` is not open", uri.as_str())))?;
        let analysis = self
            .analyses
            .entry(uri.as_str().to_owned())
            .or_insert_with(|| Analysis::new(document, &self.documents, &self.settings));
        Ok(Place {
            document,
            analysis,
            documents: &self.documents,
            settings: &self.settings,
            encoding: self.encoding,
            offset: 0,
        })
    }
}

/// An open buffer, what is known of it, and the place that is asked about.
pub(crate) struct Place<'a> {
    pub(crate) document: &'a Document,
    pub(crate) analysis: &'a Analysis,
    pub(crate) documents: &'a Documents,
    pub(crate) settings: &'a Settings,
    encoding: Encoding,
    pub(crate) offset: usize,
}

impl Place<'_> {
    pub(crate) fn text(&self) -> &str {
        &self.document.text
    }

    pub(crate) fn slice(&self, span: Span) -> &str {
        self.text().get(span.start..span.end).unwrap_or_default()
    }

    /// A stretch of the buffer.
    pub(crate) fn range(&self, span: Span) -> Range {
        self.document.lines.range(self.text(), span)
    }

    /// A stretch of any file that was read.
    pub(crate) fn location(&self, file: FileId, span: Span) -> Option<Location> {
        let uri = self.analysis.uri(file, self.documents, &self.document.uri)?;
        let source = self.analysis.source(file)?;
        let lines = Lines::new(&source.text, self.encoding);
        Some(Location::new(uri, lines.range(&source.text, span)))
    }

    /// A stretch of a text that is in no file.
    pub(crate) fn range_in(&self, text: &str, span: Span) -> Range {
        Lines::new(text, self.encoding).range(text, span)
    }
}
