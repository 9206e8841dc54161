//! The part of a pool that one worker has.

use std::collections::VecDeque;

use frame::Nanos;
use traffic::{Histogram, Random};

use super::exchange::{Exchange, Request};
use super::hidden::Hidden;
use super::slot::Times;
use super::worker::PoolShare;
use super::{Books, Load, Part, PoolSpec, Schedule, Timings};
use crate::tls::ClientTls;

/// A pool of one worker.
pub(super) struct Pool {
    /// Number of the pool in the run.
    pub(super) index: usize,
    pub(super) spec: PoolSpec,
    /// TLS with sessions of this worker.
    pub(super) tls: Option<ClientTls>,
    pub(super) part: Part,
    /// The schedule as it was, to count what was due.
    whole: Option<Schedule>,
    schedule: Option<Schedule>,
    /// Connections without a request, longest idle first.
    pub(super) idle: VecDeque<usize>,
    pub(super) busy: usize,
    pub(super) books: Books,
    pub(super) timings: Timings,
    /// What was left out and would still wait.
    hidden: Hidden,
    /// Latencies since the last interval was shown.
    pub(super) interval: Histogram,
    random: Random,
    /// The number of the next request.
    number: u64,
    /// Requests that are left, without a schedule.
    left: Option<u64>,
    /// The next pair of source address and port.
    pub(super) source: u64,
    weights: u64,
    pub(super) start: Nanos,
    pub(super) stop: Nanos,
    /// The stop has come, and what was due before it and had a connection was sent, however late
    /// this worker was.
    is_closed: bool,
    /// When the last request ended.
    pub(super) last: Nanos,
}

/// What a pool would do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A request is due, since then.
    Due(Nanos),
    /// One will be due then.
    At(Nanos),
    /// None will be due, or none before a connection is idle.
    Never,
}

impl Pool {
    pub(super) fn new(share_of: &PoolShare) -> Self {
        let PoolShare {
            index,
            ref spec,
            part,
        } = *share_of;
        let start = Nanos(nanos(spec.start));
        let count = spec.count.map(|count| share(count, part));
        let schedule = spec.load.arrivals().map(|arrivals| {
            let schedule = Schedule::new(arrivals.clone(), start, part);
            match count {
                Some(count) => schedule.limited(count),
                None => schedule,
            }
        });
        Self {
            index,
            part,
            spec: spec.clone(),
            tls: spec.tls.as_ref().map(ClientTls::of_thread),
            whole: schedule.clone(),
            schedule,
            idle: VecDeque::new(),
            busy: 0,
            books: Books::default(),
            timings: Timings::default(),
            hidden: Hidden::default(),
            interval: Histogram::new(),
            random: Random::new(part.seed, part.worker ^ 0x10ad),
            number: part.worker,
            left: count,
            source: part.worker,
            weights: spec
                .requests
                .iter()
                .map(|request| u64::from(request.weight))
                .sum(),
            start,
            stop: Nanos(nanos(spec.stop)),
            is_closed: false,
            last: start,
        }
    }

    /// What is to be done at a time.
    pub(super) fn next(&self, now: Nanos) -> Next {
        if self.is_closed || (now >= self.stop && self.schedule.is_none()) {
            return Next::Never;
        }
        let next = match &self.schedule {
            None => (self.left != Some(0)).then_some(self.start.max(now)),
            Some(schedule) => schedule.next(),
        };
        match next.filter(|next| *next < self.stop) {
            None => Next::Never,
            Some(due) if due <= now && now >= self.start => Next::Due(due),
            Some(due) => Next::At(due.max(self.start)),
        }
    }

    /// Nothing more that is due now can be sent now.
    pub(super) fn settle(&mut self, now: Nanos) {
        self.is_closed |= now >= self.stop;
    }

    /// Whether no further request will be due.
    pub(super) fn is_over(&self, now: Nanos) -> bool {
        self.next(now) == Next::Never
    }

    /// Takes the request that is due.
    pub(super) fn take(&mut self) {
        match &mut self.schedule {
            Some(schedule) => schedule.advance(),
            None => self.left = self.left.map(|left| left.saturating_sub(1)),
        }
        self.books.sent += 1;
        self.busy += 1;
    }

    /// In a closed loop with a rate: what is due now is left out.
    pub(super) fn omit(&mut self, now: Nanos) {
        if let (Load::Paced(_), Some(schedule)) = (&self.spec.load, &mut self.schedule) {
            let since = schedule.next().unwrap_or(now);
            let omitted = schedule.take_until(now.after(1).min(self.stop));
            self.books.omitted += omitted;
            self.hidden.add(since, omitted);
        }
    }

    /// Writes the next request.
    pub(super) fn begin(&mut self, exchange: &mut Exchange, served: u64) {
        let chosen = match self.spec.requests.len() {
            1 => 0,
            _ => self.choose(),
        };
        let last = self
            .spec
            .requests_each
            .is_some_and(|each| served + 1 >= each);
        let spec = &self.spec.requests[chosen];
        let request = Request {
            spec,
            host: &self.spec.host,
            number: self.number,
            last,
        };
        self.number += self.part.workers;
        exchange.begin(&request, &mut self.random);
    }

    fn choose(&mut self) -> usize {
        let mut drawn = self.random.below(self.weights);
        let weights = self
            .spec
            .requests
            .iter()
            .map(|request| u64::from(request.weight));
        for (index, weight) in weights.enumerate() {
            if drawn < weight {
                return index;
            }
            drawn -= weight;
        }
        0
    }

    /// A connection is free: what was left out would have waited at least until now.
    pub(super) fn freed(&mut self, now: Nanos) {
        self.hidden.record(now, &mut self.timings.hidden);
    }

    /// Takes note of a whole response.
    pub(super) fn record(&mut self, times: &Times, now: Nanos) {
        self.books.answered += 1;
        let first = times.first.unwrap_or(now);
        self.timings.first_byte.record(first.since(times.open));
        self.timings.service.record(now.since(times.start));
        self.timings.latency.record(now.since(times.due));
        self.interval.record(now.since(times.due));
    }

    /// Closes the books at the end of the run, or at the time it was interrupted.
    pub(super) fn close(&mut self, interrupted: Option<Nanos>) {
        let stop = interrupted.map_or(self.stop, |at| at.min(self.stop));
        self.books.unfinished = self.busy as u64;
        let (Some(mut whole), Some(mut rest)) = (self.whole.take(), self.schedule.take()) else {
            self.books.due = self.books.sent;
            return;
        };
        self.books.due = whole.take_until(stop);
        let since = rest.next().unwrap_or(stop);
        let rest = rest.take_until(stop);
        match &self.spec.load {
            Load::Paced(_) => {
                self.books.omitted += rest;
                self.hidden.add(since, rest);
                self.hidden.record(stop, &mut self.timings.hidden);
            }
            _ => self.books.not_sent = rest,
        }
    }
}

/// This worker's share of a number.
pub(super) fn share(count: u64, part: Part) -> u64 {
    count / part.workers + u64::from(part.worker < count % part.workers)
}

fn nanos(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
