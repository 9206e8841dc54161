//! A run in time that its owner makes, on the owner's thread: for simulations.
//!
//! The workers are those of any other run, and so are the ports, the tables, the books and the
//! report; but nobody starts a thread and nobody reads a clock.

use frame::{Nanos, WorkerId};
use plane::Node;

use super::{Engine, Made};
use crate::IdleMode;
use crate::accounting::Accounting;
use crate::clock::Told;
use crate::counters::{Count, at_rest};
use crate::dispatch::MoveError;
use crate::plan::{EngineError, Plan};
use crate::publish::Publisher;
use crate::report::{EndedBy, RunReport};
use crate::start::FrameMemory;
use crate::supervise::{Supervisor, locked};
use crate::turns::Turns;
use crate::worker::Worker;

/// A run of which its owner takes each worker's steps.
pub struct SteppedRun<N: Node> {
    supervisor: Supervisor<N>,
    workers: Vec<(Worker<N>, Turns)>,
    region: &'static frame::Region,
    clock: Told,
}

impl Engine {
    /// Makes all that [`Engine::start_nodes`] makes, but no threads; it is `now`, a time of the
    /// caller's own. `memory` is that of an earlier run with as many workers, if there was one: it
    /// is used as it is, whatever the plan says.
    ///
    /// # Errors
    ///
    /// As [`Engine::start_nodes`].
    pub fn start_stepped<N: Node>(
        mut plan: Plan,
        nodes: Vec<N>,
        memory: Option<FrameMemory>,
        now: Nanos,
    ) -> Result<SteppedRun<N>, EngineError> {
        // A worker that rests would make its owner wait.
        plan.idle = IdleMode::Spin;
        let Made {
            workers,
            supervisor,
            region,
            flow_log: _,
        } = Made::of(plan, nodes, memory)?;
        let clock = Told::new(now);
        let begin = |mut worker: Worker<N>| {
            let turns = worker.begin(&clock);
            (worker, turns)
        };
        let workers = workers.into_iter().map(begin).collect();
        Ok(SteppedRun {
            supervisor,
            workers,
            region,
            clock,
        })
    }
}

impl<N: Node> SteppedRun<N> {
    /// One turn of a worker at `now`, which never goes back; how many frames moved.
    ///
    /// # Panics
    ///
    /// There is no such worker.
    pub fn step(&mut self, worker: WorkerId, now: Nanos) -> usize {
        self.clock.set(now);
        let (worker, turns) = &mut self.workers[usize::from(worker.0)];
        turns.begun = now;
        worker.turn(turns, &self.clock)
    }

    /// What gives the workers new lists and policies.
    #[must_use]
    pub fn lists(&self) -> Publisher {
        self.supervisor.lists.clone()
    }

    /// Gives buckets to other workers, all at once and without reordering a flow.
    ///
    /// # Errors
    /// The moves before are not done yet; a bucket or worker that does not exist.
    pub fn move_buckets(&self, moves: &[(u16, WorkerId)]) -> Result<(), MoveError> {
        locked(&self.supervisor.mover).apply(moves)
    }

    /// Has the workers receive nothing more from here on.
    pub fn drain(&self) {
        self.supervisor.control.drain(true);
    }

    /// Whether nothing is left to do, which workers say at the end of a step.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        at_rest(self.supervisor.control.boards())
    }

    /// Holds the books of each worker and of all together against where frames are, and every
    /// pool against its chunks. For between two steps.
    ///
    /// # Errors
    /// What does not balance, with both sides of it.
    pub fn check(&self) -> Result<(), String> {
        let (mut handed, mut received, mut under_way) = (0, 0, 0);
        let (mut chunks, mut found) = (0, 0);
        for (worker, _) in &self.workers {
            if !worker.accounting_balances() {
                let books = Accounting::of(&worker.counters);
                return Err(format!("worker {}: the books: {books:?}", worker.id));
            }
            let pool = worker.pool.accounts();
            let between = worker.under_way();
            chunks += u64::from(pool.total);
            found += u64::from(pool.free + pool.returns) + worker.waiting() + between;
            found += worker.in_flight();
            handed += worker.counters.get(Count::HandedOff);
            received += worker.counters.get(Count::Received);
            under_way += between;
        }
        if handed != received + under_way {
            let rings = format!("{handed} handed off, {received} received, {under_way} between");
            return Err(format!("frames between workers: {rings}"));
        }
        if chunks != found {
            return Err(format!("{chunks} chunks, of which {found} are found"));
        }
        Ok(())
    }

    /// Ends the run: what is still held is dropped. The memory is for another run.
    #[must_use]
    pub fn end(self) -> (RunReport, FrameMemory) {
        let seconds = self.clock.seconds();
        let mut workers: Vec<Worker<N>> = Vec::new();
        for (mut worker, _) in self.workers {
            worker.settle();
            worker.show_all();
            workers.push(worker);
        }
        let asked = Some(EndedBy::Asked);
        let report = self.supervisor.close(&mut workers, asked, seconds);
        let memory = FrameMemory {
            region: self.region,
            pools: workers.into_iter().map(|worker| worker.pool).collect(),
            report: report.memory.clone(),
        };
        (report, memory)
    }
}

impl<N: Node> Worker<N> {
    /// Frames that it handed over and nobody took yet, in rings that lead here those of others.
    fn under_way(&self) -> u64 {
        let exchanges = self
            .attachments
            .iter()
            .flat_map(|own| [&own.decisions, &own.gatherings, &own.transmissions]);
        exchanges.map(|exchange| exchange.under_way()).sum()
    }

    /// Frames that its queues hold.
    fn in_flight(&self) -> u64 {
        let queues = self.attachments.iter().filter_map(|own| own.queue.as_ref());
        queues.map(|queue| u64::from(queue.in_flight())).sum()
    }
}
