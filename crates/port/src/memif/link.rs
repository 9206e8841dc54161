//! What a connection gives to a queue: a ring each way, and the memory that their buffers lie in.

use std::sync::Arc;

use super::MemifRole;
use super::ring::{Fault, Ring};
use crate::sys::memif_memory::{Descriptor, MappedRing, SharedMemory};
use crate::sys::memif_socket::Interrupt;

/// All regions of a connection, by their index.
pub(super) type Regions = Arc<[Arc<SharedMemory>]>;

/// Where the buffers of a ring are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Buffers {
    /// The descriptor says it: the peer's memory.
    Described,
    /// One a place of the ring, in region 0: our memory, whatever a descriptor says. A variant that
    /// lends chunks of frame memory in their place would keep here which chunk is where.
    Own {
        first: u32,
        stride_bytes: u32,
        bytes: u32,
    },
}

/// A range of a region that was held against its bounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece {
    pub(super) region: u16,
    pub(super) offset: u32,
    pub(super) len: u32,
}

/// One ring with what belongs to it.
#[derive(Debug)]
pub(super) struct Direction {
    pub(super) ring: Ring<MappedRing>,
    pub(super) buffers: Buffers,
    pub(super) regions: Regions,
    pub(super) interrupt: Interrupt,
}

/// Both directions of one queue.
#[derive(Debug)]
pub(super) struct QueueLink {
    pub(super) rx: Direction,
    pub(super) tx: Direction,
}

impl Direction {
    pub(super) fn new(
        memory: MappedRing,
        role: MemifRole,
        buffers: Buffers,
        regions: &Regions,
        interrupt: Interrupt,
    ) -> Self {
        Self {
            ring: Ring::new(memory, role),
            buffers,
            regions: Arc::clone(regions),
            interrupt,
        }
    }

    /// The empty buffer of a place; `None` where only its descriptor knows it.
    #[inline(always)]
    pub(super) fn empty(&self, ahead: u16) -> Option<Descriptor> {
        let Buffers::Own {
            first,
            stride_bytes,
            bytes,
        } = self.buffers
        else {
            return None;
        };
        Some(Descriptor {
            flags: 0,
            region: 0,
            len: bytes,
            offset: first + u32::from(self.ring.place(ahead)) * stride_bytes,
            metadata: 0,
        })
    }

    /// What a descriptor, read once, names: with `len` from there, and the place from our own
    /// memory of it where we have one.
    #[inline(always)]
    pub(super) fn piece(&self, ahead: u16, said: Descriptor) -> Result<Piece, Fault> {
        if let Some(own) = self.empty(ahead) {
            return match said.len <= own.len {
                true => Ok(Piece {
                    region: 0,
                    offset: own.offset,
                    len: said.len,
                }),
                false => Err(Fault::Buffer),
            };
        }
        let region = self.regions.get(usize::from(said.region));
        let lies_within = region.is_some_and(|region| region.has(said.offset, said.len));
        match lies_within {
            true => Ok(Piece {
                region: said.region,
                offset: said.offset,
                len: said.len,
            }),
            false => Err(Fault::Buffer),
        }
    }

    #[inline(always)]
    pub(super) fn memory(&self, piece: Piece) -> &SharedMemory {
        &self.regions[usize::from(piece.region)]
    }
}

impl QueueLink {
    /// Makes both rings ready, when the peer has ended what it does to them first.
    pub(super) fn begin(&mut self) {
        self.rx.ring.memory().ask_for_interrupts(false);
        if let Buffers::Own { .. } = self.rx.buffers {
            // All buffers, empty, to be filled.
            let entries = self.rx.ring.entries();
            for ahead in 0..entries {
                if let Some(empty) = self.rx.empty(ahead) {
                    self.rx.ring.write(ahead, empty);
                }
            }
            self.rx.ring.advance(entries);
        }
        self.rx.ring.publish();
        self.tx.ring.publish();
    }
}
