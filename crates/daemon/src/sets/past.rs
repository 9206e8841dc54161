//! What a set's past is: handed to the keeper that comes after, so that a set that stays looks as
//! it did before.

use super::handle::Handle;
use super::message::Message;
use super::name::SetName;
use super::refusal::Refusal;
use super::reply::LoadedList;
use super::state::{SetState, Sets};
use crate::journal::KeptSets;

/// What is known of a set beside its rule and its entries.
#[derive(Clone, Debug)]
pub struct Past {
    /// The set.
    pub set: SetName,
    /// Its file part, once one was loaded.
    pub loaded: Option<LoadedList>,
    changed_ms: Option<u64>,
    forced: Option<u64>,
    counted: Option<Box<str>>,
    refused: u64,
    refusal: Option<String>,
}

impl Handle {
    /// What is known of all sets.
    ///
    /// # Errors
    /// [`Refusal::Stopped`].
    pub fn past(&self) -> Result<Vec<Past>, Refusal> {
        self.tell(Message::Past)
    }

    /// Gives a set its past, once its file part is loaded.
    ///
    /// # Errors
    /// [`Refusal::Stopped`], [`Refusal::NoSuchSet`].
    pub fn resume(&self, past: Past) -> Result<(), Refusal> {
        self.tell(|answer| Message::Resume(Box::new(past), answer))
    }

    /// Single entries and live actions of all sets, as a journal keeps them.
    ///
    /// # Errors
    /// [`Refusal::Stopped`].
    pub fn kept(&self) -> Result<KeptSets, Refusal> {
        let keeping = self.tell(Message::Keeping)?;
        let mut kept = KeptSets::default();
        let taken = keeping.write(&mut |operations| kept.take_all(operations));
        taken.map_err(|error| Refusal::NotKept {
            reason: error.to_string(),
        })?;
        Ok(kept)
    }
}

impl Sets {
    pub(super) fn past(&self) -> Vec<Past> {
        self.sets.iter().map(SetState::past).collect()
    }

    pub(super) fn resume(&mut self, past: Past) -> Result<(), Refusal> {
        let place = self.place(&past.set)?;
        let set = &mut self.sets[place];
        set.loaded = past.loaded;
        set.changed_ms = past.changed_ms;
        set.forced = past.forced;
        set.counted = past.counted;
        set.refused = past.refused;
        set.refusal = past.refusal;
        set.warn_of_counted();
        Ok(())
    }
}

impl SetState {
    fn past(&self) -> Past {
        Past {
            set: self.name.clone(),
            loaded: self.loaded.clone(),
            changed_ms: self.changed_ms,
            forced: self.forced,
            counted: self.counted.clone(),
            refused: self.refused,
            refusal: self.refusal.clone(),
        }
    }
}
