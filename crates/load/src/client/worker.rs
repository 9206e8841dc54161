//! One thread of a run: its pools, its connections and nothing that another one has.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;

use frame::Nanos;
use rustix::time::{ClockId, clock_gettime};

use super::dial::{Dialled, dial};
use super::fault::kind_of_tls;
use super::pool::{Next, Pool, share};
use super::slot::{Happened, Phase, Slot, Surroundings, Times};
use super::{ErrorKind, Interval, Load, Part, PoolSpec};
use crate::poller::{Event, Poller, Token};
use crate::stream::Stream;
use crate::timer::Timers;
use crate::tls::ClientTls;

const READ_BYTES: usize = 64 * 1024;
/// Requests that are begun before answers are looked at.
const STARTS_MAX: usize = 64;
/// How often timeouts and the wish to stop are looked for.
const SWEEP_NANOS: u64 = 20_000_000;
const SECOND: u64 = 1_000_000_000;
/// How long a connection of a closed loop pauses that could not be opened: nothing else holds it
/// back from trying as fast as it can.
const FAILED_PAUSE_NANOS: u64 = 10_000_000;

/// What a worker is told.
pub(super) struct Orders {
    /// Its number.
    pub(super) worker: usize,
    /// The pools that it has a part of.
    pub(super) pools: Vec<PoolShare>,
    pub(super) start: Instant,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) intervals: Sender<Interval>,
}

/// A pool, and which part of it is a worker's.
pub(super) struct PoolShare {
    /// Number of the pool.
    pub(super) index: usize,
    pub(super) spec: PoolSpec,
    pub(super) part: Part,
}

/// What a worker leaves.
pub(super) struct Finished {
    pub(super) pools: Vec<Pool>,
    pub(super) cpu_nanos: u64,
    pub(super) nanos: u64,
    pub(super) interrupted: Option<Nanos>,
}

/// The thread.
pub(super) struct Worker {
    poller: Poller,
    pools: Vec<Pool>,
    slots: Vec<Slot>,
    timers: Timers,
    worker: usize,
    stop: Arc<AtomicBool>,
    intervals: Sender<Interval>,
    buffer: Box<[u8]>,
    interrupted: Option<Nanos>,
}

impl Worker {
    pub(super) fn new(orders: Orders) -> io::Result<Self> {
        // 50 us by default, by which every request would be late.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let mut worker = Self {
            poller: Poller::new(orders.start)?,
            pools: orders.pools.iter().map(Pool::new).collect(),
            slots: Vec::new(),
            timers: Timers::default(),
            worker: orders.worker,
            stop: orders.stop,
            intervals: orders.intervals,
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            interrupted: None,
        };
        for (number, pool) in worker.pools.iter_mut().enumerate() {
            for _ in 0..share(pool.spec.connections.into(), pool.part) {
                pool.idle.push_back(worker.slots.len());
                worker.slots.push(Slot::new(number, &pool.spec));
            }
        }
        Ok(worker)
    }

    /// Runs up to the end of all pools and of what they sent.
    pub(super) fn run(mut self) -> io::Result<Finished> {
        let began = self.poller.now();
        let (mut sweep, mut second) = (Nanos::ZERO, SECOND);
        loop {
            let now = self.poller.now();
            let next = self.start_due();
            if now >= sweep {
                sweep = now.after(SWEEP_NANOS);
                self.sweep(now);
            }
            if now.0 >= second {
                second += SECOND;
                self.show();
            }
            if self.is_finished(now) {
                break;
            }
            let timer = self.timers.next().unwrap_or(sweep);
            self.poller.wait(next.min(timer).min(sweep).max(Nanos(1)))?;
            for index in 0..self.poller.count() {
                let event = self.poller.event(index);
                self.take_event(event);
            }
            let now = self.poller.now();
            while let Some(token) = self.timers.pop_due(now) {
                self.take_timer(token.index(), now);
            }
        }
        for pool in &mut self.pools {
            pool.close(self.interrupted);
        }
        self.show();
        Ok(Finished {
            nanos: self.poller.now().since(began),
            cpu_nanos: cpu_nanos(),
            pools: self.pools,
            interrupted: self.interrupted,
        })
    }

    /// Whether all is over: nothing is due any more, and what was sent came or has had its time.
    fn is_finished(&self, now: Nanos) -> bool {
        let over = |pool: &Pool| {
            let stop = self.interrupted.unwrap_or(pool.stop);
            let timeout = u64::try_from(pool.spec.timeout.as_nanos()).unwrap_or(u64::MAX);
            let quiet = pool.busy == 0 || now >= stop.after(timeout);
            (self.interrupted.is_some() || pool.is_over(now)) && quiet
        };
        self.pools.iter().all(over)
    }

    /// Begins what is due; when the next request will be.
    fn start_due(&mut self) -> Nanos {
        let mut earliest = Nanos(u64::MAX);
        if self.interrupted.is_some() {
            return earliest;
        }
        for number in 0..self.pools.len() {
            for turn in 0..=STARTS_MAX {
                let now = self.poller.now();
                let pool = &mut self.pools[number];
                let due = match pool.next(now) {
                    Next::Never => {
                        pool.settle(now);
                        break;
                    }
                    Next::At(at) => {
                        earliest = earliest.min(at);
                        break;
                    }
                    Next::Due(due) => due,
                };
                if turn == STARTS_MAX {
                    earliest = now;
                    break;
                }
                let Some(index) = pool.idle.pop_front() else {
                    pool.omit(now);
                    pool.settle(now);
                    break;
                };
                self.begin(number, index, due, now);
            }
        }
        earliest
    }

    /// Gives a connection a request.
    fn begin(&mut self, number: usize, index: usize, due: Nanos, now: Nanos) {
        let (pool, slot) = (&mut self.pools[number], &mut self.slots[index]);
        let is_open = matches!(pool.spec.load, Load::Open(_));
        let due = if is_open { due } else { now };
        pool.take();
        pool.timings.wait.record(now.since(due));
        if slot.idle_since > due {
            pool.books.waited += 1;
        } else if is_open {
            pool.timings.own_delay.record(now.since(due));
        }
        slot.times = Times {
            due,
            start: now,
            open: now,
            ..Times::default()
        };
        pool.begin(&mut slot.exchange, slot.served);
        if slot.stream.is_none() {
            if let Err(kind) = self.open(number, index) {
                return self.end(index, Happened::Failed(kind));
            }
        } else {
            slot.phase = Phase::Sending;
        }
        self.advance(index);
    }

    fn open(&mut self, number: usize, index: usize) -> Result<(), ErrorKind> {
        let (pool, slot) = (&mut self.pools[number], &mut self.slots[index]);
        let sources = pool.spec.sources.as_ref();
        let Dialled {
            stream,
            is_connected,
        } = dial(
            pool.spec.address,
            sources,
            &mut pool.source,
            pool.part.workers,
        )?;
        slot.generation = slot.generation.wrapping_add(1);
        let token = Token::new(index, slot.generation);
        self.poller
            .watch(&stream, token)
            .map_err(|_| ErrorKind::NoFile)?;
        let session = match pool.tls.as_ref().map(ClientTls::session).transpose() {
            Ok(session) => session,
            Err(error) => return Err(kind_of_tls(&error)),
        };
        slot.stream = Some(Stream::new(stream, session));
        slot.phase = Phase::Connecting;
        slot.writable = is_connected;
        pool.books.connections += 1;
        Ok(())
    }

    fn take_event(&mut self, event: Event) {
        let index = event.token.index();
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        if slot.generation != event.token.generation() {
            return;
        }
        slot.readable |= event.readable;
        slot.writable |= event.writable;
        slot.ended |= event.ended;
        self.advance(index);
    }

    /// A timer may be one of a request before, which is then looked at once too often.
    fn take_timer(&mut self, index: usize, now: Nanos) {
        match self.slots[index].phase {
            Phase::Pausing if self.slots[index].pause_until <= now => self.make_idle(index),
            Phase::Connecting | Phase::Handshaking | Phase::Sending | Phase::Receiving => {
                self.advance(index);
            }
            Phase::Pausing | Phase::Idle => {}
        }
    }

    fn advance(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let pool = &mut self.pools[slot.pool];
        let mut around = Surroundings {
            poller: &self.poller,
            spec: &pool.spec,
            books: &mut pool.books,
            timings: &mut pool.timings,
            buffer: &mut self.buffer,
        };
        match slot.advance(&mut around) {
            Happened::Waits => {}
            Happened::WaitsUntil(at) => self.timers.set(at, Token::new(index, slot.generation)),
            happened => self.end(index, happened),
        }
    }

    /// Takes note of how a request, or an idle connection, ended.
    fn end(&mut self, index: usize, happened: Happened) {
        let now = self.poller.now();
        let slot = &mut self.slots[index];
        let pool = &mut self.pools[slot.pool];
        let mut keeps = false;
        match happened {
            Happened::Answered => {
                let status = slot.exchange.status();
                *pool.books.statuses.entry(status).or_default() += 1;
                keeps = slot.exchange.keeps_alive();
                match status {
                    ..400 => pool.record(&slot.times, now),
                    _ => pool.books.errors[ErrorKind::Status as usize] += 1,
                }
            }
            Happened::Aborted => pool.books.aborted += 1,
            Happened::Failed(kind) => pool.books.errors[kind as usize] += 1,
            Happened::ClosedIdle => pool.books.closed_idle += 1,
            Happened::Unasked => pool.books.unasked += 1,
            Happened::Waits | Happened::WaitsUntil(_) => {}
        }
        let was_busy = slot.is_busy() || matches!(happened, Happened::Failed(_));
        slot.served += 1;
        let full = pool
            .spec
            .requests_each
            .is_some_and(|each| slot.served >= each);
        if !keeps || full {
            slot.close();
        }
        if was_busy {
            pool.busy -= 1;
            pool.last = pool.last.max(now);
            self.rest(index, happened, now);
        }
    }

    /// A connection without a request pauses where it should, and is idle.
    fn rest(&mut self, index: usize, happened: Happened, now: Nanos) {
        let slot = &mut self.slots[index];
        let spec = &self.pools[slot.pool].spec;
        let unopened = matches!(
            happened,
            Happened::Failed(
                ErrorKind::Refused
                    | ErrorKind::Unreachable
                    | ErrorKind::TlsUntrusted
                    | ErrorKind::TlsName
                    | ErrorKind::TlsExpired
                    | ErrorKind::TlsRefused
                    | ErrorKind::TlsBroken
                    | ErrorKind::NoPort
                    | ErrorKind::NoFile
            )
        );
        let mut pause = u64::try_from(spec.think.as_nanos()).unwrap_or(u64::MAX);
        if unopened && spec.load == Load::Closed {
            pause = pause.max(FAILED_PAUSE_NANOS);
        }
        if pause == 0 {
            return self.make_idle(index);
        }
        slot.phase = Phase::Pausing;
        slot.pause_until = now.after(pause);
        self.timers
            .set(slot.pause_until, Token::new(index, slot.generation));
    }

    fn make_idle(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.phase = Phase::Idle;
        slot.idle_since = self.poller.now();
        self.pools[slot.pool].freed(slot.idle_since);
        self.pools[slot.pool].idle.push_back(index);
    }

    /// Ends what took too long, and looks whether the run is to stop.
    fn sweep(&mut self, now: Nanos) {
        if self.interrupted.is_none() && self.stop.load(Ordering::Relaxed) {
            self.interrupted = Some(self.poller.now());
        }
        for index in 0..self.slots.len() {
            let slot = &self.slots[index];
            let timeout = self.pools[slot.pool].spec.timeout.as_nanos();
            if slot.is_busy() && u128::from(now.since(slot.times.start)) > timeout {
                self.end(index, Happened::Failed(ErrorKind::Timeout));
            }
        }
    }

    /// Shows how far it is. Whoever does not look any more misses nothing.
    fn show(&mut self) {
        for pool in &mut self.pools {
            let _ = self.intervals.send(Interval {
                worker: self.worker,
                pool: pool.index,
                books: pool.books.clone(),
                latency: std::mem::take(&mut pool.interval),
            });
        }
    }
}

/// Processor time of this thread.
fn cpu_nanos() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}
