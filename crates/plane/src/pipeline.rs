//! The order of stages, as an enum of known shapes.

use frame::{Burst, Frame, Nanos, PortId};

use crate::{
    Bridge, Fragments, Gatherer, HitAddresses, Hits, MatchedLists, PassCounts, Route, Ruleset,
    Stateful, Verdicts,
};

/// What a worker does with a burst. One shape so far.
#[derive(Debug)]
pub enum Pipeline {
    /// Classify, then bridge.
    Bridge(Box<Bridge>),
}

impl Pipeline {
    /// Decides on a burst that came in by a port: clears `verdicts` and fills one place a frame.
    /// `meanwhile` is called once: while it waits for memory, if it does.
    #[inline]
    pub fn decide(
        &mut self,
        arrived: (&Burst, PortId),
        ruleset: &Ruleset,
        verdicts: &mut Verdicts,
        overlap: &mut dyn FnMut(),
    ) {
        match self {
            Self::Bridge(bridge) => {
                bridge.decide_overlapped(arrived, ruleset, verdicts, overlap);
            }
        }
    }

    /// What time it is, for flows.
    #[inline]
    pub fn set_now(&mut self, now: Nanos) {
        match self {
            Self::Bridge(bridge) => bridge.set_now(now),
        }
    }

    /// The flows, if it remembers them.
    #[must_use]
    pub fn stateful(&self) -> Option<&Stateful> {
        match self {
            Self::Bridge(bridge) => bridge.stateful(),
        }
    }

    /// The same, to give buckets to another worker's or to take them over.
    pub fn stateful_mut(&mut self) -> Option<&mut Stateful> {
        match self {
            Self::Bridge(bridge) => bridge.stateful_mut(),
        }
    }

    /// Packets in fragments, where some may wait.
    #[inline]
    pub fn fragments(&mut self) -> Option<&mut Fragments> {
        match self {
            Self::Bridge(bridge) => bridge.fragments(),
        }
    }

    /// What gathers fragments, where several workers do.
    #[inline]
    pub fn gatherer(&mut self) -> Option<&mut Gatherer> {
        match self {
            Self::Bridge(bridge) => bridge.gatherer(),
        }
    }

    /// Gathers the fragments of a burst: see [`Bridge::gather`].
    pub fn gather(
        &mut self,
        burst: &mut Burst,
        from: (PortId, &Ruleset),
        verdicts: &mut Verdicts,
        to: (&mut dyn FnMut(&Frame) -> Route, &mut Burst),
    ) {
        match self {
            Self::Bridge(bridge) => bridge.gather(burst, from, verdicts, to),
        }
    }

    /// Whether gathered fragments wait to go on.
    #[must_use]
    #[inline]
    pub fn has_gathered(&self) -> bool {
        match self {
            Self::Bridge(bridge) => bridge.has_gathered(),
        }
    }

    /// Whether frames wait to be carried out behind fragments that were held.
    #[must_use]
    #[inline]
    pub fn has_released(&self) -> bool {
        match self {
            Self::Bridge(bridge) => bridge.has_released(),
        }
    }

    /// Whether frames may wait in it for others.
    #[must_use]
    #[inline]
    pub fn may_hold(&self) -> bool {
        match self {
            Self::Bridge(bridge) => bridge.may_hold(),
        }
    }

    /// Frames that it holds.
    #[must_use]
    #[inline]
    pub fn held(&self) -> usize {
        match self {
            Self::Bridge(bridge) => bridge.held(),
        }
    }

    /// The hits of its sets since [`Pipeline::restart_hits`].
    #[must_use]
    pub fn hits(&self) -> &Hits {
        match self {
            Self::Bridge(bridge) => bridge.hits(),
        }
    }

    /// Frames that passed by a rule alone: see [`Bridge::passed`].
    #[must_use]
    pub fn passed(&self) -> &PassCounts {
        match self {
            Self::Bridge(bridge) => bridge.passed(),
        }
    }

    /// Begins with another table of the addresses that are hit, and returns the one so far.
    pub fn swap_addresses(&mut self, next: Box<HitAddresses>) -> Box<HitAddresses> {
        match self {
            Self::Bridge(bridge) => bridge.swap_addresses(next),
        }
    }

    /// Tells again which frames of the last burst, which came in by `from`, had an address in a
    /// set.
    pub fn each_match(
        &self,
        from: PortId,
        ruleset: &Ruleset,
        each: impl FnMut(usize, MatchedLists),
    ) {
        match self {
            Self::Bridge(bridge) => bridge.each_match(from, ruleset, each),
        }
    }

    /// Counts hits from nothing.
    pub fn restart_hits(&mut self) {
        match self {
            Self::Bridge(bridge) => bridge.restart_hits(),
        }
    }
}
