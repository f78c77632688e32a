//! The hash chain that makes a missing or an edited line visible.
//!
//! A line is the bytes `{…}` of the event with `,"chain":"<64 hex digits>"` put in front of the last brace. Its
//! chain value is `SHA-256(previous value ‖ {…})`: 32 raw bytes, then the bytes of the line as they were before
//! the chain was put in. The value before a run's first event is 32 zero bytes. Each run has its own chain, so
//! several runs may share a file.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;
use sha2::{Digest, Sha256};

const PREFIX: &[u8] = b",\"chain\":\"";
/// `,"chain":"` + 64 digits + `"}`.
const SUFFIX_LEN: usize = PREFIX.len() + 64 + 2;
/// Longest line a verifier reads; the longest one written is far below (a path has at most 4,096 bytes).
const LINE_MAX: u64 = 1 << 20;

/// The state of one run's chain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chain([u8; 32]);

impl Chain {
    /// Completes the line that starts at `start` in `buffer` (a JSON object) and ends it.
    pub fn seal(&mut self, buffer: &mut Vec<u8>, start: usize) {
        let body = buffer.get(start..).unwrap_or_default();
        self.0 = Sha256::new()
            .chain_update(self.0)
            .chain_update(body)
            .finalize()
            .into();
        buffer.pop();
        buffer.extend_from_slice(PREFIX);
        push_hex(buffer, &self.0);
        buffer.extend_from_slice(b"\"}\n");
    }

    /// The value of the last sealed line.
    #[must_use]
    pub fn head(&self) -> String {
        hex(&self.0)
    }
}

fn push_hex(buffer: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
    buffer.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len() * 2);
    push_hex(&mut text, bytes);
    String::from_utf8(text).unwrap_or_default()
}

/// What a stream of events proved to be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    /// Every run in it.
    pub runs: BTreeMap<String, RunChain>,
}

/// One run in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunChain {
    /// How many events.
    pub events: u64,
    /// Chain value of the last one: compare it with the receipt the enforcer kept.
    pub head: String,
    /// Whether the last one says that the run ended. Without it, lines may be missing at the end.
    pub ended: bool,
    /// How many records the stream itself says were lost.
    pub lost: u64,
}

/// Why a stream is not what was written.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// Reading failed.
    #[error("cannot read the events")]
    Read(#[from] std::io::Error),
    /// Not a line of ours.
    #[error("line {line} is not an event: {reason}")]
    Malformed {
        /// From 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// Lines are missing, repeated or out of order.
    #[error(
        "line {line}: run {run} has event {found} where {expected} must follow: lines are missing or were moved"
    )]
    Gap {
        /// From 1.
        line: u64,
        /// Which run.
        run: String,
        /// The next sequence number.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// A line, or one before it, was changed.
    #[error("line {line}: the chain of run {run} does not hold: this line or one before it was changed")]
    Broken {
        /// From 1.
        line: u64,
        /// Which run.
        run: String,
    },
    /// Something follows a run's last event.
    #[error("line {line}: run {run} goes on after it ended")]
    AfterEnd {
        /// From 1.
        line: u64,
        /// Which run.
        run: String,
    },
}

/// The fields a verifier needs; the rest of the line is only hashed.
#[derive(Deserialize)]
struct Head {
    run: String,
    seq: u64,
    kind: String,
    #[serde(default)]
    details: Counted,
}

#[derive(Deserialize, Default)]
struct Counted {
    #[serde(default)]
    count: u64,
}

/// Checks every line of a stream of events: the chain, and that sequence numbers count from 1 without gaps.
///
/// # Errors
/// At the first line that does not hold.
pub fn verify_chain(mut stream: impl BufRead) -> Result<Verified, ChainError> {
    let mut runs: BTreeMap<String, (Chain, RunChain)> = BTreeMap::new();
    let mut text = Vec::new();
    let mut line = 0;
    loop {
        text.clear();
        let read = std::io::Read::take(&mut stream, LINE_MAX).read_until(b'\n', &mut text)?;
        if read == 0 {
            break;
        }
        line += 1;
        let malformed = |reason: &str| ChainError::Malformed {
            line,
            reason: reason.to_owned(),
        };
        if text.pop() != Some(b'\n') {
            return Err(malformed("it does not end: it was cut off, or is too long"));
        }
        let head: Head = serde_json::from_slice(&text).map_err(|error| malformed(&error.to_string()))?;
        let (chain, run) = runs.entry(head.run.clone()).or_insert_with(|| {
            let fresh = RunChain {
                events: 0,
                head: String::new(),
                ended: false,
                lost: 0,
            };
            (Chain::default(), fresh)
        });
        if run.ended {
            return Err(ChainError::AfterEnd { line, run: head.run });
        }
        if head.seq != run.events + 1 {
            let expected = run.events + 1;
            return Err(ChainError::Gap {
                line,
                run: head.run,
                expected,
                found: head.seq,
            });
        }
        let body_len = text
            .len()
            .checked_sub(SUFFIX_LEN)
            .ok_or_else(|| malformed("it has no chain"))?;
        let mut expected = text.get(..body_len).unwrap_or_default().to_vec();
        expected.push(b'}');
        chain.seal(&mut expected, 0);
        expected.pop();
        if expected != text {
            return Err(ChainError::Broken { line, run: head.run });
        }
        run.events = head.seq;
        run.head = chain.head();
        run.ended = head.kind == "run-ended";
        if head.kind == "loss" {
            run.lost = run.lost.saturating_add(head.details.count);
        }
    }
    Ok(Verified {
        runs: runs.into_iter().map(|(name, (_, run))| (name, run)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Chain, ChainError, verify_chain};

    fn stream(bodies: &[&str]) -> Vec<u8> {
        let mut chain = Chain::default();
        let mut out = Vec::new();
        for body in bodies {
            let start = out.len();
            out.extend_from_slice(body.as_bytes());
            chain.seal(&mut out, start);
        }
        out
    }

    const BODIES: [&str; 3] = [
        r#"{"run":"r","seq":1,"kind":"run-started"}"#,
        r#"{"run":"r","seq":2,"kind":"loss","details":{"count":7}}"#,
        r#"{"run":"r","seq":3,"kind":"run-ended","details":{}}"#,
    ];

    #[test]
    fn an_untouched_stream_verifies_and_tells_its_head() {
        let verified = verify_chain(stream(&BODIES).as_slice()).unwrap();
        let run = &verified.runs["r"];
        assert_eq!((run.events, run.ended, run.lost), (3, true, 7));
        assert_eq!(run.head.len(), 64);
    }

    #[test]
    fn the_chain_value_is_the_hash_of_the_previous_value_and_the_line() {
        use sha2::{Digest, Sha256};
        let text = String::from_utf8(stream(&BODIES[..1])).unwrap();
        let mut input = vec![0u8; 32];
        input.extend_from_slice(BODIES[0].as_bytes());
        let digest: String = Sha256::digest(&input)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            text,
            format!("{},\"chain\":\"{digest}\"}}\n", &BODIES[0][..BODIES[0].len() - 1])
        );
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let good = stream(&BODIES);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(verify_chain(bad.as_slice()).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_missing_or_moved_line_is_a_gap_and_a_cut_line_is_malformed() {
        let good = stream(&BODIES);
        let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
        let without = [lines[0], lines[2]].concat();
        assert!(matches!(
            verify_chain(without.as_slice()),
            Err(ChainError::Gap {
                line: 2,
                expected: 2,
                ..
            })
        ));
        let moved = [lines[1], lines[0], lines[2]].concat();
        assert!(matches!(
            verify_chain(moved.as_slice()),
            Err(ChainError::Gap { line: 1, .. })
        ));
        let cut = &good[..good.len() - 1];
        assert!(matches!(
            verify_chain(cut),
            Err(ChainError::Malformed { line: 3, .. })
        ));
        let more = [&good[..], lines[2]].concat();
        assert!(matches!(
            verify_chain(more.as_slice()),
            Err(ChainError::AfterEnd { line: 4, .. })
        ));
    }

    #[test]
    fn a_stream_that_stops_early_is_told_apart_from_one_that_ended() {
        let verified = verify_chain(stream(&BODIES[..2]).as_slice()).unwrap();
        assert!(!verified.runs["r"].ended);
    }
}
