//! What etcd's JSON gateway is asked and answers, by `api/etcdserverpb/rpc.proto` of etcd.
//!
//! Keys and values are base64, 64-bit numbers are text, and what is zero or empty is left out.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A key or a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("base64")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                let bytes = STANDARD.decode(text);
                bytes.map(Bytes).map_err(|_| E::custom("no base64"))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// A number of 64 bits, which the gateway writes as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number(pub(super) u64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_string())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number as text")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                let number = text.parse();
                number.map(Number).map_err(|_| E::custom("no number"))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
                Ok(Number(number))
            }
        }
        deserializer.deserialize_any(Digits)
    }
}

fn is_zero(number: &Number) -> bool {
    number.0 == 0
}

/// Who answered, and as of when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    pub(super) cluster_id: Number,
    pub(super) revision: Number,
}

/// `/v3/kv/range`.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct RangeAsk {
    pub(super) key: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) range_end: Option<Bytes>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) limit: Number,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) revision: Number,
    pub(super) keys_only: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct KeyValue {
    pub(super) key: Bytes,
    pub(super) value: Bytes,
    pub(super) mod_revision: Number,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct RangeAnswer {
    pub(super) header: Header,
    pub(super) kvs: Vec<KeyValue>,
    pub(super) more: bool,
}

/// `/v3/watch`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct WatchAsk {
    pub(super) create_request: WatchCreate,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct WatchCreate {
    pub(super) key: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) range_end: Option<Bytes>,
    pub(super) start_revision: Number,
}

/// One line of the stream that `/v3/watch` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct WatchLine {
    pub(super) result: Option<Watched>,
    pub(super) error: Option<GatewayError>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Watched {
    pub(super) header: Header,
    pub(super) canceled: bool,
    pub(super) compact_revision: Number,
    pub(super) cancel_reason: String,
    pub(super) events: Vec<Event>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    #[serde(rename = "type")]
    pub(super) kind: EventKind,
    pub(super) kv: KeyValue,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum EventKind {
    /// Left out on the wire.
    #[default]
    Put,
    Delete,
}

/// What goes wrong, in the words of etcd.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct GatewayError {
    pub(super) error: String,
    pub(super) message: String,
}

/// `/v3/auth/authenticate`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LoginAsk<'a> {
    pub(super) name: &'a str,
    pub(super) password: &'a str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LoginAnswer {
    pub(super) token: String,
}

/// `/v3/lease/grant`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LeaseAsk {
    #[serde(rename = "TTL")]
    pub(super) ttl: Number,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LeaseAnswer {
    #[serde(rename = "ID")]
    pub(super) id: Number,
}

/// `/v3/kv/txn` without conditions.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct TxnAsk {
    pub(super) success: Vec<Operation>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) enum Operation {
    #[serde(rename = "request_put")]
    Put(PutAsk),
    #[serde(rename = "request_delete_range")]
    Delete(DeleteAsk),
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct PutAsk {
    pub(super) key: Bytes,
    pub(super) value: Bytes,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) lease: Number,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct DeleteAsk {
    pub(super) key: Bytes,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TxnAnswer {
    pub(super) responses: Vec<OperationAnswer>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OperationAnswer {
    pub(super) response_delete_range: Option<DeleteAnswer>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DeleteAnswer {
    pub(super) deleted: Number,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_as_etcd_writes_them() {
        let text = r#"{"result":{"header":{"cluster_id":"14841639068965178418","member_id":
            "10276657743932975437","revision":"7","raft_term":"2"},"events":[{"kv":{"key":"L2Ex",
            "create_revision":"6","mod_revision":"6","version":"1","value":"Yg=="}},
            {"type":"DELETE","kv":{"key":"L2Ey","mod_revision":"7"}}]}}"#;
        let line: WatchLine = serde_json::from_str(text).expect("a line");
        let result = line.result.expect("a result");
        assert_eq!(result.header.cluster_id, Number(14_841_639_068_965_178_418));
        let [put, delete] = result.events.as_slice() else {
            panic!("{result:?}");
        };
        assert_eq!(
            (put.kind, put.kv.key.0.as_slice()),
            (EventKind::Put, &b"/a1"[..])
        );
        assert_eq!(
            (put.kv.value.0.as_slice(), put.kv.mod_revision),
            (&b"b"[..], Number(6))
        );
        assert_eq!(
            (delete.kind, delete.kv.mod_revision),
            (EventKind::Delete, Number(7))
        );
    }

    #[test]
    fn what_is_no_line_is_refused() {
        let deep = format!("{{\"result\":{}", "[".repeat(100_000));
        for text in [
            "",
            "null",
            "7",
            "<html>",
            r#"{"result":7}"#,
            r#"{"result":{"header":{"revision":"-1"}}}"#,
            r#"{"result":{"header":{"revision":"18446744073709551616"}}}"#,
            r#"{"result":{"header":{"revision":1.5}}}"#,
            r#"{"result":{"events":[{"type":"LATER"}]}}"#,
            r#"{"result":{"events":[{"kv":{"key":"*"}}]}}"#,
            r#"{"result":{"events":[{"kv":{"key":7}}]}}"#,
            &deep,
        ] {
            assert!(
                serde_json::from_str::<WatchLine>(text).is_err(),
                "{text:.40}"
            );
        }
    }

    #[test]
    fn what_is_asked_leaves_out_what_is_nothing() {
        let ask = RangeAsk {
            key: Bytes(b"/a".to_vec()),
            ..RangeAsk::default()
        };
        let text = serde_json::to_string(&ask).expect("JSON");
        assert_eq!(text, r#"{"key":"L2E=","keys_only":false}"#);
        let put = PutAsk {
            key: Bytes(b"/a".to_vec()),
            lease: Number(7),
            ..PutAsk::default()
        };
        let text = serde_json::to_string(&TxnAsk {
            success: vec![Operation::Put(put)],
        });
        let wanted = r#"{"success":[{"request_put":{"key":"L2E=","value":"","lease":"7"}}]}"#;
        assert_eq!(text.expect("JSON"), wanted);
    }
}
