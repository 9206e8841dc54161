//! Ports opened, workers made, and given something to do.

use std::ops::Range;
use std::sync::Arc;

use frame::{Burst, FramePool, Nanos, PortId, QueueId, WorkerId};
use port::{Port, PortStatistics, TimeSource};
use traffic::{FCS_BYTES, Neighbour, Recipe, Sink, SinkLimits, Speed};

use super::answering::Answering;
use super::arrivals::Arrivals;
use super::carrier::{await_carriers, without_carrier};
use super::part::{Part, Share};
use super::running::RunningDrive;
use super::worker::{Driver, Span, Taker};
use super::{DriveClosing, DrivePlan, Trial};
use crate::attachment::Attachment;
use crate::counters::Counters;
use crate::dispatch::DispatchPolicy;
use crate::exchange::Exchange;
use crate::finish::{PortFacts, all_counts, finish_queues, passed};
use crate::hit_counters::Size;
use crate::ledger::{Meters, PortCounts};
use crate::moves::Kept;
use crate::report::MemoryReport;
use crate::start::{FrameMemory, begin_queues};
use crate::states::Watched;
use crate::supervise::Control;
use crate::{EngineError, IdleMode};

/// What each of a drive's ports is for, by its place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roles {
    pub(super) tx: Option<usize>,
    pub(super) rx: Option<usize>,
    /// The place of the capture that is sent, and how fast.
    pub(super) replay: Option<(usize, Speed)>,
    pub(super) returns: bool,
    pub(super) reflect: bool,
    /// Frames that come to `tx` are taken in to be answered, if for nothing else.
    answers: bool,
    apart: bool,
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
    notes: Vec<String>,
    pub(super) roles: Roles,
    /// Who `tx` and `rx` are on their links.
    neighbours: [Option<Neighbour>; 2],
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
            answers: plan.neighbours[0].is_some(),
            apart: plan.apart,
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
        let memory = FrameMemory::map(&ports, &plan.cpus, frames)?;
        for port in &mut ports {
            port.prepare(memory.region)?;
        }
        let attachments = attach(&mut ports, roles, plan.cpus.len())?;
        let control = Arc::new(Control::new(Size::of_drive(plan.cpus.len())));
        let workers = memory
            .pools
            .into_iter()
            .zip(&plan.cpus)
            .zip(attachments)
            .zip(0..);
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
        let mut facts: Vec<PortFacts> = facts.collect();
        await_carriers(&mut facts);
        Ok(Self {
            notes: facts.iter().filter_map(without_carrier).collect(),
            facts,
            before: vec![PortStatistics::default(); ports.len()],
            workers,
            meters: Meters::of(&ports),
            counted: Vec::new(),
            ports,
            memory: memory.report,
            roles,
            neighbours: plan.neighbours,
            burst: plan.burst,
            streams: 0,
        })
    }

    /// The frame memory that was got.
    #[must_use]
    pub fn memory(&self) -> &MemoryReport {
        &self.memory
    }

    /// What the user should know of the open ports, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
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
        let roles = self.roles;
        if roles.tx.is_some() && roles.replay.is_none() {
            self.check_room(&trial.recipe)?;
        }
        // Nobody sends less than one frame, or bit, a second.
        let units = trial
            .rate
            .units()
            .map_or(usize::MAX, |units| units as usize);
        let senders = self.with_queue(roles.tx).min(units);
        let receivers = self.with_queue(roles.rx);
        let mut trial = trial.clone();
        let streams = self.streams..self.streams + senders as u32;
        if let Some(stamp) = &mut trial.recipe.stamp {
            // Numbers go round: frames of 65,536 streams before this are long gone.
            stamp.first_stream = streams.start as u16;
        }
        let control = Arc::new(Control::new(Size::of_drive(self.workers.len())));
        let several = [roles.rx, roles.tx.filter(|_| roles.returns)];
        let several = several.map(|place| self.with_queue(place) > 1);
        let carried_max = self.carried_max(roles);
        let (mut sender, mut receiver) = (0, 0);
        for worker in &mut self.workers {
            worker.begin_anew(&control, self.burst);
            worker.waits_for_sources = roles.tx.is_none();
            worker.takers = takers(roles, worker, several, &self.neighbours);
            for taker in &mut worker.takers {
                let source = self.ports[taker.place].time_source();
                taker.arrivals = match source {
                    TimeSource::Software { .. } => Arrivals::Clock,
                    TimeSource::Hardware { .. } => Arrivals::Nic,
                    TimeSource::Recorded => Arrivals::Recorded,
                };
            }
            if let Some(place) = roles.tx.filter(|&tx| worker.has_queue(tx))
                && sender < senders
            {
                let part = Part {
                    trial: &trial,
                    of: senders,
                    nth: sender,
                    burst: self.burst,
                    carried_max,
                    records: self.ports[place].records(),
                };
                worker.sender = Some(part.sender(place, part.feed(roles)?));
                sender += 1;
            } else if roles.tx.is_none() && roles.rx.is_some_and(|rx| worker.has_queue(rx)) {
                let share = Share {
                    of: receivers,
                    nth: receiver,
                };
                worker.quota = trial.count.map_or(u64::MAX, |count| share.part(count));
                receiver += 1;
            }
        }
        self.streams = streams.end;
        self.before = self.passed();
        self.meters.opened();
        self.counted = all_counts(&self.facts, &mut self.workers);
        self.meters.begun();
        self.announce();
        let signed = trial.recipe.stamp.is_some() && roles.replay.is_none();
        Ok(if signed { streams } else { 0..0 })
    }

    /// Whether a port announces itself.
    pub(super) fn announces(&self) -> bool {
        let mut neighbours = self.neighbours.iter().flatten();
        neighbours.any(|own| own.announces)
    }

    /// One queue of a port announces it, before anything is sent: a switch then knows where it is.
    fn announce(&mut self) {
        let is_first = |worker: &&mut Driver| {
            let mut takers = worker.takers.iter();
            takers.any(|taker| taker.answering.announces())
        };
        if let Some(worker) = self.workers.iter_mut().find(is_first) {
            worker.announce();
        }
    }

    /// Frames that fit no chunk would never be made.
    fn check_room(&self, recipe: &Recipe) -> Result<(), EngineError> {
        let longest = recipe.sizes.frame_bytes_max();
        if longest <= self.workers[0].pool.frame_bytes_max() {
            return Ok(());
        }
        Err(EngineError::FrameTooLong {
            frame: longest + FCS_BYTES,
            stride: self.memory.stride_bytes,
        })
    }

    /// The longest frame that the interface which takes in has room for, where it says so. A frame
    /// with one VLAN tag may be longer by the tag.
    fn carried_max(&self, roles: Roles) -> Option<usize> {
        const BESIDE: usize = 14 + 4;
        let rx = roles.tx.and(roles.rx)?;
        self.ports[rx].mtu().map(|mtu| mtu as usize + BESIDE)
    }

    /// Workers with a queue of a port.
    fn with_queue(&self, place: Option<usize>) -> usize {
        let has = |place| self.workers.iter().filter(move |own| own.has_queue(place));
        place.map_or(0, |place| has(place).count())
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
        counters: Counters::new(),
        control,
        idle,
        shown_quiet: false,
        began: Nanos::ZERO,
    }
}

/// The sinks of a worker: one a port that it takes frames in from. Where several workers do, each
/// records what came to it: `several` is of the port that takes in and of the one that sends.
fn takers(
    roles: Roles,
    worker: &Driver,
    several: [bool; 2],
    neighbours: &[Option<Neighbour>; 2],
) -> Vec<Taker> {
    let back = roles.tx.filter(|_| roles.returns || roles.answers);
    let ahead = roles.rx.map(|rx| (rx, several[0], &neighbours[1]));
    let places = ahead
        .into_iter()
        .chain(back.map(|tx| (tx, several[1], &neighbours[0])));
    let limits = |several| match several {
        true => SinkLimits::of_several(),
        false => SinkLimits::default(),
    };
    places
        .filter(|&(place, ..)| worker.has_queue(place))
        .map(|(place, several, neighbour)| Taker {
            place,
            sink: Sink::new(limits(several)),
            accounts: roles.rx == Some(place) || roles.returns,
            answering: Answering::new(neighbour.clone()),
            reflects: roles.reflect && roles.rx == Some(place),
            ended: 0,
            arrivals: Arrivals::Clock,
            span: None,
            looked: Nanos::ZERO,
            last: Nanos::ZERO,
            stamps: Span::default(),
        })
        .collect()
}

/// The attachments of every worker to every port.
fn attach(
    ports: &mut [Box<dyn Port>],
    roles: Roles,
    workers: usize,
) -> Result<Vec<Vec<Attachment>>, EngineError> {
    let mut attachments: Vec<Vec<Attachment>> = (0..workers).map(|_| Vec::new()).collect();
    let mut senders = workers;
    for (place, port) in ports.iter_mut().enumerate() {
        let halved = roles.apart && (roles.tx == Some(place) || roles.rx == Some(place));
        let most = if halved { workers / 2 } else { workers };
        let mut queues = port.queues_max().clamp(1, most.max(1));
        if roles.tx == Some(place) {
            senders = queues;
        } else if roles.rx != Some(place) {
            // What a worker reads of a capture it sends itself.
            queues = queues.min(senders);
        }
        let takes_in = roles.rx == Some(place);
        let receives = takes_in || roles.tx != Some(place) || roles.returns || roles.answers;
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
                had_nothing: false,
                queue,
                transmits: port.tx_sink(),
                policy: DispatchPolicy::Direct,
                queues: queues as u16,
                shared: false,
                rx_dropped: 0,
                tx_dropped: 0,
                tx_owner: WorkerId(0),
                staged: Burst::new(),
                kept: Kept::new(false),
                decisions: Exchange::default(),
                gatherings: Exchange::default(),
                transmissions: Exchange::default(),
            });
        }
    }
    Ok(attachments)
}
