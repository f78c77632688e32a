//! Artifact to text and back, on policies with something in every part.

use artifact::Artifact;
use artifact::codec::{DecodeError, decode, encode};
use compiler::{emit, lower};
use policy_lang::policy::{Effect, FileAccess, Protocol, Resource, Subject, Verb};
use policy_lang::syscall::SyscallSet;

use proptest::prelude::*;

use crate::policies::{file, network, policy};

fn artifact() -> Artifact {
    let name = "HOME".to_owned();
    let value = "/w \"quoted\" (and, bracketed: [x])\n".to_owned();
    let mut policy = policy(vec![
        (Effect::Allow, file(&[FileAccess::Read], &["/", "/w/[a-c]*.rs"])),
        (Effect::Forbid, file(&[FileAccess::Write], &["/w/.git"])),
        (
            Effect::Allow,
            network(
                &[Verb::Connect, Verb::Bind],
                &[Protocol::Tcp, Protocol::Udp],
                &[("10.0.0.0/8", 443, 443), ("2001:db8::/32", 0, 65535)],
            ),
        ),
        (
            Effect::Deny,
            network(&[Verb::Connect], &[Protocol::Tcp], &[("10.1.0.0/16", 0, 65535)]),
        ),
        (Effect::Allow, Subject::Set { name, value }),
        (
            Effect::Allow,
            Subject::Pass {
                names: vec!["PATH".to_owned()],
            },
        ),
        (
            Effect::Allow,
            Subject::Syscall {
                targets: vec![SyscallSet::group("@system-service").unwrap()],
            },
        ),
        (
            Effect::Allow,
            Subject::Scratch {
                path: "/tmp".to_owned(),
                size_bytes: 1 << 20,
            },
        ),
        (
            Effect::Allow,
            Subject::Limit {
                resource: Resource::Wall,
                value: 60,
            },
        ),
    ]);
    policy.summary = Some("with a\nline break".to_owned());
    policy.parameters = [("workspace".to_owned(), "/w".to_owned())].into();
    emit(&lower(&policy).unwrap())
}

#[test]
fn an_artifact_survives_its_text_and_is_the_same_bytes_when_rebuilt() {
    let text = encode(&artifact()).unwrap();
    assert_eq!(decode(text.as_bytes()).unwrap(), artifact());
    assert_eq!(encode(&artifact()).unwrap(), text);
    assert!(text.lines().all(|line| line.len() < 160), "{text}");
}

#[test]
fn layout_and_comments_do_not_change_the_digest_but_any_value_does() {
    let text = encode(&artifact()).unwrap();
    let loose = text.replace("    ", " /* looked at */ ");
    assert_eq!(decode(loose.as_bytes()).unwrap(), artifact());
    for (from, to) in [
        ("\"/w/.git\"", "\"/w/.gix\""),
        ("size_bytes: 1048576", "size_bytes: 1048577"),
        ("with a", "with b"),
    ] {
        let edited = text.replacen(from, to, 1);
        assert_ne!(edited, text, "{from}");
        let error = decode(edited.as_bytes()).unwrap_err();
        assert!(matches!(error, DecodeError::Digest { .. }), "{from}: {error}");
    }
}

#[test]
fn the_bytes_under_the_digest_give_the_artifact_back_and_nothing_else_does() {
    let artifact = artifact();
    let bytes = artifact::codec::pack(&artifact);
    let unpack = |bytes: &[u8]| artifact::codec::unpack(bytes, artifact.digest());
    assert_eq!(unpack(&bytes), Ok(artifact.clone()));
    for place in [0, 15, 20, bytes.len() / 2, bytes.len() - 1] {
        let mut edited = bytes.clone();
        edited[place] ^= 1;
        assert!(
            matches!(unpack(&edited), Err(DecodeError::Digest { .. })),
            "{place}"
        );
    }
    assert!(matches!(unpack(b""), Err(DecodeError::Digest { .. })));
}

#[test]
fn what_is_not_this_format_is_refused_with_a_reason() {
    let text = encode(&artifact()).unwrap();
    let said = |bytes: &[u8]| decode(bytes).unwrap_err().to_string();
    let newer = text.replacen("format: 2", "format: 3", 1);
    assert!(said(newer.as_bytes()).contains("format 3"));
    assert!(said(b"(format: 7, anything: [(1)])").contains("format 7"));
    let unknown = text.replacen("    body: (", "    body: (extra: 1,", 1);
    assert!(
        said(unknown.as_bytes()).contains("extra"),
        "{}",
        said(unknown.as_bytes())
    );
    assert!(said(unknown.as_bytes()).starts_with("line "));
    let trailing = format!("{text} ()");
    assert!(matches!(
        decode(trailing.as_bytes()),
        Err(DecodeError::Syntax { .. })
    ));
    assert!(matches!(decode(b"\xff\xfe"), Err(DecodeError::Syntax { .. })));
    let nested = "[".repeat(100_000);
    assert!(said(nested.as_bytes()).starts_with("line 1"));
    let deep = format!("(format: 2, digest: {}", "Some(".repeat(1_000));
    assert!(matches!(decode(deep.as_bytes()), Err(DecodeError::Syntax { .. })));
    let long = vec![b' '; artifact::bounds::ENCODED_BYTES + 1];
    assert!(matches!(decode(&long), Err(DecodeError::TooLong { .. })));
}

/// Each edit breaks one promise that look-ups rely on; the reason must name the part.
#[test]
fn what_does_not_hold_together_is_refused() {
    type Edit = fn(&mut Artifact);
    let edits: [(&str, Edit); 24] = [
        ("rules[0]", |a| a.rules[0].effect = artifact::Effect::Allow),
        ("rules[1].id", |a| a.rules[1].id.0 = 7),
        ("rules[1].lowering", |a| a.rules[1].lowering.clear()),
        ("rules[1].because", |a| {
            a.rules[1].because = Some("x".repeat(65_537));
        }),
        ("filesystem.rules[0]", |a| {
            a.filesystem.rules[0].pattern = artifact::filesystem::PathPattern::Literal("/a/../b".to_owned());
        }),
        ("filesystem.rules[1]", |a| {
            a.filesystem.rules[1].pattern = artifact::filesystem::PathPattern::Glob("/[".to_owned());
        }),
        ("filesystem.rules[0]", |a| a.filesystem.rules[0].rule.0 = 99),
        ("filesystem.rules[0]", |a| a.filesystem.rules[0].rule.0 = 2),
        ("filesystem.rules[0].yields_to", |a| {
            a.filesystem.rules[0].yields_to = vec![77];
        }),
        ("filesystem.rules[0].yields_to", |a| {
            a.filesystem.rules[0].yields_to = vec![0];
        }),
        ("filesystem.scratch[0]", |a| {
            a.filesystem.scratch[0].size_bytes = 0
        }),
        ("network.prefixes[0]", |a| {
            a.network.prefixes[0].address = "10.0.0.1".parse().unwrap();
        }),
        ("network.prefixes[0]", |a| a.network.prefixes[0].lists[0] = 99),
        ("network.prefixes", |a| a.network.prefixes.reverse()),
        ("network.port_lists[0]", |a| {
            a.network.port_lists[0] = vec![a.network.port_lists[0][0]; 2];
        }),
        ("environment.rules[1]", |a| {
            a.environment.rules[1].pattern = "A=B".to_owned();
        }),
        ("environment.rules[1].yields_to", |a| {
            a.environment.rules[1].yields_to = vec![0];
        }),
        ("environment.outermost", |a| {
            a.environment.outermost = artifact::LayerId(1);
        }),
        ("filesystem.outermost", |a| {
            a.layers.push(a.layers[0].clone());
        }),
        ("layers", |a| a.layers.clear()),
        ("rules[1].layer", |a| {
            a.rules[1].layer = Some(artifact::LayerId(1));
        }),
        ("filesystem.rules[0]", |a| {
            a.filesystem.rules[0].layer = Some(artifact::LayerId(0));
        }),
        ("process.limits", |a| {
            a.process.limits.push(a.process.limits[0]);
        }),
        ("seccomp", |a| {
            a.seccomp[0].program.pop();
        }),
    ];
    for (part, edit) in edits {
        let mut edited = artifact();
        edit(&mut edited);
        let invalid = edited.validate().expect_err(part);
        assert!(invalid.at.starts_with(part), "{part}: {invalid}");
        assert_eq!(encode(&edited), Err(invalid));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_artifact_survives_its_text(
        policy in crate::policies::policies(
            (crate::file_model::any_rules(), proptest::collection::vec(crate::network_model::rule(), 0..9))
                .prop_map(|(files, network)| files.into_iter().chain(network).collect()),
        ),
    ) {
        let artifact = emit(&lower(&policy).unwrap());
        let text = encode(&artifact).unwrap();
        prop_assert_eq!(&decode(text.as_bytes()).unwrap(), &artifact);
        prop_assert_eq!(encode(&emit(&lower(&policy).unwrap())).unwrap(), text);
    }
}
