//! Counters: plain words private to a worker, copied now and then to where others may read them.
//!
//! A worker adds to its own [`Counters`] and never touches an atomic for a frame. About once a
//! millisecond, and when it stops, it stores them into its [`Board`]: one writer, plain stores,
//! any number of readers, on lines that no other worker writes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use frame::{BURST_MAX, PortId};
use plane::{DropReason, NodeCount, PassCounts, Ports};
use wire::LinkProtocol;

/// What is counted, apart from drops; hits are in a tally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Rx,
    RxBytes,
    Tx,
    Originated,
    Cloned,
    Consumed,
    Punted,
    Held,
    HandedOff,
    Received,
    /// Bursts that were not empty.
    Bursts,
    /// Time in steps that moved a frame, nanoseconds.
    BusyNanos,
    WouldDrop,
    /// Steps without a frame that ended in a system call, to give the CPU away or to sleep.
    Sleeps,
    /// CPU time of the whole thread, nanoseconds; known at its end.
    CpuNanos,
    /// Frames that a sender's port took; of drives alone.
    Sent,
    /// Their bytes, without FCS; of drives alone.
    TxBytes,
    /// Time in which frames waited for room at the port, nanoseconds; of drives alone.
    FullNanos,
    /// Until the next frame of a capture is due, nanoseconds; of drives alone.
    PauseNanos,
    /// Frames taken in that bear a signature; of drives alone.
    Signed,
    /// Time of the receptions that were timed, nanoseconds, and their frames.
    ReceptionNanos,
    ReceptionFrames,
    /// Flows that are known, of IPv4 and of IPv6.
    Flows4,
    Flows6,
    /// What was done with flows: [`crate::FlowReport`].
    FlowsBegun,
    FlowsExpired,
    FlowsEvicted,
    FlowsRefused,
    /// Records of flows written down, and those that found no room.
    FlowRecords,
    FlowRecordsLost,
    /// Packets in fragments that are known, and what was done with them and their fragments:
    /// [`crate::FragmentReport`].
    Datagrams,
    DatagramsBegun,
    DatagramsComplete,
    DatagramsTimedOut,
    DatagramsEvicted,
    DatagramsFlawed,
    DatagramsReused,
    FragmentsDuplicate,
    FragmentsWaited,
    FragmentsWaitedMost,
    /// When it was last shown, by the worker's clock, nanoseconds.
    ShownAt,
}

const DROPS_AT: usize = Count::ShownAt as usize + 1;
const BURSTS_AT: usize = DROPS_AT + DropReason::COUNT;
const PASSED_AT: usize = BURSTS_AT + BURST_BUCKETS;
const PORTS_AT: usize = PASSED_AT + LinkProtocol::ALL.len();
const NODE_AT: usize = PORTS_AT + 2 * Ports::MAX;
const WORDS: usize = NODE_AT + NODE_COUNTS_MAX;

/// What a node may count.
pub(crate) const NODE_COUNTS_MAX: usize = 64;

/// Bursts are told apart by their length: 1, 2, up to 4, 8 and so on.
pub(crate) const BURST_BUCKETS: usize = BURST_MAX.ilog2() as usize + 1;
const _: () = assert!(BURST_MAX.is_power_of_two());

/// One worker's counters, or the sum of several.
#[derive(Clone, Debug)]
pub(crate) struct Counters([u64; WORDS]);

impl Counters {
    pub(crate) fn new() -> Self {
        Self([0; WORDS])
    }

    #[inline]
    pub(crate) fn add(&mut self, count: Count, by: u64) {
        self.0[count as usize] += by;
    }

    /// Undoes part of an earlier [`Counters::add`]: of the same step before anyone was shown it, or
    /// of frames that a port said were sent and learned that they were not.
    pub(crate) fn take_back(&mut self, count: Count, by: u64) {
        self.0[count as usize] -= by;
    }

    #[inline]
    pub(crate) fn drop_frames(&mut self, reason: DropReason, frames: u64) {
        self.0[DROPS_AT + reason.index()] += frames;
    }

    /// Counts what a port took of the frames that it was given to send; none is a refusal.
    #[inline]
    pub(crate) fn offered(&mut self, port: PortId, taken: usize) {
        let at = PORTS_AT + 2 * (usize::from(port.0) % Ports::MAX);
        self.0[at] += taken as u64;
        self.0[at + 1] += u64::from(taken == 0);
    }

    /// Frames that a port took to send, and how often it took none of those that there were.
    pub(crate) fn taken(&self, port: PortId) -> (u64, u64) {
        let at = PORTS_AT + 2 * (usize::from(port.0) % Ports::MAX);
        (self.0[at], self.0[at + 1])
    }

    /// What the node counted, whose counts have these names.
    pub(crate) fn node_counts(&self, names: &[&'static str]) -> Vec<NodeCount> {
        let counted = names.iter().zip(&self.0[NODE_AT..]);
        counted
            .map(|(&name, &count)| NodeCount { name, count })
            .collect()
    }

    /// Where a node shows what it counted.
    pub(crate) fn node_mut(&mut self) -> &mut [u64] {
        &mut self.0[NODE_AT..]
    }

    /// Counts a burst that is not empty.
    #[inline]
    pub(crate) fn add_burst(&mut self, frames: usize) {
        self.add(Count::Bursts, 1);
        let bucket = frames.max(1).next_power_of_two().ilog2() as usize;
        self.0[BURSTS_AT + bucket.min(BURST_BUCKETS - 1)] += 1;
    }

    /// How many bursts there were of each length.
    pub(crate) fn burst_sizes(&self) -> &[u64; BURST_BUCKETS] {
        const NONE: &[u64; BURST_BUCKETS] = &[0; BURST_BUCKETS];
        self.0[BURSTS_AT..].first_chunk().unwrap_or(NONE)
    }

    #[inline]
    pub(crate) fn get(&self, count: Count) -> u64 {
        self.0[count as usize]
    }

    pub(crate) fn dropped(&self, reason: DropReason) -> u64 {
        self.0[DROPS_AT + reason.index()]
    }

    /// Frames that passed by a rule alone, by every rule.
    pub(crate) fn passed_by_rule(&self) -> Vec<(LinkProtocol, u64)> {
        let rules = LinkProtocol::ALL.iter();
        rules
            .map(|&rule| (rule, self.0[PASSED_AT + rule as usize]))
            .collect()
    }

    /// Replaces those counts, which a bridge keeps.
    pub(crate) fn set_passed(&mut self, counts: &PassCounts) {
        for &rule in LinkProtocol::ALL {
            self.0[PASSED_AT + rule as usize] = counts.of(rule);
        }
    }

    pub(crate) fn dropped_total(&self) -> u64 {
        self.0[DROPS_AT..BURSTS_AT].iter().sum()
    }

    /// Replaces a count that is kept elsewhere.
    #[inline]
    pub(crate) fn set(&mut self, count: Count, to: u64) {
        self.0[count as usize] = to;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, &word) in self.0.iter_mut().zip(&other.0) {
            *sum += word;
        }
    }
}

/// Where a worker shows its counters. Aligned to two lines, which adjacent-line prefetchers
/// fetch together.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Board {
    counters: [AtomicU64; WORDS],
    /// Nothing will come from its ports any more, and it holds no frame.
    quiet: AtomicBool,
}

impl Board {
    pub(crate) fn new() -> Self {
        Self {
            counters: [const { AtomicU64::new(0) }; WORDS],
            quiet: AtomicBool::new(false),
        }
    }

    /// Shows all counters. Only the worker that owns the board may call it.
    pub(crate) fn show(&self, counters: &Counters) {
        for (shown, &word) in self.counters.iter().zip(&counters.0) {
            shown.store(word, Ordering::Relaxed);
        }
    }

    /// Shows what passed between workers and whether this one is at rest. The order matters to
    /// [`at_rest`]: not quiet first, then what was handed off, then what was received.
    pub(crate) fn show_exchange(&self, counters: &Counters, quiet: bool) {
        if !quiet {
            self.quiet.store(false, Ordering::Release);
        }
        let show = |count: Count| {
            self.counters[count as usize].store(counters.get(count), Ordering::Release);
        };
        show(Count::HandedOff);
        show(Count::Received);
        if quiet {
            self.quiet.store(true, Ordering::Release);
        }
    }

    pub(crate) fn read(&self) -> Counters {
        let mut counters = Counters::new();
        for (word, shown) in counters.0.iter_mut().zip(&self.counters) {
            *word = shown.load(Ordering::Relaxed);
        }
        counters
    }

    fn get(&self, count: Count) -> u64 {
        self.counters[count as usize].load(Ordering::Acquire)
    }
}

/// Whether no worker holds a frame or can get one.
///
/// All that was received is read before all that was handed off: if they are equal, no frame was
/// between workers at that moment. A worker that took one out earlier has shown itself not quiet
/// before it showed the receipt, so the flags, read last, tell whether it is still at it.
pub(crate) fn at_rest<'a>(boards: impl Iterator<Item = &'a Board> + Clone) -> bool {
    let received: u64 = boards.clone().map(|board| board.get(Count::Received)).sum();
    let handed_off: u64 = boards
        .clone()
        .map(|board| board.get(Count::HandedOff))
        .sum();
    let mut boards = boards;
    received == handed_off && boards.all(|board| board.quiet.load(Ordering::Acquire))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_shows_what_the_worker_counted() {
        let (mut counters, board) = (Counters::new(), Board::new());
        counters.add(Count::Rx, 5);
        counters.drop_frames(DropReason::NonIp, 2);
        counters.0[PASSED_AT + LinkProtocol::Mld as usize] = 7;
        board.show(&counters);
        let seen = board.read();
        assert_eq!(
            (seen.get(Count::Rx), seen.dropped(DropReason::NonIp)),
            (5, 2)
        );
        assert_eq!((seen.get(Count::Tx), seen.dropped_total()), (0, 2));
        let passed = seen.passed_by_rule();
        assert_eq!(passed.last(), Some(&(LinkProtocol::Mld, 7)));
        assert_eq!(passed.iter().map(|(_, frames)| frames).sum::<u64>(), 7);
    }

    #[test]
    fn bursts_are_told_apart_by_powers_of_two() {
        let mut counters = Counters::new();
        for frames in 1..=BURST_MAX {
            counters.add_burst(frames);
        }
        assert_eq!(counters.burst_sizes(), &[1, 1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(counters.get(Count::Bursts), BURST_MAX as u64);
        assert_eq!(counters.dropped_total(), 0);
    }

    #[test]
    fn frames_between_workers_are_not_rest() {
        let boards = [Board::new(), Board::new()];
        let mut first = Counters::new();
        first.add(Count::HandedOff, 1);
        boards[0].show_exchange(&first, true);
        boards[1].show_exchange(&Counters::new(), true);
        assert!(!at_rest(boards.iter()));
        let mut second = Counters::new();
        second.add(Count::Received, 1);
        boards[1].show_exchange(&second, false);
        assert!(!at_rest(boards.iter()));
        boards[1].show_exchange(&second, true);
        assert!(at_rest(boards.iter()));
    }
}
