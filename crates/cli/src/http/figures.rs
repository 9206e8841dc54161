//! The report of a run as one JSON object. Field names are a contract.

use std::collections::BTreeMap;

use load::client::{Books, ErrorKind, Expectation, Load, LoadReport, Pace, PoolReport, Wish};
use serde::Serialize;

use crate::build::{DEBUG, VERSION};
use crate::spread::Spread;

/// What came of a run.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    pub(super) version: &'static str,
    pub(super) debug_build: bool,
    /// `duration`, `requests` (their number was reached), or `asked` by Ctrl-C.
    pub(super) ended_by: &'static str,
    /// All pools together.
    pub(super) all: PoolFigures,
    pub(super) pools: Vec<PoolFigures>,
    /// Whether every request is accounted for.
    pub(super) balanced: bool,
    /// What held the client back.
    pub(super) limits: Vec<LimitFigures>,
    /// Each thread's share of a CPU.
    pub(super) threads_busy: Vec<f64>,
    /// CPU time of all threads.
    pub(super) cpu_seconds: f64,
    /// Answers a second of CPU time: what one CPU of this client could do at most.
    pub(super) answers_per_cpu_second: f64,
    pub(super) expectations: Vec<ExpectationFigures>,
}

/// What came of a pool.
#[derive(Debug, Serialize)]
pub(super) struct PoolFigures {
    pub(super) name: String,
    /// `open`, `closed`, `closed with a rate`, or `several`.
    pub(super) loop_kind: &'static str,
    /// Requests a second that were asked for, at the end; null where no rate stays.
    pub(super) asked_rate: Option<f64>,
    /// What was asked for, in words; null without a rate.
    pub(super) asked: Option<String>,
    pub(super) seconds: f64,
    /// Answers a second.
    pub(super) rate: f64,
    /// Bits received a second.
    pub(super) received_bps: f64,
    pub(super) requests: Requests,
    pub(super) connections: Connections,
    pub(super) times: Times,
}

/// The accounting of requests: due = sent + not_sent + omitted, and sent = answered + aborted +
/// errors + unfinished.
#[derive(Debug, Serialize)]
pub(super) struct Requests {
    pub(super) due: u64,
    pub(super) sent: u64,
    pub(super) not_sent: u64,
    pub(super) answered: u64,
    pub(super) aborted: u64,
    pub(super) unfinished: u64,
    pub(super) errors: BTreeMap<&'static str, u64>,
    /// What a closed loop with a rate left out, since every connection waited.
    pub(super) omitted: u64,
    pub(super) statuses: BTreeMap<u16, u64>,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
}

/// What became of connections.
#[derive(Debug, Serialize)]
pub(super) struct Connections {
    pub(super) opened: u64,
    /// TLS handshakes that went on with a session of before.
    pub(super) tls_resumed: u64,
    pub(super) closed_idle: u64,
    pub(super) unasked_bytes: u64,
}

/// How long phases took, seconds.
#[derive(Debug, Serialize)]
pub(super) struct Times {
    /// From the time a request was due to the end of its response.
    pub(super) latency: Spread,
    /// From the time a request was sent: what a closed loop calls latency.
    pub(super) service: Spread,
    pub(super) wait: Spread,
    pub(super) connect: Spread,
    /// TLS handshakes.
    pub(super) tls: Spread,
    pub(super) send: Spread,
    pub(super) first_byte: Spread,
    /// Latency, with what a closed loop with a rate left out as long as it would have waited at
    /// least.
    pub(super) with_omitted: Spread,
    /// Latencies in buckets: the greatest of each in nanoseconds, and how many.
    pub(super) latency_buckets: Vec<(u64, u64)>,
}

/// What held the client back.
#[derive(Debug, Serialize)]
pub(super) struct LimitFigures {
    pub(super) name: &'static str,
    pub(super) sentence: String,
}

/// Whether an expectation holds.
#[derive(Debug, Serialize)]
pub(super) struct ExpectationFigures {
    pub(super) expected: String,
    /// Seconds, a share or a rate; null where too few were answered.
    pub(super) seen: Option<f64>,
    pub(super) is_time: bool,
    pub(super) met: bool,
}

impl Figures {
    pub(super) fn new(report: &LoadReport, expectations: &[Expectation]) -> Self {
        let sum = report.sum();
        let judged = expectations.iter().map(|expectation| {
            let judged = expectation.judge(&sum.books, &sum.timings.latency, sum.seconds);
            ExpectationFigures {
                expected: judged.expectation.text,
                seen: judged.seen,
                is_time: matches!(judged.expectation.wish, Wish::Within { .. }),
                met: judged.met,
            }
        });
        let limits = report.limits.iter().map(|limit| LimitFigures {
            name: limit.name(),
            sentence: limit.sentence(),
        });
        let pools: Vec<PoolFigures> = report.pools.iter().map(PoolFigures::new).collect();
        let mut all = PoolFigures::new(&sum);
        match pools.as_slice() {
            [one] => {
                (all.loop_kind, all.asked_rate) = (one.loop_kind, one.asked_rate);
                all.asked.clone_from(&one.asked);
            }
            _ => all.loop_kind = "several",
        }
        Self {
            version: VERSION,
            debug_build: DEBUG,
            ended_by: match (report.interrupted, sum.counted) {
                (true, _) => "asked",
                (false, true) => "requests",
                (false, false) => "duration",
            },
            all,
            pools,
            balanced: report.balance(),
            limits: limits.collect(),
            threads_busy: report.busy.clone(),
            cpu_seconds: report.cpu_seconds,
            answers_per_cpu_second: sum.books.answered as f64 / report.cpu_seconds.max(1e-9),
            expectations: judged.collect(),
        }
    }

    /// Whether something was answered, and all that was expected holds.
    pub(super) fn holds(&self) -> bool {
        let something = self.all.requests.answered + self.all.requests.aborted > 0;
        something && self.expectations.iter().all(|expectation| expectation.met)
    }
}

impl PoolFigures {
    fn new(report: &PoolReport) -> Self {
        let loop_kind = match report.load {
            Load::Closed => "closed",
            Load::Open(_) => "open",
            Load::Paced(_) => "closed with a rate",
        };
        let pace = report.load.arrivals().map(|arrivals| &arrivals.pace);
        let seconds = report.seconds.max(1e-9);
        let timings = &report.timings;
        let mut with_omitted = timings.latency.clone();
        with_omitted.merge(&timings.hidden);
        Self {
            name: report.name.clone(),
            loop_kind,
            asked_rate: pace.and_then(Pace::last_rate),
            asked: pace.map(Pace::to_string),
            seconds: report.seconds,
            rate: report.books.answered as f64 / seconds,
            received_bps: report.books.bytes_in as f64 * 8.0 / seconds,
            requests: Requests::new(&report.books),
            connections: Connections {
                opened: report.books.connections,
                tls_resumed: report.books.resumed,
                closed_idle: report.books.closed_idle,
                unasked_bytes: report.books.unasked,
            },
            times: Times {
                latency: Spread::new(&timings.latency),
                service: Spread::new(&timings.service),
                wait: Spread::new(&timings.wait),
                tls: Spread::new(&timings.tls),
                connect: Spread::new(&timings.connect),
                send: Spread::new(&timings.send),
                first_byte: Spread::new(&timings.first_byte),
                with_omitted: Spread::new(&with_omitted),
                latency_buckets: timings.latency.buckets().collect(),
            },
        }
    }
}

impl Requests {
    fn new(books: &Books) -> Self {
        let errors = ErrorKind::ALL.map(|kind| (kind.name(), books.errors_of(kind)));
        Self {
            due: books.due,
            sent: books.sent,
            not_sent: books.not_sent,
            answered: books.answered,
            aborted: books.aborted,
            unfinished: books.unfinished,
            errors: errors.into(),
            omitted: books.omitted,
            statuses: books.statuses.clone(),
            bytes_in: books.bytes_in,
            bytes_out: books.bytes_out,
        }
    }
}
