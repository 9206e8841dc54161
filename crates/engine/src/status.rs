//! What a run has to say for itself while it goes on.
//!
//! Workers show their counters about once a millisecond, and their ports and pools ten times a
//! second, by plain stores: to read them disturbs nobody.

mod board;
mod recent;

use std::net::IpAddr;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use frame::{CpuId, PoolAccounts, PortId, WorkerId};
use plane::{DropReason, NodeCount};
use port::PortStatistics;
use port::interface::Link;
use wire::LinkProtocol;

use crate::counters::{BURST_BUCKETS, Count, Counters};
use crate::dispatch::{BucketStatus, DispatchReport, MoveError, Mover, PathFacts};
use crate::flows::{self, FlowReport};
use crate::fragments::{self, FragmentReport};
use crate::hit_counters::SetCounts;
use crate::hit_history::{HitHistory, RecentHits, TopHits};
use crate::publish::Publisher;
use crate::report::{MemoryReport, Snapshot};
use crate::requests::{Requester, Requesters};
use crate::samples::{self, SampleError, SampleReceiver, SampleSpec};
use crate::states::StateReport;
use crate::supervise::Control;

pub(crate) use board::{HoldBoard, PortHold, SHOW_EVERY_NANOS, load, store};
pub(crate) use recent::Recent;

/// A run as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// Since the start.
    pub seconds: f64,
    /// The version of lists and policy published last, counted from 1.
    pub version: u64,
    /// The version that every worker has, or a later one.
    pub seen: u64,
    /// Each port, in the order of their numbers.
    pub ports: Vec<PortStatus>,
    /// Each worker.
    pub workers: Vec<WorkerStatus>,
    /// How frames got to the worker that decided on them; up to a tenth of a second old.
    pub dispatch: DispatchReport,
    /// Flows, where the bridge remembers them.
    pub flows: Option<FlowReport>,
    /// Packets in fragments, where the bridge follows them.
    pub fragments: Option<FragmentReport>,
    /// Frames dropped, by every reason there is, in the order of their declaration.
    pub drops: Vec<(DropReason, u64)>,
    /// Frames that at least one count set would have dropped, and no block set did.
    pub would_drop: u64,
    /// Frames that passed by a rule alone, by every rule there is.
    pub passed: Vec<(LinkProtocol, u64)>,
    /// What the node counted; nothing between two ports.
    pub node: Vec<NodeCount>,
    /// Each set of the current policy, in its order.
    pub sets: Vec<SetCounts>,
    /// Frame memory.
    pub memory: MemoryReport,
}

/// A port as it is now, all its queues together; up to a tenth of a second old.
#[derive(Clone, Debug, PartialEq)]
pub struct PortStatus {
    /// Its number.
    pub id: PortId,
    /// As the user wrote it, every choice resolved.
    pub spec: String,
    /// The mode that was granted.
    pub mode: String,
    /// Whether frames can pass; `None` where no interface of the kernel is behind it.
    pub link: Option<Link>,
    /// Frames and bytes by direction, and what was missed.
    pub passed: PortStatistics,
    /// Frames that came in by it and were dropped by their verdict.
    pub rx_dropped: u64,
    /// Frames that were to leave by it and were dropped: it was full, failed, or refused them.
    pub tx_dropped: u64,
    /// Times that it took none of the frames there were to send.
    pub tx_refusals: u64,
    /// What its interface was in that it should not be, each that occurred.
    pub states: Vec<StateReport>,
}

/// A worker as it is now; up to a millisecond old, its pool and CPU time up to a tenth of a second.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerStatus {
    /// Its number.
    pub id: WorkerId,
    /// The CPU it is tied to.
    pub cpu: CpuId,
    /// Frames it received from ports.
    pub rx: u64,
    /// Their bytes, without FCS.
    pub rx_bytes: u64,
    /// Frames it transmitted.
    pub tx: u64,
    /// Frames it dropped.
    pub dropped: u64,
    /// Frames it gave to other workers, whose flows they are or who transmit them.
    pub handed_off: u64,
    /// Frames it got from other workers.
    pub received: u64,
    /// Received bursts that were not empty.
    pub bursts: u64,
    /// Of those, how many had 1 frame, 2, up to 4, 8, 16, 32, 64, 128, 256.
    pub burst_sizes: [u64; BURST_BUCKETS],
    /// Time in steps that moved a frame, nanoseconds.
    pub busy_nanos: u64,
    /// The share of the last second that it spent in such steps, 0 to 1.
    pub busy: f64,
    /// Frames received a second, in the last second.
    pub rx_per_second: f64,
    /// Busy time a received frame in the last second, nanoseconds; 0 if none came.
    pub nanos_per_frame: f64,
    /// System calls that it made for want of frames: to give its CPU away, or to sleep.
    pub sleeps: u64,
    /// CPU time of its thread, seconds.
    pub cpu_seconds: f64,
    /// Since it last showed that it goes round, seconds. One that is well does so every few
    /// milliseconds, with frames or without.
    pub silent_seconds: f64,
    /// Where the frames of its pool are.
    pub pool: PoolAccounts,
}

/// What does not change of a port.
#[derive(Debug)]
pub(crate) struct PortName {
    pub(crate) id: PortId,
    pub(crate) spec: String,
    pub(crate) mode: String,
}

/// What changes of a port outside of workers, as the control thread saw it last.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortView {
    pub(crate) link: Option<Link>,
    pub(crate) states: Vec<StateReport>,
}

/// How long a worker may take to answer for its node.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);
/// How long workers may take to hand over what they counted.
const REFRESHED_WITHIN: Duration = Duration::from_secs(1);
/// How often it is looked whether they have.
const LOOK_EVERY: Duration = Duration::from_micros(200);

/// Looks at a run from any thread, while it goes on and after. Clones look at the same run.
#[derive(Clone)]
pub struct Observer {
    pub(crate) control: Arc<Control>,
    pub(crate) lists: Publisher,
    pub(crate) ports: Arc<[PortName]>,
    pub(crate) cpus: Arc<[CpuId]>,
    pub(crate) paths: Arc<PathFacts>,
    pub(crate) mover: Arc<Mutex<Mover>>,
    /// What the node counts.
    pub(crate) node_counts: &'static [&'static str],
    pub(crate) memory: Arc<MemoryReport>,
    pub(crate) started: Instant,
    pub(crate) requesters: Arc<Requesters>,
    pub(crate) hits: Arc<Mutex<HitHistory>>,
}

impl Observer {
    /// All there is to say of the run now. Waits for no worker.
    #[must_use]
    pub fn status(&self) -> Status {
        let sum = self.control.sum();
        Status {
            seconds: self.started.elapsed().as_secs_f64(),
            version: self.lists.version(),
            seen: self.lists.seen(),
            ports: self.ports(&sum),
            workers: self.workers(),
            dispatch: self.control.dispatch(&self.paths, &self.mover()),
            flows: flows::report(self.paths.flows, &sum),
            fragments: fragments::report(self.paths.follows_fragments, &sum),
            drops: DropReason::all()
                .map(|reason| (reason, sum.dropped(reason)))
                .collect(),
            would_drop: sum.get(Count::WouldDrop),
            passed: sum.passed_by_rule(),
            node: sum.node_counts(self.node_counts),
            sets: self.lists.set_counts(),
            memory: MemoryReport::clone(&self.memory),
        }
    }

    /// The counts so far.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let sum = self.control.sum();
        Snapshot {
            seconds: self.started.elapsed().as_secs_f64(),
            rx: sum.get(Count::Rx),
            rx_bytes: sum.get(Count::RxBytes),
            tx: sum.get(Count::Tx),
            dropped: sum.dropped_total(),
            busy_nanos: sum.get(Count::BusyNanos),
        }
    }

    /// Every bucket of flows: whose it is, and what it brought.
    #[must_use]
    pub fn buckets(&self) -> Vec<BucketStatus> {
        self.mover().buckets()
    }

    /// Gives buckets to other workers, all at once and without reordering a flow.
    ///
    /// # Errors
    /// The moves before are not done yet; a bucket or worker that does not exist.
    pub fn move_buckets(&self, moves: &[(u16, WorkerId)]) -> Result<(), MoveError> {
        self.mover().apply(moves)
    }

    /// Held for some loads and stores.
    fn mover(&self) -> MutexGuard<'_, Mover> {
        self.mover.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the workers hand over what they counted by address until now, so that what is told of
    /// addresses is no older than what is told of sets. Waits some milliseconds, and gives up on a
    /// worker that does not go round: what is known of its hits is as old as it is silent.
    pub fn refresh_hits(&self) {
        let given_up = Instant::now() + REFRESHED_WITHIN;
        let wanted: Vec<u64> = self
            .requesters
            .lock()
            .iter()
            .map(Requester::next_table)
            .collect();
        loop {
            let now = self.started.elapsed().as_secs();
            let mut requesters = self.requesters.lock();
            let mut have_come = true;
            for (requester, &number) in requesters.iter_mut().zip(&wanted) {
                if let Some(table) = requester.collect() {
                    self.hits().add(now, table);
                }
                have_come &= requester.has_come(number);
            }
            drop(requesters);
            if have_come || Instant::now() >= given_up {
                return;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// How many workers there are.
    #[must_use]
    pub fn workers_len(&self) -> usize {
        self.cpus.len()
    }

    /// Has the node of one worker carry out a request, in which it leaves the answer
    /// ([`plane::Node::control`]). Takes some milliseconds; none where the worker has no time for
    /// it within a second, has too many requests, or has ended.
    #[must_use]
    pub fn ask_node<R: Send + 'static>(&self, worker: usize, request: R) -> Option<R> {
        let (answer, answers) = mpsc::channel();
        let asked = {
            let mut requesters = self.requesters.lock();
            let requester = requesters.get_mut(worker)?;
            requester.ask_node(Box::new(request), answer)
        };
        // The control thread of the run passes answers on.
        let answered = asked.then(|| answers.recv_timeout(ANSWERED_WITHIN).ok())??;
        answered.downcast().ok().map(|request| *request)
    }

    /// The `count` addresses that were hit most in the last hour; up to a second old.
    #[must_use]
    pub fn top_hits(&self, count: usize) -> TopHits {
        self.hits().top(self.started.elapsed().as_secs(), count)
    }

    /// How often an address was hit in the last minute and hour, as source or destination; up to
    /// a second old. Where hits had to be forgotten the number is a range.
    #[must_use]
    pub fn hits_of(&self, address: IpAddr) -> RecentHits {
        self.hits().of(self.started.elapsed().as_secs(), address)
    }

    /// Has the workers take samples until the receiver is dropped.
    ///
    /// # Errors
    ///
    /// A spec that asks for nothing, or too many captures at a time.
    pub fn samples(&self, spec: &SampleSpec) -> Result<SampleReceiver, SampleError> {
        samples::receive(spec, &self.requesters, &self.lists, self.started)
    }

    fn hits(&self) -> MutexGuard<'_, HitHistory> {
        self.hits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ports(&self, sum: &Counters) -> Vec<PortStatus> {
        let views = self.control.port_views();
        let status = |(place, name): (usize, &PortName)| {
            let mut hold = PortHold::default();
            for board in self.control.holds() {
                board.add_port(place, &mut hold);
            }
            let view = views.get(place).cloned().unwrap_or_default();
            PortStatus {
                id: name.id,
                spec: name.spec.clone(),
                mode: name.mode.clone(),
                link: view.link,
                passed: hold.passed,
                rx_dropped: hold.rx_dropped,
                tx_dropped: hold.tx_dropped,
                tx_refusals: sum.taken(name.id).1,
                states: view.states,
            }
        };
        self.ports.iter().enumerate().map(status).collect()
    }

    fn workers(&self) -> Vec<WorkerStatus> {
        let now = self.started.elapsed().as_nanos() as u64;
        let recent = self.control.recent();
        let boards = self.control.boards().zip(self.control.holds());
        let workers = self.cpus.iter().zip(boards).enumerate();
        let status = |(place, (&cpu, (board, hold))): (usize, (&CpuId, _))| {
            let (board, hold): (&crate::counters::Board, &HoldBoard) = (board, hold);
            let counters = board.read();
            let last = recent.of(place);
            WorkerStatus {
                id: WorkerId(place as u16),
                cpu,
                rx: counters.get(Count::Rx),
                rx_bytes: counters.get(Count::RxBytes),
                tx: counters.get(Count::Tx),
                dropped: counters.dropped_total(),
                handed_off: counters.get(Count::HandedOff),
                received: counters.get(Count::Received),
                bursts: counters.get(Count::Bursts),
                burst_sizes: *counters.burst_sizes(),
                busy_nanos: counters.get(Count::BusyNanos),
                busy: last.busy,
                rx_per_second: last.rx_per_second,
                nanos_per_frame: last.nanos_per_frame,
                sleeps: counters.get(Count::Sleeps),
                cpu_seconds: hold.cpu_nanos() as f64 / 1e9,
                silent_seconds: now.saturating_sub(counters.get(Count::ShownAt)) as f64 / 1e9,
                pool: hold.pool(),
            }
        };
        workers.map(status).collect()
    }
}
