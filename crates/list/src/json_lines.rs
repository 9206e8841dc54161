//! JSON lines, as Spamhaus publishes DROP: an object a line, the address under one of four keys.
//! An object of type `metadata` is no entry.

use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::json_text::JsonText;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Reads a line without its end.
pub(crate) fn read_line<S: Sink>(line: &[u8], intake: &mut Intake<'_, S>) {
    let line = line.trim_ascii();
    if matches!(line, [] | [b'#' | b';', ..]) {
        return;
    }
    let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else {
        return intake.bad(Fault::NotJson, line);
    };
    match record.address {
        _ if record.address_count > 1 => intake.bad(Fault::JsonTwoAddresses, line),
        Some(address) => intake.take_field(address.as_bytes(), line),
        None if record.is_metadata => {}
        None => intake.bad(Fault::JsonWithoutAddress, line),
    }
}

/// What matters of one object.
#[derive(Default)]
struct Record<'de> {
    address: Option<Cow<'de, str>>,
    address_count: usize,
    is_metadata: bool,
}

/// The keys that matter.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Cidr,
    Ip,
    Address,
    Network,
    Type,
    #[serde(other)]
    Other,
}

impl<'de> Deserialize<'de> for Record<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut record = Record::default();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Cidr | Key::Ip | Key::Address | Key::Network => {
                    let JsonText(text) = map.next_value()?;
                    record.address_count += usize::from(text.is_some());
                    record.address = text.or(record.address);
                }
                Key::Type => {
                    let JsonText(text) = map.next_value()?;
                    record.is_metadata = text.as_deref() == Some("metadata");
                }
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(record)
    }
}
