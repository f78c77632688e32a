//! What an editor gets: findings, fixes, outline, layout.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;

use serde_json::{Value, json};

#[path = "support/client.rs"]
mod client;
#[path = "support/root.rs"]
mod root;

use client::Client;
use root::Root;

const URI: &str = "untitled:Untitled-1";

fn codes(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|found| found["code"].as_str()).collect()
}

fn errors(found: &[Value]) -> Vec<&Value> {
    found.iter().filter(|found| found["severity"] == 1).collect()
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
