//! Where names come from, and giving them others.
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
