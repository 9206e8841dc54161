//! What the control side has a worker do now and then, and what comes back: tables and samplers are
//! given and taken over two rings, so that a worker neither waits nor allocates nor frees.

use std::sync::{Mutex, MutexGuard, PoisonError};

use frame::{Consumer, Producer, ring};
use plane::{Bridge, HitAddresses};

use crate::samples::Sampler;

/// Captures at a time.
pub(crate) const SAMPLERS_MAX: usize = 4;

/// Room in either ring: a table, and each sampler there and back.
const ERRANDS_MAX: usize = 1 + 2 * SAMPLERS_MAX;

/// Either way.
pub(crate) enum Errand {
    /// To: count in this from now on. Back: what was counted before.
    Addresses(Box<HitAddresses>),
    /// To: take samples. Back: nobody wants them any more.
    Sampler(Sampler),
}

/// A worker's end.
pub(crate) struct Requests {
    given: Consumer<Errand>,
    done: Producer<Errand>,
    /// Never more than [`SAMPLERS_MAX`].
    pub(crate) samplers: Vec<Sampler>,
}

/// The control side's end.
pub(crate) struct Requester {
    give: Producer<Errand>,
    back: Consumer<Errand>,
    /// A table that is not with the worker.
    spare: Option<Box<HitAddresses>>,
    /// Tables that were given to the worker, and that came back.
    asked: u64,
    came: u64,
    /// Samplers that are with the worker.
    samplers: usize,
}

/// The ends for one worker, which has a table already; `spare` is another.
pub(crate) fn requester(spare: Box<HitAddresses>) -> (Requester, Requests) {
    let (give, given) = ring(ERRANDS_MAX);
    let (done, back) = ring(ERRANDS_MAX);
    let requester = Requester {
        give,
        back,
        spare: Some(spare),
        asked: 0,
        came: 0,
        samplers: 0,
    };
    let requests = Requests {
        given,
        done,
        samplers: Vec::with_capacity(SAMPLERS_MAX),
    };
    (requester, requests)
}

impl Requests {
    /// Does what was given since the last call: a few moves, nothing in most calls.
    pub(crate) fn attend(&mut self, bridge: &mut Bridge) {
        while self.done.free_slots() > SAMPLERS_MAX {
            match self.given.pop() {
                Some(Errand::Addresses(next)) => {
                    let before = bridge.swap_addresses(next);
                    let _room = self.done.push(Errand::Addresses(before));
                }
                Some(Errand::Sampler(sampler)) => self.samplers.push(sampler),
                None => break,
            }
        }
        let mut place = 0;
        while place < self.samplers.len() {
            if self.samplers[place].is_over() && self.done.free_slots() != 0 {
                let _room = self
                    .done
                    .push(Errand::Sampler(self.samplers.swap_remove(place)));
            } else {
                place += 1;
            }
        }
    }
}

impl Requester {
    /// Takes what came back: a table with what was counted in it, if there is one.
    pub(crate) fn collect(&mut self) -> Option<&mut HitAddresses> {
        let mut counted = false;
        while let Some(errand) = self.back.pop() {
            match errand {
                Errand::Addresses(table) => {
                    self.spare = Some(table);
                    self.came += 1;
                    counted = true;
                }
                Errand::Sampler(_over) => self.samplers -= 1,
            }
        }
        self.spare.as_deref_mut().filter(|_| counted)
    }

    /// Asks for what was counted, against an empty table; not if the last one is still out.
    pub(crate) fn ask_for_addresses(&mut self) {
        if let Some(mut table) = self.spare.take() {
            table.clear();
            match self.give.push(Errand::Addresses(table)) {
                Ok(()) => self.asked += 1,
                Err(Errand::Addresses(table)) => self.spare = Some(table),
                Err(Errand::Sampler(_)) => {}
            }
        }
    }

    /// The number of the next table that is asked for: with it comes all that was counted up to
    /// now.
    pub(crate) fn next_table(&self) -> u64 {
        self.asked + 1
    }

    /// Whether the table of that number came back; asks for it where that was not done yet.
    pub(crate) fn has_come(&mut self, number: u64) -> bool {
        if self.asked < number {
            self.ask_for_addresses();
        }
        self.came >= number
    }

    /// Whether the worker can be given one more sampler.
    pub(crate) fn has_room(&mut self) -> bool {
        self.samplers < SAMPLERS_MAX && self.give.free_slots() > 1
    }

    /// Gives the worker a sampler; only where it has room.
    pub(crate) fn give_sampler(&mut self, sampler: Sampler) {
        if self.give.push(Errand::Sampler(sampler)).is_ok() {
            self.samplers += 1;
        }
    }
}

/// The desks of all workers, for whoever needs them on the control side.
pub(crate) struct Requesters(Mutex<Vec<Requester>>);

impl Requesters {
    pub(crate) fn new(requesters: Vec<Requester>) -> Self {
        Self(Mutex::new(requesters))
    }

    /// Held for some pushes and pops.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Requester>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
