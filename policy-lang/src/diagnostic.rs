//! What is wrong with a policy, where, and what to write instead.
//!
//! One type for every stage of the language; renderers (terminal, JSON) are leaves and live elsewhere. A code never
//! changes its meaning, so that people can search for it and suppressions stay true.

use serde::Serialize;

use crate::source::{FileId, Span};

mod code;
mod page;

pub use code::Code;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The policy means what it says; a reviewer may want to know.
    Note,
    /// The policy has a meaning, perhaps not the intended one.
    Warning,
    /// The policy has no meaning.
    Error,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Stable.
    pub code: Code,
    /// Error, warning or note.
    pub severity: Severity,
    /// One sentence without a full stop, that stands alone.
    pub message: String,
    /// The file that it is in.
    pub file: FileId,
    /// What to underline.
    pub span: Span,
    /// What to say under the line. May be empty.
    pub label: String,
    /// Other places that matter.
    pub secondary: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
    /// More that is true and useful.
    pub notes: Vec<String>,
    /// A replacement a tool can apply.
    pub suggestion: Option<Suggestion>,
}

/// A second place, and why it matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    /// The file, where it is another than the finding's.
    pub file: Option<FileId>,
    /// What to underline.
    pub span: Span,
    /// What to say there.
    pub text: String,
}

/// Text that would repair the mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// What to replace; empty where something is to be inserted.
    pub span: Span,
    /// By what.
    pub replacement: String,
    /// How sure it is.
    pub applicability: Applicability,
}

/// Whether a tool may take a suggestion without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    /// The policy allows no more afterwards, and what was meant still works.
    Safe,
    /// A person must look: what was meant can only be guessed.
    Review,
}

impl Diagnostic {
    /// An error.
    #[must_use]
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message.into())
    }

    /// A warning.
    #[must_use]
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message.into())
    }

    fn new(severity: Severity, code: Code, span: Span, message: String) -> Self {
        Self {
            code,
            severity,
            message,
            file: FileId::default(),
            span,
            label: String::new(),
            secondary: Vec::new(),
            help: None,
            notes: Vec::new(),
            suggestion: None,
        }
    }

    /// Says something under the underlined text.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Points at a second place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            file: None,
            span,
            text: text.into(),
        });
        self
    }

    /// Says which file the finding is in.
    #[must_use]
    pub fn in_file(mut self, file: FileId) -> Self {
        self.file = file;
        self
    }

    /// Points at a second place in a file of its own.
    #[must_use]
    pub fn also_in(mut self, file: FileId, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            file: Some(file),
            span,
            text: text.into(),
        });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// A note.
    #[must_use]
    pub fn remark(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, span, message.into())
    }

    /// Proposes a replacement that a person should look at.
    #[must_use]
    pub fn suggest(self, span: Span, replacement: impl Into<String>) -> Self {
        self.propose(span, replacement, Applicability::Review)
    }

    /// Proposes a replacement that a tool may take: see [`Applicability::Safe`].
    #[must_use]
    pub fn fix(self, span: Span, replacement: impl Into<String>) -> Self {
        self.propose(span, replacement, Applicability::Safe)
    }

    fn propose(mut self, span: Span, replacement: impl Into<String>, applicability: Applicability) -> Self {
        self.suggestion = Some(Suggestion {
            span,
            replacement: replacement.into(),
            applicability,
        });
        self
    }

    /// Whether the policy has no meaning because of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
