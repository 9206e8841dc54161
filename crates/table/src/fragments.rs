//! Datagrams in pieces: which bytes of each are there, what waits for its first piece, and when
//! one is given up.
//!
//! Memory is fixed when the table is made, and a piece costs constant work, but for one that comes
//! out of order, which is held against those of its datagram: at most
//! [`FragmentLimits::pieces`]. RFC 815 keeps the holes of a datagram; here pieces that overlap are
//! never taken in, so that a datagram is whole when the lengths of its pieces add up to its own
//! ([`oracle`] keeps holes, and tests hold the two together).
//!
//! Everything is sized for floods: a table that is full gives up one of two datagrams drawn at
//! random, that of the source with more of them, and a source with more than its share gives up
//! one of its own. Records are looked at for their time one after the other, all of them
//! in an eighth of it.

mod hash;
mod held;
mod kinds;
pub mod oracle;
mod pieces;
mod record;
mod room;
mod sources;
// No unsafe code is here, and floods take Miri hours.
#[cfg(all(test, not(miri)))]
mod tests;

use frame::Nanos;
use wire::{DatagramKey, Piece};

use crate::secret::Secret;
use held::Held;
use pieces::{Likeness, MorePieces};
use record::{NONE, Record};
use sources::Sources;

pub use hash::DatagramHash;
pub use kinds::{Flaw, FragmentCounts, FragmentLimits, Lost, Met, Refused};
pub use record::{DatagramId, State};

/// Parts of its time in which all records are looked at.
const SWEEPS: u64 = 8;
/// Records looked at in one call.
const SWEEP_MAX: u64 = 256;

/// Datagrams in pieces, of both families. `V` is what is decided of one, `T` what waits for that.
#[derive(Debug)]
pub struct FragmentTable<V, T> {
    limits: FragmentLimits,
    key: DatagramHash,
    /// First record of each chain.
    heads: Box<[u32]>,
    records: Box<[Record<V>]>,
    free: Vec<u32>,
    more: MorePieces,
    held: Held<T>,
    sources: Sources,
    /// The record that is looked at next, and when it was last moved.
    sweep: u32,
    swept: Nanos,
    /// State of the draws.
    draw: u64,
    counts: FragmentCounts,
}

impl<V: Copy, T> FragmentTable<V, T> {
    /// An empty table, with all memory it will have.
    #[must_use]
    pub fn new(limits: FragmentLimits) -> Self {
        Self::with_secret(limits, &Secret::draw())
    }

    fn with_secret(limits: FragmentLimits, secret: &Secret) -> Self {
        let count = limits.datagrams.clamp(1, 1 << 24);
        let limits = FragmentLimits {
            datagrams: count,
            held: limits.held.max(1),
            ..limits
        };
        let key = DatagramHash::with_secret(secret);
        Self {
            key,
            heads: vec![NONE; (2 * count as usize).next_power_of_two()].into(),
            records: (0..count).map(|_| Record::new()).collect(),
            free: (0..count).rev().collect(),
            more: MorePieces::new(count / 2),
            held: Held::new(limits.held),
            sources: Sources::new(&limits),
            sweep: 0,
            swept: Nanos(0),
            draw: key.seed(),
            counts: FragmentCounts::default(),
            limits,
        }
    }

    /// What it may have.
    #[must_use]
    pub fn limits(&self) -> &FragmentLimits {
        &self.limits
    }

    /// What was counted.
    #[must_use]
    pub fn counts(&self) -> &FragmentCounts {
        &self.counts
    }

    /// Datagrams there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len() - self.free.len()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many things wait.
    #[must_use]
    #[inline]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Bytes of memory; they do not change.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.heads)
            + size_of_val(&*self.records)
            + self.free.capacity() * size_of::<u32>()
            + self.more.bytes()
            + self.held.bytes()
            + self.sources.bytes()
    }

    /// The place of a datagram; `side` is another part of its name.
    #[inline]
    #[must_use]
    pub fn hash(&self, key: &DatagramKey, side: u8) -> u64 {
        self.key.of(key, side)
    }

    /// Asks for the beginning of a chain; before [`FragmentTable::prefetch_record`].
    #[inline]
    pub fn prefetch_head(&self, hash: u64) {
        let head = &raw const self.heads[self.chain(hash)];
        frame::prefetch::read(head.cast());
    }

    /// Asks for the first record of a chain.
    #[inline]
    pub fn prefetch_record(&self, hash: u64) {
        let first = self.heads[self.chain(hash)];
        if let Some(record) = self.records.get(first as usize) {
            let start = (&raw const *record).cast::<u8>();
            frame::prefetch::read(start);
            frame::prefetch::read(start.wrapping_add(64));
        }
    }

    #[inline]
    fn chain(&self, hash: u64) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    /// Takes a piece in, of the datagram with this key and side, whose hash this is.
    ///
    /// # Errors
    /// Why it was not taken in. What that costs others comes out of `lost`.
    pub fn meet(
        &mut self,
        piece: &Piece,
        (side, hash): (u8, u64),
        now: Nanos,
        lost: &mut impl FnMut(T, Lost),
    ) -> Result<Met, Refused> {
        let chain = self.chain(hash);
        let mut at = self.heads[chain];
        while let Some(record) = self.records.get(at as usize) {
            if record.is(&piece.key, side) {
                if now.since(record.born) < self.limits.timeout.0 {
                    return self.join(at, piece, lost);
                }
                self.counts.timed_out += 1;
                self.end(at, Lost::TimedOut, lost);
                break;
            }
            at = record.next;
        }
        self.begin(piece, (side, chain), now, lost)
    }

    /// The first piece of a datagram that comes.
    fn begin(
        &mut self,
        piece: &Piece,
        (side, chain): (u8, usize),
        now: Nanos,
        lost: &mut impl FnMut(T, Lost),
    ) -> Result<Met, Refused> {
        let source = self.sources.of(&piece.key, &self.key);
        if self.sources.is_full(source) && !self.evict_of(source, lost) {
            return Err(Refused::Source);
        }
        if self.free.is_empty() {
            self.evict(lost);
        }
        // One was free, or is now.
        let Some(at) = self.free.pop() else {
            return Err(Refused::Source);
        };
        self.counts.begun += 1;
        self.sources.add(source);
        let record = &mut self.records[at as usize];
        record.begin(piece, side, (source, now));
        record.next = self.heads[chain];
        record.chain = chain as u32;
        self.heads[chain] = at;
        self.add(at, piece, lost)
    }

    /// Another piece of a known datagram.
    fn join(
        &mut self,
        at: u32,
        piece: &Piece,
        lost: &mut impl FnMut(T, Lost),
    ) -> Result<Met, Refused> {
        let record = &self.records[at as usize];
        if let State::Bad(flaw) = record.state {
            return Err(Refused::Flawed(flaw));
        }
        if record.has_other_first(piece) {
            self.counts.reused += 1;
            return self.spoil(at, Flaw::Reused, lost);
        }
        if piece.start < record.reach {
            match record.compare(piece, &self.more) {
                Likeness::Apart => {}
                Likeness::Same => {
                    self.counts.duplicates += 1;
                    return Err(Refused::Duplicate);
                }
                Likeness::Overlap => return self.spoil(at, Flaw::Overlap, lost),
            }
        }
        self.add(at, piece, lost)
    }

    /// Adds a piece that overlaps none.
    #[inline]
    fn add(
        &mut self,
        at: u32,
        piece: &Piece,
        lost: &mut impl FnMut(T, Lost),
    ) -> Result<Met, Refused> {
        let record = &mut self.records[at as usize];
        if !record.fits(piece) {
            return self.spoil(at, Flaw::Length, lost);
        }
        if record.count >= self.limits.pieces || !record.push(piece, &mut self.more) {
            return self.spoil(at, Flaw::Pieces, lost);
        }
        let complete = record.is_complete();
        self.counts.complete += u64::from(complete);
        Ok(Met {
            id: record.id(at),
            complete,
        })
    }

    /// A datagram is bad: what waits for it is lost, and what comes of it is refused.
    fn spoil(
        &mut self,
        at: u32,
        flaw: Flaw,
        lost: &mut impl FnMut(T, Lost),
    ) -> Result<Met, Refused> {
        self.counts.flawed += 1;
        self.records[at as usize].state = State::Bad(flaw);
        self.empty(at, Lost::Flawed(flaw), lost);
        Err(Refused::Flawed(flaw))
    }

    /// Gives back what waits for a datagram, and forgets its pieces.
    fn empty(&mut self, at: u32, why: Lost, lost: &mut impl FnMut(T, Lost)) {
        let record = &mut self.records[at as usize];
        let source = record.source;
        let count = self
            .held
            .take(&mut record.waiting, &mut |item| lost(item, why));
        self.sources.release(source, count);
        record.forget_pieces(&mut self.more);
    }

    /// Ends a datagram.
    fn end(&mut self, at: u32, why: Lost, lost: &mut impl FnMut(T, Lost)) {
        self.empty(at, why, lost);
        let record = &mut self.records[at as usize];
        let (chain, next) = (record.chain as usize, record.next);
        self.sources.remove(record.source);
        record.end();
        let mut link = self.heads[chain];
        if link == at {
            self.heads[chain] = next;
        } else {
            while let Some(before) = self.records.get_mut(link as usize) {
                if before.next == at {
                    before.next = next;
                    break;
                }
                link = before.next;
            }
        }
        self.free.push(at);
    }

    /// What is known of a datagram; `None` when it has ended.
    #[inline]
    #[must_use]
    pub fn state(&self, id: DatagramId) -> Option<State<V>> {
        self.known(id).map(|record| record.state)
    }

    /// Whether anything waits for it.
    #[inline]
    #[must_use]
    pub fn is_awaited(&self, id: DatagramId) -> bool {
        self.known(id)
            .is_some_and(|record| !record.waiting.is_empty())
    }

    #[inline]
    fn known(&self, id: DatagramId) -> Option<&Record<V>> {
        let record = self.records.get(id.at as usize)?;
        record.has(id).then_some(record)
    }

    /// Decides on a datagram, unless it is bad or has ended.
    #[inline]
    pub fn judge(&mut self, id: DatagramId, verdict: V) {
        if let Some(record) = self.records.get_mut(id.at as usize)
            && record.has(id)
            && matches!(record.state, State::Waiting)
        {
            record.state = State::Judged(verdict);
        }
    }

    /// Keeps a thing of a datagram until it is released or lost.
    ///
    /// # Errors
    /// The thing, and why it cannot wait.
    pub fn hold(
        &mut self,
        id: DatagramId,
        item: T,
        lost: &mut impl FnMut(T, Lost),
    ) -> Result<(), (T, Lost)> {
        let Some(source) = self.known(id).map(|record| record.source) else {
            return Err((item, Lost::Evicted));
        };
        if self.sources.holds_too_much(source) {
            self.make_room(Some(source), lost);
            if self.sources.holds_too_much(source) {
                return Err((item, Lost::Source));
            }
        } else if self.held.is_full() {
            self.make_room(None, lost);
        }
        // It may have been the one that was given up.
        let record = &mut self.records[id.at as usize];
        if !record.has(id) {
            return Err((item, Lost::Evicted));
        }
        match self.held.push(&mut record.waiting, id.at, item) {
            Ok(()) => {
                self.sources.hold(source);
                self.counts.waited += 1;
                self.counts.held_max = self.counts.held_max.max(self.held.len() as u64);
                Ok(())
            }
            Err(item) => Err((item, Lost::Evicted)),
        }
    }

    /// Gives back all that waits for a datagram, in the order in which it came.
    #[inline]
    pub fn release(&mut self, id: DatagramId, give: &mut impl FnMut(T)) {
        if let Some(record) = self.records.get_mut(id.at as usize)
            && record.has(id)
        {
            let source = record.source;
            let count = self.held.take(&mut record.waiting, give);
            self.sources.release(source, count);
        }
    }

    /// Forgets a datagram of which all is there; nothing waits for it.
    #[inline]
    pub fn finish(&mut self, id: DatagramId) {
        if self.known(id).is_some() {
            self.end(id.at, Lost::TimedOut, &mut |_, _| ());
        }
    }

    /// Ends what is over: call it often, each looks at a few records.
    pub fn expire(&mut self, now: Nanos, lost: &mut impl FnMut(T, Lost)) {
        let count = self.records.len() as u64;
        let period = (self.limits.timeout.0 / SWEEPS).max(1);
        let due = u128::from(now.since(self.swept)) * u128::from(count) / u128::from(period);
        let due = u64::try_from(due).unwrap_or(u64::MAX).min(count);
        if due == 0 {
            return;
        }
        let done = due.min(SWEEP_MAX);
        // What is left is due at the next call.
        let behind = u128::from(due - done) * u128::from(period) / u128::from(count);
        self.swept = Nanos(now.0.saturating_sub(behind as u64));
        for _ in 0..done {
            let at = self.sweep;
            self.sweep = (at + 1) % count as u32;
            let record = &self.records[at as usize];
            if record.is_used() && now.since(record.born) >= self.limits.timeout.0 {
                self.counts.timed_out += 1;
                self.end(at, Lost::TimedOut, lost);
            }
        }
    }

    /// Ends all.
    pub fn clear(&mut self, lost: &mut impl FnMut(T, Lost)) {
        for at in 0..self.records.len() as u32 {
            if self.records[at as usize].is_used() {
                self.end(at, Lost::Evicted, lost);
            }
        }
    }
}
