//! What goes wrong on the control socket, as numbers for programs and a sentence for people.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Every kind of error there is. The number is JSON-RPC's `code`; the name is `data.name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The line is no JSON, not UTF-8, too deep or too long.
    Parse,
    /// JSON, but no request of JSON-RPC 2.0.
    InvalidRequest,
    /// No such method.
    MethodNotFound,
    /// The method's parameters are missing, unknown or wrong.
    InvalidParams,
    /// A fault of the daemon.
    Internal,
    /// The peer speaks another version of the protocol.
    OtherVersion,
    /// There is no set of that name.
    NoSuchSet,
    /// A guard refused a change: the list is empty, changes too much, or covers what it should
    /// not. `force` overrides where the sentence says so.
    Guarded,
    /// The change cannot be made: no room, a bad line, a port that does not exist.
    Refused,
    /// The daemon is busy, stopping, or not ready for this yet; try again.
    Busy,
    /// Too many connections or streams.
    TooMany,
    /// The peer may not do this.
    Denied,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::Parse,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::Internal,
        Self::OtherVersion,
        Self::NoSuchSet,
        Self::Guarded,
        Self::Refused,
        Self::Busy,
        Self::TooMany,
        Self::Denied,
    ];

    /// JSON-RPC's code; those above zero are this protocol's own.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::OtherVersion => 1,
            Self::NoSuchSet => 2,
            Self::Guarded => 3,
            Self::Refused => 4,
            Self::Busy => 5,
            Self::TooMany => 6,
            Self::Denied => 7,
        }
    }

    /// The name in `data.name`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse-error",
            Self::InvalidRequest => "invalid-request",
            Self::MethodNotFound => "method-not-found",
            Self::InvalidParams => "invalid-params",
            Self::Internal => "internal-error",
            Self::OtherVersion => "other-version",
            Self::NoSuchSet => "no-such-set",
            Self::Guarded => "guarded",
            Self::Refused => "refused",
            Self::Busy => "busy",
            Self::TooMany => "too-many",
            Self::Denied => "denied",
        }
    }

    /// The kind of a code that came over the socket.
    #[must_use]
    pub fn of_code(code: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// An error as it is sent: a kind, and one sentence that says what, where, and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// What kind of error.
    pub kind: ErrorKind,
    /// For people, without full stop.
    pub message: String,
    /// Which of the request's entries it is about, from 0; set where one is bad.
    pub entry: Option<u64>,
    /// A word that tells refusals apart, as `changes-too-much`; empty where the kind says all.
    pub reason: String,
}

impl RpcError {
    /// An error about a whole request.
    pub fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            message: message.to_string(),
            entry: None,
            reason: String::new(),
        }
    }

    /// Whether the change was made all the same: it is not in the journal, or a worker was too
    /// slow to confirm it.
    #[must_use]
    pub fn is_of_made_change(&self) -> bool {
        matches!(&*self.reason, "not-kept" | "not-confirmed")
    }

    /// Wrong parameters.
    pub fn params(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::InvalidParams, message)
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RpcError {}

/// The error object of JSON-RPC.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireError {
    code: i32,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<WireData>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireData {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<u64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
}

impl From<RpcError> for WireError {
    fn from(error: RpcError) -> Self {
        Self {
            code: error.kind.code(),
            message: error.message,
            data: Some(WireData {
                name: error.kind.name().to_owned(),
                entry: error.entry,
                reason: error.reason,
            }),
        }
    }
}

impl From<WireError> for RpcError {
    /// A code of a later version is an internal error with the sentence that came.
    fn from(wire: WireError) -> Self {
        let (entry, reason) = match wire.data {
            Some(data) => (data.entry, data.reason),
            None => (None, String::new()),
        };
        Self {
            kind: ErrorKind::of_code(wire.code).unwrap_or(ErrorKind::Internal),
            message: wire.message,
            entry,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_and_names_are_different() {
        let codes: HashSet<i32> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
        let names: HashSet<&str> = ErrorKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!((codes.len(), names.len()), (12, 12));
        for kind in ErrorKind::ALL {
            assert_eq!(ErrorKind::of_code(kind.code()), Some(kind));
        }
    }

    #[test]
    fn an_error_survives_the_wire() {
        let mut error = RpcError::params("entries[3]: a host name");
        error.entry = Some(3);
        let text = serde_json::to_string(&WireError::from(error.clone())).unwrap();
        let back: WireError = serde_json::from_str(&text).unwrap();
        assert_eq!(RpcError::from(back), error);
    }
}
