//! Properties of the front end on generated input.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;

use policy_lang::diagnostic::Label;
use policy_lang::loader::InMemory;
use policy_lang::pattern::{HostPattern, PathPattern};
use policy_lang::policy::{Origin, Rule, Subject};
use policy_lang::source::FileId;
use policy_lang::{Diagnostic, Resolved, SourceFile};
use proptest::prelude::*;

#[path = "support/tree.rs"]
mod tree;

use tree::{check, check_among, check_with};

/// Pieces that meet in odd orders: words of the language, broken leaves, characters of several bytes.
const PIECES: &[&str] = &[
    "policy",
    "\"p\"",
    "{",
    "}",
    "filesystem",
    "network",
    "credentials",
    "process",
    "workspace",
    "audit",
    "test",
    "summary",
    "within",
    "include",
    "group",
    "org::a",
    "use",
    "std::linux",
    "\"lib/x.remit\"",
    "io-uring",
    "std::git",
    "param",
    ":",
    "path",
    "port",
    "=",
    "require",
    "landlock",
    ">=",
    "3",
    "unlock",
    "allow",
    "deny",
    "ask",
    "forbid",
    "read",
    "write",
    "execute",
    "connect",
    "bind",
    "tcp",
    "udp",
    "\"/a\"",
    "\"~/b\"",
    "\"..\"",
    "\"/**/x\"",
    "\"${w}\"",
    "\"${\"",
    "\"1.2.3.4:5\"",
    "\"[::1]:*\"",
    "\"*:*\"",
    ",",
    "because",
    "label",
    "if",
    "present",
    "permit",
    "degraded",
    "scratch",
    "512MiB",
    "hide",
    "pass",
    "set",
    "broker",
    "for",
    "as",
    "bearer",
    "from",
    "ttl",
    "header",
    "\"*.example.com:443\"",
    "\"LC_*\"",
    "keep",
    "review",
    "ephemeral",
    "asked",
    "identity",
    "dynamic",
    "1:2",
    "syscall",
    "@debug",
    "\"ioctl\"",
    "where",
    "request",
    "==",
    "&",
    "|",
    "and",
    "TIOCSTI",
    "0x",
    "limit",
    "memory",
    "cpu",
    "200%",
    "wall",
    "record",
    "exec",
    "is",
    "denied",
    "by",
    "env",
    "mode",
    "in-place",
    "//",
    "/*",
    "*/",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "é",
    "語",
    "🔒",
    "\u{202e}",
    "\0",
    "${w}",
    "[",
    "]",
    "(",
    ")",
    "\u{feff}",
];

fn soup() -> impl Strategy<Value = String> {
    let piece = (0..PIECES.len(), prop::bool::ANY).prop_map(|(index, space)| {
        let piece = PIECES.get(index).copied().unwrap_or_default();
        if space {
            format!("{piece} ")
        } else {
            piece.to_owned()
        }
    });
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

const SEEDS: [&str; 2] = [
    include_str!("fixtures/good/everything.remit"),
    include_str!("fixtures/good/sketch.remit"),
];

/// A good file with a stretch of it replaced.
fn mutated() -> impl Strategy<Value = String> {
    let places = (any::<bool>(), 0..3000_usize, 0..40_usize, soup_of(3));
    places.prop_map(|(which, start, len, piece)| {
        let mut characters: Vec<char> = SEEDS[usize::from(which)].chars().collect();
        let start = start.min(characters.len());
        let end = (start + len).min(characters.len());
        characters.splice(start..end, piece.chars());
        characters.into_iter().collect()
    })
}

fn soup_of(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(0..PIECES.len(), 0..most).prop_map(|pieces| {
        pieces
            .into_iter()
            .filter_map(|index| PIECES.get(index).copied())
            .collect::<Vec<_>>()
            .join(" ")
    })
}

/// Everything that must hold of an answer, whatever was asked.
fn is_sound(source: &SourceFile, resolved: &Resolved) {
    let failed = resolved.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(
        resolved.policy.is_none(),
        failed,
        "a policy if and only if there is no error: {:?}",
        source.text
    );
    let text_of = |file: FileId| &resolved.files[usize::from(file.0)].text;
    for found in &resolved.diagnostics {
        let suggested = found.suggestion.iter().map(|suggestion| suggestion.span);
        let own = suggested.chain([found.span]).map(|span| (found.file, span));
        let other = |label: &Label| (label.file.unwrap_or(found.file), label.span);
        for (file, span) in own.chain(found.secondary.iter().map(other)) {
            assert!(
                text_of(file).get(span.start..span.end).is_some(),
                "{span:?} of {:?}: {found:?}",
                source.text
            );
        }
        assert!(found.help.is_some(), "{found:?}");
    }
    let places: Vec<_> = resolved
        .diagnostics
        .iter()
        .map(|found| (found.file, found.span.start))
        .collect();
    assert!(
        places.is_sorted(),
        "diagnostics come file by file, in source order"
    );
}

fn written(resolved: &Resolved) -> Vec<Rule> {
    let rules = resolved.policy.iter().flat_map(|policy| policy.rules.clone());
    rules.filter(|rule| rule.origin != Origin::BuiltIn).collect()
}

/// The rule that a value was injected into; the policy has this one.
fn only_rule(resolved: &Resolved) -> Option<Rule> {
    let mut rules = written(resolved);
    assert!(rules.len() <= 1, "a value added a rule: {rules:?}");
    rules.pop()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_gets_a_sound_answer(text in any::<String>()) {
        let source = SourceFile::new("p.remit", text);
        is_sound(&source, &check(&source));
    }

    #[test]
    fn arbitrary_bytes_get_a_sound_answer(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let source = SourceFile::from_bytes("p.remit", bytes);
        is_sound(&source, &check(&source));
    }

    #[test]
    fn words_in_any_order_get_a_sound_answer(text in soup()) {
        let source = SourceFile::new("p.remit", text);
        is_sound(&source, &check(&source));
    }

    #[test]
    fn words_in_any_order_inside_a_policy_get_a_sound_answer(text in soup()) {
        let source = SourceFile::new("p.remit", format!("policy \"p\" {{ filesystem {{ {text} }} }}"));
        is_sound(&source, &check(&source));
    }

    #[test]
    fn a_damaged_file_gets_a_sound_answer(text in mutated()) {
        let source = SourceFile::new("p.remit", text);
        is_sound(&source, &check(&source));
    }

    #[test]
    fn a_path_value_adds_no_rule_no_wildcard_and_no_way_up(value in "\\PC{0,12}|[*?\\[\\]{}/.~\"\\\\$\n a-c]{0,12}") {
        let source = SourceFile::new(
            "p.remit",
            "policy \"p\" { param w: path\n filesystem { deny write \"${w}/x\" } }",
        );
        let resolved = check_with(&source, &[("w", &value)]);
        is_sound(&source, &resolved);
        if let Some(rule) = only_rule(&resolved) {
            let Subject::File { targets, .. } = rule.subject else { panic!("{rule:?}") };
            let [PathPattern::Literal(path)] = targets.as_slice() else { panic!("{targets:?}") };
            prop_assert!(path.starts_with('/') && path.ends_with("/x"), "{path}");
            prop_assert!(path.split('/').skip(1).all(|name| !matches!(name, "" | "." | "..")), "{path}");
        }
    }

    #[test]
    fn a_value_in_a_glob_is_taken_literally(name in "[*?\\[\\]{}!a-c-]{1,6}") {
        let source = SourceFile::new(
            "p.remit",
            "policy \"p\" { param w: path\n filesystem { deny read \"${w}/**/x\" } }",
        );
        let value = format!("/{name}");
        let resolved = check_with(&source, &[("w", &value)]);
        let rule = only_rule(&resolved).unwrap();
        let Subject::File { targets, .. } = rule.subject else { panic!("{rule:?}") };
        let [pattern] = targets.as_slice() else { panic!("{targets:?}") };
        let (inside, beside) = (format!("/{name}/d/x"), format!("/{name}{name}/d/x"));
        prop_assert!(pattern.covers(&inside));
        prop_assert!(!pattern.covers(&beside));
        prop_assert!(!pattern.covers("/other/d/x"));
    }

    #[test]
    fn a_host_value_adds_no_host_and_no_port(host in "[0-9a-f:./*\\[\\]-]{0,16}|[a-c*]{1,2}(\\.[a-c1*]{1,2}){0,2}", port in "[0-9*-]{0,6}") {
        let source = SourceFile::new(
            "p.remit",
            "policy \"p\" { param h: host\n param n: port\n network { allow connect tcp \"${h}:${n}\" } }",
        );
        let resolved = check_with(&source, &[("h", &host), ("n", &port)]);
        is_sound(&source, &resolved);
        if let Some(rule) = only_rule(&resolved) {
            let Subject::Network { targets, hosts, .. } = rule.subject else { panic!("{rule:?}") };
            let (first, last) = match (targets.as_slice(), hosts.as_slice()) {
                ([target], []) => {
                    prop_assert_eq!(target.prefix_len, if target.address.is_ipv4() { 32 } else { 128 });
                    (target.first_port, target.last_port)
                }
                ([], [name]) => {
                    prop_assert!(matches!(&name.pattern, HostPattern::Name(_)), "{}", name.pattern);
                    (name.first_port, name.last_port)
                }
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(first, last);
            prop_assert_eq!(first.to_string(), port.trim_start_matches('0'));
        }
    }

    #[test]
    fn the_text_of_a_rule_is_one_line_and_means_the_same(name in "[^/\0]{1,12}") {
        // Written with every character escaped, so that only the resolver's own quoting is at work.
        let escaped: String = name.chars().map(|next| format!("\\u{{{:x}}}", u32::from(next))).collect();
        let source = SourceFile::new("p.remit", format!("policy \"p\" {{ filesystem {{ allow read \"/{escaped}\" }} }}"));
        let resolved = check(&source);
        if let Some(rule) = only_rule(&resolved) {
            prop_assert!(!rule.text.chars().any(char::is_control), "{:?}", rule.text);
            let again = SourceFile::new("p.remit", format!("policy \"p\" {{ filesystem {{ {} }} }}", rule.text));
            let second = only_rule(&check(&again)).unwrap();
            prop_assert_eq!(rule.subject, second.subject);
            prop_assert_eq!(rule.text, second.text);
        }
    }

    #[test]
    fn any_tree_of_files_gets_a_sound_answer(
        policy in file_of(true),
        files in prop::collection::vec(file_of(false), 6),
    ) {
        let named = files.into_iter().enumerate().map(|(index, text)| (format!("lib/{index}.remit"), text));
        let files = InMemory(named.collect());
        let source = SourceFile::new("p.remit", policy);
        let resolved = check_among(&source, &files);
        is_sound(&source, &resolved);
        // Each group's rules are there once in each layer.
        let mut seen = BTreeSet::new();
        for rule in written(&resolved) {
            prop_assert!(seen.insert((rule.layer, rule.via.clone(), rule.origin.clone())), "{rule:?}");
        }
    }
}

/// A policy or a file of groups that names others, some of which exist and some of which lead back.
fn file_of(policy: bool) -> impl Strategy<Value = String> {
    let some = |most| prop::collection::vec(0..8_usize, 0..most);
    (some(3), some(2), some(4), some(3), any::<bool>()).prop_map(
        move |(includes, within, uses, defines, both)| {
            let mut text = String::new();
            let (mut includes, mut defines, mut uses) = (includes, defines, uses);
            for list in [&mut defines, &mut uses] {
                list.sort_unstable();
                list.dedup();
            }
            includes.sort_unstable();
            includes.dedup();
            for index in includes {
                text.push_str(&format!("include \"lib/{index}.remit\"\n"));
            }
            for index in &defines {
                text.push_str(&format!(
                    "group g{index} {{ use g{} filesystem {{ allow read \"/g{index}\" }} }}\n",
                    index + 1
                ));
            }
            if policy || (both && !within.is_empty()) {
                let within = within
                    .first()
                    .map(|index| format!("within \"lib/{index}.remit\""));
                let known = uses.iter().filter(|index| defines.contains(index));
                let uses: String = known.map(|index| format!("use g{index}\n")).collect();
                text.push_str(&format!(
                    "policy \"p\" {{ {}\n{uses} }}\n",
                    within.unwrap_or_default()
                ));
            }
            text
        },
    )
}
