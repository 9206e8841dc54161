//! What answers in many notifications: watched facts, entries of a set, captured frames.

use super::error::RpcError;
use serde_json::value::RawValue;
use std::time::Duration;

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more at once; a stream that always says so shares the connection with others.
    More,
    /// Ask again after [`Stream::every`].
    Later,
    /// That was all.
    Ended,
}

/// Something that a connection asks for its next pieces, on the connection's thread. It is dropped
/// when the client cancels it or goes away.
pub trait Stream: Send {
    /// How long to wait after [`Progress::Later`].
    fn every(&self) -> Duration;

    /// Appends the pieces that are there, without waiting for any: at most some 64 KiB at once.
    ///
    /// # Errors
    /// The stream ends, and the client is told why.
    fn take(&mut self, pieces: &mut Vec<Box<RawValue>>) -> Result<Progress, RpcError>;
}
