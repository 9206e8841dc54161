//! Frames that went in and those that came out, side by side.
//!
//! The daemon's generator makes the same frames again for the test, in the same order, and no two
//! alike. What leaves comes by a pipe, in order, too: a frame that is not the next one of the pipe
//! was dropped.

use std::fs::File;
use std::io::BufReader;

use frame::{Burst, FramePool, PoolRequest, PortId, QueueId, Region};
use port::pcap::{CaptureReader, Step};
use port::{OpenContext, PortQueue, PortSpec};

use crate::model::{Judge, Judged, Sides};

/// Frames dropped in a row that show that what leaves is not what came in.
const DROPPED_IN_A_ROW_MAX: u64 = 50_000_000;

/// The frames of a generator.
struct Replay {
    queue: Box<dyn PortQueue>,
    pool: FramePool,
    burst: Burst,
    next: usize,
}

impl Replay {
    fn new(spec: &str) -> Self {
        let request = PoolRequest {
            frames: 256,
            stride_bytes: 1920,
            headroom_bytes: 128,
            node: None,
        };
        let (_, mut pools) = Region::with_pools(&[request]).expect("memory");
        let spec = PortSpec::parse(spec).expect("a spec");
        let port = port::open(&spec, PortId(0), &OpenContext::default());
        let queue = port.and_then(|mut port| port.open_queue(QueueId(0), 1));
        Self {
            queue: queue.expect("a generator"),
            pool: pools.remove(0),
            burst: Burst::new(),
            next: 0,
        }
    }

    fn next(&mut self) -> &[u8] {
        if self.next == self.burst.len() {
            self.pool.free_burst(&mut self.burst);
            self.queue.rx_burst(&mut self.pool, &mut self.burst, 64);
            self.next = 0;
        }
        self.next += 1;
        self.burst.frames()[self.next - 1].bytes()
    }
}

/// The source address of a generated IPv4 frame without tags.
fn src(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[26..30].try_into().expect("four bytes"))
}

/// Reads what leaves until the daemon ends, and judges; afterwards what was dropped last, up to as
/// many frames as the daemon says it received.
pub(crate) struct Follower<'s> {
    replay: Replay,
    judge: Judge<'s>,
}

impl<'s> Follower<'s> {
    pub(crate) fn new(spec: &str, sides: &'s Sides) -> Self {
        Self {
            replay: Replay::new(spec),
            judge: Judge::new(sides),
        }
    }

    pub(crate) fn follow(&mut self, pipe: File) {
        let pipe = BufReader::with_capacity(1 << 20, pipe);
        let reader = CaptureReader::from_read("the pipe", Box::new(pipe));
        let mut reader = match reader {
            Ok(reader) => reader,
            Err(error) => return self.judge.tell(error.to_string()),
        };
        let mut lost = false;
        loop {
            match reader.next() {
                // The pipe is emptied whatever is wrong, or the daemon could not end.
                Step::Record(record) => lost = lost || !self.find(record.bytes),
                Step::Waiting => std::thread::yield_now(),
                Step::LeftOut(_) => {}
                Step::Ended => break,
            }
        }
    }

    /// All frames before this one were dropped. False where it never came in.
    fn find(&mut self, wanted: &[u8]) -> bool {
        for _ in 0..DROPPED_IN_A_ROW_MAX {
            let bytes = self.replay.next();
            let passed = bytes == wanted;
            let src = src(bytes);
            self.judge.judge(src, passed);
            if passed {
                return true;
            }
        }
        let wrong = format!("a frame left that never came in: {wanted:02x?}");
        self.judge.tell(wrong);
        false
    }

    /// The frames that were dropped after the last that passed.
    pub(crate) fn finish(mut self, received: u64) -> Judged {
        while self.judge.judged.frames < received {
            let src = src(self.replay.next());
            self.judge.judge(src, false);
        }
        self.judge.judged
    }
}
