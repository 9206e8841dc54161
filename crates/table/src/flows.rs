//! Flows: found, counted and ended, a bounded number of them.
//!
//! Sharded by RSS bucket ([`Shard`]), so that what belongs to a bucket moves to another worker as
//! one piece. All memory is had at the start. A packet of a known flow reads one line of an
//! index and writes the line of its record, and those of a burst are on their way at once
//! ([`FlowTable::locate`]). Expiry costs each flow one look a timeout at most, by a timer
//! wheel ([`FlowTable::expire`]), and never a walk over those that go on. Placement is keyed by a
//! secret of the table's own: who knows the RSS key fills one bucket, and that has a bound.

mod flow;
mod hash;
mod id;
mod index;
mod shard;
mod wheel;

use crate::address::Address;
use crate::compiled::CompileError;
use crate::secret::Secret;
use crate::simd::{Job, Lanes, Level, run};
use hash::FlowHash;
use index::Line;

pub use flow::{Flow, TICK_NANOS, Tick, ticks};
pub use id::{End, FlowId};
pub use shard::{NoRoom, Shard, WhenFull};

/// Flows that one call locates at most.
pub const LOCATE_MAX: usize = 64;

/// A packet, as far as the table of flows sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sighting<A> {
    /// Its flow.
    pub id: FlowId<A>,
    /// Who sent it.
    pub from: End,
    /// The RSS bucket of the flow.
    pub bucket: u16,
}

/// Where a flow's record is; good until the next insertion, removal or expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    bucket: u16,
    record: u32,
}

/// How large a table is.
#[derive(Clone, Copy, Debug)]
pub struct FlowLimits {
    /// RSS buckets, each with a shard of its own.
    pub buckets: u16,
    /// Flows a bucket.
    pub per_bucket: u32,
    /// What happens when a bucket has no room.
    pub full: WhenFull,
}

/// What a table did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// Flows that began.
    pub begun: u64,
    /// Of those, whose time was over.
    pub expired: u64,
    /// Of those, ended to make room.
    pub evicted: u64,
    /// Of those, removed by the owner of the table.
    pub removed: u64,
    /// Flows refused because their bucket had no room.
    pub full: u64,
    /// Flows refused because their lines of the index had none.
    pub crowded: u64,
}

/// The flows of one worker.
#[derive(Debug)]
pub struct FlowTable<A> {
    hash: FlowHash,
    level: Level,
    shards: Vec<Option<Box<Shard<A>>>>,
    full: WhenFull,
    counts: FlowCounts,
    /// The shard that expiry goes on with, and the tick up to which all are done.
    sweep: Sweep,
}

/// How far expiry is.
#[derive(Clone, Copy, Debug, Default)]
struct Sweep {
    bucket: usize,
    done: Option<Tick>,
}

impl<A: Address> FlowTable<A> {
    /// A table with all its buckets.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn new(limits: FlowLimits) -> Result<Self, CompileError> {
        Self::with_secret(limits, &Secret::draw(), Level::best())
    }

    fn with_secret(
        limits: FlowLimits,
        secret: &Secret,
        level: Level,
    ) -> Result<Self, CompileError> {
        let shards = Shard::several(limits.per_bucket as usize, limits.buckets.into())?;
        Ok(Self {
            hash: FlowHash::new(secret),
            level,
            shards: shards
                .into_iter()
                .map(|shard| Some(Box::new(shard)))
                .collect(),
            full: limits.full,
            counts: FlowCounts::default(),
            sweep: Sweep::default(),
        })
    }

    /// A table for another worker that has no bucket yet, and takes those of this one.
    #[must_use]
    pub fn sibling(&self) -> Self {
        Self {
            hash: self.hash,
            level: self.level,
            shards: self.shards.iter().map(|_| None).collect(),
            full: self.full,
            counts: FlowCounts::default(),
            sweep: Sweep::default(),
        }
    }

    /// Gives a bucket away, with all its flows.
    pub fn take_bucket(&mut self, bucket: u16) -> Option<Box<Shard<A>>> {
        self.shards.get_mut(usize::from(bucket))?.take()
    }

    /// Takes over what a sibling's [`FlowTable::take_bucket`] gave; gives back what was there.
    pub fn put_bucket(&mut self, bucket: u16, shard: Box<Shard<A>>) -> Option<Box<Shard<A>>> {
        self.sweep.done = None;
        match self.shards.get_mut(usize::from(bucket)) {
            Some(place) => place.replace(shard),
            None => Some(shard),
        }
    }

    /// How many flows there are in this worker's buckets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.iter().flatten().map(|shard| shard.len()).sum()
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the buckets that are here.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shards
            .iter()
            .flatten()
            .map(|shard| shard.bytes())
            .sum()
    }

    /// What was done so far.
    #[must_use]
    pub fn counts(&self) -> &FlowCounts {
        &self.counts
    }

    /// Finds the flows of a burst, at most [`LOCATE_MAX`] of them; `None` where there is
    /// no such flow here. Writes a place for each sighting.
    #[inline]
    pub fn locate(&self, burst: &[Sighting<A>], places: &mut [Option<Place>]) {
        let count = burst.len().min(places.len()).min(LOCATE_MAX);
        let (burst, places) = (&burst[..count], &mut places[..count]);
        run(
            self.level,
            Locate {
                table: self,
                burst,
                places,
            },
        );
    }

    /// Shows `known` the records of the flows of a burst, one after the other, with their
    /// places in the burst; returns those places that have none here, a bit each, which
    /// [`FlowTable::insert`] is for. Of a longer burst than [`LOCATE_MAX`] the rest is left out.
    #[inline]
    pub fn visit(
        &mut self,
        burst: &[Sighting<A>],
        known: &mut impl FnMut(usize, &mut Flow<A>),
    ) -> u64 {
        let burst = &burst[..burst.len().min(LOCATE_MAX)];
        let level = self.level;
        run(
            level,
            Visit {
                table: self,
                burst,
                known,
            },
        )
    }

    /// The record at a place.
    #[inline(always)]
    #[must_use]
    pub fn flow(&self, place: Place) -> Option<&Flow<A>> {
        Some(self.shard(place.bucket)?.flow(place.record))
    }

    /// The record at a place, to count packets and to change its state.
    #[inline(always)]
    #[must_use]
    pub fn flow_mut(&mut self, place: Place) -> Option<&mut Flow<A>> {
        let shard = self
            .shards
            .get_mut(usize::from(place.bucket))?
            .as_deref_mut()?;
        Some(shard.flow_mut(place.record))
    }

    /// The record of a flow, made if there is none; `ended` is told of one that had to go.
    /// Use it for what [`FlowTable::locate`] did not find: another packet of the same burst may
    /// have made the record meanwhile.
    ///
    /// # Errors
    /// [`NoRoom`], counted.
    pub fn insert(
        &mut self,
        sighting: &Sighting<A>,
        timeout: u32,
        now: Tick,
        ended: &mut impl FnMut(&Flow<A>),
    ) -> Result<Place, NoRoom> {
        let bucket = sighting.bucket;
        let shard = self.shards.get_mut(usize::from(bucket));
        let Some(shard) = shard.and_then(|shard| shard.as_deref_mut()) else {
            return Err(NoRoom::Elsewhere);
        };
        let hash = self.hash.of(&sighting.id);
        let id = &sighting.id;
        let known = run(self.level, Find { shard, hash, id });
        if let Some(record) = known {
            return Ok(Place { bucket, record });
        }
        let flow = (sighting.id, sighting.from);
        match shard.insert(&self.hash, flow, timeout, now, self.full, ended) {
            Ok(inserted) => {
                self.counts.begun += 1;
                self.counts.evicted += u64::from(inserted.evicted);
                let record = inserted.record;
                Ok(Place { bucket, record })
            }
            Err(no_room) => {
                self.counts.full += u64::from(no_room == NoRoom::Full);
                self.counts.crowded += u64::from(no_room == NoRoom::Crowded);
                Err(no_room)
            }
        }
    }

    /// Ends a flow.
    pub fn remove(&mut self, place: Place) {
        let shard = self.shards.get_mut(usize::from(place.bucket));
        if let Some(shard) = shard.and_then(|shard| shard.as_deref_mut()) {
            shard.remove(&self.hash, place.record);
            self.counts.removed += 1;
        }
    }

    /// Ends flows whose time is over; `ended` is told of each. Looks at `budget` records
    /// at most and goes on with the rest at the next call; returns how many it looked at. A call
    /// within a tick that is done with costs a comparison.
    #[inline]
    pub fn expire(&mut self, now: Tick, budget: usize, ended: &mut impl FnMut(&Flow<A>)) -> usize {
        if self.sweep.done >= Some(now) {
            return 0;
        }
        self.sweep(now, budget, ended)
    }

    #[inline(never)]
    fn sweep(&mut self, now: Tick, budget: usize, ended: &mut impl FnMut(&Flow<A>)) -> usize {
        let Self { hash, counts, .. } = self;
        let mut looked = 0;
        let mut ended = |flow: &Flow<A>| {
            counts.expired += 1;
            ended(flow);
        };
        while let Some(shard) = self.shards.get_mut(self.sweep.bucket) {
            if let Some(shard) = shard {
                looked += shard.expire(hash, now, budget - looked, &mut ended);
                if looked == budget {
                    return looked;
                }
            }
            self.sweep.bucket += 1;
        }
        self.sweep = Sweep {
            bucket: 0,
            done: Some(now),
        };
        looked
    }

    /// Each flow in this worker's buckets, in no order.
    pub fn flows(&self) -> impl Iterator<Item = &Flow<A>> {
        self.shards.iter().flatten().flat_map(|shard| shard.flows())
    }

    #[inline(always)]
    fn shard(&self, bucket: u16) -> Option<&Shard<A>> {
        self.shards.get(usize::from(bucket))?.as_deref()
    }
}

/// What two passes over a burst find, neither of which waits for memory that was not asked for: the
/// hashes, and the record that each flow most likely has.
struct Guesses {
    hashes: [u64; LOCATE_MAX],
    /// [`NO_RECORD`] where the index has none in the first line.
    records: [u32; LOCATE_MAX],
    /// Places of the burst whose flows may be in their other lines.
    displaced: u64,
}

/// No record.
const NO_RECORD: u32 = u32::MAX;

impl<A: Address> FlowTable<A> {
    #[inline(always)]
    fn guess<L: Lanes>(&self, lanes: L, burst: &[Sighting<A>]) -> Guesses {
        let mut lines = [&Line::EMPTY; LOCATE_MAX];
        let mut guesses = Guesses {
            hashes: [0; LOCATE_MAX],
            records: [NO_RECORD; LOCATE_MAX],
            displaced: 0,
        };
        let hashes = &mut guesses.hashes;
        for ((line, hash), sighting) in lines.iter_mut().zip(hashes).zip(burst) {
            *hash = self.hash.of(&sighting.id);
            if let Some(shard) = self.shard(sighting.bucket) {
                *line = shard.line(*hash);
                frame::prefetch::read((&raw const **line).cast());
            }
        }
        let mut bit = 1;
        let places = lines.iter().zip(&guesses.hashes).zip(&mut guesses.records);
        for (((line, &hash), record), sighting) in places.zip(burst) {
            let guess = line.guess(lanes, hash);
            if line.has_displaced() {
                guesses.displaced |= bit;
            }
            bit <<= 1;
            if let Some(shard) = self.shard(sighting.bucket) {
                match guess {
                    Some(guess) => shard.prefetch(guess),
                    None => shard.prefetch_free(),
                }
            }
            *record = guess.unwrap_or(NO_RECORD);
        }
        guesses
    }

    /// The record of a flow when the guess was not it.
    #[inline(never)]
    fn find(&self, hash: u64, sighting: &Sighting<A>) -> Option<u32> {
        let shard = self.shard(sighting.bucket)?;
        let id = &sighting.id;
        run(self.level, Find { shard, hash, id })
    }
}

/// [`FlowTable::locate`].
struct Locate<'a, A> {
    table: &'a FlowTable<A>,
    burst: &'a [Sighting<A>],
    places: &'a mut [Option<Place>],
}

impl<A: Address> Job for Locate<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let guesses = self.table.guess(lanes, self.burst);
        for (at, (place, sighting)) in self.places.iter_mut().zip(self.burst).enumerate() {
            let guess = guesses.records[at];
            let shard = self.table.shard(sighting.bucket);
            let is_it = |shard: &Shard<A>| guess != NO_RECORD && shard.is(guess, &sighting.id);
            let record = if shard.is_some_and(is_it) {
                Some(guess)
            } else if guess != NO_RECORD || guesses.displaced >> at & 1 != 0 {
                self.table.find(guesses.hashes[at], sighting)
            } else {
                None
            };
            let bucket = sighting.bucket;
            *place = record.map(|record| Place { bucket, record });
        }
    }
}

/// [`FlowTable::visit`].
struct Visit<'a, A, K> {
    table: &'a mut FlowTable<A>,
    burst: &'a [Sighting<A>],
    known: &'a mut K,
}

impl<A: Address, K: FnMut(usize, &mut Flow<A>)> Job for Visit<'_, A, K> {
    type Answer = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u64 {
        let guesses = self.table.guess(lanes, self.burst);
        let mut missing = 0;
        for (at, sighting) in self.burst.iter().enumerate().take(LOCATE_MAX) {
            let guess = guesses.records[at];
            let shard = self.table.shards.get_mut(usize::from(sighting.bucket));
            if let Some(shard) = shard.and_then(|shard| shard.as_deref_mut())
                && let Some(flow) = shard.at_mut(guess)
                && flow.is(&sighting.id)
            {
                (self.known)(at, flow);
                continue;
            }
            let rare = guess != NO_RECORD || guesses.displaced >> at & 1 != 0;
            let found = rare.then(|| self.table.find(guesses.hashes[at], sighting));
            let bucket = sighting.bucket;
            let place = found.flatten().map(|record| Place { bucket, record });
            match place.and_then(|place| self.table.flow_mut(place)) {
                Some(flow) => (self.known)(at, flow),
                None => missing |= 1 << at,
            }
        }
        missing
    }
}

/// One lookup.
struct Find<'a, A> {
    shard: &'a Shard<A>,
    hash: u64,
    id: &'a FlowId<A>,
}

impl<A: Address> Job for Find<'_, A> {
    type Answer = Option<u32>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Option<u32> {
        self.shard.find(lanes, self.hash, self.id)
    }
}

#[cfg(test)]
mod tests;
