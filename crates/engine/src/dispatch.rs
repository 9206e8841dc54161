//! Which worker a frame belongs to: receive-side scaling in software.

use frame::{Frame, WorkerId};
use wire::Parsed;
use wire::toeplitz::{Key, Toeplitz};

/// Buckets of the indirection table.
pub(crate) const BUCKETS: usize = 128;

/// Hashes frames to buckets and buckets to workers.
///
/// The key is the symmetric one, so both directions of a flow meet on one worker. A flow key has
/// ports for whole packets only: of a fragmented one only the first piece has them.
pub(crate) struct Dispatcher {
    hash: Toeplitz,
    owners: [WorkerId; BUCKETS],
}

impl Dispatcher {
    /// Buckets dealt out to `workers` in turn.
    pub(crate) fn new(workers: u16) -> Self {
        let owner = |bucket: usize| WorkerId(bucket as u16 % workers.max(1));
        Self {
            hash: Toeplitz::new(&Key::SYMMETRIC),
            owners: std::array::from_fn(owner),
        }
    }

    /// The worker that decides on this frame; what has no addresses belongs to the first.
    #[inline]
    pub(crate) fn owner(&self, frame: &Frame) -> WorkerId {
        let parsed = wire::parse(frame.bytes(), plane::original_len(frame));
        match self.bucket(&parsed) {
            Some(bucket) => self.owners[bucket % BUCKETS],
            None => WorkerId(0),
        }
    }

    #[inline]
    fn bucket(&self, parsed: &Parsed) -> Option<usize> {
        Some(self.hash.hash(&parsed.flow_key()?) as usize)
    }
}
