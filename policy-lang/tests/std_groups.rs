//! The groups of the language: each reads well, grants no secret, and is described in docs/std.md as it is.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use policy_lang::loader::{STD_GROUPS, std_group};
use policy_lang::policy::{Effect, FileAccess, Policy, Protocol, Rule, Subject, Verb};
use policy_lang::reference::{Access, decide};
use policy_lang::{Diagnostic, FileKind, SourceFile, parse_as};

#[path = "std/page.rs"]
mod page;
#[path = "support/tree.rs"]
mod tree;

/// A policy that uses groups and says nothing else.
fn using(groups: &[&str]) -> Policy {
    let names: Vec<String> = groups.iter().map(|name| format!("std::{name}")).collect();
    let text = format!("policy \"p\" {{ use {} }}", names.join(", "));
    let resolved = tree::check(&SourceFile::new("p.remit", text));
    assert_eq!(resolved.diagnostics, Vec::<Diagnostic>::new(), "{groups:?}");
    resolved.policy.unwrap()
}

fn every_group() -> Vec<&'static str> {
    STD_GROUPS.iter().map(|(name, _)| *name).collect()
}

/// Rules that a group brought.
fn rules(policy: &Policy) -> impl Iterator<Item = &Rule> {
    policy.rules.iter().filter(|rule| rule.via.is_some())
}

fn file(access: FileAccess, path: &str) -> Access {
    Access::File {
        access,
        path: path.replacen('~', "/home/agent", 1),
    }
}

fn allowed(policy: &Policy, access: &Access) -> bool {
    decide(policy, access).effect <= Effect::Ask
}

#[test]
fn every_group_that_was_asked_for_is_there_and_stands_in_a_file_of_its_name() {
    let expected = [
        "c-toolchain",
        "chromium",
        "claude-code",
        "codex",
        "gemini-cli",
        "git",
        "go",
        "jvm",
        "linux",
        "node",
        "python",
        "rust",
        "ssh-client",
    ];
    assert_eq!(every_group(), expected);
    for name in expected {
        let source = std_group(name).unwrap();
        assert_eq!(source.name, format!("std/{name}.remit"));
        let parsed = parse_as(&source, FileKind::Groups);
        assert_eq!(parsed.diagnostics, Vec::<Diagnostic>::new());
        let ast = parsed.ast.unwrap();
        let names: Vec<&str> = ast.groups.iter().map(|group| group.name.text.as_str()).collect();
        assert_eq!(names, [format!("std::{name}")]);
    }
    assert!(std_group("nothing").is_none());
}

#[test]
fn every_group_resolves_alone_and_all_of_them_together() {
    for name in every_group() {
        assert!(rules(&using(&[name])).next().is_some(), "{name} grants nothing");
    }
    using(&every_group());
}

#[test]
fn every_rule_says_why_and_only_allows() {
    for name in every_group() {
        for rule in rules(&using(&[name])) {
            assert!(rule.because.is_some(), "{name}: {}", rule.text);
            assert_eq!(rule.effect, Effect::Allow, "{name}: {}", rule.text);
            assert!(!rule.permit_degraded, "{name}: {}", rule.text);
            assert!(
                rule.label.is_none(),
                "labels of groups would clash with those of policies"
            );
        }
    }
}

#[test]
fn paths_that_a_system_may_lack_are_optional() {
    // What every Linux has, and what every run has to itself.
    let everywhere = ["/usr", "/proc", "/dev"];
    for rule in rules(&using(&every_group())) {
        let Subject::File { targets, .. } = &rule.subject else {
            continue;
        };
        let sure = targets.iter().all(|target| {
            everywhere
                .iter()
                .any(|top| target.fixed_prefix().starts_with(top))
        });
        assert!(rule.if_present || sure, "{}", rule.text);
    }
}

#[test]
fn no_secret_can_be_read_under_all_groups_together() {
    let policy = using(&every_group());
    for path in [
        "~",
        "~/.ssh",
        "~/.ssh/id_rsa",
        "~/.ssh/id_ed25519",
        "~/.ssh/authorized_keys",
        "~/.gnupg/private-keys-v1.d/x.key",
        "~/.netrc",
        "~/.git-credentials",
        "~/.config/git/credentials",
        "~/.config/gh/hosts.yml",
        "~/.npmrc",
        "~/.yarnrc.yml",
        "~/.pypirc",
        "~/.config/pip/pip.conf",
        "~/.cargo/credentials.toml",
        "~/.cargo/credentials",
        "~/.cargo/config.toml",
        "~/.m2/settings.xml",
        "~/.m2/settings-security.xml",
        "~/.gradle/gradle.properties",
        "~/.config/go/env",
        "~/.aws/credentials",
        "~/.azure/msal_token_cache.json",
        "~/.config/gcloud/credentials.db",
        "~/.docker/config.json",
        "~/.kube/config",
        "~/.vault-token",
        "~/.terraform.d/credentials.tfrc.json",
        "~/.claude/.credentials.json",
        "~/.claude.json",
        "~/.codex/auth.json",
        "~/.gemini/oauth_creds.json",
        "~/.config/chromium/Default/Cookies",
        "~/.config/google-chrome/Default/Login Data",
        "~/.mozilla",
        "~/.local/share/keyrings/login.keyring",
        "~/.bash_history",
        "~/.env",
        "~/Documents/x",
        "/etc/shadow",
        "/etc/gshadow",
        "/etc/ssl/private/key.pem",
        "/etc/ssh/ssh_host_ed25519_key",
        "/etc/sudoers",
        "/root",
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/user/1000/bus",
        "/",
        "/home",
        "/sys",
        "/dev/kmsg",
        "/dev/sda",
    ] {
        assert!(!allowed(&policy, &file(FileAccess::Read, path)), "{path}");
    }
    for name in [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "NPM_TOKEN",
        "NODE_AUTH_TOKEN",
        "CARGO_REGISTRY_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "PIP_INDEX_URL",
        "GOPROXY",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "DATABASE_URL",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "BASH_ENV",
        "ENV",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "JAVA_TOOL_OPTIONS",
        "MAVEN_OPTS",
        "RUSTC_WRAPPER",
        "CARGO_BUILD_RUSTC_WRAPPER",
    ] {
        let access = Access::Environment {
            name: name.to_owned(),
        };
        assert!(!allowed(&policy, &access), "{name}");
    }
}

#[test]
fn nothing_that_acts_outside_the_run_can_be_written() {
    let policy = using(&every_group());
    for path in [
        "~/.bashrc",
        "~/.profile",
        "~/.gitconfig",
        "~/.config/git/config",
        "~/.ssh/config",
        "~/.ssh/known_hosts",
        "~/.cargo/bin/cargo",
        "~/.cargo/config.toml",
        "~/.rustup/toolchains/x/bin/rustc",
        "~/.nvm/versions/x",
        "~/.local/bin/x",
        "~/.local/lib/python3.11/site-packages/x.pth",
        "~/.pyenv/shims/python",
        "~/go/bin/x",
        "~/.claude/settings.json",
        "~/.claude/commands/x.md",
        "~/.claude/plugins/x",
        "~/.claude.json",
        "~/.codex/config.toml",
        "~/.codex/AGENTS.md",
        "~/.gemini/settings.json",
        "~/.gemini/extensions/x",
        "~/.config/autostart/x.desktop",
        "~/.config/systemd/user/x.service",
        "/usr/bin/x",
        "/etc/passwd",
        "/etc/ld.so.cache",
        "/usr/local/bin/x",
        "/tmp",
        "/var/tmp",
        "/dev/sda",
        "/proc/sys/kernel/core_pattern",
    ] {
        assert!(!allowed(&policy, &file(FileAccess::Write, path)), "{path}");
    }
}

#[test]
fn nothing_that_is_written_can_be_executed() {
    let policy = using(&every_group());
    let mut written = 0;
    for rule in rules(&policy) {
        let Subject::File { accesses, targets } = &rule.subject else {
            continue;
        };
        if !accesses.contains(&FileAccess::Write) {
            continue;
        }
        for target in targets {
            written += 1;
            let beneath = format!("{}/x", target.fixed_prefix());
            for path in [target.fixed_prefix(), beneath] {
                assert!(!allowed(&policy, &file(FileAccess::Execute, &path)), "{path}");
            }
        }
    }
    assert!(written > 20, "only {written} paths");
}

#[test]
fn only_the_harnesses_reach_the_network_and_only_their_own_hosts() {
    let connect = |host: &str| Access::Host {
        verb: Verb::Connect,
        protocol: Protocol::Tcp,
        host: host.to_owned(),
        address: None,
        port: 443,
    };
    for name in every_group() {
        let policy = using(&[name]);
        let reaches = rules(&policy).any(|rule| matches!(rule.subject, Subject::Network { .. }));
        assert_eq!(
            reaches,
            ["claude-code", "codex", "gemini-cli"].contains(&name),
            "{name}"
        );
        for rule in rules(&policy) {
            if let Subject::Network {
                verbs,
                protocols,
                targets,
                ..
            } = &rule.subject
            {
                assert_eq!(
                    (verbs.as_slice(), protocols.as_slice()),
                    ([Verb::Connect].as_slice(), [Protocol::Tcp].as_slice())
                );
                assert!(targets.is_empty(), "{}", rule.text);
            }
        }
    }
    assert!(allowed(&using(&["claude-code"]), &connect("api.anthropic.com")));
    assert!(!allowed(&using(&["claude-code"]), &connect("api.openai.com")));
    assert!(allowed(&using(&["codex"]), &connect("api.openai.com")));
    assert!(allowed(
        &using(&["gemini-cli"]),
        &connect("generativelanguage.googleapis.com")
    ));
    assert!(!allowed(&using(&every_group()), &connect("example.com")));
}

#[test]
fn the_page_describes_the_groups_as_they_are() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/std.md");
    let page = page::of(STD_GROUPS);
    if std::env::var_os("REMIT_WRITE_PAGES").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(
        written == page,
        "docs/std.md is another: run this test with REMIT_WRITE_PAGES=1"
    );
}
