//! What judging a frame counts: hits by set and by address, or nothing.

use wire::Parsed;

use crate::ruleset::Matched;
use crate::{HitAddresses, Hits};

/// Told what a frame matched.
pub(crate) trait Counting {
    /// An address of a header is in a set.
    fn address(&mut self, parsed: &Parsed, matched: Matched);
    /// A frame that came in by the port at place `arrival` is in sets.
    fn frame(&mut self, arrival: usize, matched: Matched);
    /// These sets would have stopped a frame if they did more than count.
    fn trial(&mut self, lists: u32);
}

/// What is counted of frames with an address in a set.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) hits: Hits,
    pub(crate) addresses: Box<HitAddresses>,
}

impl Counting for Counted {
    #[inline]
    fn address(&mut self, parsed: &Parsed, matched: Matched) {
        self.addresses.record(parsed, matched);
    }

    #[inline]
    fn frame(&mut self, arrival: usize, matched: Matched) {
        self.hits.record(arrival, matched);
    }

    #[inline]
    fn trial(&mut self, lists: u32) {
        self.hits.record_trial(lists);
    }
}

/// For frames that are judged once more.
pub(crate) struct Uncounted;

impl Counting for Uncounted {
    fn address(&mut self, _: &Parsed, _: Matched) {}

    fn frame(&mut self, _: usize, _: Matched) {}

    fn trial(&mut self, _: u32) {}
}
