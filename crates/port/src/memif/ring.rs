//! One ring of a `memif:` port, from our side of it.
//!
//! ```text
//!   S2M, frames to the leader:           M2S, frames to the follower:
//!
//!    tail            head                 tail            head
//!     v               v                    v               v
//!   --+---------------+-----------       --+---------------+-----------
//!     | frames        | free               | free          | frames, and
//!     | leader's      | follower's         | leader's      | follower's
//! ```
//!
//! Either way the descriptors from tail to head are the leader's and all others the follower's; the
//! leader gives one back by moving the tail, the follower gives one away by moving the head. So one
//! rule serves all four cases: a side has the descriptors at its own index and behind it, as many
//! as the peer's index tells. A follower that receives has put empty buffers into the whole ring
//! before.
//!
//! The indices run freely over 16 bits. Nothing that the peer writes is believed: an index that is
//! no state of a ring of this size is a [`Fault`], and what a descriptor says is held against the
//! regions by who uses it.

use std::sync::atomic::Ordering;

use super::MemifRole;
use crate::sys::memif_memory::{Descriptor, Index, MappedRing, RingMemory};

/// The frame goes on in the next descriptor.
pub(super) const CONTINUES: u16 = 1;

/// The peer broke the rules of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// More descriptors changed hands than there are.
    Index = 1,
    /// A buffer that lies in no region, or an empty one.
    Buffer = 2,
    /// A frame that has no end.
    Endless = 3,
}

impl Fault {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Index => "ring index out of range",
            Self::Buffer => "buffer outside of its region",
            Self::Endless => "frame without an end",
        }
    }

    pub(super) fn from_number(number: u32) -> Option<Self> {
        [Self::Index, Self::Buffer, Self::Endless]
            .into_iter()
            .find(|fault| *fault as u32 == number)
    }
}

/// One side of a ring.
#[derive(Debug)]
pub(super) struct Ring<M: RingMemory = MappedRing> {
    memory: M,
    role: MemifRole,
    /// Our index; the peer learns of it by [`Ring::publish`].
    own: u16,
    /// The peer's, as it was last read.
    peer: u16,
}

impl<M: RingMemory> Ring<M> {
    /// A ring of which nothing was used yet.
    pub(super) fn new(memory: M, role: MemifRole) -> Self {
        Self {
            memory,
            role,
            own: 0,
            peer: 0,
        }
    }

    pub(super) fn memory(&self) -> &M {
        &self.memory
    }

    pub(super) fn entries(&self) -> u16 {
        self.memory.entries()
    }

    fn indices(&self) -> (Index, Index) {
        match self.role {
            MemifRole::Leader => (Index::Tail, Index::Head),
            MemifRole::Follower => (Index::Head, Index::Tail),
        }
    }

    /// Descriptors that are ours by what is known of the peer's index.
    #[inline(always)]
    fn known(&self) -> Option<u16> {
        let entries = self.memory.entries();
        match self.role {
            MemifRole::Leader => Some(self.peer.wrapping_sub(self.own)).filter(|n| *n <= entries),
            MemifRole::Follower => entries.checked_sub(self.own.wrapping_sub(self.peer)),
        }
    }

    /// Descriptors that are ours, up to `wanted`. Reads the peer's index only where what is known
    /// does not suffice: that line is written on another CPU.
    #[inline]
    pub(super) fn available(&mut self, wanted: u16) -> Result<u16, Fault> {
        let mut known = self.known().ok_or(Fault::Index)?;
        if known < wanted {
            // Acquire: what the peer wrote to descriptors and buffers, or read of them, before it
            // gave them to us.
            self.peer = self.memory.load(self.indices().1, Ordering::Acquire);
            known = self.known().ok_or(Fault::Index)?;
        }
        Ok(known.min(wanted))
    }

    /// The descriptor that stands `ahead` places behind our index, one of [`Ring::available`].
    #[inline(always)]
    pub(super) fn read(&self, ahead: u16) -> Descriptor {
        self.memory.read(self.own.wrapping_add(ahead))
    }

    #[inline(always)]
    pub(super) fn write(&self, ahead: u16, descriptor: Descriptor) {
        self.memory.write(self.own.wrapping_add(ahead), descriptor);
    }

    /// The place in the ring of the descriptor `ahead`.
    #[inline(always)]
    pub(super) fn place(&self, ahead: u16) -> u16 {
        self.own.wrapping_add(ahead) & (self.memory.entries() - 1)
    }

    /// Gives up the first `count`; the peer does not know yet.
    #[inline(always)]
    pub(super) fn advance(&mut self, count: u16) {
        self.own = self.own.wrapping_add(count);
    }

    /// Shows the peer all that was given up, by one store.
    #[inline(always)]
    pub(super) fn publish(&self) {
        // Release: descriptors and buffers come first.
        self.memory
            .store(self.indices().0, self.own, Ordering::Release);
    }

    /// Descriptors that the peer has and has not given back; asked anew.
    pub(super) fn outstanding(&mut self) -> u16 {
        let entries = self.memory.entries();
        entries - self.available(entries).unwrap_or(entries)
    }

    /// Whether the peer has given something since it was asked last.
    pub(super) fn is_waiting(&self) -> bool {
        self.memory.load(self.indices().1, Ordering::Acquire) != self.peer
    }
}
