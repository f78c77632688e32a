//! Where events go: JSON lines for programs, short lines on stderr for a person.
//!
//! A sink that cannot take an event fails the run: what cannot be recorded must not go on.

mod escape;
mod lines;
mod person;

use std::io;
use std::path::PathBuf;

pub use escape::escaped;
pub use lines::JsonLines;
pub use person::{Person, PersonStyle};

/// The sinks of one run. Without any, events are still counted and chained.
#[derive(Debug, Default)]
pub struct Sinks {
    /// For programs.
    pub lines: Option<JsonLines>,
    /// For a person.
    pub person: Option<Person>,
}

/// Why an event could not be delivered.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The file cannot be opened.
    #[error("cannot open {path} for events")]
    Open {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is no file that events can be appended to.
    #[error("cannot write events to {path}: it is a {what}; name a regular file, a pipe or -")]
    Kind {
        /// Which.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The events cannot be written.
    #[error("cannot write events to {name}")]
    Write {
        /// File name, or `stdout`.
        name: String,
        /// Why not.
        source: io::Error,
    },
    /// An event has no JSON form.
    #[error("cannot put an event into JSON")]
    Serialize(#[from] serde_json::Error),
}
