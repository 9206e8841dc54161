//! Where in a JSON document addresses are, and which of the places are read.

use crate::entry::Entry;
use crate::error::ListError;
use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::json_key;
use crate::json_path::{JsonPath, Step, text_of};
use crate::trial::Trial;
use std::collections::HashMap;
use std::sync::Arc;

/// Paths that are told apart. A document with more has no list that finds itself.
const PLACES_MAX: usize = 256;
/// Paths that a message names.
const NAMED_MAX: usize = 12;

/// One path with values.
struct Place<S> {
    path: Vec<Step>,
    /// What was read of it; nothing where paths were asked for.
    trial: Trial<S>,
    /// Entries there.
    entry_count: u64,
    /// Arrays there that are two addresses and nothing else, and other arrays.
    pairs: u64,
    others: u64,
}

impl<S> Place<S> {
    /// Whether its values may be ends of ranges: each array has two, under a key that does not say
    /// that it has a list.
    fn may_be_ranges(&self) -> bool {
        let [.., Step::Key(key), Step::Items] = &self.path[..] else {
            return false;
        };
        self.pairs > 0 && self.others == 0 && !json_key::is_list(key)
    }
}

/// A value of a document.
pub(crate) struct Value {
    pub(crate) text: String,
    /// It is written as text, not as a number or another word.
    pub(crate) is_text: bool,
}

/// A value at a path that may be an entry.
pub(crate) struct Leaf {
    pub(crate) text: String,
    pub(crate) is_text: bool,
    pub(crate) line: u64,
    /// Under a key that takes it out of what stands beside.
    pub(crate) is_exception: bool,
    goes: Goes,
}

#[derive(Clone, Copy)]
enum Goes {
    /// To the list: its path was asked for.
    Chosen,
    /// To a place.
    Place(usize),
}

/// The places of one text.
pub(crate) struct Places<'a, S> {
    asked: &'a [JsonPath],
    /// Which of them were met.
    met: Vec<bool>,
    /// How often one of them led to something.
    given: u64,
    places: Vec<Place<S>>,
    by_path: HashMap<Vec<Step>, usize>,
    /// Entries are at more paths than are told apart.
    has_more: bool,
    /// The document is an empty array.
    is_empty: bool,
}

impl Leaf {
    /// True when its path was asked for.
    pub(crate) fn is_chosen(&self) -> bool {
        matches!(self.goes, Goes::Chosen)
    }

    /// True when it may be an entry, or should be one.
    pub(crate) fn is_entry(&self) -> bool {
        self.is_chosen() || self.is_text && Entry::parse(self.text.as_bytes()).is_ok()
    }
}

impl<'a, S: Sink> Places<'a, S> {
    pub(crate) fn new(asked: &'a [JsonPath]) -> Self {
        Self {
            asked,
            met: vec![false; asked.len()],
            given: 0,
            places: Vec::new(),
            by_path: HashMap::new(),
            has_more: false,
            is_empty: false,
        }
    }

    /// How often a path that was asked for led to something.
    pub(crate) fn given(&self) -> u64 {
        self.given
    }

    /// A path that was asked for led to something that is no text.
    pub(crate) fn give(&mut self) {
        self.given += 1;
    }

    /// True when a path that was asked for leads here or further down.
    pub(crate) fn leads_through(&self, path: &[Step]) -> bool {
        self.asked.iter().any(|asked| asked.begins_with(path))
    }

    /// True when a path that was asked for ends here.
    pub(crate) fn meets(&mut self, path: &[Step]) -> bool {
        let mut any = false;
        for (asked, met) in self.asked.iter().zip(&mut self.met) {
            let is = asked.is(path);
            *met |= is;
            any |= is;
        }
        any
    }

    /// Sees an array with values; `path` leads to them.
    pub(crate) fn see_array(&mut self, path: &[Step], is_two: bool) {
        if let Some(place) = self
            .by_path
            .get(path)
            .and_then(|&at| self.places.get_mut(at))
        {
            match is_two {
                true => place.pairs += 1,
                false => place.others += 1,
            }
        }
    }

    /// Sees an array without elements; `path` leads to them.
    pub(crate) fn see_empty(&mut self, path: &[Step]) {
        self.is_empty |= matches!(path, [Step::Items]);
        for (asked, met) in self.asked.iter().zip(&mut self.met) {
            let is = asked.begins_with(path);
            *met |= is;
            self.given += u64::from(is);
        }
    }

    /// The value at `path`, if it matters.
    pub(crate) fn leaf(
        &mut self,
        path: &[Step],
        Value { text, is_text }: Value,
        intake: &Intake<'_, S>,
    ) -> Option<Leaf> {
        let goes = if self.meets(path) {
            self.given += 1;
            Goes::Chosen
        } else {
            let is_entry = || is_text && Entry::parse(text.as_bytes()).is_ok();
            if !self.asked.is_empty() && !is_entry() {
                return None;
            }
            let place = self.place(path, intake);
            if place.is_none() {
                self.has_more |= is_entry();
            }
            Goes::Place(place?)
        };
        Some(Leaf {
            text,
            is_text,
            line: intake.line,
            is_exception: false,
            goes,
        })
    }

    fn place(&mut self, path: &[Step], intake: &Intake<'_, S>) -> Option<usize> {
        if let Some(&at) = self.by_path.get(path) {
            return Some(at);
        }
        if self.places.len() == PLACES_MAX {
            return None;
        }
        self.places.push(Place {
            path: path.to_vec(),
            trial: Trial::new(intake),
            entry_count: 0,
            pairs: 0,
            others: 0,
        });
        let at = self.places.len() - 1;
        self.by_path.insert(path.to_vec(), at);
        Some(at)
    }

    /// Takes a value, or says what is wrong with it.
    pub(crate) fn take(&mut self, leaf: &Leaf, fault: Option<Fault>, intake: &mut Intake<'_, S>) {
        let line = std::mem::replace(&mut intake.line, leaf.line);
        let fault = leaf.is_exception.then_some(Fault::Exception).or(fault);
        match leaf.goes {
            Goes::Chosen => deliver(leaf, fault, intake),
            Goes::Place(at) => {
                if let Some(place) = self.places.get_mut(at) {
                    place.entry_count += u64::from(Entry::parse(leaf.text.as_bytes()).is_ok());
                    if self.asked.is_empty() {
                        place.trial.exchange(intake);
                        deliver(leaf, fault, intake);
                        place.trial.exchange(intake);
                    } else if leaf.is_exception {
                        deliver(leaf, fault, intake);
                    }
                }
            }
        }
        intake.line = line;
    }

    /// Forgets all: the document is refused.
    pub(crate) fn discard(self, intake: &mut Intake<'_, S>) {
        for place in self.places {
            place.trial.discard(intake);
        }
    }

    /// Makes the list of the one place with entries, unless paths were asked for.
    ///
    /// # Errors
    /// A path that was asked for is not there, or none was and there is not one place.
    pub(crate) fn finish(mut self, intake: &mut Intake<'_, S>) -> Result<(), ListError> {
        let unmet = self.met.iter().position(|met| !met);
        if let Some(asked) = unmet.and_then(|at| self.asked.get(at)) {
            return Err(self.error(Some(asked.to_string()), |_| true, intake));
        }
        if !self.asked.is_empty() || self.is_empty {
            self.discard(intake);
            return Ok(());
        }
        let is_list = |place: &Place<S>| place.entry_count > 0 && place.path.contains(&Step::Items);
        let lists = self.places.iter().filter(|place| is_list(place)).count();
        if self.has_more || lists > 1 {
            return Err(self.error(None, is_list, intake));
        }
        let Some(at) = self.places.iter().position(is_list) else {
            return Err(self.error(None, |_| true, intake));
        };
        let chosen = self.places.swap_remove(at);
        if chosen.may_be_ranges() {
            return Err(ListError::JsonPair {
                file: Arc::clone(&intake.file),
                path: crate::excerpt::of(text_of(&chosen.path).as_bytes()),
                wording: intake.options.wording,
            });
        }
        chosen.trial.report(intake);
        intake.append(chosen.trial.into_held());
        self.discard(intake);
        Ok(())
    }

    fn error(
        &self,
        asked: Option<String>,
        is_meant: impl Fn(&Place<S>) -> bool,
        intake: &Intake<'_, S>,
    ) -> ListError {
        let meant = self.places.iter().filter(|place| place.entry_count > 0);
        let mut paths: Vec<String> = meant
            .filter(|place| is_meant(place))
            .map(|place| crate::excerpt::of(text_of(&place.path).as_bytes()))
            .collect();
        let has_more = self.has_more || paths.len() > NAMED_MAX;
        paths.truncate(NAMED_MAX);
        ListError::JsonPath {
            file: Arc::clone(&intake.file),
            asked,
            paths,
            has_more,
            wording: intake.options.wording,
        }
    }
}

fn deliver<S: Sink>(leaf: &Leaf, fault: Option<Fault>, intake: &mut Intake<'_, S>) {
    let text = leaf.text.as_bytes();
    match fault {
        Some(fault) => intake.bad(fault, text),
        None if leaf.is_text => intake.take_field(text, text),
        None => intake.bad(Fault::NotAnEntry, text),
    }
}
