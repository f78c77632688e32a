//! What a file means once it is resolved: paths, boxes, sets, units, and how rules are shown.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use policy_lang::SourceFile;
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{
    Effect, Endpoint, ExpectedOutcome, Feature, FileAccess, Identity, Origin, Policy, Resource, Rule, RuleId,
    Subject,
};
use policy_lang::reference::Access;
use policy_lang::syscall::{Comparison, Condition, Width};

#[path = "support/tree.rs"]
mod tree;

use tree::{check, check_with};

fn policy(text: &str) -> Policy {
    policy_with(text, &[])
}

fn policy_with(text: &str, parameters: &[(&str, &str)]) -> Policy {
    let resolved = check_with(&SourceFile::new("p.remit", text), parameters);
    resolved
        .policy
        .unwrap_or_else(|| panic!("{:?}", resolved.diagnostics))
}

fn written(policy: &Policy) -> Vec<&Rule> {
    policy
        .rules
        .iter()
        .filter(|rule| rule.origin != Origin::BuiltIn)
        .collect()
}

fn only_rule(block: &str) -> Rule {
    let policy = policy(&format!("policy \"p\" {{ {block} }}"));
    let rules = written(&policy);
    assert_eq!(rules.len(), 1);
    rules[0].clone()
}

fn paths(targets: &str) -> Vec<PathPattern> {
    match only_rule(&format!("filesystem {{ allow read {targets} }}")).subject {
        Subject::File { targets, .. } => targets,
        other => panic!("{other:?}"),
    }
}

fn literal(path: &str) -> PathPattern {
    PathPattern::Literal(path.to_owned())
}

fn glob(pattern: &str) -> PathPattern {
    PathPattern::Glob(pattern.to_owned())
}

fn endpoints(targets: &str) -> Vec<String> {
    let Subject::Network { targets, .. } =
        only_rule(&format!("network {{ allow connect {targets} }}")).subject
    else {
        panic!("not a network rule")
    };
    let shown = |target: &Endpoint| {
        format!(
            "{}/{} {}-{}",
            target.address, target.prefix_len, target.first_port, target.last_port
        )
    };
    targets.iter().map(shown).collect()
}

#[test]
fn paths_are_absolute_and_normalised() {
    assert_eq!(paths(r#""/a//b/./c/""#), [literal("/a/b/c")]);
    assert_eq!(
        paths(r#""src", ".", "./x""#),
        [literal("/work/src"), literal("/work"), literal("/work/x")]
    );
    assert_eq!(
        paths(r#""~", "~/x""#),
        [literal("/home/agent"), literal("/home/agent/x")]
    );
    assert_eq!(paths(r#""/""#), [literal("/")]);
}

#[test]
fn links_are_followed_up_to_the_first_wildcard() {
    assert_eq!(
        paths(r#""/bin/git", "/bin/*/x""#),
        [literal("/usr/bin/git"), glob("/usr/bin/*/x")]
    );
}

#[test]
fn private_trees_are_not_looked_up() {
    assert_eq!(
        paths(r#""/proc/absent", "/dev/absent""#),
        [literal("/proc/absent"), literal("/dev/absent")]
    );
}

#[test]
fn a_glob_without_an_active_wildcard_is_a_path() {
    assert_eq!(
        paths(r#""/a\\*b", "/[x]", "/\\[x]""#),
        [literal("/a*b"), literal("/x"), literal("/[x]")]
    );
}

#[test]
fn a_rule_without_words_has_all_of_them() {
    let rule = only_rule(r#"filesystem { deny "/a" }"#);
    let Subject::File { accesses, .. } = &rule.subject else {
        panic!("{rule:?}")
    };
    assert_eq!(
        accesses,
        &[FileAccess::Read, FileAccess::Write, FileAccess::Execute]
    );
    let rule = only_rule(r#"network { deny "10.0.0.1:80" }"#);
    let Subject::Network { verbs, protocols, .. } = &rule.subject else {
        panic!("{rule:?}")
    };
    assert_eq!((verbs.len(), protocols.len()), (2, 2));
}

#[test]
fn targets_become_boxes() {
    assert_eq!(endpoints(r#""10.0.0.0/8:*""#), ["10.0.0.0/8 0-65535"]);
    assert_eq!(endpoints(r#""*:53""#), ["0.0.0.0/0 53-53", "::/0 53-53"]);
    assert_eq!(endpoints(r#""[2001:db8::]/32:80-90""#), ["2001:db8::/32 80-90"]);
    assert_eq!(endpoints(r#""[2001:db8::/32]:80-90""#), ["2001:db8::/32 80-90"]);
    assert_eq!(endpoints(r#""[::1]:0""#), ["::1/128 0-0"]);
}

#[test]
fn units_are_counted_in_the_kernels() {
    let policy = policy(
        "policy \"p\" { process { limit memory 4GiB, processes 1_000, cpu 150%, open-files 64, wall 2h } }",
    );
    let limits: Vec<(Resource, u64)> = written(&policy)
        .iter()
        .map(|rule| match rule.subject {
            Subject::Limit { resource, value } => (resource, value),
            _ => panic!("{rule:?}"),
        })
        .collect();
    let expected = [
        (Resource::Memory, 4 << 30),
        (Resource::Processes, 1000),
        (Resource::Cpu, 150),
        (Resource::OpenFiles, 64),
        (Resource::Wall, 7200),
    ];
    assert_eq!(limits, expected);
}

#[test]
fn a_predicate_is_compared_on_the_bits_the_kernel_looks_at() {
    let rule = only_rule(
        "process { deny syscall \"ioctl\" where request == TIOCSTI and arg2 & 0xff != 1 | 2, \"clone\" where flags & CLONE_NEWUSER == 0 }",
    );
    let Subject::Syscall { targets } = &rule.subject else {
        panic!("{rule:?}")
    };
    let expected = [
        Condition {
            argument: 1,
            width: Width::Bits32,
            comparison: Comparison::Equal(0x5412),
        },
        Condition {
            argument: 2,
            width: Width::Bits64,
            comparison: Comparison::MaskedNotEqual { mask: 0xff, value: 3 },
        },
    ];
    assert_eq!(targets[0].conditions, expected);
    assert_eq!(targets[1].conditions[0].width, Width::Bits32);
}

#[test]
fn the_text_of_a_rule_is_formatted_without_comments_and_with_parameters_filled_in() {
    let policy = policy_with(
        "policy \"p\" { param w: path\n param h: host = \"::1\"\n param m: size = 1GiB\n filesystem { deny  read ,write // why\n \"${w}/x\" , \"b\" because \"c\" if present }
         network { allow /* in */ connect tcp \"${h}:80\" }
         process { deny syscall \"ioctl\" where /* a */ request // b\n == TIOCSTI | 0x1 , @debug  limit memory ${m}  identity 7:8 }
         require landlock  >=  /* x */ 3 }",
        &[("w", "/w")],
    );
    let texts: Vec<&str> = written(&policy).iter().map(|rule| rule.text.as_str()).collect();
    let expected = [
        "deny read, write \"/w/x\", \"b\" if present",
        "allow connect tcp \"[::1]:80\"",
        "deny syscall \"ioctl\" where request == TIOCSTI | 0x1, @debug",
        "limit memory 1GiB",
        "identity 7:8",
    ];
    assert_eq!(texts, expected);
    assert_eq!(policy.requirements[0].text, "landlock >= 3");
    assert_eq!(policy.requirements[0].feature, Feature::Landlock(3));
}

#[test]
fn rules_know_their_place_their_label_and_their_reason() {
    let rule = only_rule(
        "\n\n  filesystem {\n    /* é */ deny \"/a\" label \"l\" because \"b\" permit degraded\n  }",
    );
    let origin = Origin::Source {
        file: "p.remit".to_owned(),
        line: 4,
        column: 13,
    };
    assert_eq!(rule.origin, origin);
    assert_eq!(
        (rule.label.as_deref(), rule.because.as_deref()),
        (Some("l"), Some("b"))
    );
    assert!(rule.permit_degraded && !rule.if_present);
}

#[test]
fn ids_are_indices_and_the_built_in_rules_come_first() {
    let policy = policy("policy \"p\" { filesystem { allow \"/a\" deny \"/b\" } }");
    for (index, rule) in policy.rules.iter().enumerate() {
        assert_eq!(rule.id, RuleId(u32::try_from(index).unwrap()));
    }
    let first_written = policy
        .rules
        .iter()
        .position(|rule| rule.origin != Origin::BuiltIn)
        .unwrap();
    assert_eq!(policy.rules.len() - first_written, 2);
    assert_eq!(policy.rules[0].subject, Subject::Everything);
    assert_eq!(policy.rules[0].effect, Effect::Deny);
}

#[test]
fn an_identity_is_dynamic_unless_it_is_said() {
    assert_eq!(
        policy("policy \"p\" {}").identity,
        (Identity::Dynamic, RuleId::DEFAULT)
    );
    let said = policy("policy \"p\" { process { identity user } }");
    assert_eq!(said.identity.0, Identity::User);
    assert_eq!(
        said.rules[usize::try_from(said.identity.1.0).unwrap()].text,
        "identity user"
    );
}

#[test]
fn blocks_of_one_kind_add_up() {
    let policy =
        policy("policy \"p\" { filesystem { allow \"/a\" } network {} filesystem { allow \"/b\" } }");
    assert_eq!(written(&policy).len(), 2);
}

#[test]
fn a_value_replaces_a_default_and_both_are_checked() {
    let text = "policy \"p\" { param n: port = 80\n network { allow bind \"127.0.0.1:${n}\" } }";
    assert_eq!(written(&policy(text))[0].text, "allow bind \"127.0.0.1:80\"");
    assert_eq!(
        written(&policy_with(text, &[("n", "81")]))[0].text,
        "allow bind \"127.0.0.1:81\""
    );
    for value in ["0", "80-90", "*", "65536", "", " 80", "+80", "80\n"] {
        let resolved = check_with(&SourceFile::new("p.remit", text), &[("n", value)]);
        assert!(resolved.policy.is_none(), "{value:?}");
    }
    let bad_default = text.replace("= 80", "= \"x\"");
    assert!(
        check_with(&SourceFile::new("p.remit", bad_default), &[("n", "81")])
            .policy
            .is_none()
    );
}

#[test]
fn a_parameter_that_does_not_exist_is_refused() {
    let resolved = check_with(
        &SourceFile::new("p.remit", "policy \"p\" { param work: path = \".\" }"),
        &[("wrok", "/x")],
    );
    assert!(resolved.policy.is_none());
    let help = resolved.diagnostics[0].help.as_deref();
    assert_eq!(help, Some("did you mean `--param work`?"));
}

#[test]
fn the_members_of_a_set_fill_names_and_never_go_up() {
    let text = "policy \"p\" { param mode: string of \"a*\", \"..\", \"x/y\" = \"a*\"\n filesystem { allow read \"/t/${mode}\" } }";
    let rule = written(&policy(text))[0].clone();
    let Subject::File { targets, .. } = rule.subject else {
        panic!("not a file rule")
    };
    assert_eq!(targets, [literal("/t/a*")]);
    assert!(
        check_with(&SourceFile::new("p.remit", text), &[("mode", "..")])
            .policy
            .is_none()
    );
    assert!(
        check_with(&SourceFile::new("p.remit", text), &[("mode", "b")])
            .policy
            .is_none()
    );
}

#[test]
fn a_test_becomes_concrete_accesses() {
    let policy = policy(
        "policy \"p\" { filesystem { allow \"/a\" label \"l\" } }
         test \"t\" { read \"~/x\" is denied by filesystem  execute \"/bin/git\" is allowed by \"l\"
           connect udp \"[::ffff:10.0.0.1]:53\" is denied  env \"X\" is absent
           syscall \"ioctl\" where request == TIOCSTI and fd == 1 is denied }",
    );
    let lines = &policy.tests[0].expectations;
    assert_eq!(lines.len(), 5);
    let path = |index: usize| match &lines[index].access {
        Access::File { path, .. } => path.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (path(0).as_str(), path(1).as_str()),
        ("/home/agent/x", "/usr/bin/git")
    );
    assert_eq!(
        (lines[0].outcome, lines[1].outcome),
        (ExpectedOutcome::Denied, ExpectedOutcome::Allowed)
    );
    assert_eq!(lines[0].by.as_deref(), Some("filesystem"));
    let Access::Network { address, port, .. } = lines[2].access else {
        panic!("{:?}", lines[2])
    };
    assert_eq!((address.to_string().as_str(), port), ("::ffff:10.0.0.1", 53));
    let Access::Syscall { arguments, .. } = lines[4].access else {
        panic!("{:?}", lines[4])
    };
    assert_eq!(arguments, [1, 0x5412, 0, 0, 0, 0]);
}

#[test]
fn the_same_input_gives_the_same_policy() {
    let text = include_str!("fixtures/good/everything.remit");
    let first = check(&SourceFile::new("p.remit", text));
    let second = check(&SourceFile::new("p.remit", text));
    assert_eq!(first.policy, second.policy);
    assert_eq!(first.diagnostics, second.diagnostics);
}

#[test]
fn a_tree_with_holes_never_becomes_a_policy() {
    let source = SourceFile::new(
        "p.remit",
        "policy \"p\" { filesystem { allow \"/\" dney \"/secret\" } }",
    );
    let parsed = policy_lang::parse(&source);
    let ast = parsed.ast.unwrap();
    assert!(!ast.complete);
    let inputs = policy_lang::Inputs {
        parameters: std::collections::BTreeMap::new(),
        home: "/home/agent".to_owned(),
        working_directory: "/work".to_owned(),
        paths: &policy_lang::resolve::AsWritten,
        files: &policy_lang::loader::NoFiles,
    };
    assert!(policy_lang::resolve(&ast, &source, &inputs).policy.is_none());
}

#[test]
fn a_label_cannot_pass_for_a_built_in_rule() {
    let text = "policy \"p\" { filesystem { allow read \"/usr\" label \"built-in:default\" } }";
    let resolved = check_with(&SourceFile::new("p.remit", text), &[]);
    assert!(resolved.policy.is_none());
    let found = &resolved.diagnostics[0];
    assert!(found.message.contains("built-in"), "{found:?}");
    assert_eq!(found.code, policy_lang::diagnostic::Code::BadText);
}
