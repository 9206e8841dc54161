//! The same fragments by way of the engine: one worker, and two that receive each frame by a queue
//! drawn at random, so that fragments meet at one worker and are judged at another.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{Engine, RunReport};
use frame::{Burst, CpuId, FramePool};
use port::{Port, PortQueue, PortStatistics, RxState};

use super::lap::{FLOWS, Flows, LEN, Lap, Order, TOGETHER, flows, limits, stamped};
use crate::contest::{Contestant, plain_plan, refused};
use crate::experiment::LabError;
use crate::shuffle::Seeded;
use crate::source_port::{SourcePort, null_sink};

/// Frames of a trial: some 50 ms.
const FRAMES: usize = 400_000;
/// Frames by which a queue may be ahead of the other: they come by one wire.
const AHEAD: u64 = 256;
/// Frames of a worker's pool.
const POOL_FRAMES: u32 = 8192;
pub(super) const RATE: &str = "fragments_per_second_per_worker";

/// What is measured.
pub(super) const LAPS: [(u8, Order); 5] = [
    (1, Order::FirstFirst),
    (2, Order::FirstFirst),
    (2, Order::Random),
    (4, Order::FirstFirst),
    (4, Order::Random),
];

/// The first run that failed, and how many frames were dropped in all.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) failed: Option<LabError>,
    pub(super) dropped: u64,
}

/// Each lap by one worker and by two.
pub(super) fn contestants(cpus: &[CpuId], seen: &Rc<RefCell<Seen>>) -> Vec<Contestant> {
    let laps = LAPS.into_iter();
    let both = laps.flat_map(|lap| [1, 2].map(|workers| (lap, workers)));
    both.map(|((pieces, order), workers)| {
        let lap = lap(pieces, order);
        let traffic = Arc::new(Traffic::new(lap, workers, FRAMES));
        let (cpus, seen) = (cpus[..workers].to_vec(), Rc::clone(seen));
        Contestant {
            variant: vec![
                ("mode", "engine".into()),
                ("workers", workers.into()),
                ("pieces", u64::from(pieces).into()),
                ("order", order.name().into()),
            ],
            metric: RATE,
            measure: Box::new(move |_| match trial(&traffic, &cpus) {
                Ok(report) => {
                    seen.borrow_mut().dropped += report.accounting.dropped_total();
                    report.accounting.tx as f64 / report.seconds / cpus.len() as f64
                }
                Err(error) => {
                    seen.borrow_mut().failed.get_or_insert(error);
                    f64::NAN
                }
            }),
        }
    })
    .collect()
}

fn lap(pieces: u8, order: Order) -> Lap {
    Lap {
        pieces,
        order,
        flows: Flows::Known,
        loss: 0,
    }
}

/// One run, from the first frame to the last.
fn trial(traffic: &Arc<Traffic>, cpus: &[CpuId]) -> Result<RunReport, LabError> {
    let mut plan = plain_plan(vec![piece_port(traffic), null_sink()?], cpus.to_vec())?;
    plan.policy.stateful = Some(flows());
    plan.policy.fragments = Some(limits());
    plan.pool_frames = POOL_FRAMES;
    let report = Engine::start(plan).map_err(refused)?;
    let report = report.join().map_err(refused)?;
    match report.balanced {
        true => Ok(report),
        false => Err(LabError(format!(
            "books do not close: {:?}",
            report.accounting
        ))),
    }
}

/// A frame and when it comes, by the frames of all queues before it.
type Due = ([u8; LEN], u32);

/// The frames of each queue.
#[derive(Debug)]
struct Traffic {
    queues: Vec<Vec<Due>>,
    /// How far each queue is.
    come: Vec<AtomicU64>,
}

impl Traffic {
    /// About `frames` frames, each by a queue drawn at random.
    fn new(lap: Lap, queues: usize, frames: usize) -> Self {
        let mut random = Seeded::new(u64::from(lap.pieces));
        let mut traffic = Self {
            queues: vec![Vec::new(); queues],
            come: (0..queues).map(|_| AtomicU64::new(0)).collect(),
        };
        let (mut number, mut identification, mut roles) = (0_u32, 0_u32, Vec::new());
        while (number as usize) < frames {
            lap.roles(&mut random, &mut roles);
            let flow = random.next() % FLOWS;
            for &(packet, piece) in &roles {
                let flow = (flow + packet as u64) % FLOWS;
                let identification = identification.wrapping_add(packet as u32);
                let bytes = stamped(flow as u32, identification, (piece, lap.pieces));
                let queue = random.next() as usize % queues;
                traffic.queues[queue].push((bytes, number));
                number += 1;
            }
            identification = identification.wrapping_add(TOGETHER as u32);
        }
        traffic
    }

    /// The number before which frames may come by `queue`.
    fn before(&self, queue: usize) -> u64 {
        let others = self.come.iter().enumerate().filter(|&(at, _)| at != queue);
        let slowest = others.map(|(_, come)| come.load(Ordering::Relaxed)).min();
        slowest.map_or(u64::MAX, |come| come.saturating_add(AHEAD))
    }
}

/// A port that brings the frames of each queue, as fast as they are taken.
fn piece_port(traffic: &Arc<Traffic>) -> Box<dyn Port> {
    let traffic = Arc::clone(traffic);
    traffic
        .come
        .iter()
        .for_each(|come| come.store(0, Ordering::Relaxed));
    Box::new(SourcePort {
        spec: "pieces:",
        queues: traffic.queues.len(),
        frame_bytes: LEN,
        open: move |queue: usize| {
            Box::new(PieceQueue {
                traffic: Arc::clone(&traffic),
                queue,
                next: 0,
                statistics: PortStatistics::default(),
            }) as Box<dyn PortQueue>
        },
    })
}

struct PieceQueue {
    traffic: Arc<Traffic>,
    queue: usize,
    next: usize,
    statistics: PortStatistics,
}

impl PortQueue for PieceQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let own = &self.traffic.queues[self.queue];
        let before = self.traffic.before(self.queue);
        let left = &own[self.next..];
        let due = left.iter().take(max);
        let due = due.take_while(|(_, number)| u64::from(*number) < before);
        let (begun, want) = (burst.len(), due.count());
        let count = pool.alloc_burst_of(burst, want, LEN);
        for (frame, (bytes, _)) in burst.frames_mut()[begun..].iter_mut().zip(left) {
            frame.bytes_mut().copy_from_slice(bytes);
        }
        self.next += count;
        let next = own.get(self.next);
        let come = next.map_or(u64::MAX, |&(_, number)| number.into());
        self.traffic.come[self.queue].store(come, Ordering::Relaxed);
        self.statistics.rx_frames += count as u64;
        self.statistics.rx_bytes += (count * LEN) as u64;
        match next {
            Some(_) => RxState::Open,
            None => RxState::Ended,
        }
    }

    fn tx_burst(&mut self, _: &mut Burst, _: &mut FramePool) {}

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All comes out, by one worker and by two, which hand fragments over.
    #[test]
    fn no_fragment_is_lost_between_workers() {
        let cpus: Vec<CpuId> = engine::allowed_cpus().into_iter().cycle().take(2).collect();
        for (pieces, order) in LAPS {
            for workers in [1, 2] {
                let traffic = Arc::new(Traffic::new(lap(pieces, order), workers, 20_000));
                let report = trial(&traffic, &cpus[..workers]).expect("a run");
                let books = &report.accounting;
                assert!(books.rx >= 20_000, "{books:?}");
                assert_eq!(
                    books.tx, books.rx,
                    "{pieces} {order:?} {workers}: {books:?}"
                );
                assert_eq!(books.handed_off > 0, workers == 2, "{books:?}");
                let begun = report.fragments.map_or(0, |seen| seen.counts.begun);
                let packets = books.rx / u64::from(pieces);
                assert_eq!(begun, if pieces == 1 { 0 } else { packets });
            }
        }
    }
}
