//! What an editor gets: findings, hover, completion, definitions, fixes, renames, outline, layout.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

#[path = "support/client.rs"]
mod client;

use client::{Client, cursor, uri};

const URI: &str = "untitled:Untitled-1";

/// A policy root of its own with some files.
struct Root(tempfile::TempDir);

impl Root {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = Self(tempfile::tempdir().unwrap());
        fs::write(root.path(".remit-root"), "").unwrap();
        for (name, text) in files {
            fs::create_dir_all(root.path(name).parent().unwrap()).unwrap();
            fs::write(root.path(name), text).unwrap();
        }
        root
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn uri(&self, name: &str) -> String {
        uri(&self.path(name))
    }
}

fn codes(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|found| found["code"].as_str()).collect()
}

fn errors(found: &[Value]) -> Vec<&Value> {
    found.iter().filter(|found| found["severity"] == 1).collect()
}

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
fn findings_follow_the_buffer() {
    let mut client = Client::new();
    client.open(URI, "policy \"p\" {\n    filesystem { alow read \"/usr\" }\n}\n");
    let found = client.findings(URI);
    assert_eq!(codes(&found), ["R0108"]);
    let range = json!({ "start": { "line": 1, "character": 17 }, "end": { "line": 1, "character": 21 } });
    assert_eq!(found[0]["range"], range);
    assert_eq!(found[0]["source"], "remit");
    assert!(
        found[0]["message"].as_str().unwrap().contains("help:"),
        "{}",
        found[0]
    );
    // One character, as an editor sends it.
    client.notify(
        "textDocument/didChange",
        &json!({
            "textDocument": { "uri": URI, "version": 2 },
            "contentChanges": [{
                "range": { "start": { "line": 1, "character": 18 }, "end": { "line": 1, "character": 18 } },
                "text": "l",
            }],
        }),
    );
    assert_eq!(errors(&client.findings(URI)).len(), 0);
    client.notify(
        "textDocument/didClose",
        &json!({ "textDocument": { "uri": URI } }),
    );
    assert_eq!(client.findings(URI).len(), 0);
    client.end();
}

#[test]
fn a_parameter_without_a_default_is_no_mistake_in_an_editor() {
    let mut client = Client::new();
    client.open(URI, "policy \"p\" {\n param a: path\n param b: host\n param c: cidr\n param d: port\n param e: duration\n param f: size\n param g: string of \"x\"\n}\n");
    assert_eq!(errors(&client.findings(URI)), Vec::<&Value>::new());
    client.end();
}

#[test]
fn findings_in_an_included_file_are_shown_there() {
    let root = Root::new(&[
        (
            "org/groups.remit",
            "group org::a {\n    filesystem { alow read \"/usr\" }\n}\n",
        ),
        (
            "p.remit",
            "include \"org/groups.remit\"\n\npolicy \"p\" {\n    use org::a\n}\n",
        ),
    ]);
    let mut client = Client::new();
    client.open(
        &root.uri("p.remit"),
        &fs::read_to_string(root.path("p.remit")).unwrap(),
    );
    assert_eq!(codes(&client.findings(&root.uri("org/groups.remit"))), ["R0108"]);
    // The other file is opened and repaired, and nothing is saved.
    client.open(
        &root.uri("org/groups.remit"),
        "group org::a {\n    filesystem { allow read \"/usr\" }\n}\n",
    );
    while !errors(&client.findings(&root.uri("org/groups.remit"))).is_empty() {}
    client.end();
}

#[test]
fn what_a_ceiling_refuses_is_shown_and_follows_its_unsaved_text() {
    let root = Root::new(&[
        (
            "org/base.remit",
            "policy \"base\" {\n    filesystem { allow read \"/usr\" }\n}\n",
        ),
        (
            "p.remit",
            "policy \"p\" {\n    within \"org/base.remit\"\n    filesystem { allow read \"/usr\" }\n}\n",
        ),
    ]);
    let (policy, base) = (root.uri("p.remit"), root.uri("org/base.remit"));
    let mut client = Client::new();
    client.open(&policy, &fs::read_to_string(root.path("p.remit")).unwrap());
    assert_eq!(errors(&client.findings(&policy)), Vec::<&Value>::new());
    client.open(
        &base,
        "policy \"base\" {\n    filesystem { alow read \"/usr\" }\n}\n",
    );
    while errors(&client.findings(&base)).is_empty() {}
    client.end();
}

#[test]
fn a_file_that_leads_out_of_the_root_is_refused_however_it_is_edited() {
    let root = Root::new(&[("p.remit", "")]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("g.remit"), "group g { }\n").unwrap();
    std::os::unix::fs::symlink(outside.path().join("g.remit"), root.path("g.remit")).unwrap();
    let mut client = Client::new();
    client.open(&root.uri("g.remit"), "group g { }\n");
    client.open(
        &root.uri("p.remit"),
        "include \"g.remit\"\npolicy \"p\" { use g }\n",
    );
    let found = client.findings(&root.uri("p.remit"));
    assert!(
        codes(&found).iter().any(|code| code.starts_with("R07")),
        "{found:?}"
    );
    client.end();
}

#[test]
fn a_group_file_is_judged_by_itself() {
    let root = Root::new(&[("g.remit", "")]);
    let mut client = Client::new();
    let text =
        "group g {\n    filesystem { allow read \"${w}\" }\n    process { allow syscall \"opne\" }\n}\n";
    client.open(&root.uri("g.remit"), text);
    let found = client.findings(&root.uri("g.remit"));
    assert_eq!(errors(&found).len(), 1, "{found:?}");
    assert_eq!(codes(&found), ["R0206"]);
    client.end();
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

#[test]
fn definitions_are_found_across_files() {
    let root = Root::new(&[
        (
            "org/g.remit",
            "\ngroup org::a { filesystem { allow read \"/usr\" label \"system\" } }\n",
        ),
        (
            "org/base.remit",
            "policy \"base\" { filesystem { allow read \"/usr\" } }\n",
        ),
    ]);
    let policy = root.uri("p.remit");
    let text = "include \"org/g.remit\"\npolicy \"p\" {\n    within \"org/base.remit\"\n    use org::a\n    param w: path = \".\"\n    filesystem { allow read \"${w}\" }\n}\ntest \"t\" { read \"/usr\" is allowed by \"system\" }\n";
    let mut client = Client::new();
    client.open(&policy, text);
    let mut go = |needle: &str| {
        let (_, place) = cursor(&text.replacen(needle, &format!("{}|{}", &needle[..1], &needle[1..]), 1));
        client.at("definition", &policy, place)
    };
    assert_eq!(go("org/g.remit")["uri"], root.uri("org/g.remit"));
    assert_eq!(go("org/base.remit")["uri"], root.uri("org/base.remit"));
    let group = go("org::a");
    assert_eq!(group["uri"], root.uri("org/g.remit"));
    assert_eq!(group["range"]["start"], json!({ "line": 1, "character": 6 }));
    let parameter = go("w}");
    assert_eq!(parameter["range"]["start"], json!({ "line": 4, "character": 10 }));
    client.end();
}

#[test]
fn the_definition_of_a_label_is_its_rule() {
    let (text, place) = cursor(
        "policy \"p\" {\n    filesystem { allow read \"/usr\" label \"system\" }\n}\ntest \"t\" { read \"/usr\" is allowed by \"sys|tem\" }\n",
    );
    let mut client = Client::new();
    client.open(URI, &text);
    let answer = client.at("definition", URI, place);
    assert_eq!(answer["range"]["start"], json!({ "line": 1, "character": 17 }));
    client.end();
}

#[test]
fn groups_of_the_language_are_shown_where_the_client_can() {
    let (text, place) = cursor("policy \"p\" { use std::lin|ux }");
    let mut client = Client::new();
    client.open(URI, &text);
    assert_eq!(client.at("definition", URI, place), Value::Null);
    client.end();

    let (mut client, _) =
        Client::with(&json!({ "capabilities": {}, "initializationOptions": { "standardGroups": true } }));
    client.open(URI, &text);
    let answer = client.at("definition", URI, place);
    assert_eq!(answer["uri"], "remit-std:///linux.remit");
    let text = client.request("remit/standardGroup", &answer["uri"]);
    assert!(text["result"].as_str().unwrap().contains("group std::linux"));
    let unknown = client.request("remit/standardGroup", &json!("remit-std:///../etc/passwd.remit"));
    assert_eq!(unknown["result"], Value::Null);
    client.end();
}

#[test]
fn a_quick_fix_is_the_findings_suggestion() {
    let mut client = Client::new();
    client.open(URI, "policy \"p\" { filesystem { alow read \"/usr\" } }");
    let place = json!({ "line": 0, "character": 27 });
    let params = json!({
        "textDocument": { "uri": URI },
        "range": { "start": place, "end": place },
        "context": { "diagnostics": [] },
    });
    let actions = client.request("textDocument/codeAction", &params)["result"].clone();
    assert_eq!(actions[0]["title"], "Replace `alow` by `allow`");
    assert_eq!(actions[0]["edit"]["changes"][URI][0]["newText"], "allow");
    let elsewhere = json!({
        "textDocument": { "uri": URI },
        "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } },
        "context": { "diagnostics": [] },
    });
    assert_eq!(
        client.request("textDocument/codeAction", &elsewhere)["result"],
        json!([])
    );
    client.end();
}

fn rename(client: &mut Client, uri: &str, (line, character): (usize, usize), name: &str) -> Value {
    client.request(
        "textDocument/rename",
        &json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character }, "newName": name }),
    )
}

#[test]
fn a_parameter_is_renamed_everywhere_also_in_strings() {
    let text = "policy \"\u{1f512}\" {\n    param w: path = \".\" // ${w}\n    param n: size = 1GiB\n    filesystem { allow read \"${w}/a\", \"\\${w}\", \"/${w}x\" }\n    process { limit memory ${n} }\n}\ntest \"t\" { read \"${w}/b\" is allowed }\n";
    let mut client = Client::new();
    client.open(URI, text);
    let prepared = client.at("prepareRename", URI, (1, 10));
    assert_eq!(prepared["placeholder"], "w");
    let answer = rename(&mut client, URI, (1, 10), "workspace");
    let edits = answer["result"]["changes"][URI].as_array().unwrap().clone();
    let starts: Vec<(u64, u64)> = edits
        .iter()
        .map(|edit| {
            assert_eq!(edit["newText"], "workspace");
            let start = &edit["range"]["start"];
            (
                start["line"].as_u64().unwrap(),
                start["character"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(starts, [(1, 10), (3, 31), (3, 51), (6, 19)]);
    let outside = rename(&mut client, URI, (4, 29), "size-of");
    assert_eq!(outside["result"]["changes"][URI].as_array().unwrap().len(), 2);
    for (name, why) in [
        ("n", "already"),
        ("a b", "no name"),
        ("", "no name"),
        ("${x}", "no name"),
    ] {
        let refused = rename(&mut client, URI, (1, 10), name);
        assert!(
            refused["error"]["message"].as_str().unwrap().contains(why),
            "{refused}"
        );
    }
    assert!(!rename(&mut client, URI, (0, 2), "x")["error"].is_null());
    assert_eq!(client.at("prepareRename", URI, (0, 2)), Value::Null);
    client.end();
}

#[test]
fn a_parameter_that_a_shared_group_names_is_not_renamed() {
    let root = Root::new(&[("g.remit", "group g { filesystem { allow read \"${w}\" } }\n")]);
    let policy = root.uri("p.remit");
    let mut client = Client::new();
    client.open(
        &policy,
        "include \"g.remit\"\npolicy \"p\" { param w: path = \".\"\n use g }\n",
    );
    let answer = rename(&mut client, &policy, (1, 19), "x");
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("g.remit"),
        "{answer}"
    );
    client.end();
}

#[test]
fn every_use_of_a_parameter_is_listed() {
    let mut client = Client::new();
    client.open(
        URI,
        "policy \"p\" { param w: path = \".\"\n filesystem { allow read \"${w}\" } }",
    );
    let params = json!({
        "textDocument": { "uri": URI },
        "position": { "line": 0, "character": 19 },
        "context": { "includeDeclaration": true },
    });
    let answer = client.request("textDocument/references", &params);
    assert_eq!(answer["result"].as_array().unwrap().len(), 2, "{answer}");
    client.end();
}

#[test]
fn the_outline_has_blocks_and_rules() {
    let mut client = Client::new();
    client.open(URI, "group g { filesystem { allow read \"/a\" } }\npolicy \"p\" {\n param w: path = \".\"\n network {\n allow connect tcp \"1.2.3.4:5\"\n }\n}\ntest \"t\" { read \"/a\" is denied }\n");
    let params = json!({ "textDocument": { "uri": URI } });
    let symbols = client.request("textDocument/documentSymbol", &params)["result"].clone();
    let names: Vec<&str> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|symbol| symbol["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["g", "\"p\"", "\"t\""]);
    assert_eq!(symbols[1]["children"][0]["name"], "w");
    assert_eq!(symbols[1]["children"][1]["name"], "network");
    assert_eq!(
        symbols[1]["children"][1]["children"][0]["name"],
        "allow connect tcp \"1.2.3.4:5\""
    );
    client.end();
}

#[test]
fn a_buffer_is_laid_out_and_one_with_errors_is_not() {
    let mut client = Client::new();
    client.open(URI, "policy \"p\"{filesystem{\nallow read \"/usr\"}}");
    let params =
        json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 2, "insertSpaces": false } });
    let edits = client.request("textDocument/formatting", &params)["result"].clone();
    let expected = "policy \"p\" {\n    filesystem {\n        allow read \"/usr\"\n    }\n}\n";
    assert_eq!(edits[0]["newText"], expected);
    client.replace(URI, 2, expected);
    assert_eq!(
        client.request("textDocument/formatting", &params)["result"],
        json!([])
    );
    client.replace(URI, 3, "policy \"p\" { alow }");
    assert_eq!(
        client.request("textDocument/formatting", &params)["error"]["code"],
        -32803
    );
    client.end();
}

#[test]
fn every_place_of_a_text_can_be_asked_about() {
    let text = "include \"x\"\ngroup g { use std::linux }\npolicy \"\u{1f512}\" { param w: path = \".\"\r\n filesystem { allow read \"${w}/\u{e9}\" label \"l\" } process { deny syscall @debug, \"ioctl\" where request == TIOCSTI\n limit wall 5m } use g // c\n unlock bpf because \"x\" }\ntest \"t\" { env \"A\" is absent by \"l\" }\n\"open";
    let mut client = Client::new();
    client.open(URI, text);
    for (line, content) in text.lines().enumerate() {
        for column in 0..=content.encode_utf16().count() + 1 {
            for method in ["hover", "completion", "definition", "prepareRename"] {
                client.at(method, URI, (line, column));
            }
        }
    }
    client.end();
}

/// What a person waits for after a key: the answer that needs everything.
#[test]
fn a_policy_of_a_thousand_rules_is_answered_while_it_is_typed() {
    let rules: String = (0..1000)
        .map(|index| format!("        allow read \"/srv/{index}\"\n"))
        .collect();
    let text = format!("policy \"p\" {{\n    filesystem {{\n{rules}    }}\n}}\n");
    let mut client = Client::new();
    client.open(URI, &text);
    client.findings(URI);
    let mut slowest = std::time::Duration::ZERO;
    for version in 2..7 {
        client.replace(URI, version, &format!("{text}// {version}\n"));
        let begun = std::time::Instant::now();
        client.at("hover", URI, (2, 10));
        slowest = slowest.max(begun.elapsed());
    }
    println!("slowest answer after a change: {slowest:?}");
    // A debug build on a busy machine; a release build needs a small part of it.
    assert!(slowest.as_secs() < 5, "{slowest:?}");
    client.end();
}
