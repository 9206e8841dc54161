//! Ports opened, workers made, and given something to do.

use std::ops::Range;
use std::sync::Arc;

use frame::{Burst, FramePool, Nanos, PortId, QueueId, WorkerId};
use port::{Port, PortStatistics};
use traffic::{FCS_BYTES, Pacer, Rate, Sink, SinkLimits, Source};

use super::feed::{Feed, Replay};
use super::running::RunningDrive;
use super::worker::{Driver, Sender, Span, Taker};
use super::{DriveClosing, DrivePlan, Trial};
use crate::attachment::Attachment;
use crate::counters::Words;
use crate::exchange::Exchange;
use crate::finish::{PortFacts, all_counts, finish_queues, passed};
use crate::ledger::{Meters, PortCounts};
use crate::report::MemoryReport;
use crate::start::{begin_queues, map_pools};
use crate::states::Watched;
use crate::supervise::Control;
use crate::{EngineError, IdleMode};

/// What each of a drive's ports is for, by its place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roles {
    pub(super) tx: Option<usize>,
    pub(super) rx: Option<usize>,
    /// The place of the capture that is sent, and how many times faster than recorded.
    pub(super) replay: Option<(usize, Option<f64>)>,
    pub(super) returns: bool,
    pub(super) reflect: bool,
}

/// Open ports and workers at rest, ready for trials.
pub struct Drive {
    pub(super) workers: Vec<Driver>,
    pub(super) ports: Vec<Box<dyn Port>>,
    pub(super) facts: Vec<PortFacts>,
    /// What had passed by each port when the trial began.
    pub(super) before: Vec<PortStatistics>,
    /// The counters of their interfaces, and what their queues had counted when the trial began.
    pub(super) meters: Meters,
    pub(super) counted: Vec<PortCounts>,
    pub(super) memory: MemoryReport,
    pub(super) roles: Roles,
    burst: usize,
    /// Streams numbered so far.
    streams: u32,
}

impl Drive {
    /// Maps frame memory and opens the queues: one of each port a worker, as far as it has them.
    /// Where there are fewer, the first workers send and the last ones take in.
    ///
    /// # Errors
    ///
    /// A plan that cannot work, memory or queues that cannot be had.
    pub fn open(plan: DrivePlan) -> Result<Self, EngineError> {
        plan.check()?;
        let mut roles = Roles {
            returns: plan.returns,
            reflect: plan.reflect,
            ..Roles::default()
        };
        let mut ports = Vec::new();
        let mut add = |port: Box<dyn Port>| {
            ports.push(port);
            ports.len() - 1
        };
        roles.tx = plan.tx.map(&mut add);
        roles.rx = plan.rx.map(&mut add);
        roles.replay = plan.replay.map(|replay| (add(replay.port), replay.speed));
        let frames = (plan.pool_frames, plan.stride_bytes);
        let (region, pools, memory) = map_pools(&ports, &plan.cpus, frames)?;
        for port in &mut ports {
            port.prepare(region)?;
        }
        let attachments = attach(&mut ports, roles, plan.cpus.len())?;
        let control = Arc::new(Control::new(plan.cpus.len()));
        let workers = pools.into_iter().zip(&plan.cpus).zip(attachments).zip(0..);
        let worker = |(((pool, &cpu), attachments), id)| {
            let control = Arc::clone(&control);
            at_rest(WorkerId(id), cpu, pool, attachments, control, plan.idle)
        };
        let mut workers: Vec<Driver> = workers.map(worker).collect();
        begin_queues(&mut workers)?;
        let facts = ports.iter().map(|port| PortFacts {
            id: port.id(),
            spec: port.spec().to_owned(),
            mode: port.mode(),
            watched: port.monitor().map(Watched::new),
        });
        Ok(Self {
            facts: facts.collect(),
            before: vec![PortStatistics::default(); ports.len()],
            workers,
            meters: Meters::of(&ports),
            counted: Vec::new(),
            ports,
            memory,
            roles,
            burst: plan.burst,
            streams: 0,
        })
    }

    /// The frame memory that was got.
    #[must_use]
    pub fn memory(&self) -> &MemoryReport {
        &self.memory
    }

    /// Starts a trial: the workers send, take in, or both, until it is over.
    ///
    /// # Errors
    ///
    /// A recipe that cannot be made, a trial without an end, threads that cannot be had. The ports
    /// are closed then.
    pub fn start(mut self, trial: &Trial) -> Result<RunningDrive, EngineError> {
        let streams = self.set_up(trial)?;
        RunningDrive::start(self, trial, streams)
    }

    /// Closes the ports.
    #[must_use]
    pub fn close(mut self) -> DriveClosing {
        let (warnings, failure) = finish_queues(&mut self.workers);
        DriveClosing { warnings, failure }
    }

    /// Gives every worker its part of the trial; returns the streams that are sent.
    pub(super) fn set_up(&mut self, trial: &Trial) -> Result<Range<u32>, EngineError> {
        let control = Arc::new(Control::new(self.workers.len()));
        let roles = self.roles;
        let longest = trial.recipe.sizes.frame_bytes_max();
        let room = self.workers[0].pool.frame_bytes_max();
        if roles.tx.is_some() && roles.replay.is_none() && longest > room {
            return Err(EngineError::FrameTooLong {
                frame: longest + FCS_BYTES,
                stride: self.memory.stride_bytes,
            });
        }
        let sends = |worker: &Driver, place: usize| worker.attachments[place].queue.is_some();
        let senders = match roles.tx {
            Some(tx) => self.workers.iter().filter(|own| sends(own, tx)).count(),
            None => 0,
        };
        let receivers = match roles.rx {
            Some(rx) => self.workers.iter().filter(|own| sends(own, rx)).count(),
            None => 0,
        };
        let mut recipe = trial.recipe.clone();
        let streams = self.streams..self.streams + senders as u32;
        if let Some(stamp) = &mut recipe.stamp {
            // Numbers go round: frames of 65,536 streams before this are long gone.
            stamp.first_stream = streams.start as u16;
        }
        let (mut sender, mut receiver) = (0, 0);
        for worker in &mut self.workers {
            worker.control = Arc::clone(&control);
            worker.words = Words::new();
            worker.burst_max = self.burst;
            worker.shown_quiet = false;
            worker.waits_for_sources = roles.tx.is_none();
            (worker.sender, worker.quota) = (None, u64::MAX);
            if let Some(place) = roles.tx.filter(|&tx| sends(worker, tx)) {
                let part = Part {
                    trial,
                    of: senders,
                    nth: sender,
                    burst: self.burst,
                };
                sender += 1;
                let feed = match roles.replay {
                    Some((at, speed)) => Feed::Replayed(Box::new(Replay::new(at, speed))),
                    None => {
                        let source = Source::new(&recipe, sender - 1, senders);
                        Feed::Made(Box::new(source.map_err(EngineError::Recipe)?))
                    }
                };
                worker.sender = part.sender(place, feed);
            } else if roles.tx.is_none() && roles.rx.is_some_and(|rx| sends(worker, rx)) {
                worker.quota = part_of(trial.count, receivers, receiver);
                receiver += 1;
            }
            worker.takers = takers(roles, worker);
        }
        self.streams = streams.end;
        let signed = recipe.stamp.is_some() && roles.replay.is_none();
        self.before = self.passed();
        self.meters.opened();
        self.counted = all_counts(&self.facts, &mut self.workers);
        self.meters.begun();
        Ok(if signed { streams } else { 0..0 })
    }

    /// What has passed by each port so far.
    pub(super) fn passed(&self) -> Vec<PortStatistics> {
        let ports = self.facts.iter();
        ports.map(|facts| passed(&self.workers, facts.id)).collect()
    }

    /// Frames that found no way out are given up, and every pool takes its own back.
    pub(super) fn settle(&mut self) {
        self.workers.iter_mut().for_each(Driver::abandon);
        // In a second round, when every worker has let go of the others' frames.
        for worker in &mut self.workers {
            worker.pool.collect();
        }
    }
}

/// One sender's part of a trial.
struct Part<'a> {
    trial: &'a Trial,
    of: usize,
    nth: usize,
    burst: usize,
}

impl Part<'_> {
    fn sender(&self, place: usize, feed: Feed) -> Option<Sender> {
        let rate = rate_of(self.trial.rate, self.of as u64, self.nth as u64)?;
        Some(Sender {
            place,
            frame_bytes_mean: self.trial.recipe.sizes.frame_bytes_mean(),
            feed,
            rate,
            burst_max: self.burst,
            pacer: Pacer::new(rate, self.burst, Nanos::ZERO),
            quota: part_of(self.trial.count, self.of, self.nth),
            sent: 0,
            looked: Nanos::ZERO,
            last: Nanos::ZERO,
            stamps: Span::default(),
        })
    }
}

/// A worker that holds its queues and has nothing to do.
fn at_rest(
    id: WorkerId,
    cpu: frame::CpuId,
    pool: FramePool,
    attachments: Vec<Attachment>,
    control: Arc<Control>,
    idle: IdleMode,
) -> Driver {
    Driver {
        id,
        cpu,
        pool,
        attachments,
        sender: None,
        takers: Vec::new(),
        burst_max: 1,
        quota: 0,
        waits_for_sources: false,
        burst: Burst::new(),
        words: Words::new(),
        control,
        idle,
        shown_quiet: false,
        began: Nanos::ZERO,
    }
}

/// The sinks of a worker: one a port that it takes frames in from.
fn takers(roles: Roles, worker: &Driver) -> Vec<Taker> {
    let back = roles.tx.filter(|_| roles.returns);
    let places = roles
        .rx
        .map(|rx| (rx, roles.reflect))
        .into_iter()
        .chain(back.map(|tx| (tx, false)));
    let has_queue = |&(place, _): &(usize, bool)| worker.attachments[place].queue.is_some();
    places
        .filter(has_queue)
        .map(|(place, reflects)| Taker {
            place,
            sink: Sink::new(SinkLimits::default()),
            reflects,
            looked: Nanos::ZERO,
            last: Nanos::ZERO,
            stamps: Span::default(),
        })
        .collect()
}

/// Even parts, the rest to the first ones.
fn part_of(count: Option<u64>, of: usize, nth: usize) -> u64 {
    let (of, nth) = (of as u64, nth as u64);
    count.map_or(u64::MAX, |count| count / of + u64::from(nth < count % of))
}

/// One sender's part of a rate; none where there are more senders than frames a second.
fn rate_of(rate: Rate, of: u64, nth: u64) -> Option<Rate> {
    let part = |whole: u64| Some(whole / of + u64::from(nth < whole % of)).filter(|&own| own != 0);
    match rate {
        Rate::Unlimited => Some(Rate::Unlimited),
        Rate::Frames(rate) => part(rate).map(Rate::Frames),
        Rate::BitsL1(rate) => part(rate).map(Rate::BitsL1),
        Rate::BitsL2(rate) => part(rate).map(Rate::BitsL2),
    }
}

/// The attachments of every worker to every port.
fn attach(
    ports: &mut [Box<dyn Port>],
    roles: Roles,
    workers: usize,
) -> Result<Vec<Vec<Attachment>>, EngineError> {
    let mut attachments: Vec<Vec<Attachment>> = (0..workers).map(|_| Vec::new()).collect();
    for (place, port) in ports.iter_mut().enumerate() {
        let queues = port.queues_max().clamp(1, workers);
        let takes_in = roles.rx == Some(place);
        let receives = takes_in || roles.tx != Some(place) || roles.returns;
        for (number, worker) in attachments.iter_mut().enumerate() {
            // A port that takes in begins at the last worker, one that sends at the first.
            let number = if takes_in && queues < workers {
                workers - 1 - number
            } else {
                number
            };
            let queue = (number < queues)
                .then(|| port.open_queue(QueueId(number as u16), queues))
                .transpose()?;
            worker.push(Attachment {
                port: PortId(place as u8),
                open: receives && port.rx_source() && queue.is_some(),
                empties: false,
                queue,
                transmits: port.tx_sink(),
                spread: false,
                tx_owner: WorkerId(0),
                staged: Burst::new(),
                decisions: Exchange::default(),
                transmissions: Exchange::default(),
            });
        }
    }
    Ok(attachments)
}
