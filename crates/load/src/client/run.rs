//! A run from start to end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use frame::Nanos;
use traffic::Histogram;

use super::worker::{Finished, Orders, PoolShare, Worker};
use super::{Books, Limit, Load, Part, RunSpec, Timings};
use crate::LoadError;
use crate::files::open_files_max;

/// How far a worker is with a pool.
pub struct Interval {
    /// Number of the worker.
    pub worker: usize,
    /// Number of the pool.
    pub pool: usize,
    /// From the beginning on; what is due and not sent is counted at the end.
    pub books: Books,
    /// Latencies since the interval before.
    pub latency: Histogram,
}

/// A run that goes on.
pub struct LoadRun {
    spec: RunSpec,
    stop: Arc<AtomicBool>,
    intervals: Receiver<Interval>,
    threads: Vec<JoinHandle<io::Result<Finished>>>,
}

/// What came of a pool.
pub struct PoolReport {
    /// The name.
    pub name: String,
    /// When it sent requests.
    pub load: Load,
    /// The accounting.
    pub books: Books,
    /// How long phases took.
    pub timings: Timings,
    /// From its start to its stop; to the end of its last request where that is later, or where
    /// a number of requests ended it.
    pub seconds: f64,
    /// A number of requests ended it, not its time.
    pub counted: bool,
}

/// What came of a run.
pub struct LoadReport {
    /// Each pool.
    pub pools: Vec<PoolReport>,
    /// Each thread's share of a CPU.
    pub busy: Vec<f64>,
    /// CPU time of all threads, seconds.
    pub cpu_seconds: f64,
    /// It was asked to stop before its end.
    pub interrupted: bool,
    /// What held the client back.
    pub limits: Vec<Limit>,
}

impl LoadRun {
    /// Starts the threads.
    ///
    /// # Errors
    /// More connections than files may be open, or no thread.
    pub fn start(spec: RunSpec) -> Result<Self, LoadError> {
        let connections: u64 = spec
            .pools
            .iter()
            .map(|pool| u64::from(pool.connections))
            .sum();
        let files = open_files_max();
        if connections > files as u64 {
            return Err(LoadError::new(format!(
                "{connections} connections are more than the {files} files that may be open: \
                 raise 'ulimit -n'"
            )));
        }
        for sources in spec.pools.iter().filter_map(|pool| pool.sources) {
            sources.check()?;
        }
        let (sender, intervals) = channel();
        let mut run = Self {
            stop: Arc::default(),
            intervals,
            threads: Vec::new(),
            spec,
        };
        let start = Instant::now();
        for worker in 0..run.spec.threads {
            let orders = Orders {
                worker,
                pools: run.shares(worker),
                start,
                stop: Arc::clone(&run.stop),
                intervals: sender.clone(),
            };
            let thread = thread::Builder::new().name(format!("load-{worker}"));
            let thread = thread.spawn(move || Worker::new(orders)?.run());
            run.threads.push(thread.map_err(|error| {
                LoadError::new(format!("no thread: {error}: ask for fewer with --threads"))
            })?);
        }
        Ok(run)
    }

    /// Parts of pools that a worker has. No worker has a part of a schedule without a connection.
    fn shares(&self, worker: usize) -> Vec<PoolShare> {
        let pools = self.spec.pools.iter().enumerate();
        let shares = pools.filter_map(|(index, spec)| {
            let workers = self.spec.threads.min(spec.connections as usize);
            let part = Part {
                worker: worker as u64,
                workers: workers as u64,
                seed: self.spec.seed.wrapping_add(index as u64),
            };
            (worker < workers).then(|| PoolShare {
                index,
                spec: spec.clone(),
                part,
            })
        });
        shares.collect()
    }

    /// Intervals since the last call: each worker has one a second and pool.
    pub fn intervals(&self) -> impl Iterator<Item = Interval> + '_ {
        self.intervals.try_iter()
    }

    /// Whether all threads ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Sends no further requests; those under way are waited for.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// A thread could not go on.
    pub fn join(self) -> Result<LoadReport, LoadError> {
        let mut finished = Vec::new();
        for thread in self.threads {
            let end = thread
                .join()
                .map_err(|_| LoadError::new("a thread panicked"))?;
            let failed = |error| LoadError::new(format!("a thread could not go on: {error}"));
            finished.push(end.map_err(failed)?);
        }
        Ok(report(&self.spec, &finished))
    }
}

fn report(spec: &RunSpec, finished: &[Finished]) -> LoadReport {
    let interrupted = finished
        .iter()
        .filter_map(|worker| worker.interrupted)
        .max();
    let pools = spec.pools.iter().enumerate().map(|(index, pool)| {
        let mut report = PoolReport {
            name: pool.name.clone(),
            load: pool.load.clone(),
            books: Books::default(),
            timings: Timings::default(),
            seconds: 0.0,
            counted: false,
        };
        let parts = finished.iter().flat_map(|worker| &worker.pools);
        let mut last = Nanos::ZERO;
        let mut end = Nanos::ZERO;
        for part in parts.filter(|part| part.index == index) {
            report.books.add(&part.books);
            report.timings.merge(&part.timings);
            last = last.max(part.last);
            end = end.max(interrupted.map_or(part.stop, |at| at.min(part.stop)));
        }
        let reached = |count| report.books.sent + report.books.omitted >= count;
        report.counted = pool.count.is_some_and(reached);
        let end = if report.counted { last } else { last.max(end) };
        report.seconds = end.since(Nanos(pool.start.as_nanos() as u64)) as f64 / 1e9;
        report
    });
    let pools: Vec<PoolReport> = pools.collect();
    let busy = finished
        .iter()
        .map(|worker| worker.cpu_nanos as f64 / worker.nanos.max(1) as f64);
    let busy: Vec<f64> = busy.collect();
    let (mut books, mut timings) = (Books::default(), Timings::default());
    for pool in &pools {
        books.add(&pool.books);
        timings.merge(&pool.timings);
    }
    let limits = Limit::find(&busy, &books, &timings);
    let cpu_nanos: u64 = finished.iter().map(|worker| worker.cpu_nanos).sum();
    LoadReport {
        pools,
        busy,
        cpu_seconds: cpu_nanos as f64 / 1e9,
        interrupted: interrupted.is_some(),
        limits,
    }
}

impl LoadReport {
    /// Whether every request of every pool is accounted for.
    #[must_use]
    pub fn balance(&self) -> bool {
        self.pools.iter().all(|pool| pool.books.balance())
    }

    /// All pools together.
    #[must_use]
    pub fn sum(&self) -> PoolReport {
        let mut sum = PoolReport {
            name: "all".to_owned(),
            load: Load::Closed,
            books: Books::default(),
            timings: Timings::default(),
            seconds: 0.0,
            counted: self.pools.iter().all(|pool| pool.counted),
        };
        for pool in &self.pools {
            sum.books.add(&pool.books);
            sum.timings.merge(&pool.timings);
            sum.seconds = sum.seconds.max(pool.seconds);
        }
        sum
    }
}
