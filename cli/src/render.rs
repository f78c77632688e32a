//! Leaves: they turn values into text for a person or JSON for a program, and nothing depends on them.

pub(crate) mod diagnostic;
pub(crate) mod failure;
pub(crate) mod github;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod mechanism;
pub(crate) mod reasons;
pub(crate) mod rule;
pub(crate) mod sarif;
pub(crate) mod table;
pub(crate) mod words;

use std::io::IsTerminal as _;
use std::os::fd::AsFd;
use std::sync::LazyLock;

use policy_lang::SourceFile;
use policy_lang::source::FileId;

use crate::arguments::ColorChoice;

/// What text is written onto.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Surface {
    /// Escape sequences are understood and wanted.
    pub(crate) colour: bool,
    /// Characters in a line.
    pub(crate) width: usize,
}

impl Surface {
    /// Where stdout goes.
    pub(crate) fn stdout(choice: ColorChoice) -> Self {
        Self::of(std::io::stdout().is_terminal(), std::io::stdout(), choice)
    }

    /// Where stderr goes.
    pub(crate) fn stderr(choice: ColorChoice) -> Self {
        Self::of(std::io::stderr().is_terminal(), std::io::stderr(), choice)
    }

    fn of(is_terminal: bool, stream: impl AsFd, choice: ColorChoice) -> Self {
        let colour = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && environment_wants_colour(),
        };
        let columns = if is_terminal {
            rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col))
        } else {
            0
        };
        let columns = match columns {
            0 => std::env::var("COLUMNS")
                .ok()
                .and_then(|text| text.parse().ok())
                .unwrap_or(100),
            columns => columns,
        };
        Self {
            colour,
            // Below 40 nothing reads well and the layouts have no room; above 160 lines are too long to follow.
            width: columns.clamp(40, 160),
        }
    }

    /// `text` between a sequence and its reset, or as it is.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if self.colour {
            format!("\x1b[{}m{text}\x1b[0m", style.code())
        } else {
            text.to_owned()
        }
    }
}

/// The few styles that are used, by what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Headings.
    Strong,
    /// What is less important.
    Faint,
    /// Enforced, available.
    Good,
    /// Partly, warning.
    Doubtful,
    /// Unenforceable, missing, error.
    Bad,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Doubtful => "33",
            Self::Bad => "1;31",
        }
    }
}

/// The file of a finding. One that is not there is shown without its text.
pub(crate) fn source(files: &[SourceFile], id: FileId) -> &SourceFile {
    static NONE: LazyLock<SourceFile> = LazyLock::new(|| SourceFile::new("", ""));
    files.get(usize::from(id.0)).unwrap_or(&NONE)
}

fn environment_wants_colour() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|value| value.is_empty() || value == "dumb");
    !no_color && !dumb
}
