//! A simulated interface that frames come from, due by the clock, and a port that takes its time.
//!
//! Two workers on two CPUs leave none for a sender. So the interface has no thread: a worker that
//! receives makes the frames that have become due since it last asked, as many as the queue's ring
//! holds; those before them are lost, and counted.
//!
//! Frames of a queue are due by the CPU time of the worker that receives them: what strangers take
//! of a shared machine's CPUs, which no placement of flows can give back, is no time in which
//! frames come. A frame bears when it was due, and its delay is from then to its transmission, in
//! CPU time until it was received and by the clock from there on.

use std::hint::black_box;
use std::sync::Arc;

use engine::cpu_time_nanos;
use frame::{Burst, FramePool, PortId, QueueId};
use port::{Port, PortError, PortQueue, PortStatistics, RxState};

use super::load::{DUE_AT, FLOW_AT, FLOWS, LEN, Load, NUMBER_AT, QUEUES, template};
use super::tally::Tally;

/// Frames that a queue of the interface holds.
const SLOTS: u64 = 4096;
/// After the counted time, for what is in rings to be sent.
const TAIL_NANOS: u64 = 50_000_000;
/// Instead of the time at which a frame was due that is not counted.
pub(super) const NOT_COUNTED: u64 = u64::MAX;

/// The interface.
pub(super) struct Nic {
    /// By queue: its draws and the nanoseconds from one frame to the next.
    queues: Vec<(Vec<u16>, f64)>,
    tally: Arc<Tally>,
}

impl Nic {
    /// `rate` frames a second by all queues together.
    pub(super) fn new(load: &Load, rate: f64, seed: u64, tally: &Arc<Tally>) -> Self {
        let queue = |queue| {
            let draws = load.draws(queue, seed ^ queue as u64);
            (draws, 1e9 / (rate * load.share(queue)))
        };
        Self {
            queues: (0..QUEUES).map(queue).collect(),
            tally: Arc::clone(tally),
        }
    }
}

struct NicQueue {
    draws: Vec<u16>,
    interval_ns: f64,
    templates: Vec<[u8; LEN]>,
    numbers: Vec<u64>,
    tally: Arc<Tally>,
    /// The worker's CPU time when it first asked.
    begun: Option<u64>,
    /// Frames that were taken out or lost.
    gone: u64,
    drawn: usize,
    statistics: PortStatistics,
}

impl NicQueue {
    /// When the frame of this number is due, nanoseconds of the worker's CPU time.
    fn due(&self, number: u64) -> u64 {
        (number as f64 * self.interval_ns) as u64
    }

    fn due_by(&self, now: u64) -> u64 {
        (now as f64 / self.interval_ns) as u64
    }
}

impl PortQueue for NicQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let cpu = cpu_time_nanos();
        let now = cpu - *self.begun.get_or_insert(cpu);
        let clock = self.tally.now();
        let due = self.due_by(now);
        if due > self.gone + SLOTS {
            self.statistics.missed += due - self.gone - SLOTS;
            self.gone = due - SLOTS;
        }
        let before = burst.len();
        let ready = usize::try_from(due - self.gone).unwrap_or(max);
        let count = pool.alloc_burst_of(burst, max.min(ready), LEN);
        for frame in &mut burst.frames_mut()[before..] {
            let flow = usize::from(self.draws[self.drawn]);
            self.drawn = (self.drawn + 1) % self.draws.len();
            let due = self.due(self.gone);
            self.gone += 1;
            let bytes = frame.bytes_mut();
            bytes.copy_from_slice(&self.templates[flow]);
            bytes[NUMBER_AT..][..6].copy_from_slice(&self.numbers[flow].to_le_bytes()[..6]);
            let waited = if self.tally.counts(due) {
                clock.saturating_sub(now.saturating_sub(due))
            } else {
                NOT_COUNTED
            };
            bytes[DUE_AT..][..8].copy_from_slice(&waited.to_le_bytes());
            self.numbers[flow] += 1;
        }
        self.statistics.rx_frames += count as u64;
        self.statistics.rx_bytes += (count * LEN) as u64;
        if now < self.tally.window.end + TAIL_NANOS {
            RxState::Open
        } else {
            RxState::Ended
        }
    }

    fn tx_burst(&mut self, _: &mut Burst, _: &mut FramePool) {}

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        let end = self.due_by(self.tally.window.end) + 1;
        let first = self.due_by(self.tally.window.start).saturating_sub(1);
        let counted = (first..=end).filter(|&number| self.tally.counts(self.due(number)));
        self.tally.was_due(counted.count() as u64);
        Ok(Vec::new())
    }
}

/// The other port: each frame takes a while.
pub(super) struct Toil {
    tally: Arc<Tally>,
    work: u32,
}

/// Does so many steps that each wait for the one before.
#[inline(never)]
pub(super) fn toil(steps: u32) {
    let mut word = 1_u64;
    for _ in 0..steps {
        word = black_box(word.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    black_box(word);
}

impl Toil {
    /// Each frame takes `work` steps of [`toil`].
    pub(super) fn new(tally: &Arc<Tally>, work: u32) -> Self {
        Self {
            tally: Arc::clone(tally),
            work,
        }
    }
}

struct ToilQueue {
    tally: Arc<Tally>,
    work: u32,
    statistics: PortStatistics,
}

fn word(bytes: &[u8], at: usize, len: usize) -> u64 {
    let mut word = [0; 8];
    word[..len].copy_from_slice(&bytes[at..at + len]);
    u64::from_le_bytes(word)
}

impl PortQueue for ToilQueue {
    fn rx_burst(&mut self, _: &mut FramePool, _: &mut Burst, _: usize) -> RxState {
        RxState::Ended
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        for frame in burst.frames() {
            toil(self.work);
            let bytes = frame.bytes();
            let (flow, number) = (word(bytes, FLOW_AT, 2), word(bytes, NUMBER_AT, 6));
            self.tally.sent(flow, number, word(bytes, DUE_AT, 8));
        }
        self.statistics.tx_frames += burst.len() as u64;
        self.statistics.tx_bytes += (burst.len() * LEN) as u64;
        pool.free_burst(burst);
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}

macro_rules! port {
    ($type:ty, $id:literal, $spec:literal, $rx:literal, $open:expr) => {
        impl Port for $type {
            fn id(&self) -> PortId {
                PortId($id)
            }

            fn spec(&self) -> &str {
                $spec
            }

            fn mode(&self) -> String {
                "simulated".to_owned()
            }

            fn queues_max(&self) -> usize {
                QUEUES
            }

            fn rx_source(&self) -> bool {
                $rx
            }

            fn tx_sink(&self) -> bool {
                !$rx
            }

            fn frame_bytes_max_hint(&self) -> usize {
                LEN
            }

            fn open_queue(
                &mut self,
                queue: QueueId,
                _: usize,
            ) -> Result<Box<dyn PortQueue>, PortError> {
                let open: fn(&Self, usize) -> Box<dyn PortQueue> = $open;
                Ok(open(self, usize::from(queue.0)))
            }
        }
    };
}

port!(Nic, 0, "simulated:", true, |nic, queue| {
    let (draws, interval_ns) = &nic.queues[queue];
    Box::new(NicQueue {
        draws: draws.clone(),
        interval_ns: *interval_ns,
        templates: (0..FLOWS).map(template).collect(),
        numbers: vec![0; FLOWS],
        tally: Arc::clone(&nic.tally),
        begun: None,
        gone: 0,
        drawn: 0,
        statistics: PortStatistics::default(),
    })
});

port!(Toil, 1, "working:", false, |toil, _| {
    Box::new(ToilQueue {
        tally: Arc::clone(&toil.tally),
        work: toil.work,
        statistics: PortStatistics::default(),
    })
});
