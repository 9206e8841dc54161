//! Starting a run and talking to it while it goes on.

use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use frame::memory::node_of_cpu;
use frame::{
    Burst, CpuId, FramePool, Nanos, NodeId, PoolRequest, PortId, QueueId, Region, WorkerId,
};
use plane::{Bridge, Otherwise, Pipeline, Verdicts};
use port::Port;

use crate::attachment::Attachment;
use crate::clock::OsClock;
use crate::counters::{Count, Words};
use crate::cpu::pin_to;
use crate::dispatch::Dispatcher;
use crate::exchange::Exchange;
use crate::plan::{EngineError, HEADROOM_BYTES, Plan};
use crate::publish::Publisher;
use crate::report::{MemoryReport, RunReport, Snapshot};
use crate::shortcuts::Shortcuts;
use crate::states::Watched;
use crate::supervise::{Control, PortFacts, Supervisor};
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
        let (region, pools, memory) = map_pools(&plan)?;
        for port in &mut plan.ports {
            port.prepare(region)?;
        }
        let control = Arc::new(Control::new(plan.cpus.len()));
        let lists = Publisher::new(Arc::clone(&plan.lists), shortcuts(&plan));
        let workers = make_workers(&mut plan, pools, &control, &lists)?;
        lists.open_shortcuts(&plan.lists);
        let facts = plan.ports.iter().map(|port| PortFacts {
            id: port.id(),
            spec: port.spec().to_owned(),
            mode: port.mode(),
            watched: port.monitor().map(Watched::new),
        });
        let facts = facts.collect();
        let (started, workers) = start_workers(workers)?;
        let supervisor = Supervisor {
            control: Arc::clone(&control),
            limits: plan.limits,
            workers,
            facts,
            ports: plan.ports,
            sets: plan.policy.rules().to_vec(),
            lists: lists.clone(),
            memory: memory.clone(),
            started,
        };
        let thread = Builder::new().name("supervisor".to_owned());
        let thread = thread
            .spawn(move || supervisor.run())
            .map_err(|error| EngineError::Worker(plan.cpus[0], error))?;
        Ok(Running {
            control,
            lists,
            memory,
            started,
            thread,
        })
    }
}

/// A run that goes on.
pub struct Running {
    control: Arc<Control>,
    lists: Publisher,
    memory: MemoryReport,
    started: Instant,
    thread: JoinHandle<Result<RunReport, EngineError>>,
}

impl Running {
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

    /// What gives the workers new lists while they run, from any thread.
    #[must_use]
    pub fn lists(&self) -> Publisher {
        self.lists.clone()
    }

    /// The frame memory that was got.
    #[must_use]
    pub fn memory(&self) -> &MemoryReport {
        &self.memory
    }

    /// What changed at the ports since the last call, a sentence each, oldest first.
    #[must_use]
    pub fn take_news(&self) -> Vec<String> {
        self.control.take_news()
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
        Stopper(Arc::clone(&self.control))
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
pub struct Stopper(Arc<Control>);

impl Stopper {
    /// Asks; returns at once.
    pub fn stop(&self) {
        self.0.asked.store(true, Ordering::Relaxed);
    }
}

/// The shortcuts of the ports, where what is in no list is forwarded.
fn shortcuts(plan: &Plan) -> Shortcuts {
    let ports = plan.ports.iter().filter_map(|port| port.shortcut());
    Shortcuts::new(ports.filter(|_| plan.policy.default == Otherwise::Forward))
}

/// One pool a worker, on the memory node of its CPU.
fn map_pools(plan: &Plan) -> Result<(&'static Region, Vec<FramePool>, MemoryReport), EngineError> {
    // A worker's pool: bursts under way, and what its queues hold.
    let workers = plan.cpus.len();
    let held = |port: &dyn Port| port.frames_held_max(port.queues_max().clamp(1, workers));
    let held = plan
        .ports
        .iter()
        .map(|port| held(&**port))
        .fold(0, u32::saturating_add);
    let request = |&cpu: &CpuId| PoolRequest {
        frames: plan.pool_frames.saturating_add(held),
        stride_bytes: plan.stride_bytes,
        headroom_bytes: HEADROOM_BYTES,
        node: node_of_cpu(cpu),
    };
    let requests: Vec<PoolRequest> = plan.cpus.iter().map(request).collect();
    let (region, pools) = Region::with_pools(&requests)?;
    let mut nodes: Vec<NodeId> = region.nodes().iter().copied().flatten().collect();
    nodes.dedup();
    let memory = MemoryReport {
        pages: region.pages().to_string(),
        bytes: region.bytes(),
        nodes,
        stride_bytes: plan.stride_bytes,
        frames: pools.iter().map(|pool| u64::from(pool.total())).sum(),
    };
    Ok((region, pools, memory))
}

fn make_workers(
    plan: &mut Plan,
    pools: Vec<FramePool>,
    control: &Arc<Control>,
    lists: &Publisher,
) -> Result<Vec<Worker>, EngineError> {
    let mut attachments = attach_ports(&mut plan.ports, plan.cpus.len())?;
    let receivers = attachments.iter().filter(|worker| receives(worker)).count() as u64;
    if receivers == 0 {
        return Err(EngineError::NoSource);
    }
    let can_wait = plan
        .ports
        .iter()
        .filter(|port| port.rx_source())
        .all(|port| port.lossless());
    let bridged = [PortId(0), PortId(1)];
    let mut workers = Vec::new();
    let mut receiver = 0;
    for (place, (pool, &cpu)) in pools.into_iter().zip(&plan.cpus).enumerate() {
        let attachments = std::mem::take(&mut attachments[place]);
        let quota = if receives(&attachments) {
            receiver += 1;
            quota(plan.limits.frames, receivers, receiver - 1)
        } else {
            0
        };
        workers.push(Worker {
            id: WorkerId(place as u16),
            cpu,
            pool,
            pipeline: Pipeline::Bridge(Box::new(Bridge::new(bridged, &plan.policy))),
            lists: lists.reader(),
            attachments,
            dispatcher: Dispatcher::new(plan.cpus.len() as u16),
            burst_max: plan.burst,
            quota,
            can_wait,
            burst: Burst::new(),
            verdicts: Verdicts::new(),
            words: Words::new(),
            control: Arc::clone(control),
            idle: plan.idle,
            leaves: false,
            active_until: Nanos(0),
        });
    }
    begin_queues(&mut workers)?;
    Ok(workers)
}

/// Has every queue make ready to receive, so that the first frame of all finds memory.
fn begin_queues(workers: &mut [Worker]) -> Result<(), EngineError> {
    for Worker {
        attachments, pool, ..
    } in workers
    {
        for queue in attachments.iter_mut().filter_map(|own| own.queue.as_mut()) {
            queue.begin(pool)?;
        }
    }
    Ok(())
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
) -> Result<Vec<Vec<Attachment>>, EngineError> {
    let mut attachments: Vec<Vec<Attachment>> = (0..workers).map(|_| Vec::new()).collect();
    for port in ports {
        let queues = port.queues_max().clamp(1, workers);
        let (rx, tx) = (port.rx_source(), port.tx_sink());
        let owner = |worker: usize| worker % queues;
        let mut decisions =
            Exchange::mesh(workers, |from, _| rx && queues < workers && from < queues);
        let mut transmissions = Exchange::mesh(workers, |from, to| {
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
                queue,
                transmits: tx,
                spread: rx && queues < workers,
                tx_owner: WorkerId(owner(place) as u16),
                staged: Burst::new(),
                decisions: std::mem::take(&mut decisions[place]),
                transmissions: std::mem::take(&mut transmissions[place]),
            });
        }
    }
    Ok(attachments)
}

/// Starts the threads, waits until each is tied to its CPU, and lets them go together.
fn start_workers(workers: Vec<Worker>) -> Result<(Instant, Vec<JoinHandle<Worker>>), EngineError> {
    let (ready, pinned) = mpsc::channel();
    let (mut handles, mut gates) = (Vec::new(), Vec::new());
    for worker in workers {
        let (gate, go) = mpsc::channel::<OsClock>();
        let (cpu, ready) = (worker.cpu, ready.clone());
        let thread = Builder::new().name(format!("worker-{}", worker.id));
        let body = move || {
            // A closed channel means that the start was given up: the worker returns unused.
            let _ = ready.send(pin_to(cpu).map_err(|error| EngineError::Worker(cpu, error)));
            drop(ready);
            match go.recv() {
                Ok(clock) => worker.run(&clock),
                Err(_) => worker,
            }
        };
        handles.push(
            thread
                .spawn(body)
                .map_err(|error| EngineError::Worker(cpu, error))?,
        );
        gates.push(gate);
    }
    drop(ready);
    pinned.iter().collect::<Result<Vec<()>, EngineError>>()?;
    let (started, clock) = (Instant::now(), OsClock::new());
    for gate in gates {
        let _ = gate.send(clock);
    }
    Ok((started, handles))
}
