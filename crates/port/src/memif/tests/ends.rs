//! Two ports of one process, a leader and a follower, as the tests need them.

use std::time::{Duration, Instant};

use frame::{Burst, Frame, FramePool, PoolRequest, PortId, QueueId, Region};
use tempfile::TempDir;

use crate::memif::MemifPort;
use crate::{OpenContext, Port, PortQueue, PortSpec};

/// How long a peer may take to be found: two looks suffice, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(20);
/// Room for a frame of 9,018 bytes, and some.
const STRIDE_BYTES: u32 = 10_240;

/// A folder for sockets.
pub(super) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub(super) fn pool(frames: u32) -> FramePool {
    let request = PoolRequest {
        frames,
        stride_bytes: STRIDE_BYTES,
        headroom_bytes: 128,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request]).unwrap();
    pools.remove(0)
}

/// One port, its queues and their pool.
pub(super) struct End {
    pub(super) port: MemifPort,
    pub(super) queues: Vec<Box<dyn PortQueue>>,
    pub(super) pool: FramePool,
    pub(super) burst: Burst,
}

impl End {
    pub(super) fn open(text: &str, queues: usize) -> Self {
        let PortSpec::Memif(spec) = PortSpec::parse(text).unwrap() else {
            panic!("{text} is no memif port")
        };
        let context = OpenContext::default();
        Self::with(MemifPort::open(&spec, PortId(0), &context).unwrap(), queues)
    }

    pub(super) fn with(mut port: MemifPort, of: usize) -> Self {
        let queues = (0..of).map(|queue| port.open_queue(QueueId(queue as u16), of).unwrap());
        let queues = queues.collect();
        Self {
            port,
            queues,
            pool: pool(2048),
            burst: Burst::new(),
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.port.shared.presence.is_there()
    }

    /// Sends copies of `frames`, as many as are taken; how many.
    pub(super) fn send(&mut self, queue: usize, frames: &[Vec<u8>]) -> usize {
        let mut sent = 0;
        while sent < frames.len() {
            let before = self.burst.len();
            let some = &frames[sent..frames.len().min(sent + self.burst.room() - before)];
            for bytes in some {
                let mut frame = self.pool.alloc().unwrap();
                frame.copy_from(bytes).unwrap();
                self.burst.push(frame).unwrap();
            }
            self.queues[queue].tx_burst(&mut self.burst, &mut self.pool);
            let left = self.burst.len();
            sent += some.len() - left;
            self.pool.free_burst(&mut self.burst);
            if left > 0 {
                break;
            }
        }
        sent
    }

    /// All that is there.
    pub(super) fn receive(&mut self, queue: usize) -> Vec<Vec<u8>> {
        let mut received = Vec::new();
        loop {
            self.queues[queue].rx_burst(&mut self.pool, &mut self.burst, 64);
            if self.burst.is_empty() {
                return received;
            }
            let frames = self.burst.frames().iter();
            received.extend(frames.map(|frame: &Frame| frame.bytes().to_vec()));
            self.pool.free_burst(&mut self.burst);
        }
    }

    /// No frame of the pool is missing.
    #[track_caller]
    pub(super) fn expect_whole(&self) {
        assert_eq!(self.pool.free_count(), self.pool.total());
    }
}

/// Attends to both ports until a condition holds.
#[track_caller]
pub(super) fn until(ends: &mut [&mut End], holds: impl Fn(&[&mut End]) -> bool) {
    let began = Instant::now();
    while !holds(ends) {
        assert!(began.elapsed() < PATIENCE, "{:?}", ends[0].port.parted());
        ends.iter_mut().for_each(|end| end.port.attend());
    }
}

#[track_caller]
pub(super) fn until_up(ends: &mut [&mut End]) {
    until(ends, |ends| ends.iter().all(|end| end.is_up()));
}

/// A leader and its follower at a socket in `folder`, connected.
pub(super) fn pair(folder: &TempDir, options: &str, queues: usize) -> [End; 2] {
    let socket = folder.path().join("socket");
    let spec = |role: &str| {
        let socket = socket.display();
        format!("memif:{socket},role={role},queues={queues}{options}")
    };
    let mut leader = End::open(&spec("leader"), queues);
    let mut follower = End::open(&spec("follower"), queues);
    until_up(&mut [&mut leader, &mut follower]);
    [leader, follower]
}

/// A frame of `len` bytes that no other number has.
pub(super) fn frame(number: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (number.wrapping_mul(31) + at * 7 + (at >> 8)) as u8)
        .collect()
}
