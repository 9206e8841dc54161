//! What `nft -j list` prints and `nft -j -f` reads: the elements of all sets that are left at its
//! end, taken as they are read, so that a document of any size needs no memory of its own.

use crate::error::ListError;
use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::json_scalar::Scalar;
use crate::json_stream::{self, Passed};
use crate::nft_object::{Object, Verb};
use crate::nft_rules::NftRules;
use crate::nft_value::Value;
use crate::read::Tell;
use crate::sets::Sets;
use crate::source::Text;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Reads all of `text`. A document that breaks is one bad line; what came before it is taken.
pub(crate) fn read<'o, S: Sink>(
    text: Text<'_>,
    intake: &mut Intake<'o, S>,
    tell: Tell<'_, 'o, S>,
) -> Result<(), ListError> {
    let passed = Passed::default();
    let (mut sets, mut rules) = (Sets::new(), NftRules::default());
    let wrong = json_stream::read(text, &passed, intake, |json, intake| {
        let mut reading = Reading {
            intake,
            tell,
            passed: &passed,
            sets: &mut sets,
            rules: &mut rules,
            object: None,
        };
        let done = reading.part(Part::Document).deserialize(json);
        // What came before the document broke is taken.
        reading.end_object(Verb::Add);
        done
    })?;
    if let Some(fault) = wrong {
        intake.bad(fault, b"");
    }
    sets.finish("'nft list set FAMILY TABLE NAME' prints one alone", intake);
    rules.finish(intake);
    Ok(())
}

struct Reading<'t, 'o, S> {
    intake: &'t mut Intake<'o, S>,
    tell: Tell<'t, 'o, S>,
    passed: &'t Passed,
    sets: &'t mut Sets<S>,
    rules: &'t mut NftRules,
    /// The set or the elements that are read.
    object: Option<Object<S>>,
}

/// Which part of the document comes next.
#[derive(Clone, Copy)]
enum Part {
    /// `{"nftables": [...]}`
    Document,
    /// `[{"set": ...}, {"add": {"element": ...}}, ...]`
    Objects,
    /// `{"set": ...}`, and what is done with it
    Object(Verb),
    /// `{"family": ..., "table": ..., "name": ..., "type": ..., "elem": [...]}`
    Set(Verb),
    /// `["192.0.2.1", ...]`
    Elements(Verb),
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

    fn bad(&mut self, fault: Fault, text: &[u8]) {
        self.intake.line = self.passed.line();
        self.intake.bad(fault, text);
    }

    /// Takes one element; an error when reading is to stop.
    fn take<E: Error>(&mut self, value: &Value, verb: Verb) -> Result<(), E> {
        self.intake.line = self.passed.line();
        if let Some(object) = &mut self.object {
            object.take(value, verb, self.intake);
        }
        (self.tell)(self.intake).map_err(|stopped| self.passed.stop(stopped))
    }

    fn end_object(&mut self, verb: Verb) {
        self.intake.line = self.passed.line();
        if let Some(object) = self.object.take() {
            object.finish(verb, self.sets, self.intake);
        }
    }

    /// Reads what is behind a key of an object of the document.
    fn read_object<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        verb: Verb,
        map: &mut A,
    ) -> Result<(), A::Error> {
        match (key, Verb::of(key)) {
            (_, Some(inner)) if verb == Verb::List => {
                return map.next_value_seed(self.part(Part::Object(inner)));
            }
            ("set" | "element" | "map", _) | ("table" | "ruleset", _) if verb.reads(key) => {
                self.object = Some(Object::new(key, self.passed.line(), self.intake));
                let read = map.next_value_seed(self.part(Part::Set(verb)));
                read?;
                self.end_object(verb);
                return Ok(());
            }
            ("rule", _) if matches!(verb, Verb::List | Verb::Add) => {
                let rule = map.next_value()?;
                self.rules.see_json(self.passed.line(), rule);
                return Ok(());
            }
            _ if verb.passes(key) => {}
            _ => self.bad(Fault::NftStatement, key.as_bytes()),
        }
        map.next_value::<IgnoredAny>()?;
        Ok(())
    }

    fn read_set<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        verb: Verb,
        map: &mut A,
    ) -> Result<(), A::Error> {
        if key == "elem" {
            return map.next_value_seed(self.part(Part::Elements(verb)));
        }
        if matches!(key, "family" | "table" | "name" | "type" | "timeout") {
            let value: Scalar<'_> = map.next_value()?;
            self.intake.line = self.passed.line();
            if let Some(object) = &mut self.object {
                object.learn(key, value.text(), self.intake);
            }
        } else {
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

impl<'de, S: Sink> DeserializeSeed<'de> for Seed<'_, '_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.part {
            // A set may hold one element that stands alone, and flushing all is done with null.
            Part::Elements(_) | Part::Set(_) => deserializer.deserialize_any(self),
            Part::Objects => deserializer.deserialize_seq(self),
            Part::Document | Part::Object(_) => deserializer.deserialize_map(self),
        }
    }
}

impl<'de, S: Sink> Visitor<'de> for Seed<'_, '_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what nft -j list set prints")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.part {
            Part::Set(_) => Ok(()),
            _ => Err(E::custom("null")),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match self.part {
            Part::Elements(verb) => self.reading.take(&Value::of_text(text), verb),
            _ => Err(E::custom("text")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reading = self.reading;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match self.part {
                Part::Document if key == "nftables" => {
                    map.next_value_seed(reading.part(Part::Objects))?;
                }
                Part::Object(verb) => reading.read_object(&key, verb, &mut map)?,
                Part::Set(verb) => reading.read_set(&key, verb, &mut map)?,
                _ => return Err(A::Error::custom("an object that is not known")),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let reading = self.reading;
        match self.part {
            Part::Objects => {
                while seq
                    .next_element_seed(reading.part(Part::Object(Verb::List)))?
                    .is_some()
                {}
            }
            Part::Elements(verb) => {
                while let Some(value) = seq.next_element()? {
                    reading.take(&value, verb)?;
                }
            }
            _ => return Err(A::Error::custom("an array in a wrong place")),
        }
        Ok(())
    }
}
