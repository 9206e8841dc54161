//! `null:` swallows what it is sent and sends nothing.

use frame::{Burst, FramePool, PortId, QueueId};

use crate::port::check_queue;
use crate::{Port, PortError, PortQueue, PortStatistics, RxState};

const SPEC: &str = "null:";

/// The port that swallows everything.
#[derive(Debug)]
pub struct NullPort {
    id: PortId,
}

impl NullPort {
    /// Opens one; there is nothing to go wrong.
    #[must_use]
    pub const fn open(id: PortId) -> Self {
        Self { id }
    }
}

impl Port for NullPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &str {
        SPEC
    }

    fn mode(&self) -> String {
        "memory".to_owned()
    }

    fn queues_max(&self) -> usize {
        usize::from(u16::MAX)
    }

    fn lossless(&self) -> bool {
        true
    }

    fn rx_source(&self) -> bool {
        false
    }

    fn frame_bytes_max_hint(&self) -> usize {
        0
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        check_queue(SPEC, queue, of, self.queues_max())?;
        Ok(Box::new(NullQueue {
            statistics: PortStatistics::default(),
        }))
    }
}

struct NullQueue {
    statistics: PortStatistics,
}

impl PortQueue for NullQueue {
    fn rx_burst(&mut self, _: &mut FramePool, _: &mut Burst, _: usize) -> RxState {
        RxState::Ended
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        swallow(&mut self.statistics, burst, pool);
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}

/// Counts a whole burst as transmitted and frees it.
#[inline]
pub(crate) fn swallow(statistics: &mut PortStatistics, burst: &mut Burst, pool: &mut FramePool) {
    statistics.tx_frames += burst.len() as u64;
    statistics.tx_bytes += burst
        .frames()
        .iter()
        .map(|frame| frame.len() as u64)
        .sum::<u64>();
    pool.free_burst(burst);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests_support::{expect_whole, pool};

    #[test]
    fn it_swallows_all_and_gives_nothing() {
        let mut pool = pool(32);
        let mut burst = Burst::new();
        let mut queue = NullPort::open(PortId(1)).open_queue(QueueId(3), 4).unwrap();
        assert_eq!(queue.rx_burst(&mut pool, &mut burst, 10), RxState::Ended);
        assert_eq!(pool.alloc_burst(&mut burst, 10), 10);
        burst
            .frames_mut()
            .iter_mut()
            .for_each(|frame| frame.copy_from(&[0; 60]).unwrap());
        queue.tx_burst(&mut burst, &mut pool);
        let expected = PortStatistics {
            tx_frames: 10,
            tx_bytes: 600,
            ..PortStatistics::default()
        };
        assert_eq!((queue.statistics(), queue.in_flight()), (expected, 0));
        assert!(queue.finish().unwrap().is_empty());
        expect_whole(&mut pool, &mut burst);
    }
}
