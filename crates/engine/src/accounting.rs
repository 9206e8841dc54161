//! The books: every frame that came in, against what became of it.

use plane::DropReason;

use crate::counters::{Count, Counters};

/// Frames by what became of them, over one worker or over all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accounting {
    /// Came in by a port.
    pub rx: u64,
    /// Made here: answers, retransmissions.
    pub originated: u64,
    /// Copies made to flood.
    pub cloned: u64,
    /// Left by a port.
    pub tx: u64,
    /// Ended here, their purpose served.
    pub consumed: u64,
    /// Given to the host's own stack.
    pub punted: u64,
    /// Kept by a table at the end of the run.
    pub held: u64,
    /// Given to another worker.
    pub handed_off: u64,
    /// Taken from another worker.
    pub received: u64,
    /// Dropped, by reason; only reasons that occurred, in the order of their declaration.
    pub dropped: Vec<(DropReason, u64)>,
}

impl Accounting {
    pub(crate) fn of(counters: &Counters) -> Self {
        let dropped = DropReason::all().map(|reason| (reason, counters.dropped(reason)));
        Self {
            rx: counters.get(Count::Rx),
            originated: counters.get(Count::Originated),
            cloned: counters.get(Count::Cloned),
            tx: counters.get(Count::Tx),
            consumed: counters.get(Count::Consumed),
            punted: counters.get(Count::Punted),
            held: counters.get(Count::Held),
            handed_off: counters.get(Count::HandedOff),
            received: counters.get(Count::Received),
            dropped: dropped.filter(|&(_, frames)| frames != 0).collect(),
        }
    }

    /// All drops together.
    #[must_use]
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().map(|&(_, frames)| frames).sum()
    }

    /// Whether what came in equals what became of it:
    /// `rx + originated + cloned + received = tx + consumed + punted + held + handed_off + drops`.
    #[must_use]
    pub fn balance(&self) -> bool {
        let entered = self.rx + self.originated + self.cloned + self.received;
        let kept = self.consumed + self.punted + self.held;
        entered == self.tx + kept + self.handed_off + self.dropped_total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_uncounted_frame_unbalances() {
        let mut counters = Counters::new();
        assert!(Accounting::of(&counters).balance());
        counters.add(Count::Rx, 3);
        counters.add(Count::Tx, 2);
        assert!(!Accounting::of(&counters).balance());
        counters.drop_frames(DropReason::BlockedSrc, 1);
        let accounting = Accounting::of(&counters);
        assert!(accounting.balance());
        assert_eq!(accounting.dropped, [(DropReason::BlockedSrc, 1)]);
        counters.add(Count::HandedOff, 1);
        assert!(!Accounting::of(&counters).balance());
        counters.add(Count::Received, 1);
        assert!(Accounting::of(&counters).balance());
    }
}
