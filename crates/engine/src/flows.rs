//! What there is to say of a bridge's memory of flows.

use plane::Stateful;

use crate::counters::{Count, Counters};

/// Flows, those of all workers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowReport {
    /// How many may be known at most, of IPv4 and as many of IPv6.
    pub most: u64,
    /// How many are known, of IPv4 and of IPv6.
    pub known: [u64; 2],
    /// How many have begun.
    pub begun: u64,
    /// Of those, whose time was over.
    pub expired: u64,
    /// Of those, ended to make room.
    pub evicted: u64,
    /// Flows that could not begin for want of room.
    pub refused: u64,
    /// Records of them that were written down, where somebody reads them.
    pub records: u64,
    /// Records that found no room: the reader is too slow.
    pub records_lost: u64,
}

/// Counts what one worker's memory says now.
pub(crate) fn count(stateful: &Stateful, counters: &mut Counters) {
    let [v4, v6] = stateful.len();
    counters.set(Count::Flows4, v4 as u64);
    counters.set(Count::Flows6, v6 as u64);
    let sum = |of: fn(&table::flows::FlowCounts) -> u64| stateful.counts().map(of).iter().sum();
    counters.set(Count::FlowsBegun, sum(|counts| counts.begun));
    counters.set(Count::FlowsExpired, sum(|counts| counts.expired));
    counters.set(Count::FlowsEvicted, sum(|counts| counts.evicted));
    counters.set(
        Count::FlowsRefused,
        sum(|counts| counts.full + counts.crowded),
    );
    let (records, lost) = stateful.log_counts();
    counters.set(Count::FlowRecords, records);
    counters.set(Count::FlowRecordsLost, lost);
}

/// What all workers counted; none where nothing is remembered.
pub(crate) fn report(most: Option<u32>, sum: &Counters) -> Option<FlowReport> {
    let most = u64::from(most?);
    Some(FlowReport {
        most,
        known: [sum.get(Count::Flows4), sum.get(Count::Flows6)],
        begun: sum.get(Count::FlowsBegun),
        expired: sum.get(Count::FlowsExpired),
        evicted: sum.get(Count::FlowsEvicted),
        refused: sum.get(Count::FlowsRefused),
        records: sum.get(Count::FlowRecords),
        records_lost: sum.get(Count::FlowRecordsLost),
    })
}
