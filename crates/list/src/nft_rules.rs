//! Addresses in rules of nft. No set has them, so that they are not loaded, which is said: where
//! no set has any entry, as what is wrong with the list.

use crate::entry::Entry;
use crate::fault::Fault;
use crate::foreign::Foreign;
use crate::intake::{Intake, Note, Sink};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// What rules held so far.
#[derive(Default)]
pub(crate) struct NftRules {
    count: u64,
    /// The line and text of the first.
    first: Option<(u64, Vec<u8>)>,
}

impl NftRules {
    /// Sees a word of a rule.
    pub(crate) fn see(&mut self, line: u64, word: &[u8]) {
        if matches!(Entry::parse_known(word), Some(Ok(_))) {
            self.add(line, (1, Some(word.to_vec())));
        }
    }

    /// Sees a rule as JSON.
    pub(crate) fn see_json(&mut self, line: u64, rule: JsonRule) {
        self.add(line, (rule.count, rule.first));
    }

    fn add(&mut self, line: u64, (count, first): (u64, Option<Vec<u8>>)) {
        self.count += count;
        if self.first.is_none() {
            self.first = first.map(|text| (line, text));
        }
    }

    /// At the end of the text.
    pub(crate) fn finish<S: Sink>(self, intake: &mut Intake<'_, S>) {
        // What stands in maps is passed over like rules, and named before.
        let Some((line, text)) = self.first.filter(|_| intake.bad_count == 0) else {
            return;
        };
        let now = std::mem::replace(&mut intake.line, line);
        match intake.entry_count() {
            0 => intake.bad(Fault::Foreign(Foreign::NftRule), &text),
            _ => intake.warn(Note::Rules, || {
                let count = self.count;
                format!("{count} addresses in rules, of which this is the first, are not loaded")
            }),
        }
        intake.line = now;
    }
}

/// The addresses in one rule: how many, and the first.
#[derive(Default)]
pub(crate) struct JsonRule {
    count: u64,
    first: Option<Vec<u8>>,
}

impl JsonRule {
    fn and(mut self, other: Self) -> Self {
        self.count += other.count;
        self.first = self.first.or(other.first);
        self
    }
}

impl<'de> Deserialize<'de> for JsonRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleVisitor)
    }
}

struct RuleVisitor;

impl<'de> Visitor<'de> for RuleVisitor {
    type Value = JsonRule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rule of nft")
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonRule, E> {
        let is_entry = matches!(Entry::parse_known(text.as_bytes()), Some(Ok(_)));
        Ok(JsonRule {
            count: u64::from(is_entry),
            first: is_entry.then(|| text.as_bytes().to_vec()),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonRule, A::Error> {
        let mut rule = JsonRule::default();
        while let Some(part) = seq.next_element::<JsonRule>()? {
            rule = rule.and(part);
        }
        Ok(rule)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonRule, A::Error> {
        let mut rule = JsonRule::default();
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key == "comment" {
                map.next_value::<IgnoredAny>()?;
            } else {
                rule = rule.and(map.next_value()?);
            }
        }
        Ok(rule)
    }

    fn visit_bool<E>(self, _: bool) -> Result<JsonRule, E> {
        Ok(JsonRule::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<JsonRule, E> {
        Ok(JsonRule::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<JsonRule, E> {
        Ok(JsonRule::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<JsonRule, E> {
        Ok(JsonRule::default())
    }

    fn visit_unit<E>(self) -> Result<JsonRule, E> {
        Ok(JsonRule::default())
    }
}
