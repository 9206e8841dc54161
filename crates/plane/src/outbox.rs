//! Frames that a node makes while it works on a burst, with the port that each leaves by.

use frame::{Frame, PortId};

/// One frame of an [`Outbox`].
#[derive(Debug)]
pub struct Outgoing {
    /// The frame.
    pub frame: Frame,
    /// The port that it leaves by.
    pub to: PortId,
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
}

impl Outbox {
    /// An outbox with room for `room` frames.
    #[must_use]
    pub fn with_room(room: usize) -> Self {
        Self {
            outgoing: Vec::with_capacity(room),
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
