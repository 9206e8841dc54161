//! What a sink says.

use crate::LatencyReport;

/// What a sink knows of one stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamReport {
    /// The stream.
    pub stream: u16,
    /// Sound frames, duplicates among them.
    pub received: u64,
    /// Bytes of them in memory, without FCS.
    pub bytes: u64,
    /// Numbers that came at least once: `received - duplicated - outside_window`.
    pub unique: u64,
    /// Lowest and highest number that came.
    pub lowest: u64,
    /// See `lowest`.
    pub highest: u64,
    /// Numbers from lowest to highest that did not come, sound, in time: an upper bound where
    /// `outside_window` is not 0. See [`Self::lost_of`] for frames lost at the ends.
    pub lost: u64,
    /// Frames whose number had come already, within the window.
    pub duplicated: u64,
    /// Frames that a later one of their own flow overtook and that are no duplicates: those of RFC
    /// 4737 section 3.3, a flow being what has an order.
    pub reordered: u64,
    /// The greatest difference of numbers by which one was reordered.
    pub reordered_by_max: u64,
    /// Frames that later ones of other flows alone overtook: flows took different ways, as over
    /// several queues, which harms none.
    pub across_flows: u64,
    /// Frames with a number so far below the highest that it is not known any more whether it had
    /// come: late, or a duplicate.
    pub outside_window: u64,
    /// Frames that came to one of several workers when its record was full: a duplicate of one that
    /// went to another worker was not seen, and counts as one more that came.
    pub uncompared: u64,
    /// Corrupted frames that still said that they were of this stream.
    pub corrupted: u64,
    /// Time on the way of frames that came first; see `clock_error_ns`.
    pub latency: LatencyReport,
    /// Frames that seemed to arrive before they were sent: the clocks differ. They are not in
    /// `latency`.
    pub arrived_early: u64,
    /// The most by which one did: the clocks differ by at least this, in ns.
    pub clock_error_ns: u64,
}

impl StreamReport {
    /// Frames lost of `sent`, if that is how many were sent: none but those that arrived sound.
    #[must_use]
    pub const fn lost_of(&self, sent: u64) -> u64 {
        sent.saturating_sub(self.unique)
    }
}

/// What a sink knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SinkReport {
    /// All frames that were taken: those of `streams`, `beyond_streams`, `corrupted`, `foreign` and
    /// `cut`.
    pub frames: u64,
    /// Bytes of them in memory, without FCS.
    pub bytes: u64,
    /// Streams by number.
    pub streams: Vec<StreamReport>,
    /// Sound test frames of streams beyond the limit.
    pub beyond_streams: u64,
    /// Test frames that are not as they were sent.
    pub corrupted: u64,
    /// Frames that are no test frames.
    pub foreign: u64,
    /// Frames of which a capture kept the beginning alone, so that it is not known what they were.
    pub cut: u64,
    /// Of all frames those whose arrival their interface's own clock told; that of the others was
    /// read by software.
    pub stamped: u64,
    /// Times on the way over all streams.
    pub latency: LatencyReport,
}
