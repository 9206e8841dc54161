//! A cable in simulated time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use frame::{Burst, Frame, FramePool, Nanos};
use port::{FaultCounts, FaultPlan, Faulty, PortQueue, PortStatistics, RxState};
use traffic::Signature;

use crate::clock::Clock;
use crate::test_port::TestPort;

/// Simulated time, shared with ports that delay.
#[derive(Clone, Default)]
pub(super) struct Simulated(Arc<AtomicU64>);

impl Simulated {
    pub(super) fn advance(&self, nanos: u64) {
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl Clock for Simulated {
    fn now(&self) -> Nanos {
        self.kernel()
    }

    fn kernel(&self) -> Nanos {
        Nanos(self.0.load(Ordering::Relaxed))
    }
}

/// A cable from a port to itself: frames take `delay_ns`, and `room` of them fit.
pub(super) struct Cable {
    pub(super) time: Simulated,
    pub(super) delay_ns: u64,
    pub(super) room: usize,
    pub(super) faults: FaultPlan,
    /// What the faults did.
    pub(super) done: Arc<Mutex<FaultCounts>>,
    /// Frames that came onto the cable behind one with a higher number.
    pub(super) overtaken: Arc<AtomicU64>,
}

impl Cable {
    pub(super) fn new(time: &Simulated, delay_ns: u64) -> Self {
        Self {
            time: time.clone(),
            delay_ns,
            room: usize::MAX,
            faults: FaultPlan::default(),
            done: Arc::default(),
            overtaken: Arc::default(),
        }
    }
}

impl Cable {
    /// As a port of up to 16 queues, each a cable of its own.
    pub(super) fn port(self) -> TestPort {
        let open = move |_, _| {
            let queue = CableQueue {
                time: self.time.clone(),
                delay_ns: self.delay_ns,
                room: self.room,
                under_way: VecDeque::new(),
                highest: 0,
                overtaken: Arc::clone(&self.overtaken),
                statistics: PortStatistics::default(),
            };
            Watched {
                queue: Faulty::new(queue, &self.faults),
                done: Arc::clone(&self.done),
            }
        };
        TestPort {
            queues_max: 16,
            ..TestPort::new(0, open)
        }
    }
}

struct CableQueue {
    time: Simulated,
    delay_ns: u64,
    room: usize,
    under_way: VecDeque<(Nanos, Frame)>,
    highest: u64,
    overtaken: Arc<AtomicU64>,
    statistics: PortStatistics,
}

impl PortQueue for CableQueue {
    fn rx_burst(&mut self, _: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let now = self.time.kernel();
        for _ in 0..max {
            match self.under_way.pop_front_if(|(at, _)| *at <= now) {
                Some((_, frame)) => burst.push(frame).expect("room for what was asked for"),
                None => break,
            }
        }
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, _: &mut FramePool) {
        let count = burst
            .len()
            .min(self.room - self.under_way.len().min(self.room));
        let at = self.time.kernel().after(self.delay_ns);
        self.statistics.tx_frames += count as u64;
        for frame in &burst.frames()[..count] {
            let number = Signature::of(frame.bytes()).map_or(0, |own| own.sequence);
            let behind = u64::from(number < self.highest);
            self.overtaken.fetch_add(behind, Ordering::Relaxed);
            self.highest = self.highest.max(number);
        }
        let frames = burst.drain_front(count);
        self.under_way.extend(frames.map(|frame| (at, frame)));
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }

    fn in_flight(&self) -> u32 {
        self.under_way.len() as u32
    }
}

/// Tells outside what faults did.
struct Watched {
    queue: Faulty<CableQueue>,
    done: Arc<Mutex<FaultCounts>>,
}

impl PortQueue for Watched {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        self.queue.rx_burst(pool, burst, max)
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        self.queue.tx_burst(burst, pool);
        *self.done.lock().unwrap() = self.queue.tx_counts();
    }

    fn reclaim(&mut self, pool: &mut FramePool) {
        self.queue.reclaim(pool);
    }

    fn statistics(&self) -> PortStatistics {
        self.queue.statistics()
    }

    fn in_flight(&self) -> u32 {
        self.queue.in_flight()
    }
}
