//! JSON lines, as Spamhaus publishes DROP: an object a line, the address under one of four keys.
//! An object of type `metadata` is no entry; the records that it announces must be there.

use crate::error::ListError;
use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::json_beside::Beside;
use crate::json_claims::{Announced, Claims};
use crate::json_document::{self, LineRead};
use crate::json_path::JsonPath;
use crate::json_places::Places;
use crate::json_scalar::Scalar;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The lines of a text.
pub(crate) struct JsonLines<'a, S> {
    /// Where paths were asked for.
    places: Option<Places<'a, S>>,
    /// Lines that are no metadata.
    records: u64,
    announced: Announced,
}

impl<'a, S: Sink> JsonLines<'a, S> {
    pub(crate) fn new(asked: &'a [JsonPath]) -> Self {
        Self {
            places: (!asked.is_empty()).then(|| Places::new(asked)),
            records: 0,
            announced: Announced::default(),
        }
    }

    /// Reads a line without its end.
    pub(crate) fn read_line(&mut self, line: &[u8], intake: &mut Intake<'_, S>) {
        let line = line.trim_ascii();
        if matches!(line, [] | [b'#' | b';', ..]) {
            return;
        }
        self.records += 1;
        match &mut self.places {
            None => self.read_record(line, intake),
            Some(places) => {
                if json_document::read_line(line, places, intake) == LineRead::Nothing {
                    self.without_entry(line, Fault::JsonPathMissing, intake);
                }
            }
        }
    }

    fn read_record(&mut self, line: &[u8], intake: &mut Intake<'_, S>) {
        let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else {
            return intake.bad(Fault::NotJson, line);
        };
        match &record.address {
            _ if record.address_count > 1 => intake.bad(Fault::JsonTwoAddresses, line),
            Some((key, address)) => {
                let fault = record.beside.fault(key, address, intake.options.purpose);
                match (fault, record.beside.network(address)) {
                    (Some(Fault::JsonLength), Some(network)) => {
                        intake.take_field(network.to_string().as_bytes(), line);
                    }
                    (Some(fault), _) => intake.bad(fault, line),
                    (None, _) => intake.take_field(address.as_bytes(), line),
                }
            }
            None => self.without_entry(line, Fault::JsonWithoutAddress, intake),
        }
    }

    /// A line that is metadata, or else a bad one.
    fn without_entry(&mut self, line: &[u8], fault: Fault, intake: &mut Intake<'_, S>) {
        match serde_json::from_slice::<Record<'_>>(line) {
            Ok(record) if record.is_metadata => {
                self.records -= 1;
                self.announced.add(record.claims);
            }
            _ => intake.bad(fault, line),
        }
    }

    /// Ends the text.
    ///
    /// # Errors
    /// A path that was asked for is nowhere.
    pub(crate) fn finish(self, intake: &mut Intake<'_, S>) -> Result<(), ListError> {
        if let Some(incomplete) = self.announced.judge(self.records) {
            intake.doubt(incomplete);
        }
        self.places.map_or(Ok(()), |places| places.finish(intake))
    }
}

/// True for an object that is an entry or says that it is none.
pub(crate) fn is_record(line: &[u8]) -> bool {
    serde_json::from_slice::<Record<'_>>(line)
        .is_ok_and(|record| record.address.is_some() || record.is_metadata)
}

/// What matters of one object.
#[derive(Default)]
struct Record<'de> {
    /// Its key and its text.
    address: Option<(Cow<'de, str>, Cow<'de, str>)>,
    address_count: usize,
    is_metadata: bool,
    beside: Beside,
    /// How many records there are, by its own word.
    claims: Claims,
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
            record.claims.see(&key, &value);
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
