//! One line to one request, and back: JSON-RPC 2.0 within bounds.
//!
//! The line is checked before it is parsed: length, UTF-8, depth. Parameters stay text until the
//! method is known, so that a request takes no more memory than what its method keeps of it.

use super::answers::place_of;
use super::error::{ErrorKind, RpcError, WireError};
use super::limits::{DEPTH_MAX, ID_BYTES_MAX, LINE_BYTES_MAX};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A request as it came.
#[derive(Debug)]
pub struct Request<'a> {
    /// What the answer is sent back with; none for a notification, which gets no answer.
    pub id: Option<&'a RawValue>,
    /// The method.
    pub method: Cow<'a, str>,
    /// Its parameters; none when the member is missing.
    pub params: Option<&'a RawValue>,
}

/// What is wrong with a line, and the `id` to answer with, where one could be read.
#[derive(Debug)]
pub struct BadLine<'a> {
    /// None stands for `null`.
    pub id: Option<&'a RawValue>,
    /// What to answer.
    pub error: RpcError,
}

impl From<RpcError> for BadLine<'_> {
    fn from(error: RpcError) -> Self {
        Self { id: None, error }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// `"id": null` is an id, and no id is none.
fn present<'de, D: serde::Deserializer<'de>>(de: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(de).map(Some)
}

impl<'a> Request<'a> {
    /// Reads a line, without its newline.
    ///
    /// # Errors
    /// [`ErrorKind::Parse`] or [`ErrorKind::InvalidRequest`].
    pub fn parse(line: &'a [u8]) -> Result<Self, BadLine<'a>> {
        let text = checked(line)?;
        let envelope: Envelope<'a> = serde_json::from_str(text).map_err(|error| {
            let kind = match error.classify() {
                serde_json::error::Category::Data => ErrorKind::InvalidRequest,
                _ => ErrorKind::Parse,
            };
            let why = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let why = why.strip_suffix(&place).unwrap_or(&why);
            RpcError::new(
                kind,
                format!("no request: {why} at byte {}", error.column()),
            )
        })?;
        let refuse = |id, message: &str| BadLine {
            id,
            error: RpcError::new(ErrorKind::InvalidRequest, message),
        };
        if envelope.id.is_some_and(|id| !is_id(id)) {
            return Err(refuse(None, "'id' is a number, a short string or null"));
        }
        if envelope.jsonrpc != "2.0" {
            return Err(refuse(envelope.id, "'jsonrpc' is \"2.0\" and nothing else"));
        }
        Ok(Self {
            id: envelope.id,
            method: envelope.method,
            params: envelope.params,
        })
    }

    /// The parameters as what the method takes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParams`], which names the member.
    pub fn params<T: Deserialize<'a>>(&self) -> Result<T, RpcError> {
        let refuse = |why: &str| {
            let mut error = RpcError::params(format!("params of {}: {why}", self.method));
            error.entry = place_of(&error.message);
            error
        };
        let text = self.params.map_or("{}", RawValue::get);
        if !text.starts_with('{') {
            return Err(refuse("they are an object, with members by name"));
        }
        serde_json::from_str(text).map_err(|error| {
            let why = error.to_string();
            // Where in the text: of use for a file, and noise for one line.
            let place = format!(" at line {} column {}", error.line(), error.column());
            refuse(why.strip_suffix(&place).unwrap_or(&why))
        })
    }
}

/// UTF-8 within the bounds on length and depth.
fn checked(line: &[u8]) -> Result<&str, RpcError> {
    if line.len() > LINE_BYTES_MAX {
        let message = format!("a line of more than {LINE_BYTES_MAX} bytes: send several requests");
        return Err(RpcError::new(ErrorKind::Parse, message));
    }
    let text = std::str::from_utf8(line)
        .map_err(|error| RpcError::new(ErrorKind::Parse, format!("not UTF-8: {error}")))?;
    if depth(line) > DEPTH_MAX {
        let message = format!("more than {DEPTH_MAX} arrays and objects within each other");
        return Err(RpcError::new(ErrorKind::Parse, message));
    }
    Ok(text)
}

/// Most arrays and objects within each other, whether or not the rest is JSON.
fn depth(line: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for &byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn is_id(id: &RawValue) -> bool {
    let text = id.get();
    let scalar = !text.starts_with(['{', '[', 't', 'f']);
    scalar && text.len() <= ID_BYTES_MAX
}

#[derive(Serialize)]
struct Answer<'a, T> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    result: T,
}

#[derive(Serialize)]
struct Failure<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    error: WireError,
}

#[derive(Serialize)]
struct Notification<'a, T> {
    jsonrpc: &'static str,
    method: &'a str,
    params: T,
}

/// Appends an answer to `out`, with its newline.
pub(super) fn answer(
    out: &mut Vec<u8>,
    id: Option<&RawValue>,
    result: Result<&RawValue, RpcError>,
) {
    let jsonrpc = "2.0";
    match result {
        Ok(result) => push(
            out,
            &Answer {
                jsonrpc,
                id,
                result,
            },
        ),
        Err(error) => push(
            out,
            &Failure {
                jsonrpc,
                id,
                error: error.into(),
            },
        ),
    }
}

/// Appends a notification to `out`, with its newline.
pub(super) fn notification(out: &mut Vec<u8>, method: &str, params: &impl Serialize) {
    push(
        out,
        &Notification {
            jsonrpc: "2.0",
            method,
            params,
        },
    );
}

/// What is serialized here are our own types with string keys, into memory: it cannot fail.
fn push(out: &mut Vec<u8>, value: &impl Serialize) {
    let before = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(before);
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> ErrorKind {
        Request::parse(line.as_bytes()).unwrap_err().error.kind
    }

    #[test]
    fn a_request_is_read() {
        let line = br#"{"jsonrpc":"2.0","id":"a","method":"set.show","params":{"set":"bad"}}"#;
        let request = Request::parse(line).unwrap();
        assert_eq!(request.id.map(RawValue::get), Some("\"a\""));
        assert_eq!(request.method, "set.show");
        assert_eq!(request.params.map(RawValue::get), Some(r#"{"set":"bad"}"#));
        let line = br#"{"jsonrpc":"2.0","method":"hello"}"#;
        assert!(Request::parse(line).unwrap().id.is_none());
        let line = br#"{"jsonrpc":"2.0","method":"hello","id":null}"#;
        assert!(Request::parse(line).unwrap().id.is_some());
    }

    #[test]
    fn what_is_no_request() {
        for line in ["", "{", "nul", "\u{1}", "{\"jsonrpc\":\"2.0\"", "{} {}"] {
            assert!(
                matches!(kind(line), ErrorKind::Parse | ErrorKind::InvalidRequest),
                "{line}"
            );
        }
        for line in [
            "[]",
            "{}",
            "7",
            r#"{"jsonrpc":"1.0","id":1,"method":"hello"}"#,
            r#"{"jsonrpc":"2.0","id":[1],"method":"hello"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"hello"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"hello","more":1}"#,
            r#"[{"jsonrpc":"2.0","id":1,"method":"hello"}]"#,
        ] {
            assert_eq!(kind(line), ErrorKind::InvalidRequest, "{line}");
        }
        let long_id = format!(
            r#"{{"jsonrpc":"2.0","id":"{}","method":"x"}}"#,
            "a".repeat(200)
        );
        assert_eq!(kind(&long_id), ErrorKind::InvalidRequest);
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = "[".repeat(100_000);
        assert_eq!(kind(&deep), ErrorKind::Parse);
        let wide = " ".repeat(LINE_BYTES_MAX + 1);
        assert_eq!(kind(&wide), ErrorKind::Parse);
        // Brackets within strings are no depth, and an escaped quote ends no string.
        assert_eq!(depth(br#"{"a":"[[[\"[[[","b":[1]}"#), 2);
        assert!(Request::parse(b"\xff").is_err());
    }
}
