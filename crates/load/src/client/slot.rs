//! A connection of a client and the request that it carries.

use std::io::{ErrorKind as IoKind, Read, Write};

use frame::Nanos;

use super::dial::kind_of_io;
use super::exchange::{Exchange, Progress};
use super::{Books, ErrorKind, PoolSpec, Timings};
use crate::poller::Poller;
use crate::stream::Stream;

/// Pieces of a second in which rates of reading and writing are kept to.
const TICK_NANOS: u64 = 10_000_000;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not open, or open and without a request.
    Idle,
    Connecting,
    /// Agrees on TLS.
    Handshaking,
    Sending,
    Receiving,
    /// Pauses before it is idle.
    Pausing,
}

/// What came of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    /// Nothing more until the socket changes.
    Waits,
    /// Nothing more until then.
    WaitsUntil(Nanos),
    /// The response is whole.
    Answered,
    /// It was left on purpose.
    Aborted,
    Failed(ErrorKind),
    /// The server closed an idle connection.
    ClosedIdle,
    /// Bytes came on an idle connection.
    Unasked,
}

/// Times of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) due: Nanos,
    /// It got a connection.
    pub(super) start: Nanos,
    /// Its first byte could be sent.
    pub(super) open: Nanos,
    pub(super) sent: Nanos,
    pub(super) first: Option<Nanos>,
}

/// A place for a connection.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) pool: usize,
    pub(super) generation: u32,
    pub(super) stream: Option<Stream>,
    pub(super) phase: Phase,
    pub(super) exchange: Exchange,
    pub(super) times: Times,
    /// Requests that this connection carried.
    pub(super) served: u64,
    pub(super) idle_since: Nanos,
    pub(super) pause_until: Nanos,
    pub(super) readable: bool,
    pub(super) writable: bool,
    /// The end of the input has come.
    pub(super) ended: bool,
}

/// What a turn needs beside the connection.
pub(super) struct Surroundings<'w> {
    pub(super) poller: &'w Poller,
    pub(super) spec: &'w PoolSpec,
    pub(super) books: &'w mut Books,
    pub(super) timings: &'w mut Timings,
    pub(super) buffer: &'w mut [u8],
}

impl Slot {
    pub(super) fn new(pool: usize, spec: &PoolSpec) -> Self {
        Self {
            pool,
            generation: 0,
            stream: None,
            phase: Phase::Idle,
            exchange: Exchange::new(spec),
            times: Times::default(),
            served: 0,
            idle_since: Nanos::ZERO,
            pause_until: Nanos::ZERO,
            readable: false,
            writable: false,
            ended: false,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(
            self.phase,
            Phase::Connecting | Phase::Handshaking | Phase::Sending | Phase::Receiving
        )
    }

    /// Closes the connection. What is still reported about it is about the generation before.
    pub(super) fn close(&mut self) {
        if let Some(mut stream) = self.stream.take() {
            stream.say_end();
        }
        self.generation = self.generation.wrapping_add(1);
        self.served = 0;
        (self.readable, self.writable, self.ended) = (false, false, false);
    }

    /// Moves on as far as it goes.
    pub(super) fn advance(&mut self, around: &mut Surroundings<'_>) -> Happened {
        match self.phase {
            Phase::Idle | Phase::Pausing => return self.listen(around),
            Phase::Connecting | Phase::Handshaking => {
                if let Some(happened) = self.open(around) {
                    return happened;
                }
            }
            Phase::Sending | Phase::Receiving => {}
        }
        let mut until = None;
        if self.phase == Phase::Sending {
            match self.send(around) {
                Ok(later) => until = later,
                // The server may have said why before it closed.
                Err(()) => {
                    self.phase = Phase::Receiving;
                    self.readable = true;
                }
            }
        }
        match self.receive(around) {
            Happened::Waits => until.map_or(Happened::Waits, Happened::WaitsUntil),
            happened => happened,
        }
    }

    /// An idle connection: the server may close it, and may say nothing.
    fn listen(&mut self, around: &mut Surroundings<'_>) -> Happened {
        let Some(stream) = self.stream.as_mut().filter(|_| self.readable) else {
            return Happened::Waits;
        };
        match stream.read(around.buffer) {
            Err(error) if error.kind() == IoKind::WouldBlock => {
                self.readable = false;
                Happened::Waits
            }
            Ok(len) if len > 0 => Happened::Unasked,
            _ => Happened::ClosedIdle,
        }
    }

    /// Goes on until the connection stands; what happened where it does not.
    fn open(&mut self, around: &mut Surroundings<'_>) -> Option<Happened> {
        if self.phase == Phase::Connecting
            && let Some(happened) = self.connected(around)
        {
            return Some(happened);
        }
        if self.phase == Phase::Handshaking
            && let Some(happened) = self.agreed(around)
        {
            return Some(happened);
        }
        self.phase = Phase::Sending;
        None
    }

    fn connected(&mut self, around: &mut Surroundings<'_>) -> Option<Happened> {
        let Some(stream) = self.stream.as_ref().filter(|_| self.writable) else {
            return Some(Happened::Waits);
        };
        match stream.take_error() {
            Ok(None) => {}
            Ok(Some(error)) | Err(error) => return Some(Happened::Failed(kind_of_io(&error))),
        }
        self.times.open = around.poller.now();
        let connect = self.times.open.since(self.times.start);
        around.timings.connect.record(connect);
        if stream.has_tls() {
            self.phase = Phase::Handshaking;
        }
        None
    }

    /// The TLS handshake. What it waits for, either way, is another event.
    fn agreed(&mut self, around: &mut Surroundings<'_>) -> Option<Happened> {
        let stream = self.stream.as_mut()?;
        match stream.handshake() {
            Ok(()) => {}
            Err(error) if error.kind() == IoKind::WouldBlock => return Some(Happened::Waits),
            Err(error) if error.kind() == IoKind::UnexpectedEof => {
                return Some(Happened::Failed(ErrorKind::ClosedEarly));
            }
            Err(error) => return Some(Happened::Failed(kind_of_io(&error))),
        }
        around.books.resumed += u64::from(stream.is_resumed() == Some(true));
        let open = around.poller.now();
        around.timings.tls.record(open.since(self.times.open));
        self.times.open = open;
        // A record behind the handshake may have come with it.
        self.readable = true;
        None
    }

    /// Sends as much as the kernel, and the rate, take. Returns when more may go.
    fn send(&mut self, around: &mut Surroundings<'_>) -> Result<Option<Nanos>, ()> {
        let Some(stream) = self.stream.as_mut() else {
            return Err(());
        };
        while self.writable && !self.exchange.is_sent() {
            let most = match around.spec.write_rate {
                None => u64::MAX,
                Some(rate) => {
                    let passed = around.poller.now().since(self.times.open);
                    allowed(rate, passed).saturating_sub(self.exchange.body_sent())
                }
            };
            let output = self.exchange.output(most);
            if output.is_empty() {
                return Ok(Some(around.poller.now().after(TICK_NANOS)));
            }
            match stream.write(output) {
                Ok(len) => {
                    around.books.bytes_out += len as u64;
                    self.exchange.took(len);
                }
                Err(error) if error.kind() == IoKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == IoKind::Interrupted => {}
                Err(_) => return Err(()),
            }
        }
        match stream.flush() {
            Ok(()) => {}
            Err(error) if error.kind() == IoKind::WouldBlock => {
                self.writable = false;
                return Ok(None);
            }
            Err(_) => return Err(()),
        }
        if self.exchange.is_sent() {
            self.times.sent = around.poller.now();
            around
                .timings
                .send
                .record(self.times.sent.since(self.times.open));
            self.phase = Phase::Receiving;
        }
        Ok(None)
    }

    fn receive(&mut self, around: &mut Surroundings<'_>) -> Happened {
        while self.readable {
            let most = self.read_max(around);
            if most == 0 {
                return Happened::WaitsUntil(around.poller.now().after(TICK_NANOS));
            }
            let Some(stream) = self.stream.as_mut() else {
                return Happened::Waits;
            };
            match stream.read(&mut around.buffer[..most]) {
                Ok(0) => return self.ended(),
                Ok(len) => {
                    around.books.bytes_in += len as u64;
                    self.readable = !stream.is_drained(len, most) || self.ended;
                    self.times.first.get_or_insert_with(|| around.poller.now());
                    match self.exchange.receive(&around.buffer[..len]) {
                        Ok(Progress::More) => {}
                        Ok(Progress::Whole) => return Happened::Answered,
                        Err(kind) => return Happened::Failed(kind),
                    }
                    let limit = around.spec.abort_after;
                    if limit.is_some_and(|limit| self.exchange.received() >= limit) {
                        return Happened::Aborted;
                    }
                }
                Err(error) if error.kind() == IoKind::WouldBlock => self.readable = false,
                Err(error) if error.kind() == IoKind::Interrupted => {}
                Err(error) if error.kind() == IoKind::UnexpectedEof => return self.cut(),
                Err(error) => return Happened::Failed(kind_of_io(&error)),
            }
        }
        Happened::Waits
    }

    fn ended(&self) -> Happened {
        match self.exchange.end() {
            Ok(()) => Happened::Answered,
            Err(kind) => Happened::Failed(kind),
        }
    }

    /// The connection ended, and TLS did not say so: an answer that lasts until the end may lack
    /// any part.
    fn cut(&self) -> Happened {
        Happened::Failed(self.exchange.end().err().unwrap_or(ErrorKind::TlsCut))
    }

    /// How much may be read now.
    fn read_max(&self, around: &Surroundings<'_>) -> usize {
        let room = around.buffer.len() as u64;
        let received = self.exchange.received();
        let rated = around.spec.read_rate.map_or(room, |rate| {
            let passed = around.poller.now().since(self.times.open);
            allowed(rate, passed).saturating_sub(received)
        });
        let limited = around
            .spec
            .abort_after
            .map_or(room, |limit| limit.max(1) - received);
        room.min(rated).min(limited) as usize
    }
}

/// Bytes that a rate allows in a time.
fn allowed(rate: u64, nanos: u64) -> u64 {
    let bytes = u128::from(rate) * u128::from(nanos) / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
