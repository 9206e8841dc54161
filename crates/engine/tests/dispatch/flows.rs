//! A port that flows come from, each by one random queue, and one that judges their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use frame::{Burst, FramePool, QueueId};
use port::{PortError, PortQueue, PortStatistics, RxState};
use wire::emit::{Ipv4, Network, Recipe, Transport};

use super::ports::TestPort;

/// Bytes of a frame without FCS, and where its flow and its number stand: at the end, behind
/// whatever headers there are.
pub(crate) const LEN: usize = 108;
const FLOW_AT: usize = LEN - 12;
const NUMBER_AT: usize = LEN - 8;

/// Makes the frame of a flow; its last bytes are written over.
pub(crate) type Make = fn(u32) -> [u8; LEN];

/// What the sink saw, by flow.
pub(crate) struct Judge {
    /// By flow: the number that should come next.
    next: Vec<AtomicU64>,
    /// By flow: how many were sent; stored by the queue that sends the flow.
    sent: Vec<AtomicU64>,
    reordered: AtomicU64,
    arrived: AtomicU64,
}

impl Judge {
    pub(crate) fn new(flows: usize) -> Arc<Self> {
        let zeros = || (0..flows).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self {
            next: zeros(),
            sent: zeros(),
            reordered: AtomicU64::new(0),
            arrived: AtomicU64::new(0),
        })
    }

    /// A frame is given to the port to send. Whichever worker gives the next of the flow, it does
    /// so after this one: else the numbers show it.
    fn judge(&self, frame: &[u8]) {
        let flow = u32::from_le_bytes(frame[FLOW_AT..][..4].try_into().expect("four bytes"));
        let number = u64::from_le_bytes(frame[NUMBER_AT..][..8].try_into().expect("eight bytes"));
        let next = &self.next[flow as usize];
        let expected = next.load(Ordering::Acquire);
        if number < expected {
            self.reordered.fetch_add(1, Ordering::Relaxed);
        } else {
            next.store(number + 1, Ordering::Release);
        }
    }

    pub(crate) fn reordered(&self) -> u64 {
        self.reordered.load(Ordering::Relaxed)
    }

    pub(crate) fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }

    pub(crate) fn sent(&self) -> u64 {
        let count = |sent: &AtomicU64| sent.load(Ordering::Relaxed);
        self.sent.iter().map(count).sum()
    }
}

/// Pseudo-random numbers, xorshift64*: quick, and the same for the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        (drawn * bound) >> 32
    }
}

/// Where flows come from: each by a queue of its own, drawn at random.
pub(crate) struct FlowPort {
    pub(crate) queues: usize,
    /// By queue: its flows.
    flows: Vec<Vec<u32>>,
    pub(crate) frames_a_queue: u64,
    pub(crate) lossless: bool,
    pub(crate) make: Make,
    seed: u64,
    judge: Arc<Judge>,
}

impl FlowPort {
    pub(crate) fn new(queues: usize, frames: u64, seed: u64, judge: &Arc<Judge>) -> Self {
        let mut flows = vec![Vec::new(); queues];
        let mut random = Random::new(seed);
        for flow in 0..judge.next.len() as u32 {
            flows[random.below(queues as u64) as usize].push(flow);
        }
        assert!(flows.iter().all(|own| !own.is_empty()), "seed {seed}");
        Self {
            queues,
            flows,
            frames_a_queue: frames / queues as u64,
            lossless: true,
            make: plain,
            seed,
            judge: Arc::clone(judge),
        }
    }

    pub(crate) fn port(self) -> TestPort {
        let (queues_max, lossless) = (self.queues, self.lossless);
        let open = move |queue: QueueId, _| {
            let flows = self.flows[usize::from(queue.0)].iter();
            FlowQueue {
                flows: flows
                    .map(|&flow| (flow, template(flow, self.make), 0))
                    .collect(),
                left: self.frames_a_queue,
                random: Random::new(self.seed ^ (u64::from(queue.0 + 1) << 32)),
                judge: Arc::clone(&self.judge),
                statistics: PortStatistics::default(),
            }
        };
        TestPort {
            queues_max,
            lossless,
            tx_sink: false,
            frame_bytes_max: LEN,
            ..TestPort::new(0, open)
        }
    }
}

/// A frame of a flow without tunnels.
pub(crate) fn plain(flow: u32) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    packet(flow).emit(&mut bytes).expect("a sound recipe");
    bytes
}

/// What is in the frame of a flow.
pub(crate) fn packet(flow: u32) -> Recipe<'static> {
    let ip = Ipv4 {
        src: 0x0a00_0000 + flow,
        dst: 0x0b00_0000 + flow.wrapping_mul(7919) % 65_536,
        ..Ipv4::default()
    };
    let udp = Transport::Udp {
        src_port: 1000 + (flow % 5000) as u16,
        dst_port: 53,
    };
    Recipe {
        network: Network::Ipv4(ip, udp),
        ..Recipe::default()
    }
}

/// The frame of a flow, its number left to be written.
fn template(flow: u32, make: Make) -> [u8; LEN] {
    let mut bytes = make(flow);
    bytes[FLOW_AT..][..4].copy_from_slice(&flow.to_le_bytes());
    bytes
}

struct FlowQueue {
    /// Flow, its frame, and the number of the next.
    flows: Vec<(u32, [u8; LEN], u64)>,
    left: u64,
    random: Random,
    judge: Arc<Judge>,
    statistics: PortStatistics,
}

impl PortQueue for FlowQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let before = burst.len();
        let want = max.min(usize::try_from(self.left).unwrap_or(max));
        let count = pool.alloc_burst_of(burst, want, LEN);
        for frame in &mut burst.frames_mut()[before..] {
            let chosen = self.random.below(self.flows.len() as u64) as usize;
            let (_, template, number) = &mut self.flows[chosen];
            let bytes = frame.bytes_mut();
            bytes.copy_from_slice(template);
            bytes[NUMBER_AT..][..8].copy_from_slice(&number.to_le_bytes());
            *number += 1;
        }
        self.left -= count as u64;
        self.statistics.rx_frames += count as u64;
        self.statistics.rx_bytes += (count * LEN) as u64;
        if self.left > 0 {
            return RxState::Open;
        }
        for (flow, _, number) in &self.flows {
            self.judge.sent[*flow as usize].store(*number, Ordering::Relaxed);
        }
        RxState::Ended
    }

    fn tx_burst(&mut self, _: &mut Burst, _: &mut FramePool) {}

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}

/// Where the frames go.
pub(crate) fn judge_port(queues_max: usize, judge: &Arc<Judge>) -> TestPort {
    let judge = Arc::clone(judge);
    let open = move |_, _| JudgeQueue {
        judge: Arc::clone(&judge),
        statistics: PortStatistics::default(),
    };
    TestPort::sink(queues_max, open)
}

struct JudgeQueue {
    judge: Arc<Judge>,
    statistics: PortStatistics,
}

impl PortQueue for JudgeQueue {
    fn rx_burst(&mut self, _: &mut FramePool, _: &mut Burst, _: usize) -> RxState {
        RxState::Ended
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        for frame in burst.frames() {
            self.judge.judge(frame.bytes());
        }
        let frames = burst.len() as u64;
        self.statistics.tx_frames += frames;
        self.statistics.tx_bytes += frames * LEN as u64;
        pool.free_burst(burst);
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        let sent = self.statistics.tx_frames;
        self.judge.arrived.fetch_add(sent, Ordering::Relaxed);
        Ok(Vec::new())
    }
}
