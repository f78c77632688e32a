//! `remit lsp` as an editor starts it.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "common/remit.rs"]
mod remit;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

struct Editor {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Editor {
    fn new() -> Self {
        let mut server = remit::remit()
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("remit starts");
        Self {
            input: server.stdin.take(),
            output: BufReader::new(server.stdout.take().expect("a pipe")),
            server,
        }
    }

    fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("not closed yet");
        input.write_all(bytes).expect("written");
        input.flush().expect("flushed");
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    fn next(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(
                self.output.read_line(&mut line).expect("read"),
                0,
                "the server left"
            );
            match line.trim_end().split_once(": ") {
                Some((_, value)) => length = value.parse().expect("a number"),
                None => break,
            }
        }
        let mut content = vec![0; length];
        self.output.read_exact(&mut content).expect("a whole message");
        serde_json::from_slice(&content).expect("JSON")
    }

    /// Exit code and stderr, once standard input is closed.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let status = self.server.wait().expect("it ends");
        let mut text = String::new();
        let mut stderr = self.server.stderr.take().expect("a pipe");
        stderr.read_to_string(&mut text).expect("text");
        (status.code(), text)
    }
}

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[test]
fn an_editor_gets_findings_and_ends_the_server() {
    let mut editor = Editor::new();
    editor.send(&request(1, "initialize", &json!({ "capabilities": {} })));
    assert_eq!(
        editor.next()["result"]["capabilities"]["positionEncoding"],
        "utf-16"
    );
    editor.send(&notification("initialized", &json!({})));
    let document = json!({
        "uri": "untitled:1", "languageId": "remit", "version": 1,
        "text": "policy \"p\" { filesystem { alow read \"/usr\" } }",
    });
    editor.send(&notification(
        "textDocument/didOpen",
        &json!({ "textDocument": document }),
    ));
    let findings = editor.next();
    assert_eq!(findings["method"], "textDocument/publishDiagnostics");
    assert_eq!(findings["params"]["diagnostics"][0]["code"], "R0108");
    editor.raw(b"Content-Length: 4\r\n\r\nnope");
    assert_eq!(editor.next()["error"]["code"], -32700);
    editor.send(&request(2, "shutdown", &Value::Null));
    assert_eq!(editor.next()["id"], 2);
    editor.send(&notification("exit", &Value::Null));
    assert_eq!(editor.end(), (Some(0), String::new()));
}

#[test]
fn an_editor_that_leaves_without_a_word_is_told_so() {
    let mut editor = Editor::new();
    editor.send(&request(1, "initialize", &json!({ "capabilities": {} })));
    editor.next();
    let (code, stderr) = editor.end();
    assert_eq!(code, Some(1));
    assert!(stderr.contains("without asking for a shutdown"), "{stderr}");
}

#[test]
fn a_person_who_types_into_it_is_told_what_is_wrong() {
    let mut editor = Editor::new();
    editor.raw(b"hello\n");
    let (code, stderr) = editor.end();
    assert_eq!(code, Some(1));
    assert!(stderr.contains("`hello` is no header of a message"), "{stderr}");
}
