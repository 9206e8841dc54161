//! The way home for chunks freed by other workers: many producers, one consumer, never full.
//!
//! One array a pool, not one ring a pair of pools: 64 workers with 16,384 chunks each need 4 MiB of
//! it, where pairs would need 4,032 rings and 252 MiB. A linked list through the chunks would need
//! no more room, but the owner would walk it at one cache miss a chunk; here 16 chunks share a
//! line.
//!
//! Freeing a burst reserves places for all its chunks of one pool by one atomic addition. That
//! cannot overrun the owner: the array has a place for each chunk of the pool, and a chunk is on
//! its way home at most once.

use crate::sync::{AtomicU32, AtomicUsize, LinePadded, Ordering};

/// Chunks on their way home to one pool.
#[derive(Debug)]
pub(crate) struct Returns {
    /// Places ever reserved; runs freely.
    reserved: LinePadded<AtomicUsize>,
    /// Chunk index plus one, or 0 for a place that is empty or reserved and not yet filled. A power
    /// of two of places, no fewer than the pool has chunks.
    places: Box<[AtomicU32]>,
}

impl Returns {
    /// For a pool of `total` chunks.
    pub(crate) fn new(total: u32) -> Returns {
        let places = (total.max(1) as usize).next_power_of_two();
        Returns {
            reserved: LinePadded(AtomicUsize::new(0)),
            places: (0..places).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    #[inline(always)]
    fn place(&self, index: usize) -> &AtomicU32 {
        &self.places[index & (self.places.len() - 1)]
    }

    /// Sends chunks home. Their handles end with this.
    ///
    /// `AcqRel`: position `p` is reserved only when some chunk between `p - places` and `p` was
    /// sent, taken by the owner, lent again and freed again, since there are more positions than
    /// chunks. So the owner's clearing of place `p` came before, and is seen to come before, our
    /// store to it.
    pub(crate) fn send(&self, chunks: impl ExactSizeIterator<Item = u32>) {
        let first = self.reserved.0.fetch_add(chunks.len(), Ordering::AcqRel);
        for (offset, chunk) in chunks.enumerate() {
            // Release: what the sender wrote to the frame comes before the next owner's writes.
            self.place(first.wrapping_add(offset))
                .store(chunk + 1, Ordering::Release);
        }
    }

    /// Takes the chunks that have arrived, the `taken`-th and later; how many were taken ever. Only
    /// the owner may call it, with what the last call returned. A place that is reserved and not
    /// yet filled ends it: what lies behind is taken the next time.
    pub(crate) fn receive(&self, taken: usize, mut each: impl FnMut(u32)) -> usize {
        let mut next = taken;
        // At most one round: chunks that `each` could send anew are not waited for.
        for _ in 0..self.places.len() {
            let place = self.place(next);
            let Some(chunk) = place.load(Ordering::Acquire).checked_sub(1) else {
                break;
            };
            place.store(0, Ordering::Relaxed);
            next = next.wrapping_add(1);
            each(chunk);
        }
        next
    }

    /// How many chunks were sent ever.
    pub(crate) fn sent(&self) -> usize {
        self.reserved.0.load(Ordering::Relaxed)
    }
}
