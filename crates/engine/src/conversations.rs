//! What there is to say of a bridge's memory of conversations.

use plane::Stateful;

use crate::counters::{Count, Words};

/// Conversations, those of all workers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConversationReport {
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
    /// Conversations that could not begin for want of room.
    pub refused: u64,
    /// Records of them that were written down, where somebody reads them.
    pub records: u64,
    /// Records that found no room: the reader is too slow.
    pub records_lost: u64,
}

/// Counts what one worker's memory says now.
pub(crate) fn count(stateful: &Stateful, words: &mut Words) {
    let [v4, v6] = stateful.len();
    words.set(Count::Conversations4, v4 as u64);
    words.set(Count::Conversations6, v6 as u64);
    let sum = |of: fn(&table::flows::FlowCounts) -> u64| stateful.counts().map(of).iter().sum();
    words.set(Count::ConversationsBegun, sum(|counts| counts.begun));
    words.set(Count::ConversationsExpired, sum(|counts| counts.expired));
    words.set(Count::ConversationsEvicted, sum(|counts| counts.evicted));
    words.set(
        Count::ConversationsRefused,
        sum(|counts| counts.full + counts.crowded),
    );
    let (records, lost) = stateful.log_counts();
    words.set(Count::FlowRecords, records);
    words.set(Count::FlowRecordsLost, lost);
}

/// What all workers counted; none where nothing is remembered.
pub(crate) fn report(most: Option<u32>, sum: &Words) -> Option<ConversationReport> {
    let most = u64::from(most?);
    Some(ConversationReport {
        most,
        known: [
            sum.get(Count::Conversations4),
            sum.get(Count::Conversations6),
        ],
        begun: sum.get(Count::ConversationsBegun),
        expired: sum.get(Count::ConversationsExpired),
        evicted: sum.get(Count::ConversationsEvicted),
        refused: sum.get(Count::ConversationsRefused),
        records: sum.get(Count::FlowRecords),
        records_lost: sum.get(Count::FlowRecordsLost),
    })
}
