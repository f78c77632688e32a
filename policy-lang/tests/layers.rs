//! Files, groups and ceilings: what a policy of several files is made of, in bounded time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::time::{Duration, Instant};

use policy_lang::loader::InMemory;
use policy_lang::policy::{
    Effect, Identity, Keep, LayerId, Origin, Policy, Rule, RuleId, Subject, WorkspaceMode,
};
use policy_lang::reference::{Access, decide};
use policy_lang::syscall::{Architecture, table};
use policy_lang::{Diagnostic, Resolved, SourceFile};

#[path = "support/tree.rs"]
mod tree;

fn check(policy: &str, files: &[(&str, &str)]) -> Resolved {
    let files = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    tree::check_among(&SourceFile::new("p.remit", policy), &InMemory(files.collect()))
}

fn policy(policy: &str, files: &[(&str, &str)]) -> Policy {
    let resolved = check(policy, files);
    assert_eq!(resolved.diagnostics, Vec::<Diagnostic>::new());
    resolved.policy.unwrap()
}

fn written(policy: &Policy) -> Vec<&Rule> {
    let written = |rule: &&Rule| rule.origin != Origin::BuiltIn;
    policy.rules.iter().filter(written).collect()
}

fn place(rule: &Rule) -> String {
    match &rule.origin {
        Origin::Source { file, line, .. } => format!("{file}:{line}"),
        Origin::BuiltIn => String::new(),
    }
}

fn call(name: &str) -> Access {
    Access::Syscall {
        architecture: Architecture::X86_64,
        number: table::number(name, Architecture::X86_64).unwrap(),
        arguments: [0; 6],
    }
}

const GROUPS: &str = "group a {\n    use b\n    filesystem { allow read \"/a\" }\n}\n\ngroup b {\n    filesystem { allow read \"/b\" }\n}\n";

#[test]
fn a_rule_knows_its_layer_its_group_and_its_own_file() {
    let policy = policy(
        "include \"groups.remit\"\npolicy \"p\" {\n    within \"top.remit\"\n    use a, b\n    filesystem { allow read \"/p\" }\n}\n",
        &[
            ("groups.remit", GROUPS),
            (
                "top.remit",
                "include \"groups.remit\"\npolicy \"top\" {\n    use b\n    filesystem { allow read \"/\" }\n}\n",
            ),
        ],
    );
    let found: Vec<(String, u8, Option<&str>, &str)> = written(&policy)
        .into_iter()
        .map(|rule| {
            (
                place(rule),
                rule.layer.unwrap().0,
                rule.via.as_deref(),
                rule.text.as_str(),
            )
        })
        .collect();
    // A policy's own rules before those of its groups, each group once in each layer.
    assert_eq!(
        found,
        [
            ("p.remit:5".to_owned(), 0, None, "allow read \"/p\""),
            ("groups.remit:3".to_owned(), 0, Some("a"), "allow read \"/a\""),
            ("groups.remit:7".to_owned(), 0, Some("b"), "allow read \"/b\""),
            ("top.remit:4".to_owned(), 1, None, "allow read \"/\""),
            ("groups.remit:7".to_owned(), 1, Some("b"), "allow read \"/b\""),
        ]
    );
    let layers: Vec<(&str, &str)> = policy
        .layers
        .iter()
        .map(|layer| (layer.name.as_str(), layer.file.as_str()))
        .collect();
    assert_eq!(layers, [("p", "p.remit"), ("top", "top.remit")]);
    for (index, rule) in policy.rules.iter().enumerate() {
        assert_eq!(usize::try_from(rule.id.0), Ok(index));
    }
}

#[test]
fn the_files_that_were_read_are_listed_once_and_findings_name_theirs() {
    let resolved = check(
        "include \"a.remit\"\ninclude \"b.remit\"\npolicy \"p\" {\n    use one, std::linux\n}\n",
        &[
            ("a.remit", "include \"c.remit\"\n"),
            ("b.remit", "include \"c.remit\"\n"),
            (
                "c.remit",
                "group one {\n    filesystem { allow read \"/absent\" }\n}\n",
            ),
        ],
    );
    let names: Vec<&str> = resolved.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        ["p.remit", "a.remit", "c.remit", "b.remit", "std/linux.remit"]
    );
    let [found] = resolved.diagnostics.as_slice() else {
        panic!("{:?}", resolved.diagnostics)
    };
    assert_eq!(
        resolved.files[usize::from(found.file.0)].slice(found.span),
        "\"/absent\""
    );
}

#[test]
fn a_part_of_the_floor_is_open_where_every_layer_opens_it() {
    let own = "policy \"p\" { within \"top.remit\" process { identity 1000:1000 allow syscall \"perf_event_open\", \"bpf\" } \
               unlock perf because \"it measures\" }";
    let top =
        |rest: &str| format!("policy \"top\" {{ process {{ identity user allow syscall @known }} {rest} }}");
    let opened = policy(
        own,
        &[("top.remit", &top("unlock perf, bpf because \"for measuring\""))],
    );
    assert_eq!(decide(&opened, &call("perf_event_open")).effect, Effect::Allow);
    assert_eq!(decide(&opened, &call("bpf")).effect, Effect::Forbid);
    let unlocks: Vec<(&str, &str)> = opened
        .unlocks
        .iter()
        .map(|unlock| (unlock.name.as_str(), unlock.because.as_str()))
        .collect();
    assert_eq!(unlocks, [("perf", "it measures")]);
    // Taking a rule away moves the others; what names one follows.
    let (identity, rule) = opened.identity;
    assert_eq!(identity, Identity::Ids { uid: 1000, gid: 1000 });
    assert_eq!(opened.rule(rule).unwrap().subject, Subject::Identity(identity));
    for (index, rule) in opened.rules.iter().enumerate() {
        assert_eq!(usize::try_from(rule.id.0), Ok(index));
    }
    assert!(check(own, &[("top.remit", &top(""))]).policy.is_none());
}

#[test]
fn an_unlock_grants_nothing() {
    let opened = policy("policy \"p\" { unlock perf because \"it measures\" }", &[]);
    let decision = decide(&opened, &call("perf_event_open"));
    assert_eq!((decision.effect, decision.rule), (Effect::Deny, RuleId::DEFAULT));
}

#[test]
fn what_is_no_rule_is_joined_over_the_layers() {
    let joined = policy(
        "policy \"p\" { within \"top.remit\" audit { record exec } require landlock >= 2, seccomp }",
        &[(
            "top.remit",
            "policy \"top\" { param place: path = \"/top\" audit { record read } require seccomp, audit \
             workspace { from \"${place}\" mode ephemeral keep none } }",
        )],
    );
    assert!(joined.record.exec && joined.record.read && !joined.record.write);
    let required: Vec<&str> = joined.requirements.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(required, ["landlock >= 2", "seccomp", "audit"]);
    let workspace = joined.workspace.unwrap();
    assert_eq!(workspace.from.as_deref(), Some("/top"));
    assert_eq!(
        (workspace.mode, workspace.keep),
        (WorkspaceMode::Ephemeral, Keep::None)
    );
    assert!(joined.parameters.is_empty());
}

#[test]
fn a_ceilings_credentials_are_not_the_runs() {
    let top = "policy \"top\" { credentials { broker \"A\" for \"a.example.com:443\" as bearer from env \"A\" ttl 1h } }";
    let brokers = |policy: &Policy| -> Vec<LayerId> {
        let broker = |rule: &&Rule| matches!(rule.subject, Subject::Broker(_));
        let found = policy.rules.iter().filter(broker);
        found.map(|rule| rule.layer.unwrap()).collect()
    };
    let none = policy("policy \"p\" { within \"top.remit\" }", &[("top.remit", top)]);
    assert_eq!(brokers(&none), []);
    let own = policy(
        "policy \"p\" { within \"top.remit\" credentials { broker \"B\" for \"a.example.com:443\" as bearer from env \"A\" ttl 5m } }",
        &[("top.remit", top)],
    );
    assert_eq!(brokers(&own), [LayerId::INNERMOST]);
}

#[test]
fn parameters_of_the_caller_do_not_reach_a_ceiling() {
    let same = policy(
        "policy \"p\" { within \"top.remit\" param w: path = \"/mine\" filesystem { allow read \"${w}\" } }",
        &[(
            "top.remit",
            "policy \"top\" { param w: path = \"/theirs\" filesystem { allow read \"${w}\", \"/\" } }",
        )],
    );
    let texts: Vec<&str> = written(&same).iter().map(|rule| rule.text.as_str()).collect();
    assert_eq!(texts, ["allow read \"/mine\"", "allow read \"/theirs\", \"/\""]);
}

#[test]
fn groups_that_use_each_other_many_ways_are_expanded_once() {
    // Each group uses all that follow it: written out at each use, thousands of rules.
    let count = 14;
    let mut text = String::new();
    for index in 0..count {
        let later: Vec<String> = (index + 1..count).map(|later| format!("g{later}")).collect();
        let uses = if later.is_empty() {
            String::new()
        } else {
            format!("use {}", later.join(", "))
        };
        text.push_str(&format!(
            "group g{index} {{ {uses} filesystem {{ allow read \"/{index}\" }} }}\n"
        ));
    }
    let started = Instant::now();
    let found = policy(
        "include \"groups.remit\"\npolicy \"p\" { use g0 }",
        &[("groups.remit", &text)],
    );
    assert_eq!(written(&found).len(), count);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn files_that_include_each_other_many_ways_are_read_once() {
    let count = 15;
    let files: Vec<(String, String)> = (0..count)
        .map(|index| {
            let later = (index + 1..count).map(|later| format!("include \"{later}.remit\"\n"));
            (format!("{index}.remit"), later.collect())
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let started = Instant::now();
    let resolved = check("include \"0.remit\"\npolicy \"p\" { }", &files);
    assert!(resolved.policy.is_some(), "{:?}", resolved.diagnostics);
    assert_eq!(resolved.files.len(), count + 1);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_large_group_is_bounded_by_its_text_in_every_layer() {
    let rules: String = (0..4000)
        .map(|index| format!("allow read \"/r{index}\"\n"))
        .collect();
    let group = format!("group big {{ filesystem {{\n{rules}}} }}");
    let layer = |next: usize| {
        let within = if next < 7 {
            format!("within \"{next}.remit\"")
        } else {
            String::new()
        };
        format!("include \"big.remit\"\npolicy \"l{next}\" {{ {within} use big }}")
    };
    let mut files = vec![("big.remit".to_owned(), group)];
    files.extend((1..7).map(|index| (format!("{index}.remit"), layer(index + 1))));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let started = Instant::now();
    let found = policy(&layer(1), &files);
    assert_eq!((found.layers.len(), written(&found).len()), (7, 28_000));
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "{:?}",
        started.elapsed()
    );
}
