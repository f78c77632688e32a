//! The conversation: order, mistakes of the client, and its end.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "support/client.rs"]
mod client;

use client::Client;
use lsp::ServeError;
use serde_json::{Value, json};

const URI: &str = "untitled:Untitled-1";

#[test]
fn the_server_says_what_it_can_do_and_ends_when_told() {
    let (client, result) = Client::with(&json!({ "capabilities": {} }));
    let capabilities = &result["capabilities"];
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    for provider in [
        "hoverProvider",
        "definitionProvider",
        "documentFormattingProvider",
        "documentSymbolProvider",
        "completionProvider",
        "codeActionProvider",
        "renameProvider",
    ] {
        assert!(!capabilities[provider].is_null(), "{provider}");
    }
    assert_eq!(result["serverInfo"]["name"], "remit");
    client.end();
}

#[test]
fn utf_8_is_used_where_the_client_prefers_it() {
    let general = json!({ "positionEncodings": ["utf-8", "utf-16"] });
    let (mut client, result) = Client::with(&json!({ "capabilities": { "general": general } }));
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-8");
    client.open(URI, "policy \"\u{1f512}\" { alow }");
    let found = client.findings(URI);
    assert_eq!(found[0]["range"]["start"], json!({ "line": 0, "character": 16 }));
    client.end();
}

#[test]
fn columns_are_utf_16_units_where_nothing_is_said() {
    let mut client = Client::new();
    client.open(URI, "policy \"\u{1f512}\" { alow }");
    let found = client.findings(URI);
    assert_eq!(found[0]["range"]["start"], json!({ "line": 0, "character": 14 }));
    client.end();
}

#[test]
fn nothing_is_answered_before_initialization_and_it_happens_once() {
    let mut client = Client::silent();
    let early = client.request("textDocument/hover", &json!({}));
    assert_eq!(early["error"]["code"], -32002);
    let answer = client.request("initialize", &json!({ "capabilities": {} }));
    assert!(answer["error"].is_null());
    let again = client.request("initialize", &json!({ "capabilities": {} }));
    assert_eq!(again["error"]["code"], -32600);
    client.end();
}

#[test]
fn settings_of_the_wrong_shape_are_refused() {
    let mut client = Client::silent();
    let options = json!({ "parameters": ["no", "map"] });
    let answer = client.request(
        "initialize",
        &json!({ "capabilities": {}, "initializationOptions": options }),
    );
    assert_eq!(answer["error"]["code"], -32602);
    client.leave().unwrap();
}

#[test]
fn mistakes_of_the_client_are_answered_and_the_next_message_is_read() {
    let mut client = Client::new();
    for (bytes, code) in [
        ("{not json", -32700),
        ("[1, 2]", -32600),
        ("{\"jsonrpc\":\"2.0\"}", -32600),
        ("\u{0}\u{1}", -32700),
        ("", -32700),
    ] {
        client.raw(format!("Content-Length: {}\r\n\r\n{bytes}", bytes.len()).as_bytes());
        let answer = client.next();
        assert_eq!(answer["error"]["code"], code, "{bytes}: {answer}");
    }
    let unknown = client.request("textDocument/unheardOf", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    for params in [
        json!({}),
        json!([]),
        json!({ "textDocument": { "uri": "no uri" }, "position": {} }),
    ] {
        let answer = client.request("textDocument/hover", &params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let place = json!({ "textDocument": { "uri": URI }, "position": { "line": 0, "character": 0 } });
    let closed = client.request("textDocument/hover", &place);
    assert_eq!(closed["error"]["code"], -32803);
    // Nothing can be said about a notification; it is passed over.
    for method in [
        "textDocument/didOpen",
        "textDocument/didChange",
        "$/cancelRequest",
        "$/unheardOf",
        "workspace/x",
    ] {
        client.notify(method, &json!({ "odd": true }));
    }
    client.end();
}

#[test]
fn a_stream_without_frames_ends_the_server() {
    for bytes in [
        "hello\r\n\r\n",
        "Content-Length: x\r\n\r\n",
        "Content-Length: 999999999999\r\n\r\n",
    ] {
        let mut client = Client::new();
        client.raw(bytes.as_bytes());
        assert!(
            matches!(client.outcome(), Err(ServeError::Transport(_))),
            "{bytes}"
        );
    }
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    Client::silent().leave().unwrap();
    assert!(matches!(Client::new().leave(), Err(ServeError::NoShutdown)));
    let mut client = Client::new();
    client.notify("exit", &Value::Null);
    assert!(matches!(client.outcome(), Err(ServeError::NoShutdown)));
}

#[test]
fn after_a_shutdown_there_is_only_an_exit() {
    let mut client = Client::new();
    assert_eq!(client.request("shutdown", &Value::Null)["result"], Value::Null);
    assert_eq!(
        client.request("textDocument/hover", &json!({}))["error"]["code"],
        -32600
    );
    client.notify("exit", &Value::Null);
    client.outcome().unwrap();
}

#[test]
fn a_request_that_is_cancelled_while_it_waits_is_answered_with_that() {
    let mut client = Client::new();
    client.open(URI, &large(2000));
    // In one write, so that all of it waits while the first is worked on.
    let hover = |id: i64| {
        json!({
            "jsonrpc": "2.0", "id": id, "method": "textDocument/hover",
            "params": { "textDocument": { "uri": URI }, "position": { "line": 1, "character": 24 } },
        })
    };
    let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": 1002 } });
    let mut bytes = Vec::new();
    for message in [hover(1001), hover(1002), cancel] {
        let text = message.to_string();
        bytes.extend(format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes());
    }
    client.raw(&bytes);
    assert!(client.answer(1001)["error"].is_null());
    let cancelled = client.answer(1002);
    assert_eq!(cancelled["error"]["code"], -32800, "{cancelled}");
    client.end();
}

#[test]
fn changes_that_follow_each_other_are_looked_at_once() {
    let mut client = Client::new();
    client.open(URI, "policy \"p\" { }");
    let begun = std::time::Instant::now();
    let text = large(500);
    for version in 2..102 {
        client.replace(URI, version, &text);
    }
    client.replace(URI, 102, "policy \"p\" { alow }");
    let mut looks = 0;
    let found = loop {
        let found = client.findings(URI);
        looks += 1;
        if found.first().is_some_and(|found| found["code"] == "R0108") {
            break found;
        }
    };
    assert_eq!(found.len(), 1);
    assert!(
        looks < 60,
        "{looks} looks for 102 versions in {:?}",
        begun.elapsed()
    );
    client.end();
}

#[test]
fn a_file_that_is_too_long_is_refused_and_nothing_breaks() {
    let mut client = Client::new();
    client.open(URI, &"x".repeat(2 * 1024 * 1024));
    let found = client.findings(URI);
    assert_eq!(found[0]["code"], "R0101");
    for method in ["hover", "completion", "definition"] {
        client.at(method, URI, (0, 1_999_999));
    }
    client.replace(URI, 2, "policy \"p\" { }");
    while client.findings(URI).iter().any(|found| found["code"] == "R0101") {}
    client.end();
}

fn large(rules: usize) -> String {
    let rules: String = (0..rules)
        .map(|index| format!("allow read \"/a/{index}\"\n"))
        .collect();
    format!("policy \"p\" {{ filesystem {{\n{rules}}} }}")
}
