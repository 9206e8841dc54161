//! Starting a run and talking to it while it goes on.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use frame::{Burst, FramePool, Nanos, PortId, QueueId, WorkerId};
use plane::{Bridge, Fragments, Gatherer, HitAddresses, Pipeline, Stateful, Verdicts};
use port::Port;

use crate::ahead::Ahead;
use crate::attachment::Attachment;
use crate::counters::Counters;
use crate::dispatch::handover::Handover;
use crate::dispatch::{
    BucketStatus, By, DispatchPolicy, DispatchPort, DispatchSettings, MoveError, Mover, PathFacts,
    StateLinks, Steering,
};
use crate::exchange::Exchange;
use crate::finish::PortFacts;
use crate::flow_log::FlowLogReader;
use crate::gathering::{GATHERERS_MAX, Gatherers};
use crate::hit_history::{HitHistory, RecentHits, TopHits};
use crate::ledger::Meters;
use crate::moves::Kept;
use crate::placement::{BucketLoads, Thresholds};
use crate::plan::{EngineError, Plan};
use crate::publish::Publisher;
use crate::reassembly::Reassembly;
use crate::recorded::{Origin, Recorded, by_captures};
use crate::report::{MemoryReport, RunReport, Snapshot};
use crate::requests::{self, Requester, Requesters};
use crate::samples::{SampleError, SampleReceiver, SampleSpec};
use crate::shortcuts::Shortcuts;
use crate::start::{begin_queues, map_pools, start_workers};
use crate::states::Watched;
use crate::status::{Observer, Status};
use crate::supervise::{Control, Supervisor};
use crate::worker::Worker;

/// Starts runs.
#[derive(Debug)]
pub struct Engine;

impl Engine {
    /// Maps frame memory, opens the queues, starts a pinned worker on each CPU of the plan and a
    /// thread that watches them.
    ///
    /// # Errors
    ///
    /// A plan that cannot work, memory, queues or threads that cannot be had.
    pub fn start(mut plan: Plan) -> Result<Running, EngineError> {
        plan.check()?;
        plan.dispatch_flows();
        let frames = (plan.pool_frames + plan.held_frames(), plan.stride_bytes);
        let (region, pools, memory) = map_pools(&plan.ports, &plan.cpus, frames)?;
        for port in &mut plan.ports {
            port.prepare(region)?;
        }
        let mut meters = Meters::of(&plan.ports);
        meters.opened();
        let control = Arc::new(Control::new(plan.ports.len(), plan.cpus.len()));
        let first = plan.ruleset()?;
        let (mover, loads) = mover(&plan);
        let steers = (Arc::clone(&mover.handover), loads);
        let mover = Arc::new(Mutex::new(mover));
        let lists = Publisher::new(first, plan.cpus.len(), shortcuts(&plan));
        let (mut workers, requesters) = make_workers(&mut plan, pools, &control, &lists, steers)?;
        let flow_log = FlowLogReader::of(&mut workers);
        let requesters = Arc::new(Requesters::new(requesters));
        let hits = Arc::new(Mutex::new(HitHistory::new()));
        meters.begun();
        lists.open_shortcuts();
        let facts = plan.ports.iter().map(|port| PortFacts {
            id: port.id(),
            spec: port.spec().to_owned(),
            mode: port.mode(),
            watched: port.monitor().map(Watched::new),
        });
        let facts: Vec<PortFacts> = facts.collect();
        let names = facts.iter().map(PortFacts::name).collect();
        let cpus = plan.cpus.as_slice().into();
        let paths = Arc::new(path_facts(&plan));
        let (started, workers) = start_workers(workers)?;
        let supervisor = Supervisor {
            control: Arc::clone(&control),
            limits: plan.limits,
            workers,
            facts,
            ports: plan.ports,
            meters,
            lists: lists.clone(),
            requesters: Arc::clone(&requesters),
            hits: Arc::clone(&hits),
            memory: memory.clone(),
            mover: Arc::clone(&mover),
            paths: Arc::clone(&paths),
            started,
        };
        let observer = Observer {
            control,
            lists,
            ports: names,
            cpus,
            mover,
            paths,
            memory: Arc::new(memory),
            requesters,
            hits,
            started,
        };
        let thread = Builder::new().name("supervisor".to_owned());
        let thread = thread
            .spawn(move || supervisor.run())
            .map_err(|error| EngineError::Worker(plan.cpus[0], error))?;
        Ok(Running {
            observer,
            flow_log: Some(flow_log),
            thread,
        })
    }
}

/// A run that goes on.
pub struct Running {
    observer: Observer,
    /// Until somebody takes it.
    flow_log: Option<FlowLogReader>,
    thread: JoinHandle<Result<RunReport, EngineError>>,
}

impl Running {
    /// The counts so far.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.observer.snapshot()
    }

    /// All there is to say of the run now. Waits for no worker.
    #[must_use]
    pub fn status(&self) -> Status {
        self.observer.status()
    }

    /// The `count` addresses that were hit most in the last hour; up to a second old.
    #[must_use]
    pub fn top_hits(&self, count: usize) -> TopHits {
        self.observer.top_hits(count)
    }

    /// How often an address was hit in the last minute and hour; up to a second old.
    #[must_use]
    pub fn hits_of(&self, address: IpAddr) -> RecentHits {
        self.observer.hits_of(address)
    }

    /// Every bucket of flows: whose it is, and what it brought.
    #[must_use]
    pub fn buckets(&self) -> Vec<BucketStatus> {
        self.observer.buckets()
    }

    /// Gives buckets to other workers, all at once and without reordering a flow.
    ///
    /// # Errors
    /// The moves before are not done yet; a bucket or worker that does not exist.
    pub fn move_buckets(&self, moves: &[(u16, WorkerId)]) -> Result<(), MoveError> {
        self.observer.move_buckets(moves)
    }

    /// Has the workers take samples until the receiver is dropped.
    ///
    /// # Errors
    ///
    /// A spec that asks for nothing, or too many captures at a time.
    pub fn samples(&self, spec: &SampleSpec) -> Result<SampleReceiver, SampleError> {
        self.observer.samples(spec)
    }

    /// What workers write down of flows, where the policy says so; none the second time.
    pub fn take_flow_log(&mut self) -> Option<FlowLogReader> {
        self.flow_log.take()
    }

    /// What looks at the run from other threads.
    #[must_use]
    pub fn observer(&self) -> Observer {
        self.observer.clone()
    }

    /// What gives the workers new lists and policies while they run, from any thread.
    #[must_use]
    pub fn lists(&self) -> Publisher {
        self.observer.lists.clone()
    }

    /// The frame memory that was got.
    #[must_use]
    pub fn memory(&self) -> &MemoryReport {
        &self.observer.memory
    }

    /// What changed at the ports since the last call, a sentence each, oldest first.
    #[must_use]
    pub fn take_news(&self) -> Vec<String> {
        self.observer.control.take_news()
    }

    /// Whether the run is over and [`Running::join`] will not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Asks the run to end; workers send what they hold first.
    pub fn stop(&self) {
        self.stopper().stop();
    }

    /// Something that can ask the run to end from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.observer.control))
    }

    /// Waits for the end.
    ///
    /// # Errors
    ///
    /// A worker that was lost. A port's failure is no error here: it is in the report.
    pub fn join(self) -> Result<RunReport, EngineError> {
        self.thread.join().unwrap_or(Err(EngineError::WorkerLost))
    }
}

/// Asks a run to end.
#[derive(Clone)]
pub struct Stopper(pub(crate) Arc<Control>);

impl Stopper {
    /// Asks; returns at once.
    pub fn stop(&self) {
        self.0.asked.store(true, Ordering::Relaxed);
    }
}

/// Who moves buckets: by itself where some port is dispatched by flows and a source cannot wait,
/// since whoever waits is never behind.
fn mover(plan: &Plan) -> (Mover, Vec<BucketLoads>) {
    let workers = plan.cpus.len();
    let steers = path_facts(plan)
        .ports
        .iter()
        .any(|port| port.policy != DispatchPolicy::Direct);
    let waits = plan
        .ports
        .iter()
        .all(|port| !port.rx_source() || port.lossless());
    let balances = plan.dispatch.balance && steers && !waits && workers > 1;
    let thresholds = balances.then(Thresholds::default);
    Mover::new(plan.ports.len(), workers, (thresholds, plan.burst))
}

/// What does not change of the run's dispatching.
fn path_facts(plan: &Plan) -> PathFacts {
    let workers = plan.cpus.len();
    let port = |port: &dyn Port| {
        let queues = port.queues_max().clamp(1, workers);
        DispatchPort {
            id: port.id(),
            policy: DispatchPolicy::of_port(plan.dispatch.policy, queues, workers),
            queues,
        }
    };
    PathFacts {
        settings: plan.dispatch,
        cpus: plan.cpus.clone(),
        ports: plan.ports.iter().map(|own| port(&**own)).collect(),
        follows_fragments: plan.fragments().is_some(),
        gathers: plan.gathers(),
        flows: plan.policy.stateful.map(|stateful| stateful.flows),
    }
}

/// The shortcuts of the ports.
fn shortcuts(plan: &Plan) -> Shortcuts {
    Shortcuts::new(plan.ports.iter().filter_map(|port| port.shortcut()))
}

fn make_workers(
    plan: &mut Plan,
    pools: Vec<FramePool>,
    control: &Arc<Control>,
    lists: &Publisher,
    (handover, loads): (Arc<Handover>, Vec<BucketLoads>),
) -> Result<(Vec<Worker>, Vec<Requester>), EngineError> {
    let settings = (plan.dispatch, plan.gathers());
    let mut attachments = attach_ports(&mut plan.ports, plan.cpus.len(), settings)?;
    let receivers = attachments.iter().filter(|worker| receives(worker)).count() as u64;
    if receivers == 0 {
        return Err(EngineError::NoSource);
    }
    let mut sources = plan.ports.iter().filter(|port| port.rx_source());
    let can_wait = sources.all(|port| port.lossless());
    let origin = by_captures(plan).then(Origin::unknown);
    let (mut workers, mut requesters) = (Vec::new(), Vec::new());
    let mut receiver = 0;
    let (mut stateful, by) = flows(plan, &handover)?;
    let gatherers = gatherers(plan);
    // As `stateful`, taken from the end.
    let mut state = StateLinks::mesh(stateful.len());
    let places = pools.into_iter().zip(&plan.cpus).zip(loads).enumerate();
    for (place, ((pool, &cpu), loads)) in places {
        let id = WorkerId(place as u16);
        let attachments = std::mem::take(&mut attachments[place]);
        let quota = if receives(&attachments) {
            receiver += 1;
            quota(plan.limits.frames, receivers, receiver - 1)
        } else {
            0
        };
        let (requester, requests) = requests::requester(table());
        requesters.push(requester);
        workers.push(Worker {
            id,
            cpu,
            pool,
            pipeline: pipeline(plan, id, stateful.pop()),
            versions: lists.reader(),
            would_drop_before: 0,
            attachments,
            steering: Steering::new((id, plan.cpus.len()), &handover, (loads, by), &gatherers),
            state: state.pop().unwrap_or_default(),
            burst_max: plan.burst,
            quota,
            can_wait,
            burst: Box::new(Burst::new()),
            ahead: Ahead::new(),
            pieces: Burst::new(),
            reassembly: reassembly(plan),
            verdicts: Verdicts::new(),
            counters: Counters::new(),
            control: Arc::clone(control),
            idle: plan.idle,
            leaves: false,
            requests,
            recorded: origin
                .as_ref()
                .map(|origin| Box::new(Recorded::new(origin, plan.ports.len()))),
            now: Nanos(0),
            receptions: 0,
            active_until: Nanos(0),
        });
    }
    begin_queues(&mut workers)?;
    Ok((workers, requesters))
}

/// The stages of a worker.
fn pipeline(plan: &Plan, worker: WorkerId, stateful: Option<Box<Stateful>>) -> Pipeline {
    let (fragments, gatherer) = followers(plan, worker);
    let bridge = Bridge::new([PortId(0), PortId(1)], table())
        .with_stateful(stateful)
        .with_fragments(fragments)
        .with_gatherer(gatherer)
        .with_tunnels(&plan.policy);
    Pipeline::Bridge(Box::new(bridge))
}

/// Who gathers fragments, where somebody does.
fn gatherers(plan: &Plan) -> Option<Gatherers> {
    let reassembles = plan.policy.reassembles;
    plan.gathers().then(|| Gatherers::new(reassembles))
}

/// What follows fragments at a worker: by itself where it is alone, else behind what gathers them.
fn followers(plan: &Plan, worker: WorkerId) -> (Option<Box<Fragments>>, Option<Box<Gatherer>>) {
    let Some(limits) = plan.fragments() else {
        return (None, None);
    };
    if plan.policy.reassembles {
        return (None, None);
    }
    if !plan.gathers() {
        return (Some(Box::new(Fragments::new(limits))), None);
    }
    let gatherers = plan.cpus.len().min(usize::from(GATHERERS_MAX));
    let fragments = Fragments::gathered(limits, gatherers);
    let gathers = usize::from(worker.0) < gatherers;
    let gatherer = gathers.then(|| Box::new(Gatherer::new(limits, worker)));
    (Some(Box::new(fragments)), gatherer)
}

/// Packets that a worker puts together, where that is asked for.
fn reassembly(plan: &Plan) -> Option<Box<Reassembly>> {
    let limits = plan.fragments().filter(|_| plan.policy.reassembles)?;
    Some(Box::new(Reassembly::new(limits)))
}

/// What each worker remembers, the last one's first, and what frames are placed by.
fn flows(plan: &Plan, handover: &Handover) -> Result<(Vec<Box<Stateful>>, By), EngineError> {
    let Some(config) = plan.policy.stateful else {
        return Ok((Vec::new(), By::Flow(plan.policy.placing())));
    };
    let owner = |bucket| usize::from(handover.owners.owner(bucket).0);
    let dealt = Stateful::dealt(config, plan.cpus.len(), owner);
    let dealt = dealt.map_err(EngineError::Flows)?;
    let boxed = dealt.into_iter().rev().map(Box::new).collect();
    Ok((boxed, By::TrackedFlow(plan.policy.placing())))
}

/// A table of addresses with a key of its own, drawn from the system's random source by way of
/// std's maps.
fn table() -> Box<HitAddresses> {
    let key = [(); 2].map(|()| RandomState::new().hash_one(()));
    Box::new(HitAddresses::new(key))
}

fn receives(attachments: &[Attachment]) -> bool {
    attachments.iter().any(|attachment| attachment.open)
}

/// A receiver's part of the frames asked for: even parts, the rest to the first ones.
fn quota(frames: Option<u64>, receivers: u64, receiver: u64) -> u64 {
    match frames {
        Some(frames) => frames / receivers + u64::from(receiver < frames % receivers),
        None => u64::MAX,
    }
}

/// The attachments of every worker to every port: one queue a worker as far as the port has them,
/// the rest shared over rings.
fn attach_ports(
    ports: &mut [Box<dyn Port>],
    workers: usize,
    (dispatch, gathers): (DispatchSettings, bool),
) -> Result<Vec<Vec<Attachment>>, EngineError> {
    let mut attachments: Vec<Vec<Attachment>> = (0..workers).map(|_| Vec::new()).collect();
    for port in ports {
        let queues = port.queues_max().clamp(1, workers);
        let (rx, tx) = (port.rx_source(), port.tx_sink());
        let owner = |worker: usize| worker % queues;
        let policy = DispatchPolicy::of_port(dispatch.policy, queues, workers);
        let decided_elsewhere = |from: usize, to: usize| match policy {
            DispatchPolicy::Direct => false,
            DispatchPolicy::Hybrid => from != to,
            DispatchPolicy::Deferred => true,
        };
        let limit = dispatch.ring_limit;
        let mut decisions = Exchange::mesh(workers, limit, |from, to| {
            rx && from < queues && decided_elsewhere(from, to)
        });
        let mut gatherings = Exchange::mesh(workers, limit, |from, to| {
            gathers && rx && from < queues && to < queues && from != to
        });
        let mut transmissions = Exchange::mesh(workers, limit, |from, to| {
            tx && from >= queues && to == owner(from)
        });
        for (place, worker) in attachments.iter_mut().enumerate() {
            let queue = QueueId(place as u16);
            let queue = (place < queues)
                .then(|| port.open_queue(queue, queues))
                .transpose()?;
            worker.push(Attachment {
                port: port.id(),
                open: rx && queue.is_some(),
                empties: false,
                had_nothing: false,
                queue,
                transmits: tx,
                policy,
                queues: queues as u16,
                shared: queues < workers,
                rx_dropped: 0,
                tx_dropped: 0,
                tx_owner: WorkerId(owner(place) as u16),
                staged: Burst::new(),
                kept: Kept::new(rx && policy != DispatchPolicy::Direct && workers > 1),
                decisions: std::mem::take(&mut decisions[place]),
                gatherings: std::mem::take(&mut gatherings[place]),
                transmissions: std::mem::take(&mut transmissions[place]),
            });
        }
    }
    Ok(attachments)
}
