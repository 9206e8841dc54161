//! Sound frames that follow each other without gap.

use crate::Signature;
use crate::signature::MASK;

/// Frames of one stream, numbered one after the other and signed at the same time: what a sender
/// made at once, most often, so that a burst is accounted for by one look at its stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    first: Signature,
    count: u64,
    bytes: u64,
    /// Of a frame by itself: by how much a later one of its own flow overtook it.
    overtaken: Option<u64>,
}

impl Run {
    /// Of one frame.
    #[inline(always)]
    pub(super) const fn of(first: Signature, bytes: usize, overtaken: Option<u64>) -> Self {
        Self {
            first,
            count: 1,
            bytes: bytes as u64,
            overtaken,
        }
    }

    /// Takes a frame if it is the next; whether it is.
    #[inline(always)]
    pub(super) fn extend(&mut self, signature: &Signature, bytes: usize) -> bool {
        // No number follows the last there can be.
        let next = Signature {
            sequence: (self.first.sequence + self.count) & MASK,
            ..self.first
        };
        let follows = self.overtaken.is_none() && *signature == next && next.sequence != 0;
        if follows {
            self.count += 1;
            self.bytes += bytes as u64;
        }
        follows
    }

    /// The first of them.
    pub(super) const fn first(&self) -> &Signature {
        &self.first
    }

    /// How many they are, at least one.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Of all of them together.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// By how much a later frame of its own flow overtook it.
    pub(super) const fn overtaken(&self) -> Option<u64> {
        self.overtaken
    }

    /// The last number.
    pub(super) const fn last(&self) -> u64 {
        self.first.sequence + self.count - 1
    }
}
