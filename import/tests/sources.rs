//! One source of each format: the policy it becomes, what is left, and that the language takes it.
//!
//! `REMIT_BLESS=1 cargo test -p import --test sources` writes the expected policies anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "support/policy.rs"]
mod support;

use std::fmt::Write as _;
use std::path::Path;

use import::{Format, ImportError, Imported, LeftKind, Options, Relax, import};

fn options(unknown: bool) -> Options {
    Options {
        relax: Relax {
            unknown,
            ..Relax::default()
        },
        ..Options::default()
    }
}

fn source(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The policy and what is left, as they are kept beside the source.
fn shown(imported: &Imported) -> String {
    let mut shown = imported.policy.clone();
    for left in &imported.left {
        let _ = writeln!(shown, "// {} {}: {}", left.kind.word(), left.place, left.why);
    }
    shown
}

fn becomes(format: Format, name: &str) -> Imported {
    let imported = import(format, &source(name), &options(false)).unwrap();
    support::resolved(&imported.policy);
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/sources/{name}.remit"));
    if std::env::var_os("REMIT_BLESS").is_some() {
        std::fs::write(&expected, shown(&imported)).unwrap();
    }
    assert_eq!(shown(&imported), std::fs::read_to_string(expected).unwrap());
    imported
}

#[test]
fn settings_of_srt() {
    becomes(Format::Srt, "srt.json");
}

#[test]
fn a_permission_profile_of_codex() {
    becomes(Format::Codex, "codex.toml");
}

#[test]
fn a_profile_of_nono() {
    becomes(Format::Nono, "nono.json");
}

#[test]
fn a_policy_of_openshell() {
    becomes(Format::OpenShell, "openshell.yaml");
}

#[test]
fn a_docker_run_line() {
    becomes(Format::Docker, "docker.txt");
}

#[test]
fn a_seccomp_profile() {
    becomes(Format::Oci, "seccomp.json");
}

#[test]
fn keys_that_are_not_known_refuse_the_import_unless_relaxed() {
    let text = r#"{ "filesystem": { "denyEverythingButTuesdays": true } }"#;
    let error = import(Format::Srt, text, &options(false)).unwrap_err();
    assert!(
        matches!(&error, ImportError::Unknown { places } if places == &["filesystem.denyEverythingButTuesdays"])
    );
    let relaxed = import(Format::Srt, text, &options(true)).unwrap();
    assert!(relaxed.left.iter().any(|left| left.kind == LeftKind::Wider));
}

#[test]
fn restrictions_that_cannot_be_said_refuse_the_import() {
    let cases = [
        (
            Format::Srt,
            r#"{ "network": { "deniedDomains": ["exa mple.com"] } }"#,
        ),
        (Format::Srt, r#"{ "filesystem": { "denyRead": ["../secrets"] } }"#),
        (Format::Nono, r#"{ "commands": { "deny": ["rm"] } }"#),
        (
            Format::Nono,
            r#"{ "command_policies": { "commands": { "git": {} } } }"#,
        ),
        (Format::Nono, r#"{ "filesystem": { "deny": ["$SOMEWHERE/x"] } }"#),
        (Format::Codex, "sandbox_mode = \"danger-full-access\""),
        (
            Format::Codex,
            "default_permissions = \"x\"\n[permissions.x.filesystem]\n\":new\" = \"deny\"",
        ),
        (
            Format::Docker,
            "docker run --security-opt seccomp=profile.json image",
        ),
        (
            Format::OpenShell,
            "version: 1\nnetwork_middlewares: { a: { middleware: x } }",
        ),
    ];
    for (format, text) in cases {
        let error = import(format, text, &Options::default()).unwrap_err();
        assert!(
            matches!(error, ImportError::Restriction { .. }),
            "{text}: {error}"
        );
    }
}

#[test]
fn what_is_no_source_is_an_error_that_says_why() {
    for (format, text) in [
        (Format::Srt, "{"),
        (Format::Srt, "[]"),
        (Format::Codex, "= 1"),
        (Format::Codex, "default_permissions = \"absent\""),
        (
            Format::Codex,
            "default_permissions = \"a\"\n[permissions.a]\nextends = \"a\"",
        ),
        (Format::Nono, "null"),
        (Format::OpenShell, "version: 2"),
        (Format::OpenShell, "a: &a [*a, *a]"),
        (Format::Docker, "podman build ."),
        (Format::Docker, "docker run --rm"),
        (Format::Docker, "docker run 'x"),
        (Format::Oci, "{}"),
        (Format::Oci, r#"{ "defaultAction": "SCMP_ACT_MAYBE" }"#),
    ] {
        let error = import(format, text, &Options::default()).unwrap_err();
        assert!(!error.to_string().is_empty(), "{text}");
    }
}

#[test]
fn endpoints_with_programs_are_granted_only_when_that_is_relaxed() {
    let text = source("openshell.yaml");
    let relaxed = Options {
        relax: Relax {
            binaries: true,
            requests: true,
            unknown: false,
        },
        ..Options::default()
    };
    let strict = import(Format::OpenShell, &text, &Options::default()).unwrap();
    let wide = import(Format::OpenShell, &text, &relaxed).unwrap();
    let granted = |imported: &Imported| {
        imported.policy.lines().any(|line| {
            line.trim_start()
                .starts_with("allow connect tcp \"api.github.com:443\"")
        })
    };
    assert!(!granted(&strict));
    assert!(granted(&wide));
    assert!(wide.left.iter().any(|left| left.kind == LeftKind::Wider));
}
