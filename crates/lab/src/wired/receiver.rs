//! The port that frames arrive at, and one thread that takes them.

use std::time::{Duration, Instant};

use frame::{BURST_MAX, Burst, FramePool, PoolRequest, PortId, QueueId, Region};
use port::{OpenContext, Port, PortQueue, PortSpec, RxState};

use super::Way;
use crate::contest::refused;
use crate::experiment::LabError;

/// Frames of the pool beyond those that the port holds: a burst under way, and room.
const FRAMES_BESIDE: u32 = 2 * BURST_MAX as u32;

/// What was taken in, and in what time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub(super) frames: u64,
    /// From the first look to the last.
    pub(super) seconds: f64,
    /// Of that, the time of turns that brought a frame.
    busy_seconds: f64,
}

impl Taken {
    pub(super) fn nanos_per_frame(&self) -> f64 {
        self.busy_seconds * 1e9 / self.frames.max(1) as f64
    }

    pub(super) fn frames_per_second(&self) -> f64 {
        self.frames as f64 / self.seconds
    }
}

/// An open port with frame memory of one distance. The memory stays mapped when it is closed, as
/// all frame memory does.
pub(super) struct Receiver {
    pool: FramePool,
    queue: Box<dyn PortQueue>,
    /// What puts back what was changed on the interface, when it goes.
    _port: Box<dyn Port>,
    burst: Burst,
}

impl Receiver {
    pub(super) fn open(spec: &PortSpec, stride_bytes: u32) -> Result<Self, LabError> {
        let mut port = port::open(spec, PortId(1), &OpenContext::default()).map_err(refused)?;
        let request = PoolRequest {
            frames: port.frames_held_max(1) + FRAMES_BESIDE,
            stride_bytes,
            headroom_bytes: engine::HEADROOM_BYTES,
            node: None,
        };
        let (region, mut pools) = Region::with_pools(&[request]).map_err(refused)?;
        let mut pool = pools.remove(0);
        port.prepare(region).map_err(refused)?;
        let mut queue = port.open_queue(QueueId(0), 1).map_err(refused)?;
        queue.begin(&mut pool).map_err(refused)?;
        Ok(Self {
            pool,
            queue,
            _port: port,
            burst: Burst::new(),
        })
    }

    /// Takes what arrives for so long, one way.
    pub(super) fn take(&mut self, way: &Way, wanted: Duration) -> Taken {
        let begun = Instant::now();
        let (mut taken, mut before) = (Taken::default(), begun);
        loop {
            let frames = self.turn(way);
            let now = Instant::now();
            if frames != 0 {
                taken.frames += frames as u64;
                taken.busy_seconds += now.duration_since(before).as_secs_f64();
            }
            before = now;
            if now.duration_since(begun) >= wanted {
                taken.seconds = now.duration_since(begun).as_secs_f64();
                return taken;
            }
        }
    }

    /// One look; how many frames it brought.
    fn turn(&mut self, way: &Way) -> usize {
        let state = self
            .queue
            .rx_burst(&mut self.pool, &mut self.burst, way.batch.min(BURST_MAX));
        let frames = self.burst.len();
        if frames != 0 {
            (way.work)(self.burst.frames());
            self.pool.free_burst(&mut self.burst);
        }
        self.queue.reclaim(&mut self.pool);
        if state != RxState::Open {
            std::thread::yield_now();
        }
        frames
    }

    pub(super) fn close(mut self) -> Result<(), LabError> {
        self.queue.finish().map(|_warnings| ()).map_err(refused)
    }
}
