//! What every run does before its first frame, whatever its workers do with frames: memory,
//! queues made ready, threads tied to their CPUs.

use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use frame::memory::node_of_cpu;
use frame::{CpuId, FramePool, NodeId, PoolRequest, Region, WorkerId};
use port::Port;

use crate::EngineError;
use crate::attachment::Attachment;
use crate::clock::OsClock;
use crate::counters::Counters;
use crate::cpu::pin_to;
use crate::other_workers::THREAD_NAME;
use crate::plan::HEADROOM_BYTES;
use crate::report::MemoryReport;

/// A worker of any kind, as those who start and end it see it.
pub(crate) trait Work: Send + Sized + 'static {
    fn id(&self) -> WorkerId;

    fn cpu(&self) -> CpuId;

    /// Its hold on ports, and the pool that their frames come from.
    fn hold(&mut self) -> (&mut [Attachment], &mut FramePool);

    /// The same, to be looked at.
    fn held(&self) -> (&[Attachment], &FramePool);

    fn counters(&self) -> &Counters;

    /// Works until told to stop.
    fn run(self, clock: &OsClock) -> Self;
}

/// The frame memory of a run: one pool a worker. It outlives the run, and another may have it.
#[derive(Debug)]
pub struct FrameMemory {
    pub(crate) region: &'static Region,
    pub(crate) pools: Vec<FramePool>,
    pub(crate) report: MemoryReport,
}

impl FrameMemory {
    /// One pool a worker, on the memory node of its CPU: `frames` of `stride_bytes` and what its
    /// queues hold.
    pub(crate) fn map(
        ports: &[Box<dyn Port>],
        cpus: &[CpuId],
        (frames, stride_bytes): (u32, u32),
    ) -> Result<Self, EngineError> {
        // A worker's pool: bursts under way, and what its queues hold.
        let held = |port: &dyn Port| port.frames_held_max(port.queues_max().clamp(1, cpus.len()));
        let held = ports
            .iter()
            .map(|port| held(&**port))
            .fold(0, u32::saturating_add);
        let request = |&cpu: &CpuId| PoolRequest {
            frames: frames.saturating_add(held),
            stride_bytes,
            headroom_bytes: HEADROOM_BYTES,
            node: node_of_cpu(cpu),
        };
        let requests: Vec<PoolRequest> = cpus.iter().map(request).collect();
        let (region, pools) = Region::with_pools(&requests)?;
        let mut nodes: Vec<NodeId> = region.nodes().iter().copied().flatten().collect();
        nodes.dedup();
        let report = MemoryReport {
            pages: region.pages().to_string(),
            bytes: region.bytes(),
            nodes,
            stride_bytes,
            frames: pools.iter().map(|pool| u64::from(pool.total())).sum(),
        };
        Ok(Self {
            region,
            pools,
            report,
        })
    }

    /// Whether every chunk is free or on its way home.
    #[must_use]
    pub fn is_home(&self) -> bool {
        let mut pools = self.pools.iter().map(FramePool::accounts);
        pools.all(|pool| pool.elsewhere() == 0)
    }
}

/// Has every queue make ready to receive, so that the first frame of all finds memory.
pub(crate) fn begin_queues<W: Work>(workers: &mut [W]) -> Result<(), EngineError> {
    for worker in workers {
        let (attachments, pool) = worker.hold();
        for queue in attachments.iter_mut().filter_map(|own| own.queue.as_mut()) {
            queue.begin(pool)?;
        }
    }
    Ok(())
}

/// Starts the threads, waits until each is tied to its CPU, and lets them go together.
pub(crate) fn start_workers<W: Work>(
    workers: Vec<W>,
) -> Result<(Instant, Vec<JoinHandle<W>>), EngineError> {
    let (ready, pinned) = mpsc::channel();
    let (mut handles, mut gates) = (Vec::new(), Vec::new());
    for worker in workers {
        let (gate, go) = mpsc::channel::<OsClock>();
        let (cpu, ready) = (worker.cpu(), ready.clone());
        let thread = Builder::new().name(format!("{THREAD_NAME}{}", worker.id()));
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
