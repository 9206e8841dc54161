//! One element of an nft set as JSON: a string, or an object that says what it is.

use crate::entry::{Entry, parse_address};
use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// An element.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// `"192.0.2.1"`
    Text(String),
    /// `{"prefix": {"addr": "192.0.2.0", "len": 24}}`
    Prefix(Prefix),
    /// `{"range": ["192.0.2.1", "192.0.2.9"]}`
    Range(String, String),
    /// `{"elem": {"val": "192.0.2.1", "timeout": 300}}`
    Timed(Box<Value>),
    /// What holds no entry; what it is.
    Other(Fault, String),
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Prefix {
    addr: String,
    len: u64,
}

impl Value {
    pub(crate) fn of_text(text: &str) -> Self {
        match text {
            "*" => Self::Other(Fault::NftCatchAll, text.to_owned()),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// Takes the entry in, or counts what is wrong with it.
    pub(crate) fn deliver<S: Sink>(&self, intake: &mut Intake<'_, S>) {
        let text = self.to_string();
        let entry = match self {
            Self::Text(field) => return intake.take_field(field.as_bytes(), text.as_bytes()),
            Self::Other(fault, _) => return intake.bad(*fault, text.as_bytes()),
            Self::Timed(value) => {
                value.deliver(intake);
                return intake.warn_of_timeout();
            }
            Self::Prefix(Prefix { addr, len }) => {
                let prefix_len = u8::try_from(*len).unwrap_or(u8::MAX);
                match parse_address(addr.as_bytes()) {
                    Some(address) => Entry::network(address, prefix_len),
                    None => Err(Fault::NotAnEntry),
                }
            }
            Self::Range(first, last) => {
                match (
                    parse_address(first.as_bytes()),
                    parse_address(last.as_bytes()),
                ) {
                    (Some(first), Some(last)) => Entry::range(first, last),
                    (Some(_), None) => Err(Fault::RangeEnd),
                    (None, _) => Err(Fault::NotAnEntry),
                }
            }
        };
        match entry {
            Ok(entry) => intake.take(entry, text.as_bytes()),
            Err(fault) => intake.bad(fault, text.as_bytes()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Other(_, text) => f.write_str(text),
            Self::Prefix(Prefix { addr, len }) => write!(f, "{addr}/{len}"),
            Self::Range(first, last) => write!(f, "{first}-{last}"),
            Self::Timed(value) => value.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// What an object may say that it is.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Prefix,
    Range,
    Elem,
    Concat,
    #[serde(other)]
    Other,
}

/// `{"elem": {"val": ..., "timeout": ...}}`
#[derive(Deserialize)]
struct Elem {
    val: Box<Value>,
    timeout: Option<IgnoredAny>,
}

impl Elem {
    fn value(self) -> Value {
        match self.timeout {
            Some(_) => Value::Timed(self.val),
            None => *self.val,
        }
    }
}

/// `["192.0.2.1", 80]` as nft text has it, `192.0.2.1 . 80`.
struct Fields(String);

/// Bytes of fields that are kept for messages.
const FIELDS_BYTES_MAX: usize = 256;

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of an element")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Fields, A::Error> {
        let mut text = String::new();
        while let Some(field) = seq.next_element::<Value>()? {
            if text.len() < FIELDS_BYTES_MAX {
                let dot = if text.is_empty() { "" } else { " . " };
                text.push_str(&format!("{dot}{field}"));
            }
        }
        Ok(Fields(text))
    }
}

struct ValueVisitor;

impl ValueVisitor {
    fn other<E>(text: impl fmt::Display) -> Result<Value, E> {
        Ok(Value::Other(Fault::NotAnEntry, text.to_string()))
    }
}

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an element of a set")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::of_text(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Self::other("null")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Self::other(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Self::other(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Self::other(value)
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Self::other(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Self::other("[...]")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut value = None;
        while let Some(key) = map.next_key()? {
            let next = match key {
                Key::Prefix => Value::Prefix(map.next_value()?),
                Key::Range => {
                    let (first, last): (Value, Value) = map.next_value()?;
                    Value::Range(first.to_string(), last.to_string())
                }
                Key::Elem => map.next_value::<Elem>()?.value(),
                Key::Concat => {
                    let Fields(text) = map.next_value()?;
                    Value::Other(Fault::NftConcatenation, text)
                }
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                    Value::Other(Fault::NotAnEntry, "{...}".to_owned())
                }
            };
            value = Some(match value {
                None => next,
                Some(_) => Value::Other(Fault::NotAnEntry, "{...}".to_owned()),
            });
        }
        Ok(value.unwrap_or_else(|| Value::Other(Fault::NotAnEntry, "{}".to_owned())))
    }
}
