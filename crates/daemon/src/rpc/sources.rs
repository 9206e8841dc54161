//! The streams of this protocol: what is watched, and the lines of a set.

use super::answers::{SavedLines, WatchParams};
use super::error::{ErrorKind, RpcError};
use super::facts::SetLines;
use super::limits::WATCH_EVERY;
use super::message::Request;
use super::methods::Services;
use super::stream::{Progress, Stream};
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of one piece of a set's lines.
const PIECE_BYTES: usize = 48 << 10;

/// A `show` method asked again and again.
pub(super) struct Watching {
    services: Arc<Services>,
    params: WatchParams,
    every: Duration,
}

impl Watching {
    /// Asks once already, so that what cannot be asked is refused now.
    pub(super) fn new(services: Arc<Services>, params: WatchParams) -> Result<Self, RpcError> {
        let every = Duration::from_millis(params.every_ms);
        if !WATCH_EVERY.contains(&every) {
            let (least, most) = (
                WATCH_EVERY.start().as_millis(),
                WATCH_EVERY.end().as_millis(),
            );
            let message = format!("params of watch: every_ms is from {least} to {most}");
            return Err(RpcError::params(message));
        }
        let watching = Self {
            services,
            params,
            every,
        };
        watching.ask()?;
        Ok(watching)
    }

    fn ask(&self) -> Result<Box<RawValue>, RpcError> {
        self.services.tell(&Request {
            id: None,
            method: Cow::Borrowed(&self.params.method),
            params: self.params.params.as_deref(),
        })
    }
}

impl Stream for Watching {
    fn every(&self) -> Duration {
        self.every
    }

    fn take(&mut self, pieces: &mut Vec<Box<RawValue>>) -> Result<Progress, RpcError> {
        pieces.push(self.ask()?);
        Ok(Progress::Later)
    }
}

/// The lines of a set, as fast as they are read.
pub(super) struct LinesOfSet {
    lines: Box<dyn Iterator<Item = String> + Send>,
}

impl LinesOfSet {
    pub(super) fn new(lines: SetLines) -> Self {
        Self { lines: lines.lines }
    }
}

impl Stream for LinesOfSet {
    fn every(&self) -> Duration {
        Duration::ZERO
    }

    fn take(&mut self, pieces: &mut Vec<Box<RawValue>>) -> Result<Progress, RpcError> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while bytes < PIECE_BYTES {
            let Some(line) = self.lines.next() else {
                break;
            };
            // Quotes, a comma, and a String.
            bytes += line.len() + 3;
            lines.push(line);
        }
        if lines.is_empty() {
            return Ok(Progress::Ended);
        }
        let piece = to_raw_value(&SavedLines { lines });
        pieces.push(piece.map_err(|error| RpcError::new(ErrorKind::Internal, error))?);
        Ok(Progress::More)
    }
}
