//! What the unit tests of this crate share: a pool, and a queue that plays a script.

use std::collections::VecDeque;

use frame::{Burst, FramePool, PoolRequest, Region};

use crate::{PortQueue, PortStatistics, RxState};

/// A pool of small chunks: frames of up to 1792 bytes.
pub(crate) fn pool(frames: u32) -> FramePool {
    let request = PoolRequest {
        frames,
        stride_bytes: 1920,
        headroom_bytes: 128,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request]).unwrap();
    pools.remove(0)
}

/// Frees a burst and sees that no frame of the pool is missing.
pub(crate) fn expect_whole(pool: &mut FramePool, burst: &mut Burst) {
    pool.free_burst(burst);
    assert_eq!(
        pool.free_count(),
        pool.total(),
        "frames were lost: {:?}",
        pool.accounts()
    );
}

/// A queue that receives given frames and keeps a copy of what it is sent, up to a limit a call.
pub(crate) struct Script {
    pub(crate) to_receive: VecDeque<Vec<u8>>,
    pub(crate) sent: Vec<Vec<u8>>,
    pub(crate) tx_max: usize,
    pub(crate) statistics: PortStatistics,
}

impl Script {
    pub(crate) fn new(to_receive: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self {
            to_receive: to_receive.into_iter().collect(),
            sent: Vec::new(),
            tx_max: usize::MAX,
            statistics: PortStatistics::default(),
        }
    }
}

impl PortQueue for Script {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        for _ in 0..max.min(burst.room()) {
            let Some(bytes) = self.to_receive.pop_front() else {
                return RxState::Ended;
            };
            let mut frame = pool.alloc().unwrap();
            frame.copy_from(&bytes).unwrap();
            self.statistics.rx_frames += 1;
            burst.push(frame).unwrap();
        }
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        for frame in burst.drain_front(self.tx_max) {
            self.sent.push(frame.bytes().to_vec());
            self.statistics.tx_frames += 1;
            pool.free(frame);
        }
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}
