//! Answers that come in many notifications: what is watched, and entries of a set.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What `watch` takes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchParams {
    /// A `show` method or `set.list`.
    pub method: String,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Box<RawValue>>,
    /// Milliseconds between answers, 100 to 3,600,000.
    #[serde(default = "every_default")]
    pub every_ms: u64,
}

fn every_default() -> u64 {
    1000
}

/// What begins a stream is answered with this, before the stream's first notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamBegun {
    /// The stream's number, different for each on a connection.
    pub stream: u64,
}

/// The parameters of a `stream` notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamItem<T> {
    /// The stream.
    pub stream: u64,
    /// The next piece.
    pub item: T,
}

/// The parameters of `stream.end`, the last notification of a stream that ends by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEnd {
    /// The stream.
    pub stream: u64,
    /// What went wrong; none when it is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What `cancel` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelParams {
    /// The stream to end.
    pub stream: u64,
}

/// What `cancel` answers; no notification of the stream follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// Whether there was such a stream.
    pub cancelled: bool,
}

/// What `set.save` answers: the entries follow as a stream of [`SavedLines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The stream.
    pub stream: u64,
    /// Entries to come.
    pub entries: u64,
}

/// Lines of a file that `set.load` reads back to the same set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLines {
    /// Without newlines.
    pub lines: Vec<String>,
}
