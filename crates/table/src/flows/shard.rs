//! The conversations of one RSS bucket: what moves when a bucket moves to another worker.

use super::hash::FlowHash;
use super::index::Index;
use super::wheel::Wheel;
use super::{End, Flow, FlowId, Tick};
use crate::address::Address;
use crate::compiled::CompileError;
use crate::memory::{Slab, zeroed};
use crate::simd::Lanes;

/// Flows that are looked at to make room for one.
const CANDIDATES: usize = 8;

/// What to do with a new conversation when there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It is refused.
    Refuse,
    /// Another one ends: of eight that are next on the timer wheel the one that would be over first
    /// by itself, which with equal timeouts is the one least recently used. Conversations with
    /// short timeouts, as half-open ones, go before long ones.
    #[default]
    Evict,
}

/// Why a conversation is not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// All records of its bucket are taken.
    Full,
    /// The lines of the index that may name it are full, and so are those that what is in them may
    /// go to; never seen unless somebody knows the secret.
    Crowded,
    /// Its bucket is another worker's.
    Elsewhere,
}

/// What was done to make room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inserted {
    pub(crate) record: u32,
    pub(crate) evicted: bool,
}

/// Records, an index to find them, and a wheel to end them.
#[derive(Debug)]
pub struct Shard<A> {
    index: Index,
    wheel: Wheel,
    records: Slab<Flow<A>>,
    /// Records that are free, the next one last.
    free: Vec<u32>,
}

impl<A: Address> Shard<A> {
    pub(crate) fn new(records: usize) -> Result<Self, CompileError> {
        let highest_first = (0..records as u32).rev();
        Ok(Self {
            index: Index::new(records)?,
            wheel: Wheel::new(records, 0)?,
            records: zeroed(records)?,
            free: highest_first.collect(),
        })
    }

    /// How many conversations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len() - self.free.len()
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn bytes(&self) -> usize {
        self.index.bytes() + self.records.len() * (size_of::<Flow<A>>() + 12)
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.index.prefetch(hash);
    }

    /// The first record that may be meant, asked for; most often it is the one.
    #[inline(always)]
    pub(crate) fn guess<L: Lanes>(&self, lanes: L, hash: u64) -> Option<u32> {
        let guess = self.index.find(lanes, hash, |_| true);
        if let Some(record) = guess {
            crate::simd::prefetch(&self.records, record as usize);
        }
        guess
    }

    #[inline(always)]
    pub(crate) fn is(&self, record: u32, id: &FlowId<A>) -> bool {
        self.records[record as usize].id() == id
    }

    #[inline(always)]
    pub(crate) fn find<L: Lanes>(&self, lanes: L, hash: u64, id: &FlowId<A>) -> Option<u32> {
        self.index.find(lanes, hash, |record| self.is(record, id))
    }

    #[inline(always)]
    pub(crate) fn flow(&self, record: u32) -> &Flow<A> {
        &self.records[record as usize]
    }

    #[inline(always)]
    pub(crate) fn flow_mut(&mut self, record: u32) -> &mut Flow<A> {
        &mut self.records[record as usize]
    }

    /// A record for a conversation that has none.
    pub(crate) fn insert(
        &mut self,
        hash: &FlowHash,
        (id, first): (FlowId<A>, End),
        timeout: u32,
        now: Tick,
        full: WhenFull,
        ended: &mut impl FnMut(&Flow<A>),
    ) -> Result<Inserted, NoRoom> {
        let evicted = self.free.is_empty();
        if evicted {
            if full == WhenFull::Refuse {
                return Err(NoRoom::Full);
            }
            let victim = self.victim().ok_or(NoRoom::Full)?;
            ended(&self.records[victim as usize]);
            self.remove(hash, victim);
        }
        let record = *self.free.last().ok_or(NoRoom::Full)?;
        let records = &self.records;
        let hash_of = |record: u32| hash.of(records[record as usize].id());
        if !self.index.insert(hash.of(&id), record, hash_of) {
            return Err(NoRoom::Crowded);
        }
        self.free.pop();
        let flow = &mut self.records[record as usize];
        *flow = Flow::new(id, first, now.0);
        flow.set_timeout(timeout);
        self.wheel.insert(record, flow.over_at());
        Ok(Inserted { record, evicted })
    }

    /// Ends a conversation.
    pub(crate) fn remove(&mut self, hash: &FlowHash, record: u32) {
        self.wheel.remove(record);
        let id = *self.records[record as usize].id();
        self.index.remove(hash.of(&id), record);
        self.free.push(record);
    }

    /// The flow to end for another. Those that are spared go to the slots of their true times, so
    /// that the next search meets others.
    fn victim(&mut self) -> Option<u32> {
        let mut candidates = [0; CANDIDATES];
        let mut count = 0;
        for (place, record) in candidates.iter_mut().zip(self.wheel.first::<CANDIDATES>()) {
            *place = record;
            count += 1;
        }
        let candidates = &candidates[..count];
        let over_at = |&record: &u32| self.records[record as usize].over_at();
        let victim = *candidates.iter().min_by_key(|record| over_at(record))?;
        for &spared in candidates.iter().filter(|&&record| record != victim) {
            self.wheel.remove(spared);
            self.wheel
                .insert(spared, self.records[spared as usize].over_at());
        }
        Some(victim)
    }

    /// Looks at flows whose time may be over, at most `budget` of them; returns how many it looked
    /// at.
    pub(crate) fn expire(
        &mut self,
        hash: &FlowHash,
        now: Tick,
        budget: usize,
        ended: &mut impl FnMut(&Flow<A>),
    ) -> usize {
        let mut looked = 0;
        while looked < budget
            && let Some(record) = self.wheel.pop(now.0)
        {
            looked += 1;
            let flow = &self.records[record as usize];
            let over_at = flow.over_at();
            if over_at > now.0 {
                self.wheel.insert(record, over_at);
                continue;
            }
            ended(flow);
            let id = *flow.id();
            self.index.remove(hash.of(&id), record);
            self.free.push(record);
        }
        looked
    }

    /// Each conversation, in no order.
    pub fn flows(&self) -> impl Iterator<Item = &Flow<A>> {
        self.wheel
            .items()
            .map(|record| &self.records[record as usize])
    }
}
