//! JSON lines, as Spamhaus publishes DROP: an object a line, the address under one of four keys.
//! An object of type `metadata` is no entry.

use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::json_beside::Beside;
use crate::json_scalar::Scalar;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
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
    match &record.address {
        _ if record.address_count > 1 => intake.bad(Fault::JsonTwoAddresses, line),
        Some((key, address)) => match record.beside.fault(key, address) {
            Some(fault) => intake.bad(fault, line),
            None => intake.take_field(address.as_bytes(), line),
        },
        None if record.is_metadata => {}
        None => intake.bad(Fault::JsonWithoutAddress, line),
    }
}

/// True for an object that is an entry or says that it is none.
pub(crate) fn is_record(line: &[u8]) -> bool {
    serde_json::from_slice::<Record<'_>>(line)
        .is_ok_and(|record| record.address.is_some() || record.is_metadata)
}

/// True for an object that says that it is no entry.
pub(crate) fn is_metadata(line: &[u8]) -> bool {
    serde_json::from_slice::<Record<'_>>(line).is_ok_and(|record| record.is_metadata)
}

/// What matters of one object.
#[derive(Default)]
struct Record<'de> {
    /// Its key and its text.
    address: Option<(Cow<'de, str>, Cow<'de, str>)>,
    address_count: usize,
    is_metadata: bool,
    beside: Beside,
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
        while let Some((key, value)) = map.next_entry::<Cow<'_, str>, Scalar<'_>>()? {
            record.beside.see(&key, &value);
            match (key.as_ref(), value) {
                ("cidr" | "ip" | "address" | "network", Scalar::Text(text)) => {
                    record.address_count += 1;
                    record.address = Some((key, text));
                }
                ("type", value) => record.is_metadata = value.text() == Some("metadata"),
                _ => {}
            }
        }
        Ok(record)
    }
}
