//! Whatever bytes the decoder takes, it gives back an artifact that is valid, decides without a panic, and encodes to
//! bytes that decode to itself.
//!
//! The digest would stop nearly every mutation, so a text that is right but for its digest gets the right one. An input
//! that starts with a zero byte is a list of edits to a real artifact: two bytes say where, one how many bytes to
//! replace, one how many follow to replace them with.
#![no_main]

use std::net::IpAddr;

use artifact::Artifact;
use artifact::codec::{DecodeError, decode, encode};
use artifact::filesystem::{FileAccess, Node, NodeKind, PathPattern, decide, regions};
use artifact::network::{self, Protocol, Verb};
use libfuzzer_sys::fuzz_target;

const SEED: &[u8] = include_bytes!("../seeds/decode.ron");

fuzz_target!(|bytes: &[u8]| {
    let text = match bytes {
        [0, edits @ ..] => edited(edits),
        _ => bytes.to_vec(),
    };
    let Some(artifact) = decode_with_right_digest(text) else {
        return;
    };
    artifact.validate().expect("decoded, but not valid");
    let text = encode(&artifact).expect("valid, but not encoded");
    let again = decode(text.as_bytes()).expect("encoded, but not decoded");
    assert_eq!(again, artifact);

    let nodes: Vec<Node> = artifact
        .filesystem
        .rules
        .iter()
        .filter_map(|rule| match &rule.pattern {
            PathPattern::Literal(path) => Some(Node {
                path: path.clone(),
                kind: NodeKind::Directory,
            }),
            PathPattern::Glob(_) => None,
        })
        .collect();
    let tree = regions(&artifact.filesystem, &nodes);
    for node in &nodes {
        let granted = decide(&artifact.filesystem, FileAccess::Read, &node.path).0 == artifact::Effect::Allow;
        assert!(granted || !tree.permits(FileAccess::Read, &node.path));
    }
    for address in ["10.0.0.1", "::ffff:169.254.169.254", "2001:db8::1"] {
        let address: IpAddr = address.parse().expect("an address");
        network::decide(&artifact.network, Verb::Connect, Protocol::Tcp, address, 443);
    }
});

fn edited(mut edits: &[u8]) -> Vec<u8> {
    let mut text = SEED.to_vec();
    while let [high, low, remove, insert, rest @ ..] = edits {
        let at = usize::from(u16::from_be_bytes([*high, *low])).min(text.len());
        let end = (at + usize::from(*remove)).min(text.len());
        let (inserted, rest) = rest.split_at(usize::from(*insert).min(rest.len()));
        text.splice(at..end, inserted.iter().copied());
        edits = rest;
    }
    text
}

fn decode_with_right_digest(text: Vec<u8>) -> Option<Artifact> {
    match decode(&text) {
        Ok(artifact) => Some(artifact),
        Err(DecodeError::Digest { stated, computed }) => {
            let text = String::from_utf8(text).expect("it was decoded as text");
            let text = text.replacen(&stated.to_string(), &computed.to_string(), 1);
            decode(text.as_bytes()).ok()
        }
        Err(_) => None,
    }
}
