//! The control thread of a run: watches the limits, sees when nothing is left to do, stops the
//! workers and writes the report.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use frame::{Nanos, PortId, WorkerId};
use plane::{Node, Side};
use port::Port;

use crate::counters::{Board, Count, Counters, at_rest};
use crate::dispatch::{DispatchBoard, DispatchReport, Mover, PathFacts, dispatch_report};
use crate::finish::{
    PortFacts, all_counts, balance, finish_queues, passed, port_report, worker_report,
};
use crate::flows;
use crate::fragments;
use crate::hit_counters::{SetCounts, Size};
use crate::hit_history::HitHistory;
use crate::ledger::{Meters, of_bridge};
use crate::publish::Publisher;
use crate::report::{EndedBy, MemoryReport, RunReport, SetHits};
use crate::requests::Requesters;
use crate::states::Watched;
use crate::status::{HoldBoard, PortHold, PortView, Recent};
use crate::worker::Worker;
use crate::{Accounting, EngineError, Limits};

/// How often the limits are looked at.
pub(crate) const WATCH_EVERY: Duration = Duration::from_millis(1);

/// Sentences kept for whoever reads them.
const NEWS_MAX: usize = 1000;

/// How often ports are looked after and their interfaces looked at, some system calls each, in
/// looks at the limits: ten times a second.
pub(crate) const ATTEND_EVERY: u32 = 100;

/// How often workers hand over which addresses were hit, in looks at the limits: about once a
/// second.
const HITS_EVERY: u32 = 900;

/// How long workers may take to send what they hold once they receive nothing more.
pub(crate) const DRAIN_MAX: Duration = Duration::from_secs(2);

/// What the control thread tells the workers, and where they show their counters.
pub(crate) struct Control {
    /// Asked from outside to end.
    pub(crate) asked: AtomicBool,
    drain: AtomicBool,
    stop: AtomicBool,
    boards: Vec<Board>,
    holds: Vec<HoldBoard>,
    dispatch: Vec<DispatchBoard>,
    /// What the control thread last saw of ports and of workers.
    views: Mutex<Vec<PortView>>,
    recent: Mutex<Recent>,
    /// What changed at the ports and nobody has read yet.
    news: Mutex<Vec<String>>,
}

impl Control {
    pub(crate) fn new(of: Size) -> Self {
        let Size { ports, workers } = of;
        Self {
            asked: AtomicBool::new(false),
            drain: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            boards: (0..workers).map(|_| Board::new()).collect(),
            holds: (0..workers).map(|_| HoldBoard::new(ports)).collect(),
            dispatch: (0..workers)
                .map(|_| DispatchBoard::new(ports, workers))
                .collect(),
            views: Mutex::default(),
            recent: Mutex::default(),
            news: Mutex::default(),
        }
    }

    pub(crate) fn take_news(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.news))
    }

    /// Nobody may read them for hours: beyond the bound they are in the report alone.
    pub(crate) fn tell(&self, news: Vec<String>) {
        let mut unread = locked(&self.news);
        if unread.len() < NEWS_MAX {
            unread.extend(news);
        }
    }

    /// Looks at the interfaces of the ports, in a run since `started`, and tells what changed.
    pub(crate) fn look_at(&self, ports: &mut [PortFacts], started: Instant) {
        let now = started.elapsed().as_secs_f64();
        let workers = self.boards.iter().map(Board::read);
        locked(&self.recent).look(now, workers);
        if ports.iter().all(|facts| facts.watched.is_none()) {
            return;
        }
        let sum = self.sum();
        for facts in &mut *ports {
            let sent = sum.taken(facts.id);
            if let Some(watched) = &mut facts.watched {
                let missed = self.missed(facts.id);
                self.tell(watched.look(&facts.spec, now, sent, missed));
            }
        }
        let view = |facts: &PortFacts| {
            let view = |watched: &Watched| watched.view(now);
            facts.watched.as_ref().map(view).unwrap_or_default()
        };
        *locked(&self.views) = ports.iter().map(view).collect();
    }

    /// Frames that a port says it could not receive.
    fn missed(&self, port: PortId) -> u64 {
        let mut hold = PortHold::default();
        for board in &self.holds {
            board.add_port(usize::from(port.0), &mut hold);
        }
        hold.passed.missed
    }

    /// What changes of each port outside of workers.
    pub(crate) fn port_views(&self) -> Vec<PortView> {
        locked(&self.views).clone()
    }

    /// What workers did in the last second.
    pub(crate) fn recent(&self) -> Recent {
        locked(&self.recent).clone()
    }

    /// Why a run since `started`, with this limit, should end by now; nothing if it should not.
    pub(crate) fn asked_to_end(
        &self,
        started: Instant,
        duration: Option<Duration>,
    ) -> Option<EndedBy> {
        if self.asked.load(Ordering::Relaxed) {
            return Some(EndedBy::Asked);
        }
        let over = |limit: Duration| started.elapsed() >= limit;
        duration.is_some_and(over).then_some(EndedBy::Duration)
    }

    /// Receive nothing more.
    #[inline]
    pub(crate) fn drains(&self) -> bool {
        self.drain.load(Ordering::Relaxed)
    }

    /// Step no more.
    #[inline]
    pub(crate) fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn board(&self, worker: WorkerId) -> &Board {
        &self.boards[usize::from(worker.0)]
    }

    pub(crate) fn hold(&self, worker: WorkerId) -> &HoldBoard {
        &self.holds[usize::from(worker.0)]
    }

    pub(crate) fn dispatch_board(&self, worker: WorkerId) -> &DispatchBoard {
        &self.dispatch[usize::from(worker.0)]
    }

    /// How frames were dispatched, as workers showed it last.
    pub(crate) fn dispatch(&self, paths: &PathFacts, mover: &Mover) -> DispatchReport {
        let shown: Vec<_> = self.dispatch.iter().map(DispatchBoard::read).collect();
        DispatchReport {
            moved: mover.moved,
            elephants: mover.elephants.clone(),
            ..dispatch_report(paths, &shown)
        }
    }

    /// Looks at how load lies on the workers of a run since `started`, and has buckets moved; tells
    /// of flows that no move helps against.
    fn balance(&self, mover: &mut Mover, paths: &PathFacts, started: Instant) {
        let now = Nanos(started.elapsed().as_nanos() as u64);
        let counters = self.boards.iter().map(Board::read).collect();
        let rows = self.dispatch(paths, mover).rows;
        let dropped = |worker: usize| {
            let own = rows
                .iter()
                .filter(|row| usize::from(row.worker.0) == worker);
            own.map(|row| row.counts.dropped).sum::<u64>()
        };
        let dropped = (0..self.boards.len()).map(dropped).collect();
        let missed = self.holds.iter().map(HoldBoard::missed).collect();
        if let Some(elephant) = mover.look(now, counters, (missed, dropped)) {
            self.tell(vec![format!(
                "one bucket of flows alone is {}.{} % of the load and more than worker {} can do \
                 beside others: it stays there, and moving buckets does not help against it",
                elephant.share / 10,
                elephant.share % 10,
                elephant.worker
            )]);
        }
    }

    pub(crate) fn holds(&self) -> impl Iterator<Item = &HoldBoard> {
        self.holds.iter()
    }

    pub(crate) fn boards(&self) -> impl Iterator<Item = &Board> + Clone {
        self.boards.iter()
    }

    /// Tells the workers whether to take on nothing more.
    pub(crate) fn drain(&self, drains: bool) {
        self.drain.store(drains, Ordering::Relaxed);
    }

    /// All counters, added up.
    pub(crate) fn sum(&self) -> Counters {
        let mut sum = Counters::new();
        for board in &self.boards {
            sum.merge(&board.read());
        }
        sum
    }

    /// A port has failed: receive nothing more. Stored once, so that the line stays shared.
    #[inline]
    pub(crate) fn fail(&self) {
        if !self.drains() {
            self.asked.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Nothing is ever left half done under these locks.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that the control thread needs of a run.
pub(crate) struct Supervisor<N> {
    pub(crate) control: Arc<Control>,
    pub(crate) limits: Limits,
    pub(crate) workers: Vec<JoinHandle<Worker<N>>>,
    pub(crate) facts: Vec<PortFacts>,
    /// Looked after now and then.
    pub(crate) ports: Vec<Box<dyn Port>>,
    /// The counters of their interfaces.
    pub(crate) meters: Meters,
    /// Old versions are freed here, on no worker.
    pub(crate) lists: Publisher,
    /// What workers are given to do now and then.
    pub(crate) requesters: Arc<Requesters>,
    /// Which addresses were hit.
    pub(crate) hits: Arc<Mutex<HitHistory>>,
    pub(crate) memory: MemoryReport,
    pub(crate) paths: Arc<PathFacts>,
    pub(crate) mover: Arc<Mutex<Mover>>,
    pub(crate) started: Instant,
}

impl<N: Node> Supervisor<N> {
    /// Runs to the end.
    pub(crate) fn run(mut self) -> Result<RunReport, EngineError> {
        let asked = self.watch();
        // What happened since the last look, in a run of milliseconds all of it.
        self.control.look_at(&mut self.facts, self.started);
        let ended = self.started.elapsed().as_secs_f64();
        self.control.stop();
        let mut workers = Vec::new();
        for handle in std::mem::take(&mut self.workers) {
            workers.push(handle.join().map_err(|_| EngineError::WorkerLost)?);
        }
        Ok(self.close(&mut workers, asked, ended))
    }

    /// Ends what workers hold that have stopped, after `ended` seconds, and closes the books.
    pub(crate) fn close(
        self,
        workers: &mut [Worker<N>],
        asked: Option<EndedBy>,
        ended: f64,
    ) -> RunReport {
        let mut meters = self.meters;
        for worker in &mut *workers {
            worker.abandon();
            worker.show_dispatch();
        }
        let given_up = Instant::now() + DRAIN_MAX;
        for worker in &mut *workers {
            worker.end_flows(|| {
                std::thread::sleep(WATCH_EVERY);
                Instant::now() < given_up
            });
        }
        let dispatch = self.control.dispatch(&self.paths, &locked(&self.mover));
        // In a second round, when every worker has let go of the others' frames.
        for worker in &mut *workers {
            worker.pool.collect();
        }
        meters.ended();
        let (warnings, failure) = finish_queues(workers);
        let seconds = duration_of(workers, self.started);
        let mut sum = Counters::new();
        for worker in &*workers {
            sum.merge(&worker.counters);
        }
        let ended_by = match (failure, asked) {
            (Some(error), _) => EndedBy::Failed(error),
            (None, Some(cause)) => cause,
            (None, None) => ran_dry(&sum, &self.limits),
        };
        let accounting = Accounting::of(&sum);
        let counts = all_counts(&self.facts, workers);
        let ledger = meters.settle(|meters| of_bridge(&accounting, &counts, meters));
        RunReport {
            seconds,
            run_seconds: ended.max(seconds),
            accounting,
            balanced: balance(workers) && dispatch.balances(),
            dispatch,
            flows: flows::report(self.paths.flows, &sum),
            fragments: fragments::report(self.paths.follows_fragments, &sum),
            ledger,
            would_drop: sum.get(Count::WouldDrop),
            passed: sum.passed_by_rule(),
            node: sum.node_counts(N::COUNTS),
            node_name: N::NAME,
            ports: self
                .facts
                .iter()
                .map(|facts| port_report(facts, passed(workers, facts.id), ended))
                .collect(),
            sets: set_hits(&self.lists),
            workers: workers
                .iter()
                .map(|worker| worker_report(worker, N::COUNTS, seconds))
                .collect(),
            memory: self.memory,
            warnings,
            ended_by,
        }
    }

    /// Looks at the interfaces, and tells nodes whose link went down.
    fn look_at_ports(&mut self) {
        self.control.look_at(&mut self.facts, self.started);
        if !N::DECIDES {
            return;
        }
        let went_down = |facts: &&PortFacts| facts.watched.as_ref().is_some_and(Watched::went_down);
        for facts in self.facts.iter().filter(went_down) {
            let mut requesters = self.requesters.lock();
            requesters
                .iter_mut()
                .for_each(|one| one.link_down(facts.id));
        }
    }

    /// Takes what workers counted by address, and asks for it once a second.
    fn collect_hits(&self, looks: u32) {
        let now = self.started.elapsed().as_secs();
        for requester in self.requesters.lock().iter_mut() {
            if let Some(table) = requester.collect() {
                locked(&self.hits).add(now, table);
            }
            if looks.is_multiple_of(HITS_EVERY) {
                requester.ask_for_addresses();
            }
        }
    }

    /// Waits for the end of the run and for the workers to have sent what they hold. Returns why
    /// they were told to end; nothing where nothing was left to receive.
    fn watch(&mut self) -> Option<EndedBy> {
        let mut draining: Option<(EndedBy, Instant)> = None;
        let mut looks = 0_u32;
        loop {
            if looks.is_multiple_of(ATTEND_EVERY) {
                self.look_at_ports();
            }
            // One that is gone before it was told to stop can bring nothing to rest.
            let lost = self.workers.iter().any(JoinHandle::is_finished);
            if lost || at_rest(self.control.boards()) {
                return draining.map(|(cause, _)| cause);
            }
            match &draining {
                Some((cause, since)) if since.elapsed() > DRAIN_MAX => {
                    return Some(cause.clone());
                }
                Some(_) => {}
                None => {
                    let asked = self
                        .control
                        .asked_to_end(self.started, self.limits.duration);
                    draining = asked.map(|cause| (cause, Instant::now()));
                    self.control.drain(draining.is_some());
                }
            }
            self.lists.reclaim();
            self.collect_hits(looks);
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(ATTEND_EVERY) {
                self.ports.iter_mut().for_each(|port| port.attend());
                self.meters.follow();
                let mut mover = locked(&self.mover);
                self.control.balance(&mut mover, &self.paths, self.started);
            }
            std::thread::park_timeout(WATCH_EVERY);
        }
    }
}

/// Why nothing was left to receive: the frames asked for have come, or the sources are empty.
fn ran_dry(sum: &Counters, limits: &Limits) -> EndedBy {
    match limits.frames {
        Some(limit) if sum.get(Count::Rx) >= limit => EndedBy::Frames,
        _ => EndedBy::Sources,
    }
}

/// From the start to the last frame moved; to now where none was.
fn duration_of<N>(workers: &[Worker<N>], started: Instant) -> f64 {
    let last = workers
        .iter()
        .map(|worker| worker.active_until.0)
        .max()
        .unwrap_or(0);
    match last {
        0 => started.elapsed().as_secs_f64(),
        nanos => nanos as f64 / 1e9,
    }
}

fn set_hits(lists: &Publisher) -> Vec<SetHits> {
    let hits = |counts: SetCounts| SetHits {
        hits_src: counts.of(Side::Src),
        hits_dst: counts.of(Side::Dst),
        would_drop: counts.would_drop,
        action: counts.rule.action,
        name: counts.rule.name,
    };
    lists.set_counts().into_iter().map(hits).collect()
}
