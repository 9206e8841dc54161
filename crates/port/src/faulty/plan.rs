//! What is to be done to traffic, and what was done.

use crate::Share;

/// What happens to the frames of one direction. Each frame is first lost or not, then harmed, then
/// doubled, then held back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Frames that vanish.
    pub loss: Share,
    /// Frames of which one bit is flipped.
    pub corruption: Share,
    /// Frames that come twice.
    pub duplication: Share,
    /// Frames that are overtaken by up to [`Faults::OVERTAKEN_BY_MAX`] of those behind them.
    pub reordering: Share,
}

impl Faults {
    /// The most frames that overtake one that is held back.
    pub const OVERTAKEN_BY_MAX: u64 = 8;
}

/// What a [`crate::Faulty`] does in each direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// To received frames.
    pub rx: Faults,
    /// To sent frames.
    pub tx: Faults,
    /// Which frames it strikes.
    pub seed: u64,
}

/// What was done to the frames of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Frames that vanished.
    pub lost: u64,
    /// Frames with a flipped bit.
    pub corrupted: u64,
    /// Frames that were copied; only those for which the pool had a chunk.
    pub duplicated: u64,
    /// Frames that were overtaken: those held back, but for the last.
    pub reordered: u64,
}
