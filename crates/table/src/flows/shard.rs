//! The flows of one RSS bucket: what moves when a bucket moves to another worker.

use super::hash::FlowHash;
use super::index::{Index, Line};
use super::wheel::{PER_LINE, Spot, Wheel};
use super::{End, Flow, FlowId, Tick};
use crate::address::Address;
use crate::compiled::CompileError;
use crate::memory::pieces;
use crate::simd::Lanes;
use frame::HugePiece;

/// Flows that are looked at to make room for one.
const CANDIDATES: usize = 8;
/// No record.
const NONE: u32 = u32::MAX;

/// What to do with a new flow when there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It is refused.
    Refuse,
    /// Another one ends: of eight that are next on the timer wheel the one that would be over first
    /// by itself, which with equal timeouts is the one least recently used. Flows with
    /// short timeouts, as half-open ones, go before long ones.
    #[default]
    Evict,
}

/// Why a flow is not in the table.
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
///
/// Those of one table lie side by side in three mappings, one of each kind: alone they would be too
/// small for large pages, and each random record a walk of page tables besides.
#[derive(Debug)]
pub struct Shard<A> {
    index: Index,
    records: HugePiece<Flow<A>>,
    wheel: Wheel,
    /// The record that is free since last; each names the next one.
    free: u32,
    /// Records from here on were never used.
    fresh: u32,
    len: usize,
}

impl<A: Address> Shard<A> {
    /// `count` shards of so many records each.
    pub(crate) fn several(records: usize, count: usize) -> Result<Vec<Self>, CompileError> {
        let indices = Index::several(records, count)?;
        let wheels = Wheel::several(records, count)?;
        let records = pieces(records, count)?;
        let parts = indices.into_iter().zip(wheels).zip(records);
        let shard = |((index, wheel), records)| Self {
            index,
            records,
            wheel,
            free: NONE,
            fresh: 0,
            len: 0,
        };
        Ok(parts.map(shard).collect())
    }

    /// How many flows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn bytes(&self) -> usize {
        self.index.bytes() + size_of_val(&*self.records) + self.wheel.bytes()
    }

    /// The line of the index that `hash` names.
    #[inline(always)]
    pub(crate) fn line(&self, hash: u64) -> &Line {
        self.index.line(hash)
    }

    /// Asks for a record, all lines of it.
    #[inline(always)]
    pub(crate) fn prefetch(&self, record: u32) {
        let address = self.records.as_ptr().wrapping_add(record as usize);
        frame::prefetch::read(address.cast());
        if size_of::<Flow<A>>() > 64 {
            frame::prefetch::read(address.cast::<u8>().wrapping_add(64));
        }
    }

    /// Asks for the record that the next flow will have.
    #[inline]
    pub(crate) fn prefetch_free(&self) {
        self.prefetch(if self.free == NONE {
            self.fresh
        } else {
            self.free
        });
    }

    #[inline(always)]
    pub(crate) fn is(&self, record: u32, id: &FlowId<A>) -> bool {
        self.records[record as usize].is(id)
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

    /// The record of that number, if there is one.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, record: u32) -> Option<&mut Flow<A>> {
        self.records.get_mut(record as usize)
    }

    /// A record for a flow that has none.
    pub(crate) fn insert(
        &mut self,
        hash: &FlowHash,
        (id, first): (FlowId<A>, End),
        timeout: u32,
        now: Tick,
        full: WhenFull,
        ended: &mut impl FnMut(&Flow<A>),
    ) -> Result<Inserted, NoRoom> {
        let evicted = self.len == self.records.len();
        if evicted {
            if full == WhenFull::Refuse {
                return Err(NoRoom::Full);
            }
            let victim = self.victim().ok_or(NoRoom::Full)?;
            ended(&self.records[victim as usize]);
            self.remove(hash, victim);
        }
        let record = if self.free == NONE {
            self.fresh
        } else {
            self.free
        };
        let records = &self.records;
        let hash_of = |record: u32| hash.of(&records[record as usize].id());
        if !self.index.insert(hash.of(&id), record, hash_of) {
            return Err(NoRoom::Crowded);
        }
        let flow = &mut self.records[record as usize];
        if self.free == NONE {
            self.fresh += 1;
        } else {
            self.free = flow.spot.0;
        }
        self.len += 1;
        *flow = Flow::new(id, first, now.0);
        flow.set_timeout(timeout);
        flow.spot = self.wheel.insert(record, flow.over_at());
        Ok(Inserted { record, evicted })
    }

    /// Ends a flow.
    pub(crate) fn remove(&mut self, hash: &FlowHash, record: u32) {
        self.unwind(record);
        let id = self.records[record as usize].id();
        self.forget(hash.of(&id), record);
    }

    /// Takes a record off the wheel.
    fn unwind(&mut self, record: u32) {
        let spot = self.records[record as usize].spot;
        if let Some((moved, spot)) = self.wheel.remove(spot) {
            self.records[moved as usize].spot = spot;
        }
    }

    /// Puts a record onto the wheel, at its true time.
    #[inline]
    fn wind(&mut self, record: u32) {
        let flow = &mut self.records[record as usize];
        flow.spot = self.wheel.insert(record, flow.over_at());
    }

    /// Frees a record that is on the wheel no more.
    #[inline]
    fn forget(&mut self, hash: u64, record: u32) {
        self.index.remove(hash, record);
        self.records[record as usize].spot = Spot(self.free);
        self.free = record;
        self.len -= 1;
    }

    /// The flow to end for another. Those that are spared go to the slots of their true times, so
    /// that the next search meets others.
    fn victim(&mut self) -> Option<u32> {
        let mut candidates = [0; CANDIDATES];
        let count = self.wheel.first(&mut candidates);
        let candidates = &candidates[..count];
        for &record in candidates {
            self.prefetch(record);
        }
        let over_at = |&record: &u32| self.records[record as usize].over_at();
        let victim = *candidates.iter().min_by_key(|record| over_at(record))?;
        for &spared in candidates.iter().filter(|&&record| record != victim) {
            let flow = &self.records[spared as usize];
            if !self.wheel.is_in_slot_of(flow.spot, flow.over_at()) {
                self.unwind(spared);
                self.wind(spared);
            }
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
        while looked < budget {
            let most = PER_LINE.min(budget - looked);
            let mut records = [0; PER_LINE];
            let count = self.wheel.take(now.0, &mut records[..most]);
            if count == 0 {
                break;
            }
            looked += count;
            self.look_at(&records[..count], hash, now, ended);
        }
        looked
    }

    /// Ends those of some records that are over; the others go to the slots of their true times.
    /// What each step needs of memory, the one before asked for.
    fn look_at(
        &mut self,
        records: &[u32],
        hash: &FlowHash,
        now: Tick,
        ended: &mut impl FnMut(&Flow<A>),
    ) {
        for &record in records {
            self.prefetch(record);
        }
        let mut over = [(0, 0); PER_LINE];
        let mut count = 0;
        for &record in records {
            let flow = &self.records[record as usize];
            if flow.over_at() > now.0 {
                self.wind(record);
                continue;
            }
            ended(flow);
            let hash = hash.of(&flow.id());
            frame::prefetch::read(std::ptr::from_ref(self.line(hash)).cast());
            over[count] = (record, hash);
            count += 1;
        }
        for &(record, hash) in &over[..count] {
            self.forget(hash, record);
        }
    }

    /// Each flow, in no order.
    pub fn flows(&self) -> impl Iterator<Item = &Flow<A>> {
        self.wheel
            .items()
            .map(|record| &self.records[record as usize])
    }
}
