//! How a fragment says which datagram it is of, once it was gathered: beside the frame.

use frame::{Frame, WorkerId};
use table::fragments::DatagramId;

use crate::DropReason;

const GENERATION_BITS: u32 = 24;
const SLOT_BITS: u32 = 24;
/// Set in every tag: none is 0.
const SET: u64 = 1 << 63;
/// Set instead where a gatherer has no use for a frame; the rest says why.
const REFUSED: u64 = 1 << 62;
const GATHERER_MASK: u64 = (1 << 14) - 1;

/// A datagram of the worker that gathers it. Tables have 2^24 places at most. A number of the 24
/// bits comes again when a place has had 16 million datagrams, and is then mistaken only if the
/// first fragment of the later one was lost between workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tag(u64);

impl Tag {
    pub(super) fn new(gatherer: WorkerId, id: DatagramId) -> Self {
        let (slot, generation) = id.parts();
        let slot = u64::from(slot & ((1 << SLOT_BITS) - 1));
        let generation = u64::from(generation & ((1 << GENERATION_BITS) - 1));
        let gatherer = u64::from(gatherer.0) & GATHERER_MASK;
        Self(SET | gatherer << (SLOT_BITS + GENERATION_BITS) | slot << GENERATION_BITS | generation)
    }

    /// That of a frame; none where nobody gathered it.
    #[inline]
    pub(super) fn of(frame: &Frame) -> Option<Self> {
        let tag = frame.meta().map_or(0, |meta| meta.datagram);
        (tag & SET != 0).then_some(Self(tag))
    }

    #[inline]
    pub(super) fn write(self, frame: &mut Frame) {
        frame.meta_mut().datagram = self.0;
    }

    #[inline]
    pub(super) fn gatherer(self) -> usize {
        (self.0 >> (SLOT_BITS + GENERATION_BITS)) as usize & GATHERER_MASK as usize
    }

    /// Which of the datagrams of its place it is; never 0.
    #[inline]
    pub(super) fn generation(self) -> u32 {
        self.0 as u32 & ((1 << GENERATION_BITS) - 1) | 1 << GENERATION_BITS
    }

    #[inline]
    pub(super) fn slot(self) -> usize {
        (self.0 >> GENERATION_BITS) as usize & ((1 << SLOT_BITS) - 1)
    }
}

/// Marks a frame that a gatherer has no use for: it is dropped for this reason when it is judged,
/// where it is counted and sampled as all that is dropped.
pub(super) fn refuse(frame: &mut Frame, reason: DropReason) {
    frame.meta_mut().datagram = REFUSED | reason.index() as u64;
}

/// Why a gatherer had no use for a frame.
pub(super) fn refused(frame: &Frame) -> Option<DropReason> {
    let tag = frame.meta().map_or(0, |meta| meta.datagram);
    if tag & (SET | REFUSED) != REFUSED {
        return None;
    }
    DropReason::all().nth((tag & !REFUSED) as usize)
}

/// Where a gathered fragment's datagram is in the table of its gatherer, which is part of it: what
/// is sent of one place to one worker has an order. 0 where nobody gathered it.
#[must_use]
pub fn datagram_place(frame: &Frame) -> u64 {
    Tag::of(frame).map_or(0, |tag| tag.0 >> GENERATION_BITS)
}
