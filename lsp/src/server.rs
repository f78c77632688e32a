//! The server's life: messages in order, findings when none waits.

use std::io::{BufRead, Write};
use std::sync::mpsc;
use std::thread;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{InitializeParams, InitializeResult, ServerInfo};
use serde_json::Value;

use crate::analysis::Settings;
use crate::position::Encoding;
use crate::transport::{self, Incoming, TransportError};

mod capabilities;
mod queue;
pub(crate) mod requests;
pub(crate) mod state;

use queue::Queue;
use state::State;

/// How many messages the reading thread may be ahead.
const AHEAD: usize = 64;

/// Why serving ended otherwise than the protocol says.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client's stream makes no sense.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The client's stream ended, or it said `exit`, before it asked for a shutdown.
    #[error("the client left without asking for a shutdown")]
    NoShutdown,
    /// Nothing can be written any more.
    #[error("the client cannot be answered")]
    Write(#[source] std::io::Error),
}

/// Serves one client until it says `exit`.
///
/// # Errors
/// When the client does not keep to the protocol so that it could go on, or goes away.
pub fn serve(mut input: impl BufRead + Send + 'static, output: impl Write) -> Result<(), ServeError> {
    let (sender, receiver) = mpsc::sync_channel(AHEAD);
    // It ends with the stream, or when nobody listens any more. Blocked in a read it ends with the process.
    thread::spawn(move || {
        loop {
            let incoming = transport::read(&mut input);
            let last = matches!(incoming, Incoming::End | Incoming::Broken(_));
            if sender.send(incoming).is_err() || last {
                return;
            }
        }
    });
    Server {
        output,
        phase: Phase::New,
        state: State::new(Encoding::Utf16, Settings::default()),
    }
    .run(Queue::new(receiver))
}

/// Where the client is in the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

struct Server<W> {
    output: W,
    phase: Phase,
    state: State,
}

impl<W: Write> Server<W> {
    fn run(mut self, mut queue: Queue) -> Result<(), ServeError> {
        loop {
            let next = match queue.next_waiting() {
                Some(next) => next,
                None => {
                    if let Some(message) = self.state.next_findings() {
                        self.send(message.into())?;
                        continue;
                    }
                    queue.wait()
                }
            };
            match next {
                Incoming::Message(Message::Request(request)) => {
                    let response = if queue.is_cancelled(&request.id) {
                        let code = ErrorCode::RequestCanceled;
                        Response::new_err(request.id, code as i32, "cancelled".to_owned())
                    } else {
                        self.request(request)
                    };
                    self.send(response.into())?;
                }
                Incoming::Message(Message::Notification(notification)) if notification.method == "exit" => {
                    return match self.phase {
                        Phase::ShutDown => Ok(()),
                        Phase::New | Phase::Running => Err(ServeError::NoShutdown),
                    };
                }
                Incoming::Message(Message::Notification(notification)) => self.notification(notification),
                // Nothing is ever asked of the client.
                Incoming::Message(Message::Response(_)) => {}
                Incoming::Malformed(answer) => {
                    transport::write(&mut self.output, &answer).map_err(ServeError::Write)?;
                }
                // Who never began has nothing to end.
                Incoming::End if self.phase == Phase::New => return Ok(()),
                Incoming::End => return Err(ServeError::NoShutdown),
                Incoming::Broken(error) => return Err(error.into()),
            }
        }
    }

    fn send(&mut self, message: Message) -> Result<(), ServeError> {
        message.write(&mut self.output).map_err(ServeError::Write)
    }

    fn request(&mut self, request: Request) -> Response {
        let refuse = |id: RequestId, code: ErrorCode, message: &str| {
            Response::new_err(id, code as i32, message.to_owned())
        };
        match (self.phase, request.method.as_str()) {
            (Phase::New, "initialize") => match self.initialize(request.params) {
                Ok(result) => Response {
                    id: request.id,
                    response_result: Ok(result),
                },
                Err(error) => refuse(request.id, ErrorCode::InvalidParams, &error.to_string()),
            },
            (Phase::New, _) => refuse(
                request.id,
                ErrorCode::ServerNotInitialized,
                "`initialize` comes first",
            ),
            (Phase::Running, "initialize") => {
                refuse(request.id, ErrorCode::InvalidRequest, "initialized already")
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                Response {
                    id: request.id,
                    response_result: Ok(Value::Null),
                }
            }
            (Phase::Running, _) => requests::answer(&mut self.state, request),
            (Phase::ShutDown, _) => refuse(request.id, ErrorCode::InvalidRequest, "shutting down"),
        }
    }

    fn initialize(&mut self, params: Value) -> Result<Value, serde_json::Error> {
        let params: InitializeParams = serde_json::from_value(params)?;
        let general = params.capabilities.general.as_ref();
        let encoding = Encoding::agreed(general.and_then(|general| general.position_encodings.as_deref()));
        let settings = match params.initialization_options {
            Some(options) if !options.is_null() => serde_json::from_value(options)?,
            _ => Settings::default(),
        };
        self.state = State::new(encoding, settings);
        self.phase = Phase::Running;
        serde_json::to_value(InitializeResult {
            capabilities: capabilities::of(encoding),
            server_info: Some(ServerInfo {
                name: "remit".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        })
    }

    fn notification(&mut self, notification: Notification) {
        if self.phase == Phase::Running {
            requests::note(&mut self.state, notification);
        }
    }
}
