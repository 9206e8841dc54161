//! What `nft -j list set`, `nft -j list table` and `nft -j list ruleset` print: the elements of
//! all sets, taken as they are read, so that a document of any size needs no memory of its own.

use crate::error::ListError;
use crate::excerpt;
use crate::fault::Fault;
use crate::intake::{Intake, Note, Sink};
use crate::json_text::JsonText;
use crate::nft_value::Value;
use crate::read::Tell;
use crate::source::Text;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, Read};

/// Reads all of `text`. A document that breaks is one bad line; what came before it is taken.
pub(crate) fn read<'o, S: Sink>(
    text: Text<'_>,
    intake: &mut Intake<'o, S>,
    tell: Tell<'_, 'o, S>,
) -> Result<(), ListError> {
    let passed = Passed::default();
    let block_bytes = intake.options.limits.block_bytes.max(1);
    let string_bytes_max = intake.options.limits.line_bound();
    let bytes = Bytes {
        string: OpenString::default(),
        string_bytes_max,
        text,
        buffer: vec![0; block_bytes],
        at: 0,
        filled: 0,
        passed: &passed,
    };
    let mut json = serde_json::Deserializer::from_reader(bytes);
    let mut reading = Reading {
        intake,
        tell,
        passed: &passed,
        set_count: 0,
        of_set: None,
    };
    let done = reading
        .part(Part::Document)
        .deserialize(&mut json)
        .and_then(|()| json.end());
    intake.line = passed.line();
    match (done, passed.stopped.take()) {
        (_, Some(stopped)) => return Err(stopped),
        (Err(_), None) if passed.too_long.get() => {
            intake.bad(
                Fault::StringTooLong(intake.options.limits.line_bound()),
                b"",
            );
        }
        (Err(_), None) => intake.bad(Fault::JsonBroken, b""),
        (Ok(()), None) => {}
    }
    Ok(())
}

/// What has passed to the JSON reader, seen from both of its sides.
#[derive(Default)]
struct Passed {
    line_ends: Cell<u64>,
    line_is_open: Cell<bool>,
    /// It was stopped for a string that is longer than the bound.
    too_long: Cell<bool>,
    /// Why it was stopped, when that is not for its JSON.
    stopped: RefCell<Option<ListError>>,
}

impl Passed {
    fn line(&self) -> u64 {
        self.line_ends.get() + u64::from(self.line_is_open.get())
    }

    fn see(&self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        let ends = bytes.iter().filter(|&&byte| byte == b'\n').count();
        self.line_ends.set(self.line_ends.get() + ends as u64);
        self.line_is_open.set(*last != b'\n');
    }
}

/// The text for the JSON reader, which asks for single bytes.
struct Bytes<'r, 'p> {
    text: Text<'r>,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    passed: &'p Passed,
    string: OpenString,
    string_bytes_max: usize,
}

/// Follows the strings of a JSON document, whose bytes the JSON reader keeps until they end.
#[derive(Default)]
struct OpenString {
    is_open: bool,
    is_escaped: bool,
    bytes: usize,
}

impl OpenString {
    /// Takes the next bytes of the document; the length of the string that is open after them.
    fn see(&mut self, bytes: &[u8]) -> usize {
        for &byte in bytes {
            if !self.is_open || self.is_escaped {
                self.is_open |= byte == b'"';
                self.is_escaped = false;
            } else {
                self.is_escaped = byte == b'\\';
                self.is_open = byte != b'"';
            }
            self.bytes = if self.is_open { self.bytes + 1 } else { 0 };
        }
        self.bytes
    }
}

impl Read for Bytes<'_, '_> {
    #[inline]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.at == self.filled {
            self.at = 0;
            self.filled = self.text.read_into(&mut self.buffer).map_err(|error| {
                self.passed.stopped.replace(Some(error));
                io::Error::other("the list cannot be read")
            })?;
        }
        let count = room.len().min(self.filled - self.at);
        let bytes = &self.buffer[self.at..self.at + count];
        room[..count].copy_from_slice(bytes);
        self.passed.see(bytes);
        if self.string.see(bytes) > self.string_bytes_max {
            self.passed.too_long.set(true);
            return Err(io::Error::other("a string is too long"));
        }
        self.at += count;
        Ok(count)
    }
}

struct Reading<'t, 'o, S> {
    intake: &'t mut Intake<'o, S>,
    tell: Tell<'t, 'o, S>,
    passed: &'t Passed,
    set_count: u64,
    /// What is wrong with all elements of this set.
    of_set: Option<Fault>,
}

/// Which part of the document comes next.
#[derive(Clone, Copy)]
enum Part {
    /// `{"nftables": [...]}`
    Document,
    /// `[{"set": ...}, ...]`
    Objects,
    /// `{"set": ...}`
    Object,
    /// `{"name": ..., "map": ..., "elem": [...]}`
    Map,
    /// `{"name": ..., "type": ..., "elem": [...]}`
    Set,
    /// `["192.0.2.1", ...]`
    Elements,
}

struct Seed<'s, 't, 'o, S> {
    reading: &'s mut Reading<'t, 'o, S>,
    part: Part,
}

impl<'t, 'o, S: Sink> Reading<'t, 'o, S> {
    fn part(&mut self, part: Part) -> Seed<'_, 't, 'o, S> {
        Seed {
            reading: self,
            part,
        }
    }

    /// Takes one element; an error when reading is to stop.
    fn take<E: Error>(&mut self, value: &Value) -> Result<(), E> {
        self.intake.line = self.passed.line();
        match self.of_set {
            Some(fault) => self.intake.bad(fault, value.to_string().as_bytes()),
            None => value.deliver(self.intake),
        }
        (self.tell)(self.intake).map_err(|stopped| {
            self.passed.stopped.replace(Some(stopped));
            E::custom("too many entries")
        })
    }

    fn begin_set(&mut self) {
        self.of_set = None;
        self.set_count += 1;
    }

    fn name_set(&mut self, name: &JsonText<'_>) {
        if let Some(name) = &name.0
            && self.set_count > 1
        {
            self.intake.line = self.passed.line();
            self.intake.warn(Note::SecondSet, || {
                let name = excerpt::of(name.as_bytes());
                format!("a further set, {name}: all sets of the file become one")
            });
        }
    }

    fn refuse_map(&mut self, name: &JsonText<'_>) {
        self.intake.line = self.passed.line();
        let name = name.0.as_deref().unwrap_or_default();
        self.intake.bad(Fault::NftMap, name.as_bytes());
    }

    fn type_set(&mut self, kind: &JsonText<'_>) {
        let kind = kind.0.as_deref();
        let is_known = matches!(kind, None | Some("ipv4_addr" | "ipv6_addr"));
        self.of_set = (!is_known).then_some(Fault::NftType);
    }
}

impl<'de, S: Sink> DeserializeSeed<'de> for Seed<'_, '_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.part {
            Part::Objects | Part::Elements => deserializer.deserialize_seq(self),
            Part::Document | Part::Object | Part::Map | Part::Set => {
                deserializer.deserialize_map(self)
            }
        }
    }
}

/// The keys that matter.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Nftables,
    Set,
    Map,
    Name,
    Type,
    Elem,
    #[serde(other)]
    Other,
}

impl<'de, S: Sink> Visitor<'de> for Seed<'_, '_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what nft -j list set prints")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reading = self.reading;
        while let Some(key) = map.next_key()? {
            match (self.part, key) {
                (Part::Document, Key::Nftables) => {
                    map.next_value_seed(reading.part(Part::Objects))?;
                }
                (Part::Object, Key::Set) => {
                    reading.begin_set();
                    map.next_value_seed(reading.part(Part::Set))?;
                }
                (Part::Object, Key::Map) => {
                    map.next_value_seed(reading.part(Part::Map))?;
                }
                (Part::Map, Key::Name) => reading.refuse_map(&map.next_value()?),
                (Part::Set, Key::Name) => reading.name_set(&map.next_value()?),
                (Part::Set, Key::Type) => reading.type_set(&map.next_value()?),
                (Part::Set, Key::Elem) => map.next_value_seed(reading.part(Part::Elements))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let reading = self.reading;
        match self.part {
            Part::Objects => while seq.next_element_seed(reading.part(Part::Object))?.is_some() {},
            _ => {
                while let Some(value) = seq.next_element()? {
                    reading.take(&value)?;
                }
            }
        }
        Ok(())
    }
}
