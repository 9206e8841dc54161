//! The control thread of a run: watches the limits, sees when nothing is left to do, stops the
//! workers and writes the report.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use frame::WorkerId;
use port::{Port, PortError, PortStatistics};

use crate::counters::{Board, Count, Words, at_rest};
use crate::publish::Publisher;
use crate::report::{EndedBy, MemoryReport, PortReport, RunReport, SetHits, WorkerReport};
use crate::states::Watched;
use crate::worker::Worker;
use crate::{Books, EngineError, Limits};

/// How often the limits are looked at.
const WATCH_EVERY: Duration = Duration::from_millis(1);

/// Sentences kept for whoever reads them.
const NEWS_MAX: usize = 1000;

/// How often ports are looked after and their interfaces looked at, some system calls each, in
/// looks at the limits: ten times a second.
const ATTEND_EVERY: u32 = 100;

/// How long workers may take to send what they hold once they receive nothing more.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// What the control thread tells the workers, and where they show their counters.
pub(crate) struct Control {
    /// Asked from outside to end.
    pub(crate) asked: AtomicBool,
    drain: AtomicBool,
    stop: AtomicBool,
    boards: Vec<Board>,
    /// What changed at the ports and nobody has read yet.
    news: Mutex<Vec<String>>,
}

impl Control {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            asked: AtomicBool::new(false),
            drain: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            boards: (0..workers).map(|_| Board::new()).collect(),
            news: Mutex::default(),
        }
    }

    pub(crate) fn take_news(&self) -> Vec<String> {
        std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Nobody may read them for hours: beyond the bound they are in the report alone.
    fn tell(&self, news: Vec<String>) {
        let mut unread = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        if unread.len() < NEWS_MAX {
            unread.extend(news);
        }
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

    /// All counters, added up.
    pub(crate) fn sum(&self) -> Words {
        let mut sum = Words::new();
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

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What is known of a port before its queues are gone.
pub(crate) struct PortFacts {
    pub(crate) id: frame::PortId,
    pub(crate) spec: String,
    pub(crate) mode: String,
    /// Where something can change meanwhile.
    pub(crate) watched: Option<Watched>,
}

/// All that the control thread needs of a run.
pub(crate) struct Supervisor {
    pub(crate) control: std::sync::Arc<Control>,
    pub(crate) limits: Limits,
    pub(crate) workers: Vec<JoinHandle<Worker>>,
    pub(crate) facts: Vec<PortFacts>,
    /// Looked after now and then.
    pub(crate) ports: Vec<Box<dyn Port>>,
    pub(crate) sets: Vec<plane::SetRule>,
    /// Old versions are freed here, on no worker.
    pub(crate) lists: Publisher,
    pub(crate) memory: MemoryReport,
    pub(crate) started: Instant,
}

impl Supervisor {
    /// Runs to the end.
    pub(crate) fn run(mut self) -> Result<RunReport, EngineError> {
        let asked = self.watch();
        // What happened since the last look, in a run of milliseconds all of it.
        self.look_at_ports();
        let ended = self.started.elapsed().as_secs_f64();
        self.control.stop();
        let mut workers = Vec::new();
        for handle in self.workers {
            workers.push(handle.join().map_err(|_| EngineError::WorkerLost)?);
        }
        for worker in &mut workers {
            worker.abandon();
        }
        // In a second round, when every worker has let go of the others' frames.
        for worker in &mut workers {
            worker.pool.collect();
        }
        let (warnings, failure) = finish_queues(&mut workers);
        let seconds = duration_of(&workers, self.started);
        let mut sum = Words::new();
        for worker in &mut workers {
            worker.words.set_hits(worker.pipeline.hits());
            sum.merge(&worker.words);
        }
        let ended_by = match (failure, asked) {
            (Some(error), _) => EndedBy::Failed(error),
            (None, Some(cause)) => cause,
            (None, None) => ran_dry(&sum, &self.limits),
        };
        Ok(RunReport {
            seconds,
            books: Books::of(&sum),
            balanced: balance(&workers),
            would_drop: sum.get(Count::WouldDrop),
            ports: self
                .facts
                .iter()
                .map(|facts| port_report(facts, &workers, ended))
                .collect(),
            sets: set_hits(&self.sets, &sum),
            workers: workers
                .iter()
                .map(|worker| worker_report(worker, seconds))
                .collect(),
            memory: self.memory,
            warnings,
            ended_by,
        })
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
            if at_rest(self.control.boards.iter()) {
                return draining.map(|(cause, _)| cause);
            }
            match &draining {
                Some((cause, since)) if since.elapsed() > DRAIN_MAX => {
                    return Some(cause.clone());
                }
                Some(_) => {}
                None => {
                    draining = self.asked_to_end().map(|cause| (cause, Instant::now()));
                    self.control
                        .drain
                        .store(draining.is_some(), Ordering::Relaxed);
                }
            }
            self.lists.reclaim();
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(ATTEND_EVERY) {
                self.ports.iter_mut().for_each(|port| port.attend());
            }
            std::thread::park_timeout(WATCH_EVERY);
        }
    }

    fn look_at_ports(&mut self) {
        if self.facts.iter().all(|facts| facts.watched.is_none()) {
            return;
        }
        let (now, sum) = (self.started.elapsed().as_secs_f64(), self.control.sum());
        for facts in &mut self.facts {
            let (taken, refusals) = Count::of_port(facts.id);
            let sent = (sum.get(taken), sum.get(refusals));
            if let Some(watched) = &mut facts.watched {
                self.control.tell(watched.look(&facts.spec, now, sent));
            }
        }
    }

    fn asked_to_end(&self) -> Option<EndedBy> {
        if self.control.asked.load(Ordering::Relaxed) {
            return Some(EndedBy::Asked);
        }
        let over = |limit: Duration| self.started.elapsed() >= limit;
        self.limits
            .duration
            .is_some_and(over)
            .then_some(EndedBy::Duration)
    }
}

/// Why nothing was left to receive: the frames asked for have come, or the sources are empty.
fn ran_dry(sum: &Words, limits: &Limits) -> EndedBy {
    match limits.frames {
        Some(limit) if sum.get(Count::Rx) >= limit => EndedBy::Frames,
        _ => EndedBy::Sources,
    }
}

/// From the start to the last frame moved; to now where none was.
fn duration_of(workers: &[Worker], started: Instant) -> f64 {
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

/// Closes every queue; returns their warnings and the first failure.
fn finish_queues(workers: &mut [Worker]) -> (Vec<String>, Option<PortError>) {
    let (mut warnings, mut failure) = (Vec::new(), None);
    for worker in workers {
        let Worker {
            attachments, pool, ..
        } = worker;
        for queue in attachments
            .iter_mut()
            .filter_map(|attachment| attachment.queue.as_mut())
        {
            queue.reclaim(pool);
            match queue.finish() {
                Ok(more) => warnings.extend(more),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
    }
    warnings.dedup();
    (warnings, failure)
}

/// The books of each worker and of all balance, and every chunk of every pool is free or held by
/// a port.
fn balance(workers: &[Worker]) -> bool {
    let (mut total, mut kept, mut sum) = (0, 0, Words::new());
    for worker in workers {
        let accounts = worker.pool.accounts();
        total += u64::from(accounts.total);
        kept += u64::from(accounts.free);
        let queues = worker
            .attachments
            .iter()
            .filter_map(|attachment| attachment.queue.as_ref());
        kept += queues
            .map(|queue| u64::from(queue.in_flight()))
            .sum::<u64>();
        sum.merge(&worker.words);
    }
    let each = workers
        .iter()
        .all(|worker| Books::of(&worker.words).balance());
    each && Books::of(&sum).balance()
        && sum.get(Count::HandedOff) == sum.get(Count::Received)
        && total == kept
}

fn worker_report(worker: &Worker, seconds: f64) -> WorkerReport {
    let words = &worker.words;
    let busy_nanos = words.get(Count::BusyNanos);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    WorkerReport {
        id: worker.id,
        cpu: worker.cpu,
        rx: words.get(Count::Rx),
        tx: words.get(Count::Tx),
        dropped: words.dropped_total(),
        busy: share(busy_nanos as f64 / 1e9, seconds).min(1.0),
        busy_nanos,
        burst_mean: share(words.get(Count::Rx) as f64, words.get(Count::Bursts) as f64),
        cpu_seconds: words.get(Count::CpuNanos) as f64 / 1e9,
        sleeps: words.get(Count::Sleeps),
        books: Books::of(words),
    }
}

fn port_report(facts: &PortFacts, workers: &[Worker], ended: f64) -> PortReport {
    let watched = facts.watched.as_ref();
    let mut sum = PortStatistics::default();
    let attachments = workers.iter().flat_map(|worker| &worker.attachments);
    for attachment in attachments.filter(|attachment| attachment.port == facts.id) {
        if let Some(queue) = &attachment.queue {
            sum += queue.statistics();
        }
    }
    PortReport {
        id: facts.id,
        spec: facts.spec.clone(),
        rx_frames: sum.rx_frames,
        rx_bytes: sum.rx_bytes,
        tx_frames: sum.tx_frames,
        tx_bytes: sum.tx_bytes,
        missed: sum.missed,
        to_host: sum.to_host,
        unfiltered: sum.unfiltered,
        unfiltered_before: sum.unfiltered_before,
        shortcut: sum.shortcut,
        missed_merged: sum.missed_merged,
        missed_too_long: sum.missed_too_long,
        mode: facts.mode.clone(),
        states: watched.map_or_else(Vec::new, |watched| watched.report(ended)),
    }
}

fn set_hits(rules: &[plane::SetRule], sum: &Words) -> Vec<SetHits> {
    let hits = |(list, rule): (usize, &plane::SetRule)| SetHits {
        name: rule.name.clone(),
        action: rule.action,
        hits_src: sum.hits_src(list),
        hits_dst: sum.hits_dst(list),
        would_drop: sum.would_drop(list),
    };
    rules.iter().enumerate().map(hits).collect()
}
