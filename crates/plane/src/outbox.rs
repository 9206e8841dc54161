//! Frames that a node makes while it works on a burst, with the verdict on each.

use frame::{Frame, PortId};

use crate::Verdict;

/// Where a frame that a node sends comes from: the column of the accounting that it enters by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A copy of a frame of the burst.
    Copy,
    /// The node made it: a request, an answer, an error.
    Made,
    /// The node held it ([`crate::Node::keep`]), and it was counted when it came in.
    Held,
}

/// One frame of an [`Outbox`].
#[derive(Debug)]
pub struct Outgoing {
    /// The frame.
    pub frame: Frame,
    /// The port that it came in by, or that the frame came in by which it is about.
    pub from: PortId,
    /// Where it comes from.
    pub origin: Origin,
    /// What becomes of it: [`Verdict::Forward`] or [`Verdict::Drop`].
    pub verdict: Verdict,
    /// Frames of the burst that leave before it: it stands in front of the frame with this index.
    pub after: usize,
}

/// What a node sends beside the frames of the burst. The worker merges both by
/// [`Outgoing::after`], so that the order within a flow holds.
///
/// The room is fixed when the outbox is made: a worker allocates nothing later.
#[derive(Debug, Default)]
pub struct Outbox {
    outgoing: Vec<Outgoing>,
    /// A frame found no room.
    refused: bool,
}

impl Outbox {
    /// An outbox with room for `room` frames.
    #[must_use]
    pub fn with_room(room: usize) -> Self {
        Self {
            outgoing: Vec::with_capacity(room),
            refused: false,
        }
    }

    /// Adds a frame. `after` must not be below that of the frame added before.
    ///
    /// # Errors
    ///
    /// There is no room: the frame comes back.
    #[inline]
    pub fn push(&mut self, outgoing: Outgoing) -> Result<(), Frame> {
        let before = self.outgoing.last().map_or(0, |last| last.after);
        debug_assert!(before <= outgoing.after, "frames leave in order");
        if self.outgoing.len() == self.outgoing.capacity() {
            self.refused = true;
            return Err(outgoing.frame);
        }
        self.outgoing.push(outgoing);
        Ok(())
    }

    /// Whether nothing is to be sent.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.outgoing.is_empty()
    }

    /// Whether a frame found no room so far, or more room was asked for.
    #[must_use]
    pub fn has_refused(&self) -> bool {
        self.refused
    }

    /// Asks to be called again with room: what is due makes frames.
    pub fn ask_for_room(&mut self) {
        self.refused = true;
    }

    /// Frames that still have room.
    #[must_use]
    pub fn room(&self) -> usize {
        self.outgoing.capacity() - self.outgoing.len()
    }

    /// Frames to be sent.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outgoing.len()
    }

    /// Takes all of them out, in order.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = Outgoing> {
        self.outgoing.drain(..)
    }
}
