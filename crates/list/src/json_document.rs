//! JSON documents with arrays of addresses somewhere below, as clouds publish theirs, and JSON
//! lines with a path.
//!
//! Which array is the list is said by paths, or found when there is but one with addresses. What
//! stands beside an address and makes it a range or a network is not left out: it is a bad line.

use crate::entry::parse_address;
use crate::error::ListError;
use crate::fault::Fault;
use crate::intake::{Intake, Note, Sink};
use crate::json_beside::{self, Beside};
use crate::json_claims::{Claims, Extents};
use crate::json_path::{Step, text_of};
use crate::json_places::{Leaf, Places, Value};
use crate::json_row::Row;
use crate::json_scalar::Scalar;
use crate::json_stream::{self, Passed};
use crate::read::Tell;
use crate::report::BadLine;
use crate::source::Text;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Bytes of a key that are told apart.
const KEY_BYTES_MAX: usize = 256;

/// Reads all of `text`, which is one document.
pub(crate) fn read<'o, S: Sink>(
    text: Text<'_>,
    intake: &mut Intake<'o, S>,
    tell: Tell<'_, 'o, S>,
) -> Result<(), ListError> {
    let passed = Passed::default();
    let mut places = Places::new(&intake.options.json_paths);
    let wrong = json_stream::read(text, &passed, intake, |json, intake| {
        let mut walk = Walk::new(intake, &mut places, Some((&passed, tell)));
        walk.value(json)
    })?;
    match wrong {
        None => places.finish(intake),
        Some(fault) => {
            places.discard(intake);
            Err(ListError::JsonDocument(BadLine {
                file: Arc::clone(&intake.file),
                line: intake.line,
                fault,
                text: String::new(),
                wording: intake.options.wording,
            }))
        }
    }
}

/// What came of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineRead {
    /// Entries or bad lines.
    Something,
    /// No path led to anything.
    Nothing,
}

/// Reads a line, which is one document; the paths were asked for.
pub(crate) fn read_line<S: Sink>(
    line: &[u8],
    places: &mut Places<'_, S>,
    intake: &mut Intake<'_, S>,
) -> LineRead {
    // A line that breaks holds nothing.
    if serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
        intake.bad(Fault::NotJson, line);
        return LineRead::Something;
    }
    let before = places.given();
    let mut walk = Walk::new(intake, places, None);
    let mut json = serde_json::Deserializer::from_slice(line);
    if walk.value(&mut json).is_err() {
        intake.bad(Fault::NotJson, line);
    } else if places.given() == before {
        return LineRead::Nothing;
    }
    LineRead::Something
}

/// A way through a document.
struct Walk<'w, 't, 'a, 'o, S> {
    intake: &'w mut Intake<'o, S>,
    places: &'w mut Places<'a, S>,
    /// Of a document that is read as it comes.
    passed: Option<(&'w Passed, Tell<'t, 'o, S>)>,
    path: Vec<Step>,
    /// Keys of exceptions on the path.
    exceptions: usize,
    /// What objects say of how much there is.
    claims: Claims,
    found: Extents,
}

impl<'w, 't, 'a, 'o, S: Sink> Walk<'w, 't, 'a, 'o, S> {
    fn new(
        intake: &'w mut Intake<'o, S>,
        places: &'w mut Places<'a, S>,
        passed: Option<(&'w Passed, Tell<'t, 'o, S>)>,
    ) -> Self {
        Self {
            intake,
            places,
            passed,
            path: Vec::new(),
            exceptions: 0,
            claims: Claims::default(),
            found: Extents::default(),
        }
    }

    /// Reads the value at this path; `None` for one that holds others, which are taken.
    fn value<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        if let Some(value) = Seed(self).deserialize(json)?
            && let Some(leaf) = self.leaf(value)
        {
            self.take(&leaf, None)?;
        }
        Ok(())
    }

    fn leaf(&mut self, value: Scalar<'_>) -> Option<Leaf> {
        if let Some((passed, _)) = &self.passed {
            self.intake.line = passed.line();
        }
        let (text, is_text) = match value {
            Scalar::Text(text) => (text.into_owned(), true),
            Scalar::Whole(number) => (number.to_string(), false),
            Scalar::Other(text) => (text, false),
            Scalar::Null | Scalar::Several => {
                // A field without value is no entry, and its path is met.
                self.places.meets(&self.path);
                return None;
            }
        };
        let mut leaf = self
            .places
            .leaf(&self.path, Value { text, is_text }, self.intake)?;
        leaf.is_exception = self.exceptions > 0 && !leaf.is_chosen();
        Some(leaf)
    }

    /// Takes a value; an error when reading is to stop.
    fn take<E: Error>(&mut self, leaf: &Leaf, fault: Option<Fault>) -> Result<(), E> {
        self.found.entries += u64::from(leaf.is_entry());
        self.places.take(leaf, fault, self.intake);
        match &mut self.passed {
            Some((passed, tell)) => tell(self.intake).map_err(|stopped| passed.stop(stopped)),
            None => Ok(()),
        }
    }

    /// Refuses a path that leads to an array or object.
    fn begin(&mut self) {
        if self.places.meets(&self.path) {
            self.places.give();
            let text = text_of(&self.path);
            if let Some((passed, _)) = &self.passed {
                self.intake.line = passed.line();
            }
            self.intake.bad(Fault::JsonNotText, text.as_bytes());
        }
    }

    fn object<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        self.begin();
        let before = self.found;
        self.found.longest = 0;
        let mark = self.claims.mark();
        let mut beside = Beside::default();
        let mut fields: Vec<(String, Leaf)> = Vec::new();
        let mut keys = BTreeSet::new();
        let mut has_entries = false;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            let key = cut(&key);
            self.path.push(Step::Key(key.clone()));
            let (exceptions, entries) = (self.exceptions, self.intake.entry_count());
            let is_exception = json_beside::is_exception(&key);
            self.exceptions += usize::from(is_exception);
            let value = map.next_value_seed(Seed(self))?;
            let seen = value.as_ref().unwrap_or(&Scalar::Several);
            beside.see(&key, seen);
            self.claims.see(&key, seen);
            if let Some(leaf) = value.and_then(|value| self.leaf(value)) {
                if keys.insert(key.clone()) {
                    fields.push((key, leaf));
                } else {
                    self.take(&leaf, Some(Fault::JsonKeyTwice))?;
                }
            }
            self.exceptions = exceptions;
            has_entries |= !is_exception && self.intake.entry_count() > entries;
            self.path.pop();
        }
        let purpose = self.intake.options.purpose;
        if has_entries && let Some(fault) = beside.fault_of_all(purpose) {
            // Its entries are further down and taken: what is taken out of them is said here.
            let text = match text_of(&self.path) {
                whole if whole.is_empty() => "$".to_owned(),
                path => path,
            };
            self.intake.bad(fault, text.as_bytes());
        }
        self.take_fields(fields, &beside)?;
        self.judge_claims(mark, before);
        Ok(())
    }

    /// Takes the values of an object. One address and a prefix length or netmask are one network.
    fn take_fields<E: Error>(
        &mut self,
        mut fields: Vec<(String, Leaf)>,
        beside: &Beside,
    ) -> Result<(), E> {
        let purpose = self.intake.options.purpose;
        let is_address = |(key, leaf): &&(String, Leaf)| {
            !beside.is_length(key) && parse_address(leaf.text.as_bytes()).is_some()
        };
        let mut addresses = fields.iter().filter(is_address);
        let network = match (addresses.next(), addresses.next()) {
            (Some((_, leaf)), None) => beside.network(&leaf.text),
            _ => None,
        };
        if network.is_some() {
            fields.retain(|(key, _)| !beside.is_length(key));
        }
        for (key, mut leaf) in fields {
            let fault = match (beside.fault(&key, &leaf.text, purpose), network) {
                (Some(Fault::JsonLength), Some(network)) => {
                    leaf.text = network.to_string();
                    None
                }
                (fault, _) => fault,
            };
            self.take(&leaf, fault)?;
        }
        Ok(())
    }

    /// Holds what an object says of how much there is against what is below it. What one without
    /// entries says is about what stands beside it, unless it is an element of an array.
    fn judge_claims(&mut self, mark: usize, before: Extents) {
        let found = self.found.since(before);
        self.found.longest = found.longest.max(before.longest);
        let (is_whole, is_element) = (self.path.is_empty(), self.path.last() == Some(&Step::Items));
        let is_line = self.passed.is_none();
        if found.entries == 0 && !is_whole && !is_element {
            return;
        }
        // What stands beside one address counts something else.
        if found.longest == 0 && (is_element || is_line || found.entries == 1) {
            return self.claims.forget(mark);
        }
        let is_doubtful = is_line || self.path.contains(&Step::Items);
        if let Some(incomplete) = self.claims.judge(mark, found, is_doubtful) {
            self.intake.doubt(incomplete);
        }
    }

    /// True when it is empty.
    fn array<'de, A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<bool, A::Error> {
        self.begin();
        let mut row = Row::of(&self.path);
        let longest = self.found.longest;
        self.path.push(Step::Items);
        loop {
            let before = self.places.given();
            let Some(value) = seq.next_element_seed(Seed(self))? else {
                break;
            };
            let leaf = value.and_then(|value| self.leaf(value));
            if self.places.given() == before {
                self.warn_of_nothing();
            }
            for leaf in row.push(leaf) {
                self.take(&leaf, None)?;
            }
        }
        let is_empty = row.count == 0;
        self.found.elements += row.count as u64;
        self.found.longest = longest.max(row.count as u64);
        let fault = row.fault();
        if fault.is_none() && row.count > 0 {
            self.places.see_array(&self.path, row.is_two());
        }
        for leaf in row.held {
            self.take(&leaf, fault)?;
        }
        if is_empty {
            self.places.see_empty(&self.path);
        }
        self.path.pop();
        Ok(is_empty)
    }

    /// Warns of an element of an array that the paths lead through and in which none ends.
    fn warn_of_nothing(&mut self) {
        if let Some((passed, _)) = &self.passed
            && self.places.leads_through(&self.path)
        {
            self.intake.line = passed.line();
            self.intake.warn(Note::NothingAtPath, || {
                "an element has nothing at the paths asked for, and is left out".to_owned()
            });
        }
    }
}

/// As much of a key as is told apart.
fn cut(key: &str) -> String {
    let mut end = key.len().min(KEY_BYTES_MAX);
    while !key.is_char_boundary(end) {
        end -= 1;
    }
    key[..end].to_owned()
}

/// Reads a value: one that holds no others is given back, and others are walked through.
struct Seed<'s, 'w, 't, 'a, 'o, S>(&'s mut Walk<'w, 't, 'a, 'o, S>);

impl<'de, S: Sink> DeserializeSeed<'de> for Seed<'_, '_, '_, '_, '_, S> {
    type Value = Option<Scalar<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Seed<'_, '_, '_, '_, '_, S> {
    type Value = Option<Scalar<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON document")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Text(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Other(value.to_string())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Other(value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Whole(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Other(value.to_string())))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.0.object(map)?;
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        let is_empty = self.0.array(seq)?;
        Ok(is_empty.then_some(Scalar::Null))
    }
}
