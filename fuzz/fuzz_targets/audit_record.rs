//! Whatever arrives as an audit record is a record, nothing, or an error; and whatever a program names its file, the
//! name comes back as it was and cannot add or change another field.
//!
//! The parser is included by its path: the rest of the enforcer would only make the fuzzer slow to build.
#![no_main]
#![allow(dead_code, reason = "the enforcer uses more of it")]

#[path = "../../enforcer/src/audit/fields.rs"]
mod fields;
#[path = "../../enforcer/src/audit/record.rs"]
mod record;

use libfuzzer_sys::fuzz_target;
use record::{Body, LANDLOCK_ACCESS, parse};

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, text)) = bytes.split_first() else {
        return;
    };
    let kinds = [
        record::SYSCALL,
        record::SECCOMP,
        LANDLOCK_ACCESS,
        record::LANDLOCK_DOMAIN,
        record::TRUSTED_APP,
    ];
    let kind = kinds[usize::from(*kind) % kinds.len()];
    let _ = parse(kind, text);
    let _ = parse(kind, &[b"audit(1.000:1):", text].concat());

    let path: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| *byte != 0)
        .take(4_095)
        .collect();
    let written = quoted(&path);
    let line = [
        b"audit(1.000:1): domain=1 blockers=fs.truncate path=",
        written.as_slice(),
        b" dev=\"x\" ino=7",
    ]
    .concat();
    let Ok(Some(record)) = parse(LANDLOCK_ACCESS, &line) else {
        panic!("not read: {line:?}");
    };
    let Body::Access(access) = record.body else {
        panic!("not a refusal: {record:?}");
    };
    assert_eq!(access.object.path.unwrap_or_default(), path);
    assert_eq!((access.domain, access.object.inode), (1, Some(7)));
});

/// `audit_log_untrustedstring` of the kernel.
fn quoted(text: &[u8]) -> Vec<u8> {
    let plain = text
        .iter()
        .all(|byte| (0x21..=0x7e).contains(byte) && *byte != b'"');
    if plain {
        [b"\"", text, b"\""].concat()
    } else {
        text.iter()
            .flat_map(|byte| format!("{byte:02X}").into_bytes())
            .collect()
    }
}
