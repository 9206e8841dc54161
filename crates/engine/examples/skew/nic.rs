//! A simulated interface that frames come from, due by the clock, and a sink that takes its time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use frame::{Burst, FramePool, PortId, QueueId};
use port::{Port, PortError, PortQueue, PortStatistics, RxState};
use wire::emit::{Ipv4, Network, Recipe, Transport};
use wire::toeplitz::{Key, Toeplitz};

const LEN: usize = 60;
/// Where flow, number and due time stand in a frame.
const FLOW_AT: usize = 42;
const NUMBER_AT: usize = 44;
const DUE_AT: usize = 50;
const FLOWS: usize = 4096;
const QUEUES: usize = 2;
/// Frames that a queue of the interface holds.
const SLOTS: u64 = 4096;
/// Places of the table that flows are drawn from.
const DRAWS: usize = 1 << 16;

/// How much each flow brings.
pub(crate) struct Load {
    /// By flow, adding up to 1.
    weights: Vec<f64>,
    /// By flow: the queue that the interface hashes it to.
    queues: Vec<usize>,
}

fn queue_of(flow: usize) -> usize {
    let hash = Toeplitz::new(&Key::SYMMETRIC).hash_v4(src(flow), dst(flow), ports(flow));
    hash as usize % 128 % QUEUES
}

fn src(flow: usize) -> u32 {
    0x0a00_0000 + flow as u32
}

fn dst(flow: usize) -> u32 {
    0x0b00_0000 + (flow as u32).wrapping_mul(7919) % 65_536
}

fn ports(flow: usize) -> u32 {
    (1000 + flow as u32) << 16 | 53
}

impl Load {
    /// All flows alike.
    pub(crate) fn even() -> Self {
        Self {
            weights: vec![1.0 / FLOWS as f64; FLOWS],
            queues: (0..FLOWS).map(queue_of).collect(),
        }
    }

    /// One flow of `elephant`, the rest by Zipf's law, exponent 1; the elephant and the three
    /// heaviest of the others by the first queue.
    pub(crate) fn skewed(elephant: f64) -> Self {
        let queues: Vec<usize> = (0..FLOWS).map(queue_of).collect();
        let mut ranked: Vec<usize> = (0..FLOWS).filter(|&flow| queues[flow] == 0).collect();
        let rest = ranked.split_off(4);
        ranked.extend((0..FLOWS).filter(|&flow| queues[flow] == 1));
        ranked.extend(rest);
        // The two queues' flows in turn, behind the four.
        let (first, second): (Vec<usize>, Vec<usize>) =
            ranked[4..].iter().partition(|&&flow| queues[flow] == 0);
        let mut order = ranked[..4].to_vec();
        let pairs = first.len().max(second.len());
        for place in 0..pairs {
            order.extend(second.get(place));
            order.extend(first.get(place));
        }
        let harmonic: f64 = (1..order.len()).map(|rank| 1.0 / rank as f64).sum();
        let mut weights = vec![0.0; FLOWS];
        for (rank, &flow) in order.iter().enumerate() {
            weights[flow] = match rank {
                0 => elephant,
                rank => (1.0 - elephant) / (rank as f64 * harmonic),
            };
        }
        Self { weights, queues }
    }

    pub(crate) fn flows(&self) -> usize {
        self.weights.len()
    }

    pub(crate) fn share_of_queue_0(&self) -> f64 {
        self.share_of(0)
    }

    fn share_of(&self, queue: usize) -> f64 {
        let weights = self.weights.iter().zip(&self.queues);
        weights
            .filter(|(_, own)| **own == queue)
            .map(|(weight, _)| weight)
            .sum()
    }

    /// A table of the queue's flows, each as often as its weight asks for, shuffled by a stride
    /// that is prime to its length.
    fn draws(&self, queue: usize) -> Vec<u16> {
        let share = self.share_of(queue);
        let mut sorted = Vec::with_capacity(DRAWS);
        let mut sum = 0.0;
        for (flow, weight) in self.weights.iter().enumerate() {
            if self.queues[flow] == queue {
                sum += weight / share;
                while sorted.len() < (sum * DRAWS as f64).round() as usize {
                    sorted.push(flow as u16);
                }
            }
        }
        let len = sorted.len();
        (0..len).map(|place| sorted[place * 40_503 % len]).collect()
    }
}

/// What interface and sink share.
pub(crate) struct Wire {
    begun: Mutex<Option<Instant>>,
    /// Nothing before this is counted, nanoseconds since the begin.
    from: u64,
    /// By flow: the number that should come next.
    next: Vec<AtomicU64>,
    reordered: AtomicU64,
    /// Frames that were due, and that were sent.
    due: AtomicU64,
    sent: AtomicU64,
    /// Frames by the logarithm of their delay, 16 steps a doubling.
    delays: Vec<AtomicU64>,
}

/// What came of a run.
pub(crate) struct Seen {
    pub(crate) loss: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) reordered: u64,
}

const STEPS: f64 = 16.0;

impl Wire {
    pub(crate) fn new(flows: usize, from_seconds: f64) -> Arc<Self> {
        let zeros = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self {
            begun: Mutex::new(None),
            from: (from_seconds * 1e9) as u64,
            next: zeros(flows),
            reordered: AtomicU64::new(0),
            due: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            delays: zeros(40 * STEPS as usize),
        })
    }

    fn begun(&self) -> Instant {
        let mut begun = self.begun.lock().expect("nobody panics under it");
        *begun.get_or_insert_with(Instant::now)
    }

    fn arrive(&self, frame: &[u8], now: u64) {
        let word = |at: usize, len: usize| {
            let mut bytes = [0; 8];
            bytes[..len].copy_from_slice(&frame[at..at + len]);
            u64::from_le_bytes(bytes)
        };
        let (flow, number, due) = (word(FLOW_AT, 2), word(NUMBER_AT, 6), word(DUE_AT, 8));
        let next = &self.next[flow as usize];
        if number < next.load(Ordering::Acquire) {
            self.reordered.fetch_add(1, Ordering::Relaxed);
        } else {
            next.store(number + 1, Ordering::Release);
        }
        if due >= self.from {
            self.sent.fetch_add(1, Ordering::Relaxed);
            let delay = now.saturating_sub(due).max(1) as f64;
            let bucket = (delay.log2() * STEPS) as usize;
            self.delays[bucket.min(self.delays.len() - 1)].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn seen(&self) -> Seen {
        let delays: Vec<u64> = self
            .delays
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .collect();
        let all: u64 = delays.iter().sum();
        let quantile = |share: f64| {
            let mut left = (all as f64 * share) as u64;
            let found = delays.iter().position(|&count| {
                let found = count > left;
                left = left.saturating_sub(count);
                found
            });
            2f64.powf((found.unwrap_or(0) as f64 + 1.0) / STEPS) / 1e3
        };
        let due = self.due.load(Ordering::Relaxed).max(1) as f64;
        Seen {
            // Those that were still under way at the end are no loss, and at most some thousands.
            loss: (1.0 - self.sent.load(Ordering::Relaxed) as f64 / due).max(0.0),
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            reordered: self.reordered.load(Ordering::Relaxed),
        }
    }
}

/// The interface.
pub(crate) struct Nic {
    /// By queue: its draws and its frames a second.
    queues: Vec<(Vec<u16>, f64)>,
    wire: Arc<Wire>,
}

impl Nic {
    pub(crate) fn new(load: &Load, rate: f64, wire: &Arc<Wire>) -> Self {
        let queue = |queue| (load.draws(queue), rate * load.share_of(queue));
        Self {
            queues: (0..QUEUES).map(queue).collect(),
            wire: Arc::clone(wire),
        }
    }
}

struct NicQueue {
    draws: Vec<u16>,
    interval_ns: f64,
    templates: Vec<[u8; LEN]>,
    numbers: Vec<u64>,
    wire: Arc<Wire>,
    begun: Option<Instant>,
    /// Frames that were taken out or lost.
    gone: u64,
    counted: u64,
    drawn: usize,
    statistics: PortStatistics,
}

fn template(flow: usize) -> [u8; LEN] {
    let ip = Ipv4 {
        src: src(flow),
        dst: dst(flow),
        ..Ipv4::default()
    };
    let udp = Transport::Udp {
        src_port: (ports(flow) >> 16) as u16,
        dst_port: ports(flow) as u16,
    };
    let recipe = Recipe {
        network: Network::Ipv4(ip, udp),
        len_min: LEN,
        ..Recipe::default()
    };
    let mut bytes = [0; LEN];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes[FLOW_AT..][..2].copy_from_slice(&(flow as u16).to_le_bytes());
    bytes
}

impl PortQueue for NicQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let begun = *self.begun.get_or_insert_with(|| self.wire.begun());
        let now = begun.elapsed().as_nanos() as f64;
        let due = (now / self.interval_ns) as u64;
        if due > self.gone + SLOTS {
            self.statistics.missed += due - self.gone - SLOTS;
            self.gone = due - SLOTS;
        }
        let counted_from = (self.wire.from as f64 / self.interval_ns) as u64;
        if due > counted_from {
            let counted = due - counted_from;
            self.wire
                .due
                .fetch_add(counted - self.counted, Ordering::Relaxed);
            self.counted = counted;
        }
        let before = burst.len();
        let ready = usize::try_from(due - self.gone).unwrap_or(max);
        let count = pool.alloc_burst_of(burst, max.min(ready), LEN);
        for frame in &mut burst.frames_mut()[before..] {
            let flow = usize::from(self.draws[self.drawn]);
            self.drawn = (self.drawn + 1) % self.draws.len();
            self.gone += 1;
            let due = (self.gone as f64 * self.interval_ns) as u64;
            let bytes = frame.bytes_mut();
            bytes.copy_from_slice(&self.templates[flow]);
            bytes[NUMBER_AT..][..6].copy_from_slice(&self.numbers[flow].to_le_bytes()[..6]);
            bytes[DUE_AT..][..8].copy_from_slice(&due.to_le_bytes());
            self.numbers[flow] += 1;
        }
        self.statistics.rx_frames += count as u64;
        self.statistics.rx_bytes += (count * LEN) as u64;
        RxState::Open
    }

    fn tx_burst(&mut self, _: &mut Burst, _: &mut FramePool) {}

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}

/// The other port: each frame takes a while.
pub(crate) struct Sink {
    wire: Arc<Wire>,
    work: Duration,
}

impl Sink {
    pub(crate) fn new(wire: &Arc<Wire>, work: Duration) -> Self {
        Self {
            wire: Arc::clone(wire),
            work,
        }
    }
}

struct SinkQueue {
    wire: Arc<Wire>,
    work: Duration,
    statistics: PortStatistics,
}

impl PortQueue for SinkQueue {
    fn rx_burst(&mut self, _: &mut FramePool, _: &mut Burst, _: usize) -> RxState {
        RxState::Ended
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        let begun = self.wire.begun();
        for frame in burst.frames() {
            let start = Instant::now();
            while start.elapsed() < self.work {
                std::hint::spin_loop();
            }
            self.wire
                .arrive(frame.bytes(), begun.elapsed().as_nanos() as u64);
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

            fn lossless(&self) -> bool {
                false
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
    let (draws, rate) = &nic.queues[queue];
    Box::new(NicQueue {
        draws: draws.clone(),
        interval_ns: 1e9 / rate,
        templates: (0..FLOWS).map(template).collect(),
        numbers: vec![0; FLOWS],
        wire: Arc::clone(&nic.wire),
        begun: None,
        gone: 0,
        counted: 0,
        drawn: 0,
        statistics: PortStatistics::default(),
    })
});

port!(Sink, 1, "working:", false, |sink, _| {
    Box::new(SinkQueue {
        wire: Arc::clone(&sink.wire),
        work: sink.work,
        statistics: PortStatistics::default(),
    })
});
