//! What a source takes for a frame when nothing is done with it: the harness measured first, so
//! that its share of a rate can be said.

use std::time::{Duration, Instant};

use frame::{Burst, FramePool, NodeId, PoolRequest, QueueId, Region};
use port::{Port, PortQueue};

use crate::LabError;

/// Bursts between two looks at the clock: some 50 us, so that reading it costs nothing.
const BURSTS_PER_LOOK: usize = 64;

/// How the source is driven; as in the run whose harness it is.
#[derive(Clone, Copy, Debug)]
pub struct SourceSettings {
    /// Queues in all, of which the first is measured.
    pub queues: usize,
    /// Frames asked for at a time.
    pub burst: usize,
    /// Distance of two frames, bytes.
    pub stride_bytes: u32,
    /// Frames in the pool.
    pub pool_frames: u32,
    /// The memory node of the pool.
    pub node: Option<NodeId>,
}

/// A source's first queue as a worker has it, with nothing behind it.
pub struct SourceCost {
    queue: Box<dyn PortQueue>,
    pool: FramePool,
    burst_max: usize,
    frames: u64,
    nanos: u128,
}

impl SourceCost {
    /// Opens the first queue of a port that nobody else uses.
    ///
    /// # Errors
    /// A queue or memory that cannot be had.
    pub fn new(port: &mut dyn Port, settings: &SourceSettings) -> Result<Self, LabError> {
        let request = PoolRequest {
            frames: settings.pool_frames,
            stride_bytes: settings.stride_bytes,
            headroom_bytes: engine::HEADROOM_BYTES,
            node: settings.node,
        };
        let failed = |error: &dyn std::fmt::Display| LabError(error.to_string());
        let queue = port.open_queue(QueueId(0), settings.queues);
        let (_, mut pools) = Region::with_pools(&[request]).map_err(|error| failed(&error))?;
        Ok(Self {
            queue: queue.map_err(|error| failed(&error))?,
            pool: pools.remove(0),
            burst_max: settings.burst,
            frames: 0,
            nanos: 0,
        })
    }

    /// One trial: receives bursts and frees them at once, for about this long. Trials before and
    /// after a run add up, since a machine's speed drifts.
    pub fn trial(&mut self, duration: Duration) {
        let mut burst = Burst::new();
        let begun = Instant::now();
        while begun.elapsed() < duration {
            for _ in 0..BURSTS_PER_LOOK {
                self.queue
                    .rx_burst(&mut self.pool, &mut burst, self.burst_max);
                self.frames += burst.len() as u64;
                self.pool.free_burst(&mut burst);
            }
        }
        self.nanos += begun.elapsed().as_nanos();
    }

    /// Over all trials, allocation and freeing included; 0 where the source gave nothing.
    #[must_use]
    pub fn ns_per_frame(&self) -> f64 {
        match self.frames {
            0 => 0.0,
            frames => self.nanos as f64 / frames as f64,
        }
    }
}
