//! The SHA-256 digest that names a compiled policy in events, receipts and reviews.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Artifact, FORMAT};

const PREFIX: &str = "sha256:";
const HEADING: &[u8] = b"remit artifact ";

/// SHA-256 over the content of an artifact, not over its text: layout and comments of a file do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// A text that is no digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is `{PREFIX}` and 64 lower-case hexadecimal digits")]
pub struct NotADigest;

impl Digest {
    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn of(artifact: &Artifact) -> Self {
        Self::of_packed(&pack(artifact))
    }

    pub(crate) fn of_packed(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// The format number and the artifact in its binary form, in which every value has exactly one encoding.
pub(crate) fn pack(artifact: &Artifact) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 << 10);
    bytes.extend(HEADING);
    bytes.extend(FORMAT.to_le_bytes());
    // Writing to memory cannot fail, and every field has a binary form: the only errors there are.
    postcard::to_extend(artifact, bytes).unwrap_or_default()
}

/// The other way. Nothing for what [`pack`] of this format never makes.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Artifact> {
    let body = bytes.strip_prefix(HEADING)?.strip_prefix(&FORMAT.to_le_bytes())?;
    match postcard::take_from_bytes(body) {
        Ok((artifact, [])) => Some(artifact),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(PREFIX).ok_or(NotADigest)?.as_bytes();
        let (pairs, rest) = digits.as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(NotADigest);
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = nibble(*high)? << 4 | nibble(*low)?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

const fn nibble(digit: u8) -> Result<u8, NotADigest> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(NotADigest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_survives_its_text_and_nothing_else_is_one() {
        let text = format!("{PREFIX}{}", "0123456789abcdef".repeat(4));
        let digest: Digest = text.parse().unwrap();
        assert_eq!(digest.to_string(), text);
        for wrong in [
            "",
            "sha256:",
            &text[1..],
            &text[..text.len() - 1],
            &text.to_uppercase(),
            &format!("{text}0"),
        ] {
            assert_eq!(wrong.parse::<Digest>(), Err(NotADigest), "{wrong}");
        }
    }
}
