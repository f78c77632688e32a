//! Messages that were read and not answered yet.
//!
//! They are looked at before they are worked on, so that a request which its client gave up meanwhile costs nothing.

use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::Receiver;

use lsp_server::{Message, RequestId};
use lsp_types::{CancelParams, NumberOrString};

use crate::transport::Incoming;

/// How many messages are looked ahead.
const MOST: usize = 1024;

pub(super) struct Queue {
    receiver: Receiver<Incoming>,
    waiting: VecDeque<Incoming>,
    cancelled: BTreeSet<RequestId>,
}

impl Queue {
    pub(super) fn new(receiver: Receiver<Incoming>) -> Self {
        Self {
            receiver,
            waiting: VecDeque::new(),
            cancelled: BTreeSet::new(),
        }
    }

    /// The oldest message, if one is there.
    pub(super) fn next_waiting(&mut self) -> Option<Incoming> {
        while self.waiting.len() < MOST
            && let Ok(next) = self.receiver.try_recv()
        {
            self.add(next);
        }
        self.waiting.pop_front()
    }

    /// The next message, whenever it comes.
    pub(super) fn wait(&mut self) -> Incoming {
        match self.receiver.recv() {
            Ok(next) => {
                self.add(next);
                self.next_waiting().unwrap_or(Incoming::End)
            }
            Err(_) => Incoming::End,
        }
    }

    /// Whether the client gave a request up before it was begun.
    pub(super) fn is_cancelled(&mut self, id: &RequestId) -> bool {
        self.cancelled.remove(id)
    }

    fn add(&mut self, next: Incoming) {
        if let Incoming::Message(Message::Notification(notification)) = &next
            && notification.method == "$/cancelRequest"
            && let Ok(CancelParams { id }) = serde_json::from_value(notification.params.clone())
        {
            let id = match id {
                NumberOrString::Number(number) => RequestId::from(number),
                NumberOrString::String(text) => RequestId::from(text),
            };
            let waits = |waiting: &Incoming| matches!(waiting, Incoming::Message(Message::Request(request)) if request.id == id);
            if self.waiting.iter().any(waits) {
                self.cancelled.insert(id);
            }
        }
        self.waiting.push_back(next);
    }
}

#[cfg(test)]
mod tests {
    use lsp_server::{Notification, Request};
    use serde_json::json;

    use super::*;

    fn request(id: i32) -> Incoming {
        Incoming::Message(Request::new(id.into(), "x".to_owned(), json!({})).into())
    }

    fn cancel(id: i32) -> Incoming {
        Incoming::Message(Notification::new("$/cancelRequest".to_owned(), json!({ "id": id })).into())
    }

    #[test]
    fn a_request_that_waits_is_cancelled_and_one_that_does_not_come_is_not_remembered() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut queue = Queue::new(receiver);
        for message in [request(1), request(2), cancel(2), cancel(3), request(3)] {
            sender.send(message).unwrap();
        }
        drop(sender);
        assert!(matches!(queue.wait(), Incoming::Message(Message::Request(_))));
        assert!(!queue.is_cancelled(&1.into()));
        assert!(queue.is_cancelled(&2.into()));
        assert!(!queue.is_cancelled(&3.into()));
        assert!(queue.cancelled.is_empty());
        for _ in 0..4 {
            assert!(matches!(queue.next_waiting(), Some(Incoming::Message(_))));
        }
        assert!(matches!(queue.wait(), Incoming::End));
    }
}
