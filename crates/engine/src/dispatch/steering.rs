//! From frames to buckets, and from buckets to workers: receive-side scaling in software.

use frame::{BURST_MAX, Burst, Frame, WorkerId};
use wire::toeplitz::{Key, Toeplitz};

/// Buckets that flows are hashed to.
pub(crate) const BUCKETS: usize = 128;

/// The place of frames without addresses, behind the buckets: the first worker's, for good.
pub(crate) const NO_FLOW: usize = BUCKETS;

/// A place of the table for each bucket, and one for what has no flow.
pub(crate) const PLACES: usize = BUCKETS + 1;

/// One worker's view of the indirection, and what it received by bucket.
///
/// The key is the symmetric one, so both directions of a flow meet on one worker. A flow key has
/// ports for whole packets only: of a fragmented one only the first piece has them.
pub(crate) struct Steering {
    hash: Toeplitz,
    owners: [WorkerId; PLACES],
    /// Frames received by this worker, by place.
    loads: Box<[u64; PLACES]>,
    /// Where the frames of the burst that was placed last belong.
    places: Box<[u8; BURST_MAX]>,
}

const _: () = assert!(PLACES <= 1 << u8::BITS && BUCKETS.is_power_of_two());

impl Steering {
    /// Buckets dealt out to `workers` in turn.
    pub(crate) fn new(workers: u16) -> Self {
        Self {
            hash: Toeplitz::new(&Key::SYMMETRIC),
            owners: dealt(workers),
            loads: Box::new([0; PLACES]),
            places: Box::new([0; BURST_MAX]),
        }
    }

    /// Finds the place of each frame of a burst and counts it, received by this worker.
    #[inline]
    pub(crate) fn place_received(&mut self, burst: &Burst) {
        self.place(burst);
        for &place in &self.places[..burst.len()] {
            self.loads[usize::from(place)] += 1;
        }
    }

    /// Finds the place of each frame of a burst.
    #[inline]
    pub(crate) fn place(&mut self, burst: &Burst) {
        for frame in burst.frames() {
            frame::prefetch::read(frame.header_ptr());
        }
        for (place, frame) in self.places.iter_mut().zip(burst.frames()) {
            *place = place_of(&self.hash, frame);
        }
    }

    /// The places found last, one for each frame of that burst, and who owns which place.
    #[inline]
    pub(crate) fn placed(&self) -> (&[u8; BURST_MAX], &[WorkerId; PLACES]) {
        (&self.places, &self.owners)
    }
}

/// The owners at the start: buckets dealt out to `workers` in turn.
pub(crate) fn dealt(workers: u16) -> [WorkerId; PLACES] {
    std::array::from_fn(|place| match place {
        NO_FLOW => WorkerId(0),
        bucket => WorkerId(bucket as u16 % workers.max(1)),
    })
}

#[inline]
fn place_of(hash: &Toeplitz, frame: &Frame) -> u8 {
    let parsed = wire::parse(frame.bytes(), plane::original_len(frame));
    match parsed.flow_key() {
        Some(key) => (hash.hash(&key) as usize % BUCKETS) as u8,
        None => NO_FLOW as u8,
    }
}
