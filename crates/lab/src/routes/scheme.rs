//! The ways from a packet's destination to the next hop of its route.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, RwLock};

use frame::HugeSlice;
use table::ListMask;
use table::fib::Fib;

use crate::contest::refused;
use crate::design::bucket;
use crate::experiment::LabError;
use crate::lock::{Padded, locked, read};

/// Packets of a burst, as a worker has them.
pub(super) const BURST: usize = engine::DEFAULT_BURST;

/// Slots of a flow cache: as many as there are destinations, so that most flows have their own.
const CACHE_SLOTS: usize = super::traffic::DESTINATIONS;

/// How a thread comes to the next hop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// No lock, one packet at a time: what all others are held against.
    None,
    /// A mutex of the route, taken once to hold the route and once to release it.
    MutexTwice,
    /// A reader-writer lock of the table, taken for each packet.
    RwLock,
    /// A lock with a slot for each reader, taken for each packet: readers share no line.
    ReadMostly,
    /// No lock, and one addition for each packet to a counter of the route.
    Counter,
    /// A thread's own cache of next hops by destination, before the table.
    FlowCache,
    /// No lock, whole bursts: as workers look routes up.
    Ours,
}

impl Scheme {
    pub(super) const EVERY: [Self; 7] = [
        Self::None,
        Self::MutexTwice,
        Self::RwLock,
        Self::ReadMostly,
        Self::Counter,
        Self::FlowCache,
        Self::Ours,
    ];

    /// As it stands in a row.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::MutexTwice => "mutex_twice",
            Self::RwLock => "rwlock",
            Self::ReadMostly => "read_mostly",
            Self::Counter => "counter",
            Self::FlowCache => "flow_cache",
            Self::Ours => "ours",
        }
    }
}

/// A route as lookups find it, on lines of its own.
#[repr(align(128))]
struct Route {
    hop: u32,
    /// How many packets hold the route.
    references: Mutex<u32>,
    packets: AtomicU32,
}

/// The table and its routes, behind each lock there is.
pub(super) struct Shared {
    fib: Fib<u32>,
    routes: Vec<Route>,
    rwlock: Padded<RwLock<Fib<u32>>>,
    /// A slot for each reader; a writer would take all of them.
    slots: Vec<Padded<Mutex<Fib<u32>>>>,
}

impl Shared {
    /// For answers up to `routes`, and for this many readers.
    pub(super) fn new(fib: &Fib<u32>, routes: usize, readers: usize) -> Self {
        let route = |hop| Route {
            hop,
            references: Mutex::new(0),
            packets: AtomicU32::new(0),
        };
        let slot = |_| Padded(Mutex::new(fib.clone()));
        Self {
            fib: fib.clone(),
            routes: (1..=routes as u32).map(route).collect(),
            rwlock: Padded(RwLock::new(fib.clone())),
            slots: (0..readers).map(slot).collect(),
        }
    }

    #[inline(always)]
    fn route(&self, answer: u32) -> Option<&Route> {
        self.routes.get((answer as usize).wrapping_sub(1))
    }

    #[inline(always)]
    fn hop(&self, answer: u32) -> u32 {
        self.route(answer).map_or(0, |route| route.hop)
    }

    /// The next hop of a route that is held meanwhile.
    #[inline(always)]
    fn hop_held(&self, answer: u32) -> u32 {
        let Some(route) = self.route(answer) else {
            return 0;
        };
        *locked(&route.references) += 1;
        let hop = route.hop;
        *locked(&route.references) -= 1;
        hop
    }

    #[inline(always)]
    fn hop_counted(&self, answer: u32) -> u32 {
        let Some(route) = self.route(answer) else {
            return 0;
        };
        route.packets.fetch_add(1, Ordering::Relaxed);
        route.hop
    }

    /// How often routes were counted, and whether one is held.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (u32, bool) {
        let packets = self.routes.iter().map(|route| &route.packets);
        let counted = packets.map(|count| count.load(Ordering::Relaxed)).sum();
        let is_held = self.routes.iter().any(|one| *locked(&one.references) > 0);
        (counted, is_held)
    }
}

/// Destinations with the answers to them, in slots that a later one takes from an earlier one.
pub(super) struct FlowCache {
    /// No answer: an empty slot.
    slots: HugeSlice<[u32; 2]>,
}

impl FlowCache {
    pub(super) fn new() -> Result<Self, LabError> {
        Ok(Self {
            slots: HugeSlice::zeroed(CACHE_SLOTS).map_err(refused)?,
        })
    }

    #[inline(always)]
    fn answer(&mut self, key: u32, fib: &Fib<u32>) -> u32 {
        let slot = &mut self.slots[bucket(key, CACHE_SLOTS)];
        if slot[0] != key || slot[1] == 0 {
            *slot = [key, fib.lookup(key)];
        }
        slot[1]
    }
}

/// One thread's way to next hops.
pub(super) struct Access<'a> {
    pub(super) shared: &'a Shared,
    pub(super) scheme: Scheme,
    pub(super) reader: usize,
    pub(super) cache: &'a mut FlowCache,
}

impl Access<'_> {
    /// Writes the next hop of each key, 0 for none; at most [`BURST`] keys.
    #[inline]
    pub(super) fn forward(&mut self, keys: &[u32], hops: &mut [u32; BURST]) {
        let shared = self.shared;
        let fib = &shared.fib;
        match self.scheme {
            Scheme::None => each(keys, hops, |key| shared.hop(fib.lookup(key))),
            Scheme::MutexTwice => each(keys, hops, |key| shared.hop_held(fib.lookup(key))),
            Scheme::RwLock => each(keys, hops, |key| {
                shared.hop(read(&shared.rwlock.0).lookup(key))
            }),
            Scheme::ReadMostly => {
                let slot = &shared.slots[self.reader].0;
                each(keys, hops, |key| shared.hop(locked(slot).lookup(key)));
            }
            Scheme::Counter => each(keys, hops, |key| shared.hop_counted(fib.lookup(key))),
            Scheme::FlowCache => each(keys, hops, |key| shared.hop(self.cache.answer(key, fib))),
            Scheme::Ours => {
                let mut answers = [ListMask::EMPTY; BURST];
                fib.lookup_burst(keys, &mut answers[..keys.len()]);
                let answers = answers[..keys.len()].iter();
                for (answer, hop) in answers.zip(hops) {
                    *hop = shared.hop(answer.0);
                }
            }
        }
    }
}

#[inline(always)]
fn each(keys: &[u32], hops: &mut [u32], mut hop_of: impl FnMut(u32) -> u32) {
    for (&key, hop) in keys.iter().zip(hops) {
        *hop = hop_of(key);
    }
}
