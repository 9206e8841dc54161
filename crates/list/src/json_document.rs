//! JSON documents with arrays of addresses somewhere below, as clouds publish theirs, and JSON
//! lines with a path.
//!
//! Which array is the list is said by paths, or found when there is but one with addresses. What
//! stands beside an address and makes it a range or a network is not left out: it is a bad line.

use crate::entry::parse_address;
use crate::error::ListError;
use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::json_beside::Beside;
use crate::json_path::{Step, text_of};
use crate::json_places::{Leaf, Places};
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
        let mut walk = Walk {
            intake,
            places: &mut places,
            passed: Some((&passed, tell)),
            path: Vec::new(),
        };
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
            }))
        }
    }
}

/// Reads a line, which is one document; the paths were asked for.
pub(crate) fn read_line<S: Sink>(
    line: &[u8],
    places: &mut Places<'_, S>,
    intake: &mut Intake<'_, S>,
) {
    let line = line.trim_ascii();
    if matches!(line, [] | [b'#' | b';', ..]) {
        return;
    }
    // A line that breaks holds nothing.
    if serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
        return intake.bad(Fault::NotJson, line);
    }
    let mut walk = Walk {
        intake,
        places,
        passed: None,
        path: Vec::new(),
    };
    let mut json = serde_json::Deserializer::from_slice(line);
    if walk.value(&mut json).is_err() {
        intake.bad(Fault::NotJson, line);
    }
}

/// A way through a document.
struct Walk<'w, 't, 'a, 'o, S> {
    intake: &'w mut Intake<'o, S>,
    places: &'w mut Places<'a, S>,
    /// Of a document that is read as it comes.
    passed: Option<(&'w Passed, Tell<'t, 'o, S>)>,
    path: Vec<Step>,
}

impl<S: Sink> Walk<'_, '_, '_, '_, S> {
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
        self.places.leaf(&self.path, (text, is_text), self.intake)
    }

    /// Takes a value; an error when reading is to stop.
    fn take<E: Error>(&mut self, leaf: &Leaf, fault: Option<Fault>) -> Result<(), E> {
        self.places.take(leaf, fault, self.intake);
        match &mut self.passed {
            Some((passed, tell)) => tell(self.intake).map_err(|stopped| passed.stop(stopped)),
            None => Ok(()),
        }
    }

    /// Refuses a path that leads to an array or object.
    fn begin(&mut self) {
        if self.places.meets(&self.path) {
            let text = text_of(&self.path);
            if let Some((passed, _)) = &self.passed {
                self.intake.line = passed.line();
            }
            self.intake.bad(Fault::JsonNotText, text.as_bytes());
        }
    }

    fn object<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        self.begin();
        let mut beside = Beside::default();
        let mut fields: Vec<(String, Leaf)> = Vec::new();
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            let key = cut(&key);
            self.path.push(Step::Key(key.clone()));
            if let Some(value) = map.next_value_seed(Seed(self))? {
                beside.see(&key, &value);
                if let Some(leaf) = self.leaf(value) {
                    if keys.insert(key.clone()) {
                        fields.push((key, leaf));
                    } else {
                        self.take(&leaf, Some(Fault::JsonKeyTwice))?;
                    }
                }
            }
            self.path.pop();
        }
        for (key, leaf) in &fields {
            self.take(leaf, beside.fault(key, &leaf.text))?;
        }
        Ok(())
    }

    fn array<'de, A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        self.begin();
        let may_be_pair = self.path.last() == Some(&Step::Items);
        self.path.push(Step::Items);
        let mut first_two = Vec::new();
        let mut count = 0u64;
        while let Some(value) = seq.next_element_seed(Seed(self))? {
            count += 1;
            let leaf = value.and_then(|value| self.leaf(value));
            if may_be_pair && count <= 2 {
                first_two.extend(leaf);
                continue;
            }
            for leaf in first_two.drain(..).chain(leaf) {
                self.take(&leaf, None)?;
            }
        }
        let fault = is_pair(&first_two).then_some(Fault::JsonPair);
        for leaf in &first_two {
            self.take(leaf, fault)?;
        }
        if count == 0 {
            self.places.see_empty(&self.path);
        }
        self.path.pop();
        Ok(())
    }
}

/// Two addresses, or an address and a number.
fn is_pair(leaves: &[Leaf]) -> bool {
    let is_address = |leaf: &&Leaf| parse_address(leaf.text.as_bytes()).is_some();
    let is_number = |leaf: &&Leaf| leaf.text.bytes().all(|byte| byte.is_ascii_digit());
    let addresses = leaves.iter().filter(is_address).count();
    let numbers = leaves.iter().filter(is_number).count();
    addresses > 0 && addresses + numbers == 2
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
        self.0.array(seq)?;
        Ok(None)
    }
}
