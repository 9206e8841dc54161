//! Frames that wait for the Ethernet address of their next hop.

use std::collections::VecDeque;

use frame::{Frame, FramePool, PortId};
use stack::neighbours::Key;

use super::arrive::Arrival;
use crate::Origin;

/// Frames that wait at most.
pub(super) const HELD_MAX: usize = 256;
/// Frames that wait for one neighbour at most: what a connection begins with.
const OF_ONE: usize = 8;

/// What is known of a frame that waits: it is ready but for the address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) key: Key,
    pub(super) from: PortId,
    pub(super) arrival: Arrival,
    /// How it is counted when it leaves.
    pub(super) origin: Origin,
    /// It counts as forwarded when it leaves.
    pub(super) is_forwarded: bool,
}

/// Frames that wait, in order.
#[derive(Debug)]
pub(super) struct Waiting {
    /// A frame of the burst has its place before the worker hands it over.
    held: VecDeque<(Ticket, Option<Frame>)>,
    /// Places whose frame is to come.
    empty: usize,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            held: VecDeque::with_capacity(HELD_MAX),
            empty: 0,
        }
    }
}

impl Waiting {
    /// Whether one more may wait for a neighbour.
    pub(super) fn has_room(&self, key: &Key) -> bool {
        let of_one = || self.held.iter().filter(|(ticket, _)| ticket.key == *key);
        self.held.len() < HELD_MAX && of_one().count() < OF_ONE
    }

    /// The frame that is decided on waits: the worker hands it over when the burst is done.
    pub(super) fn expect(&mut self, ticket: Ticket) {
        self.empty += 1;
        self.held.push_back((ticket, None));
    }

    /// Takes the next frame that was expected.
    pub(super) fn keep(&mut self, frame: Frame) -> Result<(), Frame> {
        // Places are filled in order, those of this burst are at the end.
        let mut places = self.held.iter_mut().filter(|(_, place)| place.is_none());
        let Some((_, place)) = places.next() else {
            return Err(frame);
        };
        *place = Some(frame);
        self.empty -= 1;
        Ok(())
    }

    /// Takes a frame that is not of the burst.
    pub(super) fn add(&mut self, ticket: Ticket, frame: Frame) {
        self.held.push_back((ticket, Some(frame)));
    }

    /// Frames that were counted when they came in.
    pub(super) fn held(&self) -> usize {
        let is_counted = |ticket: &Ticket| ticket.origin == Origin::Held;
        let held = self.held.iter();
        held.filter(|(ticket, frame)| is_counted(ticket) && frame.is_some())
            .count()
    }

    /// All frames.
    pub(super) fn len(&self) -> usize {
        self.held.len() - self.empty
    }

    /// The next frame that waits for a neighbour.
    pub(super) fn take(&mut self, key: &Key) -> Option<(Ticket, Frame)> {
        let is_next =
            |(ticket, frame): &(Ticket, Option<Frame>)| ticket.key == *key && frame.is_some();
        let at = self.held.iter().position(is_next)?;
        let (ticket, frame) = self.held.remove(at)?;
        Some((ticket, frame?))
    }

    pub(super) fn give_up(&mut self, pool: &mut FramePool) {
        let frames = self.held.drain(..).filter_map(|(_, frame)| frame);
        frames.for_each(|frame| pool.free(frame));
        self.empty = 0;
    }
}
