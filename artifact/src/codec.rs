//! Artifact to text and back.
//!
//! The text is RON, one line for whatever fits on one, so that a reviewer can read it and a line-based diff shows what
//! changed. Decoding is bounded (see [`crate::bounds`]) and gives nothing back that is not valid as a whole.

mod layout;

use serde::{Deserialize, Serialize};

use crate::validate::Invalid;
use crate::{Artifact, Digest, FORMAT, bounds};

/// Starts every encoded artifact.
const HEADING: &str =
    "// A compiled Remit policy. The digest covers everything in `body`: review it, do not edit it.\n";

/// The file as a whole.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<Body> {
    format: u32,
    digest: Digest,
    body: Body,
}

/// As much of a file as any version has.
#[derive(Deserialize)]
struct AnyFormat {
    format: u32,
}

/// Why bytes are not an artifact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// More bytes than [`bounds::ENCODED_BYTES`].
    #[error(
        "it has {len_bytes} bytes, more than the {} an artifact may have",
        bounds::ENCODED_BYTES
    )]
    TooLong {
        /// Its length.
        len_bytes: usize,
    },
    /// It is not RON of the right shape.
    #[error("line {line}, column {column}: {problem}")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the parser says.
        problem: String,
    },
    /// Another version of the format.
    #[error(
        "it has format {found}; this version of Remit reads format {FORMAT} only, so compile the policy again"
    )]
    Format {
        /// What it says it is.
        found: u32,
    },
    /// It was changed after it was compiled.
    #[error(
        "its content has the digest {computed}, but it says {stated}: it was changed after it was compiled"
    )]
    Digest {
        /// What is written in it.
        stated: Digest,
        /// What its content gives.
        computed: Digest,
    },
    /// It is not the binary form of any artifact.
    #[error("it is not the binary form of an artifact of format {FORMAT}")]
    Packed,
    /// A value is out of its bounds, or contradicts another.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// Encodes an artifact. Equal artifacts give equal bytes.
///
/// # Errors
/// None for an artifact that is valid; [`Artifact::validate`] tells.
pub fn encode(artifact: &Artifact) -> Result<String, Invalid> {
    artifact.validate()?;
    let envelope = Envelope {
        format: FORMAT,
        digest: artifact.digest(),
        body: artifact,
    };
    let compact =
        ron::ser::to_string(&envelope).map_err(|error| Invalid::new("artifact", error.to_string()))?;
    let mut text = HEADING.to_owned();
    layout::spread(&compact, &mut text);
    Ok(text)
}

/// Decodes an artifact, within bounds, and checks it as a whole.
///
/// # Errors
/// See [`DecodeError`]. Nothing that is out of bounds, of another format or unlike its digest is ever returned.
pub fn decode(bytes: &[u8]) -> Result<Artifact, DecodeError> {
    if bytes.len() > bounds::ENCODED_BYTES {
        return Err(DecodeError::TooLong {
            len_bytes: bytes.len(),
        });
    }
    let options = ron::Options::default().with_recursion_limit(bounds::NESTING);
    let envelope: Envelope<Artifact> = match options.from_bytes(bytes) {
        Ok(envelope) => envelope,
        // Another version may have other fields: then the version is what is wrong with it.
        Err(error) => match options.from_bytes::<AnyFormat>(bytes) {
            Ok(AnyFormat { format }) if format != FORMAT => {
                return Err(DecodeError::Format { found: format });
            }
            _ => {
                return Err(DecodeError::Syntax {
                    line: error.span.start.line,
                    column: error.span.start.col,
                    problem: error.code.to_string(),
                });
            }
        },
    };
    if envelope.format != FORMAT {
        return Err(DecodeError::Format {
            found: envelope.format,
        });
    }
    envelope.body.validate()?;
    let computed = envelope.body.digest();
    if computed != envelope.digest {
        return Err(DecodeError::Digest {
            stated: envelope.digest,
            computed,
        });
    }
    Ok(envelope.body)
}

/// The bytes that the digest covers: for a program that keeps an artifact for itself. Equal artifacts give equal bytes.
#[must_use]
pub fn pack(artifact: &Artifact) -> Vec<u8> {
    crate::digest::pack(artifact)
}

/// Takes [`pack`]'s bytes back, within bounds, and checks the artifact as a whole.
///
/// # Errors
/// As for [`decode`].
pub fn unpack(bytes: &[u8], stated: Digest) -> Result<Artifact, DecodeError> {
    if bytes.len() > bounds::ENCODED_BYTES {
        return Err(DecodeError::TooLong {
            len_bytes: bytes.len(),
        });
    }
    let computed = Digest::of_packed(bytes);
    if computed != stated {
        return Err(DecodeError::Digest { stated, computed });
    }
    let artifact = crate::digest::unpack(bytes).ok_or(DecodeError::Packed)?;
    artifact.validate()?;
    Ok(artifact)
}
