//! A server as a device: a trial is an open loop of requests.

use std::thread;
use std::time::Duration;

use lab::LabError;
use lab::no_drop::{Device, Direction, Judged, Latency, TrialOutcome, TrialPlan};
use load::client::{
    Arrivals, Books, ErrorKind, Expectation, Limit, Load, LoadReport, LoadRun, Pace, PoolReport,
    PoolSpec, Rates, RunSpec, Url, Wish,
};

use crate::args::NdrArgs;
use crate::error::Error;
use crate::http;
use crate::interrupt::Interrupt;

const NAP: Duration = Duration::from_millis(2);
/// A client that is late by this share of a bound could be why the bound is missed.
const OWN_SHARE: f64 = 0.5;

/// A server, and what every trial of it showed.
pub(super) struct ServerDevice<'a> {
    pool: PoolSpec,
    threads: usize,
    seed: u64,
    expected: &'a [Expectation],
    interrupt: &'a Interrupt,
    /// In the order in which they were done.
    pub(super) trials: Vec<RequestTrial>,
}

/// What a closed loop showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClosedLoop {
    /// Requests a second that ended, well or not.
    pub(super) rate: f64,
    /// The CPU of this client was the limit.
    pub(super) is_busy: bool,
}

/// What a trial showed.
#[derive(Clone, Debug)]
pub(super) struct RequestTrial {
    pub(super) books: Books,
    /// What held the client back.
    pub(super) limits: Vec<Limit>,
    pub(super) judged: Judged,
}

impl<'a> ServerDevice<'a> {
    pub(super) fn new(
        args: &'a NdrArgs,
        url: &Url,
        interrupt: &'a Interrupt,
    ) -> Result<Self, Error> {
        let pool = http::clients(&args.http.pool, url)?;
        Ok(Self {
            threads: http::threads(args.http.threads).min(pool.connections as usize),
            pool,
            seed: args.frames.seed,
            expected: &args.http.expect.0,
            interrupt,
            trials: Vec::new(),
        })
    }

    /// A first look, in which each connection waits for its answer.
    ///
    /// # Errors
    /// The client could not run, or no request was answered.
    pub(super) fn closed_loop(&self, duration: Duration) -> Result<ClosedLoop, LabError> {
        let report = self.run(Load::Closed, duration)?;
        let PoolReport { books, seconds, .. } = report.sum();
        if books.answered == 0 {
            let of = |kind: &ErrorKind| books.errors_of(*kind);
            let most = ErrorKind::ALL.into_iter().max_by_key(of);
            let why = most.filter(|kind| of(kind) > 0).map(ErrorKind::sentence);
            return Err(LabError(format!(
                "no request was answered in a first look: {}; 'linerate load http' shows more",
                why.unwrap_or("none ended in time")
            )));
        }
        Ok(ClosedLoop {
            rate: ended(&books) as f64 / seconds.max(1e-9),
            is_busy: report.limits.iter().any(is_cpu),
        })
    }

    fn run(&self, load: Load, duration: Duration) -> Result<LoadReport, LabError> {
        let pool = PoolSpec {
            load,
            stop: duration,
            ..self.pool.clone()
        };
        let spec = RunSpec {
            pools: vec![pool],
            threads: self.threads,
            seed: self.seed,
        };
        let failed = |error: load::LoadError| LabError(error.to_string());
        let run = LoadRun::start(spec).map_err(failed)?;
        while !run.is_finished() {
            if self.interrupt.is_asked() {
                run.stop();
            }
            thread::sleep(NAP);
        }
        run.join().map_err(failed)
    }

    fn judge(&self, report: &LoadReport, sum: &PoolReport) -> Judged {
        let holds = |one: &Expectation| {
            let judged = one.judge(&sum.books, &sum.timings.latency, sum.seconds);
            judged.met
        };
        if self.expected.iter().all(holds) {
            return Judged::Met;
        }
        let late = |one: &Expectation| was_late(one.wish, sum);
        match is_at_its_end(&report.limits) || self.expected.iter().any(late) {
            true => Judged::Spoilt,
            false => Judged::Missed,
        }
    }

    /// Requests that count as sent; where this client was the limit, what it did in time.
    fn sent(&self, judged: Judged, sum: &PoolReport) -> u64 {
        if judged != Judged::Spoilt {
            return sum.books.due;
        }
        let late = self.expected.iter().map(|one| sent_late(one.wish, sum));
        ended(&sum.books).saturating_sub(late.max().unwrap_or(0))
    }
}

/// Requests that ended at the server, well or not.
fn ended(books: &Books) -> u64 {
    let own = [ErrorKind::NoPort, ErrorKind::NoFile].map(|kind| books.errors_of(kind));
    books.answered + books.aborted + books.errors_all() - own.iter().sum::<u64>()
}

fn is_cpu(limit: &Limit) -> bool {
    matches!(limit, Limit::Cpu { .. })
}

/// Whether this client had no more to give. Connections of a busy client wait for itself.
fn is_at_its_end(limits: &[Limit]) -> bool {
    let waits = |limit: &Limit| matches!(limit, Limit::Connections { .. });
    let lacks = |limit: &Limit| matches!(limit, Limit::Ports | Limit::Files);
    let busy = limits.iter().any(is_cpu) && limits.iter().any(waits);
    busy || limits.iter().any(lacks)
}

/// Whether this client itself sent so many requests so late that a bound may be missed by that.
fn was_late(wish: Wish, sum: &PoolReport) -> bool {
    let allowed = match wish {
        Wish::Within { share, .. } => (1.0 - share) * sum.books.due as f64,
        Wish::Errors(_) | Wish::Rate(_) => return false,
    };
    sent_late(wish, sum) as f64 > allowed
}

/// Requests that were late by much of a bound though a connection was idle.
fn sent_late(wish: Wish, sum: &PoolReport) -> u64 {
    let Wish::Within { nanos: bound, .. } = wish else {
        return 0;
    };
    let own = (bound as f64 * OWN_SHARE) as u64;
    let buckets = sum.timings.own_delay.buckets();
    let late = buckets.filter(|(nanos, _)| *nanos > own);
    late.map(|(_, requests)| requests).sum()
}

impl Device for ServerDevice<'_> {
    fn trial(&mut self, plan: &TrialPlan) -> Result<TrialOutcome, LabError> {
        let rates = Rates::constant(plan.load as f64);
        let load = Load::Open(Arrivals::even(Pace::Rates(rates)));
        let report = self.run(load, plan.duration)?;
        let sum = report.sum();
        let judged = self.judge(&report, &sum);
        let latency = sum.timings.latency.report();
        let answered = sum.books.answered;
        let sent = self.sent(judged, &sum);
        self.trials.push(RequestTrial {
            books: sum.books,
            limits: report.limits,
            judged,
        });
        Ok(TrialOutcome {
            directions: vec![Direction {
                sent,
                received: answered,
            }],
            sending: plan.duration,
            judged: Some(judged),
            latency: (latency.count > 0).then_some(Latency {
                p50: latency.p50,
                p90: latency.p90,
                p99: latency.p99,
                max: latency.max,
            }),
            ..TrialOutcome::default()
        })
    }
}
