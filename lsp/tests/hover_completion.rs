//! What is said about a place, and what can stand there.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};

#[path = "support/client.rs"]
mod client;
#[path = "support/root.rs"]
mod root;

use client::{Client, cursor};
use root::Root;

const URI: &str = "untitled:Untitled-1";

/// Opens a text with a cursor, asks about it, and ends.
fn ask(method: &str, text: &str) -> Value {
    let (text, place) = cursor(text);
    let mut client = Client::new();
    client.open(URI, &text);
    let answer = client.at(method, URI, place);
    client.end();
    answer
}

fn hover(text: &str) -> String {
    let answer = ask("hover", text);
    answer["contents"]["value"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn completions(text: &str) -> Vec<String> {
    labels(&ask("completion", text))
}

fn labels(answer: &Value) -> Vec<String> {
    let items = answer.as_array().unwrap();
    items
        .iter()
        .map(|item| item["label"].as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
fn offers(text: &str, expected: &[&str]) {
    let found = completions(text);
    for word in expected {
        assert!(
            found.iter().any(|found| found == word),
            "no `{word}` in {found:?} for {text}"
        );
    }
}

#[test]
fn hover_says_what_a_rule_means_and_what_enforces_it() {
    let text = hover(
        "policy \"p\" {\n    filesystem { de|ny read \"/usr/../usr\" }\n}\n"
            .replace("/../usr", "")
            .as_str(),
    );
    assert!(text.contains("deny read \"/usr\""), "{text}");
    assert!(text.contains("Refuses reading"), "{text}");
    assert!(text.contains("Enforced by"), "{text}");
    let allowed = hover("policy \"p\" {\n    filesystem { allow read \"/u|sr\" }\n}\n");
    assert!(
        allowed.contains("Landlock, on files (needs Landlock ABI"),
        "{allowed}"
    );
    let limit = hover("policy \"p\" {\n    process { limit memo|ry 1GiB, wall 5m }\n}\n");
    assert!(
        limit.contains("memory controller") && limit.contains("supervisor's clock"),
        "{limit}"
    );
}

#[test]
fn hover_lists_groups_of_calls_and_values_of_constants() {
    let group = hover("policy \"p\" { process { deny syscall @deb|ug } }");
    assert!(
        group.contains("ptrace") && group.contains("4 system calls"),
        "{group}"
    );
    let call = hover("policy \"p\" { process { deny syscall \"pt|race\" } }");
    assert!(call.contains("x86_64: 101") && call.contains("@debug"), "{call}");
    let constant = hover("policy \"p\" { process { deny syscall \"ioctl\" where request == TIO|CSTI } }");
    assert!(constant.contains("0x5412"), "{constant}");
    let argument = hover("policy \"p\" { process { deny syscall \"ioctl\" where req|uest == TIOCSTI } }");
    assert!(
        argument.contains("argument 1 of `ioctl`") && argument.contains("32 bits"),
        "{argument}"
    );
}

#[test]
fn hover_says_type_and_value_of_a_parameter() {
    let used = hover("policy \"p\" {\n param size: size = 4GiB\n process { limit memory ${si|ze} }\n}");
    assert!(
        used.contains("param size: size = 4GiB") && used.contains("Here: `4GiB`"),
        "{used}"
    );
    let declared = hover("policy \"p\" {\n param w|: path\n}");
    assert!(
        declared.contains("A path") && declared.contains("it has no default"),
        "{declared}"
    );
}

#[test]
fn hover_shows_a_group_of_rules() {
    let root = Root::new(&[(
        "g.remit",
        "group org::a {\n    summary \"Reads the system.\"\n    filesystem { allow read \"/usr\" }\n}\n",
    )]);
    let (text, place) = cursor("include \"g.remit\"\npolicy \"p\" { use org|::a }");
    let mut client = Client::new();
    client.open(&root.uri("p.remit"), &text);
    let answer = client.at("hover", &root.uri("p.remit"), place);
    let value = answer["contents"]["value"].as_str().unwrap();
    assert!(
        value.contains("Reads the system.") && value.contains("allow read \"/usr\""),
        "{value}"
    );
    client.end();
}

#[test]
fn hover_shows_what_an_unlock_opens() {
    let text = hover("policy \"p\" { unlock bpf, user|faultfd because \"x\" }");
    assert!(
        text.contains("forbid syscall") && text.contains("userfaultfd"),
        "{text}"
    );
}

#[test]
fn hover_explains_words_and_is_silent_about_comments() {
    assert!(hover("policy \"p\" { wi|thin \"a.remit\" }").contains("a ceiling"));
    assert_eq!(hover("policy \"p\" { // all|ow\n }"), "");
}

#[test]
fn completion_knows_the_block_it_is_in() {
    offers("|", &["policy", "group", "include", "test"]);
    offers(
        "policy \"p\" {\n    |",
        &["filesystem", "param", "within", "unlock", "audit"],
    );
    offers(
        "policy \"p\" { filesystem {\n        |",
        &["allow", "deny", "forbid", "ask", "scratch", "hide"],
    );
    offers(
        "policy \"p\" { filesystem { allow |",
        &["read", "write", "execute"],
    );
    offers(
        "policy \"p\" { filesystem { allow read, |",
        &["read", "write", "execute"],
    );
    offers(
        "policy \"p\" { filesystem { allow read \"/a\" |",
        &["because", "if present", "deny"],
    );
    offers("policy \"p\" { filesystem { allow read \"/a\" if |", &["present"]);
    offers("policy \"p\" { network { allow |", &["connect", "bind", "tcp"]);
    offers("policy \"p\" { network { allow connect |", &["tcp", "udp"]);
    offers("policy \"p\" { credentials { |", &["pass", "set", "broker"]);
    offers("policy \"p\" { credentials { deny |", &["pass"]);
    offers(
        "policy \"p\" { credentials { broker \"T\" for \"h:443\" as |",
        &["bearer", "basic", "header"],
    );
    offers(
        "policy \"p\" { credentials { broker \"T\" for \"h:443\" as bearer from |",
        &["env", "file"],
    );
    offers("policy \"p\" { process { identity |", &["dynamic", "user"]);
    offers(
        "policy \"p\" { process { limit memory 1GiB, |",
        &["processes", "wall"],
    );
    offers("policy \"p\" { process { allow |", &["syscall"]);
    offers("policy \"p\" { workspace { mode |", &["in-place", "ephemeral"]);
    offers("policy \"p\" { audit { record denied, |", &["exec", "connect"]);
    offers("policy \"p\" { require |", &["cgroup-bpf"]);
    offers("policy \"p\" { param w: |", &["path", "string of"]);
    offers("test \"t\" { |", &["read", "connect", "env", "syscall"]);
    offers("test \"t\" { read \"/a\" |", &["is"]);
    offers("test \"t\" { read \"/a\" is |", &["allowed", "denied"]);
    offers(
        "test \"t\" { read \"/a\" is denied by |",
        &["filesystem", "network"],
    );
}

#[test]
fn completion_knows_the_names_of_the_kernel_and_of_the_file() {
    offers(
        "policy \"p\" { process { allow syscall @sys|",
        &["@system-service"],
    );
    offers("policy \"p\" { process { allow syscall \"pt|\" } }", &["ptrace"]);
    offers(
        "policy \"p\" { process { deny syscall \"ioctl\" where |",
        &["request", "arg0"],
    );
    offers(
        "policy \"p\" { process { deny syscall \"ioctl\" where request == |",
        &["TIOCSTI"],
    );
    offers(
        "policy \"p\" { param work: path = \".\"\n filesystem { allow read \"${|\" } }",
        &["work"],
    );
    offers(
        "policy \"p\" { param size: size = 1GiB\n process { limit memory ${|",
        &["size"],
    );
    offers("policy \"p\" { unlock |", &["userfaultfd"]);
    offers(
        "policy \"p\" { filesystem { allow read \"/usr\" label \"system\" } }\ntest \"t\" { read \"/usr\" is allowed by \"|\" }",
        &["system"],
    );
    assert_eq!(completions("policy \"p\" { // al|"), Vec::<String>::new());
    assert_eq!(
        completions("policy \"p\" { summary \"al|\" }"),
        Vec::<String>::new()
    );
}

#[test]
fn completion_replaces_what_was_typed() {
    let answer = ask("completion", "policy \"p\" { process { allow syscall @sys|");
    let item = answer
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["label"] == "@system-service")
        .unwrap();
    let range = json!({ "start": { "line": 0, "character": 37 }, "end": { "line": 0, "character": 41 } });
    assert_eq!(item["textEdit"]["range"], range);
}

#[test]
fn completion_offers_files_of_the_root_and_groups_of_those_included() {
    let root = Root::new(&[
        ("org/g.remit", "group org::a { }\n"),
        ("org/notes.txt", ""),
        ("top.remit", ""),
    ]);
    let policy = root.uri("p.remit");
    let mut client = Client::new();
    let mut version = 1;
    client.open(&policy, "");
    let mut complete = |text: &str| {
        let (text, place) = cursor(text);
        version += 1;
        client.replace(&policy, version, &text);
        labels(&client.at("completion", &policy, place))
    };
    assert_eq!(complete("include \"|\""), ["org/", "top.remit"]);
    assert_eq!(complete("include \"org/|\""), ["g.remit"]);
    assert_eq!(complete("include \"../|\""), Vec::<String>::new());
    assert_eq!(complete("policy \"p\" { within \"/|\" }"), Vec::<String>::new());
    let groups = complete("include \"org/g.remit\"\npolicy \"p\" { use | }");
    assert!(groups.contains(&"org::a".to_owned()), "{groups:?}");
    assert!(
        groups.iter().any(|group| group.starts_with("std::")),
        "{groups:?}"
    );
    client.end();
}
