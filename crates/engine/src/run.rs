//! Starting a run and talking to it while it goes on.

mod crew;
mod stepped;

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use frame::{Region, WorkerId};
use plane::{Node, Pair};
use port::Port;

use self::crew::{Own, Shared};
use crate::dispatch::{BucketStatus, DispatchPolicy, DispatchPort, MoveError, Mover, PathFacts};
use crate::finish::PortFacts;
use crate::flow_log::FlowLogReader;
use crate::hit_history::{HitHistory, RecentHits, TopHits};
use crate::ledger::Meters;
use crate::placement::{BucketLoads, Thresholds};
use crate::plan::{EngineError, Plan};
use crate::publish::Publisher;
use crate::report::{MemoryReport, RunReport, Snapshot};
use crate::requests::Requesters;
use crate::samples::{SampleError, SampleReceiver, SampleSpec};
use crate::shortcuts::Shortcuts;
use crate::start::{FrameMemory, start_workers};
use crate::states::Watched;
use crate::status::{Observer, Status};
use crate::supervise::{Control, Supervisor};
use crate::worker::Worker;

pub use self::stepped::SteppedRun;

/// Starts runs.
#[derive(Debug)]
pub struct Engine;

impl Engine {
    /// Maps frame memory, opens the queues, starts a pinned worker on each CPU of the plan and a
    /// thread that watches them. What comes in by one of two ports leaves by the other.
    ///
    /// # Errors
    ///
    /// A plan that cannot work, memory, queues or threads that cannot be had.
    pub fn start(plan: Plan) -> Result<Running, EngineError> {
        let nodes = vec![Pair; plan.cpus.len()];
        Self::start_nodes(plan, nodes)
    }

    /// [`Engine::start`] with a node for each worker, which decides where frames leave.
    ///
    /// # Errors
    ///
    /// As [`Engine::start`]; another number of nodes than of CPUs.
    pub fn start_nodes<N: Node>(plan: Plan, nodes: Vec<N>) -> Result<Running, EngineError> {
        let Made {
            workers,
            mut supervisor,
            flow_log,
            region: _,
        } = Made::of(plan, nodes, None)?;
        (supervisor.started, supervisor.workers) = start_workers(workers)?;
        let observer = supervisor.observer();
        let thread = Builder::new().name("supervisor".to_owned());
        let thread = thread
            .spawn(move || supervisor.run())
            .map_err(|error| EngineError::Worker(observer.cpus[0], error))?;
        Ok(Running {
            observer,
            flow_log: Some(flow_log),
            thread,
        })
    }
}

/// A run before it begins.
struct Made<N> {
    workers: Vec<Worker<N>>,
    supervisor: Supervisor<N>,
    region: &'static Region,
    flow_log: FlowLogReader,
}

impl<N: Node> Made<N> {
    /// Opens the queues of a plan and makes its workers, in `memory` if there is some already.
    fn of(mut plan: Plan, nodes: Vec<N>, memory: Option<FrameMemory>) -> Result<Self, EngineError> {
        plan.check::<N>()?;
        plan.dispatch_flows();
        let frames = (
            plan.pool_frames + plan.held_frames::<N>(),
            plan.stride_bytes,
        );
        let size = plan.size();
        let FrameMemory {
            region,
            pools,
            report: memory,
        } = memory.map_or_else(|| FrameMemory::map(&plan.ports, &plan.cpus, frames), Ok)?;
        for port in &mut plan.ports {
            port.prepare(region)?;
        }
        let mut meters = Meters::of(&plan.ports);
        meters.opened();
        let control = Arc::new(Control::new(size));
        let (mover, loads) = mover(&plan);
        let lists = Publisher::new(plan.ruleset()?, size, shortcuts(&plan));
        let shared = Shared {
            control: &control,
            lists: &lists,
            handover: &mover.handover,
        };
        let own = pools.into_iter().zip(nodes).zip(loads);
        let own = own.map(|((pool, node), loads)| Own { pool, node, loads });
        let (mut workers, requesters) = shared.make_workers(&mut plan, own)?;
        let flow_log = FlowLogReader::of(&mut workers);
        meters.begun();
        lists.open_shortcuts();
        let supervisor = Supervisor {
            control,
            limits: plan.limits,
            workers: Vec::new(),
            facts: plan.ports.iter().map(|port| facts_of(&**port)).collect(),
            paths: Arc::new(path_facts(&plan)),
            ports: plan.ports,
            meters,
            lists,
            requesters: Arc::new(Requesters::new(requesters)),
            hits: Arc::new(Mutex::new(HitHistory::new())),
            memory,
            mover: Arc::new(Mutex::new(mover)),
            started: Instant::now(),
        };
        Ok(Self {
            workers,
            supervisor,
            region,
            flow_log,
        })
    }
}

impl<N: Node> Supervisor<N> {
    /// What looks at the run from other threads.
    fn observer(&self) -> Observer {
        Observer {
            control: Arc::clone(&self.control),
            lists: self.lists.clone(),
            ports: self.facts.iter().map(PortFacts::name).collect(),
            cpus: self.paths.cpus.as_slice().into(),
            mover: Arc::clone(&self.mover),
            paths: Arc::clone(&self.paths),
            node_counts: N::COUNTS,
            memory: Arc::new(self.memory.clone()),
            requesters: Arc::clone(&self.requesters),
            hits: Arc::clone(&self.hits),
            started: self.started,
        }
    }
}

fn facts_of(port: &dyn Port) -> PortFacts {
    PortFacts {
        id: port.id(),
        spec: port.spec().to_owned(),
        mode: port.mode(),
        watched: port.monitor().map(Watched::new),
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
