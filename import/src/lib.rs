//! What other tools call a policy, as a Remit policy.
//!
//! The result is never wider than its source: what cannot be said is left out and listed, and a restriction that cannot
//! be said refuses the import. Everything here is pure: text in, text out.

use policy_lang::SourceFile;

mod codex;
mod docker;
mod draft;
mod nono;
mod oci;
mod openshell;
mod paths;
mod source;
mod srt;

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Settings of Anthropic's sandbox runtime (`~/.srt-settings.json`).
    Srt,
    /// A permission profile, or the older sandbox settings, of Codex's `config.toml`.
    Codex,
    /// A profile of nono (JSON).
    Nono,
    /// A sandbox policy of NVIDIA OpenShell (YAML).
    OpenShell,
    /// A `docker run` line.
    Docker,
    /// A seccomp profile as OCI runtimes and Docker take it (JSON).
    Oci,
}

/// How to read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The name of the policy. Without one, the source's own or the format's.
    pub name: Option<String>,
    /// Which profile of a file that holds several.
    pub profile: Option<String>,
    /// Restrictions that may be dropped although the result is wider.
    pub relax: Relax,
}

/// What may be dropped although it restricts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Relax {
    /// Which programs may use an endpoint.
    pub binaries: bool,
    /// Which requests an endpoint takes.
    pub requests: bool,
    /// Keys that this version does not know.
    pub unknown: bool,
}

/// A policy, and what of its source is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The text of the policy.
    pub policy: String,
    /// In the order of the source.
    pub left: Vec<Left>,
}

/// Something that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Where in the source, as `network.allowedDomains[2]`.
    pub place: String,
    /// What became of it.
    pub kind: LeftKind,
    /// Why, and what to do.
    pub why: String,
}

/// How the policy differs because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftKind {
    /// The policy allows less than the source.
    Narrower,
    /// The policy allows as much; something else is not carried.
    Note,
    /// The policy allows more, as [`Relax`] was asked to.
    Wider,
}

impl LeftKind {
    /// One word for people and programs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Narrower => "narrower",
            Self::Note => "note",
            Self::Wider => "wider",
        }
    }
}

/// Why there is no policy.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The text is not of the format.
    #[error("this is no {what}: {why}")]
    Malformed {
        /// The format, in words.
        what: &'static str,
        /// What the reader said.
        why: String,
    },
    /// A value of another type than the format has there.
    #[error("`{place}` is not {expected}")]
    Type {
        /// Where.
        place: String,
        /// What stands there otherwise.
        expected: &'static str,
    },
    /// A restriction of the source that a policy cannot say.
    #[error("`{place}` restricts what a policy cannot: {why}")]
    Restriction {
        /// Where.
        place: String,
        /// Why not, and what to do.
        why: String,
    },
    /// Keys that may restrict something.
    #[error(
        "these keys are not known to this version and may restrict something: {}; leave them out with `--relax unknown`",
        .places.join(", ")
    )]
    Unknown {
        /// Where.
        places: Vec<String>,
    },
    /// What was written is not what the language reads: nobody is to find that out later.
    #[error(
        "the imported policy is not one: {0}; this is a fault of Remit, please report it with the source"
    )]
    Fault(String),
    /// The file has no such profile.
    #[error("there is no profile `{name}`; the file has {}", if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    Profile {
        /// The one that was asked for.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
}

/// Reads a source and writes a policy that is at least as strict.
///
/// # Errors
/// [`ImportError`] when the text cannot be read, or restricts something that a policy cannot.
pub fn import(format: Format, text: &str, options: &Options) -> Result<Imported, ImportError> {
    let mut imported = match format {
        Format::Srt => srt::import(text, options),
        Format::Codex => codex::import(text, options),
        Format::Nono => nono::import(text, options),
        Format::OpenShell => openshell::import(text, options),
        Format::Docker => docker::import(text, options),
        Format::Oci => oci::import(text, options),
    }?;
    let draft = SourceFile::new("imported.remit", imported.policy);
    imported.policy =
        policy_lang::format::format(&draft).map_err(|error| ImportError::Fault(error.to_string()))?;
    Ok(imported)
}
