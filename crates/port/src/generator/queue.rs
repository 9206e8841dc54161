//! A queue of a generator: makes frames, and swallows what it is sent.

use frame::{Burst, FramePool, Nanos};
use traffic::Source;

use crate::null::swallow;
use crate::{PortError, PortQueue, PortStatistics, RxState};

pub(super) struct GenQueue {
    pub(super) source: Source,
    /// Frames still to come.
    pub(super) left: u64,
    pub(super) statistics: PortStatistics,
    pub(super) warnings: Vec<String>,
}

impl PortQueue for GenQueue {
    #[inline]
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let before = burst.len();
        let want = max.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        // Flows that do not depend on time, and no signature that would hold it.
        let made = self.source.fill(pool, burst, want, Nanos::ZERO) as u64;
        let frames = &burst.frames()[before..];
        let (left_out, _) = self.source.left_out();
        self.left -= made + left_out - self.statistics.missed;
        self.statistics.missed = left_out;
        self.statistics.rx_frames += made;
        self.statistics.rx_bytes += frames.iter().map(|frame| frame.len() as u64).sum::<u64>();
        if self.left == 0 {
            RxState::Ended
        } else {
            RxState::Open
        }
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        swallow(&mut self.statistics, burst, pool);
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        let mut warnings = std::mem::take(&mut self.warnings);
        if let (count @ 1.., room) = self.source.left_out() {
            warnings.push(format!(
                "{count} generated frames were left out, for they are longer than the {room} bytes \
                 a chunk has room for; ask for a larger stride or a smaller size="
            ));
        }
        Ok(warnings)
    }
}
