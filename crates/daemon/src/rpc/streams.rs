//! The streams of one connection: who is due, and what they sent.

use super::answers::{StreamEnd, StreamItem};
use super::error::{ErrorKind, RpcError};
use super::limits::STREAMS_MAX;
use super::message;
use super::stream::{Progress, Stream};
use std::time::Instant;

/// All streams of a connection.
#[derive(Default)]
pub(super) struct Streams {
    running: Vec<Running>,
    last: u64,
}

struct Running {
    number: u64,
    stream: Box<dyn Stream>,
    due: Instant,
}

impl Streams {
    /// Begins a stream; its number.
    pub(super) fn begin(&mut self, stream: Box<dyn Stream>) -> Result<u64, RpcError> {
        if self.running.len() >= STREAMS_MAX {
            let message = format!("this connection has {STREAMS_MAX} streams: cancel one");
            return Err(RpcError::new(ErrorKind::TooMany, message));
        }
        self.last += 1;
        self.running.push(Running {
            number: self.last,
            stream,
            due: Instant::now(),
        });
        Ok(self.last)
    }

    /// Ends a stream; whether there was one.
    pub(super) fn cancel(&mut self, number: u64) -> bool {
        let before = self.running.len();
        self.running.retain(|running| running.number != number);
        self.running.len() != before
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// When the next one is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.running.iter().map(|running| running.due).min()
    }

    /// Appends the notifications of those that are due, once around.
    pub(super) fn take(&mut self, out: &mut Vec<u8>, now: Instant) {
        self.running
            .retain_mut(|running| running.due > now || running.take(out, now));
    }
}

impl Running {
    /// False when it has ended.
    fn take(&mut self, out: &mut Vec<u8>, now: Instant) -> bool {
        let stream = self.number;
        let mut pieces = Vec::new();
        let progress = self.stream.take(&mut pieces);
        for item in pieces {
            message::notification(out, "stream", &StreamItem { stream, item });
        }
        let error = match progress {
            Ok(Progress::More) => {
                self.due = now;
                return true;
            }
            Ok(Progress::Later) => {
                // From when it was due, unless that is long ago: no drift, and no bursts after.
                let every = self.stream.every();
                self.due = (self.due + every).max(now);
                return true;
            }
            Ok(Progress::Ended) => None,
            Err(error) => Some(error.message),
        };
        message::notification(out, "stream.end", &StreamEnd { stream, error });
        false
    }
}
