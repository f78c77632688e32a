//! A client that speaks to the server over pipes, byte for byte as an editor does.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests; each binary uses a part"
)]

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use lsp::ServeError;
use serde_json::{Value, json};

/// Longer than anything takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    to_server: Option<PipeWriter>,
    messages: Receiver<Value>,
    /// Notifications that came while something else was waited for.
    early: VecDeque<Value>,
    server: Option<JoinHandle<Result<(), ServeError>>>,
    next_id: i64,
}

impl Client {
    /// Starts a server and says nothing to it.
    pub(crate) fn silent() -> Self {
        let (server_in, to_server) = pipe().unwrap();
        let (from_server, server_out) = pipe().unwrap();
        let server = std::thread::spawn(move || lsp::serve(BufReader::new(server_in), server_out));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut input = BufReader::new(from_server);
            while let Some(message) = frame(&mut input) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            to_server: Some(to_server),
            messages,
            early: VecDeque::new(),
            server: Some(server),
            next_id: 0,
        }
    }

    /// Starts a server and initializes it.
    pub(crate) fn new() -> Self {
        Self::with(&json!({ "capabilities": {} })).0
    }

    /// The same with parameters; the answer comes second.
    pub(crate) fn with(params: &Value) -> (Self, Value) {
        let mut client = Self::silent();
        let answer = client.request("initialize", params);
        client.notify("initialized", &json!({}));
        (client, answer["result"].clone())
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        // A server that has ended reads nothing; what it said about it is looked at elsewhere.
        let _ = self.to_server.as_mut().unwrap().write_all(bytes);
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request; the answer is fetched with [`Self::answer`].
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.early.push_back(message);
        }
    }

    /// A request and its answer.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The next message of any kind.
    pub(crate) fn next(&mut self) -> Value {
        self.messages
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|error| panic!("the server says nothing: {error}"))
    }

    /// The next findings for a file.
    pub(crate) fn findings(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let message = self.early.pop_front().unwrap_or_else(|| self.next());
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri {
                return message["params"]["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "remit", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    /// Replaces a whole buffer.
    pub(crate) fn replace(&mut self, uri: &str, version: i64, text: &str) {
        self.notify(
            "textDocument/didChange",
            &json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [{ "text": text }] }),
        );
    }

    /// A request about a place in a buffer.
    pub(crate) fn at(&mut self, method: &str, uri: &str, (line, character): (usize, usize)) -> Value {
        let params = json!({
            "textDocument": { "uri": uri },
            "position": { "line": line, "character": character },
        });
        let answer = self.request(&format!("textDocument/{method}"), &params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Ends the conversation as the protocol says.
    pub(crate) fn end(mut self) {
        let answer = self.request("shutdown", &Value::Null);
        assert_eq!(answer["result"], Value::Null, "{answer}");
        self.notify("exit", &Value::Null);
        self.outcome().unwrap();
    }

    /// How the server ended.
    pub(crate) fn outcome(mut self) -> Result<(), ServeError> {
        self.server.take().unwrap().join().unwrap()
    }

    /// The client goes away.
    pub(crate) fn leave(mut self) -> Result<(), ServeError> {
        drop(self.to_server.take());
        self.outcome()
    }
}

fn frame(input: &mut BufReader<PipeReader>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut content = vec![0; length];
    input.read_exact(&mut content).ok()?;
    serde_json::from_slice(&content).ok()
}

/// The address of a file.
pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A text with `|` where the cursor is: without it, and line and UTF-16 column of the cursor.
pub(crate) fn cursor(text: &str) -> (String, (usize, usize)) {
    let at = text.find('|').unwrap();
    let before = &text[..at];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap().encode_utf16().count();
    (text.replacen('|', "", 1), (line, column))
}
