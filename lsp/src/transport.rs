//! Messages in frames: a header with a length, then JSON.
//!
//! A message that is no JSON or no JSON-RPC is answered with an error and the next one is read. A header that is none ends
//! the connection, since nobody knows where the next frame begins.

use std::io::{self, BufRead, Read as _, Write};

use lsp_server::{ErrorCode, Message};
use serde_json::{Value, json};

/// The largest message. A policy of 1 MiB may take six bytes of JSON for each of its own.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The longest header line.
const MAX_HEADER: u64 = 1024;
/// The most header lines.
const MAX_HEADERS: usize = 16;

/// What was read.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Message(Message),
    /// A frame whose content is none, and the answer to it.
    Malformed(Value),
    /// The other side closed its end.
    End,
    /// The stream makes no sense any more.
    Broken(TransportError),
}

/// Why nothing more can be read.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// Reading failed.
    #[error("the client's messages cannot be read")]
    Read(#[from] io::Error),
    /// A header line that is none.
    #[error("`{0}` is no header of a message")]
    Header(String),
    /// No length.
    #[error("a message has no `Content-Length`")]
    NoLength,
    /// Too long.
    #[error("a message has {0} bytes, more than the {MAX_BYTES} that are accepted")]
    TooLong(u64),
}

/// Reads the next frame.
pub(crate) fn read(input: &mut impl BufRead) -> Incoming {
    match frame(input) {
        Ok(Some(content)) => message(&content),
        Ok(None) => Incoming::End,
        Err(error) => Incoming::Broken(error),
    }
}

fn frame(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, TransportError> {
    let mut length: Option<u64> = None;
    for number in 0..MAX_HEADERS {
        let mut line = Vec::new();
        input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() && number == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line).into_owned();
        let bad = || TransportError::Header(text.trim_end().chars().take(80).collect());
        let header = text.strip_suffix("\r\n").ok_or_else(bad)?;
        if header.is_empty() {
            return content(input, length.ok_or(TransportError::NoLength)?).map(Some);
        }
        let (name, value) = header.split_once(':').ok_or_else(bad)?;
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse().map_err(|_| bad())?);
        }
    }
    Err(TransportError::Header("too many of them".to_owned()))
}

fn content(input: &mut impl BufRead, length: u64) -> Result<Vec<u8>, TransportError> {
    let bytes = usize::try_from(length).unwrap_or(usize::MAX);
    if bytes > MAX_BYTES {
        return Err(TransportError::TooLong(length));
    }
    // Grows as bytes arrive: a length alone costs nothing.
    let mut content = Vec::new();
    input.by_ref().take(length).read_to_end(&mut content)?;
    if content.len() < bytes {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(content)
}

fn message(content: &[u8]) -> Incoming {
    let value: Value = match serde_json::from_slice(content) {
        Ok(value) => value,
        Err(error) => return malformed(&Value::Null, ErrorCode::ParseError, &format!("no JSON: {error}")),
    };
    let id = value.get("id").filter(|id| id.is_number() || id.is_string());
    let id = id.cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).map_or_else(
        |_| {
            malformed(
                &id,
                ErrorCode::InvalidRequest,
                "neither a request, a response nor a notification",
            )
        },
        Incoming::Message,
    )
}

fn malformed(id: &Value, code: ErrorCode, message: &str) -> Incoming {
    Incoming::Malformed(json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": { "code": code as i32, "message": message },
    }))
}

/// Writes a message that is not one of [`Message`].
pub(crate) fn write(output: &mut impl Write, value: &Value) -> io::Result<()> {
    let text = value.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Incoming {
        read(&mut io::BufReader::new(bytes))
    }

    #[test]
    fn a_frame_is_read_whatever_the_case_of_its_header() {
        let body = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let text = format!("content-length:{}\r\nContent-Type: x\r\n\r\n{body}", body.len());
        assert!(matches!(
            of(text.as_bytes()),
            Incoming::Message(Message::Notification(_))
        ));
    }

    #[test]
    fn what_is_no_json_is_answered() {
        let Incoming::Malformed(answer) = of(b"Content-Length: 3\r\n\r\n{x}") else {
            panic!("it was accepted");
        };
        assert_eq!(answer["error"]["code"], -32700);
        assert_eq!(answer["id"], Value::Null);
    }

    #[test]
    fn a_message_that_is_no_request_is_answered_by_its_id() {
        let Incoming::Malformed(answer) = of(b"Content-Length: 8\r\n\r\n{\"id\":7}") else {
            panic!("it was accepted");
        };
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(7), &json!(-32600))
        );
    }

    #[test]
    fn brackets_nested_too_deeply_are_answered() {
        let body = "[".repeat(100_000);
        let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        assert!(matches!(of(text.as_bytes()), Incoming::Malformed(_)));
    }

    #[test]
    fn a_stream_without_frames_is_broken_at_once() {
        for bytes in [
            b"hello\r\n\r\n".as_slice(),
            b"Content-Length: -1\r\n\r\n",
            b"Content-Length: 5\n\n",
            b"X: y\r\n\r\n",
            b"Content-Length: 99999999999\r\n\r\n",
            b"Content-Length: 5\r\n\r\nabc",
            &[b'x'; 5000],
        ] {
            assert!(matches!(of(bytes), Incoming::Broken(_)), "{bytes:?}");
        }
        assert!(matches!(of(b""), Incoming::End));
    }
}
