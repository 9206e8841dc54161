//! One thread of a server: its listener, its connections and nothing that another one has.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use frame::Nanos;
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};

use super::answer::Rest;
use super::counters::Shown;
use super::{Folder, Peer, ServeCounters};
use crate::poller::{Event, Poller, Token};
use crate::stream::Stream;
use crate::timer::Timers;
use crate::tls::ServerTls;

/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;
/// Connections taken before others are served again, and turns of one connection.
const TURNS_MAX: usize = 64;
/// How often counters are shown and silent connections looked for.
const SWEEP_NANOS: u64 = 100_000_000;
/// How long a connection that was refused may still send what nobody reads.
const LINGER_NANOS: u64 = 1_000_000_000;
/// Bytes of a file that the kernel sends at once, and that are read at once for TLS.
const SENDFILE_BYTES: usize = 1 << 20;
const PIECE_BYTES: usize = 64 * 1024;
const LISTENER: Token = Token::new(u32::MAX as usize, 0);

/// What a worker is told.
pub(super) struct Orders {
    pub(super) listener: OwnedFd,
    /// When the clock of the run began.
    pub(super) start: Instant,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) shown: Arc<Shown>,
    pub(super) requests_max: u64,
    pub(super) idle_nanos: u64,
    pub(super) connections_max: usize,
    pub(super) folder: Option<Arc<Folder>>,
    pub(super) tls: Option<ServerTls>,
}

/// One connection.
struct Connection {
    stream: Stream,
    /// Both ends have to agree on TLS first.
    agrees: bool,
    peer: Peer,
    generation: u32,
    /// Read, and not yet taken by the peer.
    pending: Vec<u8>,
    out: Vec<u8>,
    out_sent: usize,
    readable: bool,
    writable: bool,
    /// The end of the input has come, read or not.
    input_ends: bool,
    /// The client sends no more.
    ended: bool,
    /// The output is over; input is read and forgotten, so that no reset overtakes the output.
    lingers: bool,
    last: Nanos,
}

/// What becomes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Waits,
    WaitsUntil(Nanos),
    Closed,
}

/// The thread.
pub(super) struct Worker {
    orders: Orders,
    poller: Poller,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    generation: u32,
    accepts: bool,
    timers: Timers,
    counters: ServeCounters,
    buffer: Box<[u8]>,
}

impl Worker {
    pub(super) fn new(orders: Orders) -> io::Result<Self> {
        Ok(Self {
            poller: Poller::new(orders.start)?,
            orders,
            connections: Vec::new(),
            free: Vec::new(),
            generation: 0,
            accepts: false,
            timers: Timers::default(),
            counters: ServeCounters::default(),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
        })
    }

    /// Serves until it is stopped.
    pub(super) fn run(mut self) -> io::Result<()> {
        let mut sweep = Nanos::ZERO;
        self.listen()?;
        while !self.orders.stop.load(Ordering::Relaxed) {
            let until = self.timers.next().map_or(sweep, |next| next.min(sweep));
            self.poller.wait(until)?;
            for index in 0..self.poller.count() {
                let event = self.poller.event(index);
                self.take_event(event)?;
            }
            let now = self.poller.now();
            while let Some(token) = self.timers.pop_due(now) {
                self.pump(token.index(), token.generation());
            }
            if now >= sweep {
                sweep = now.after(SWEEP_NANOS);
                self.sweep(now);
                self.listen()?;
            }
        }
        self.orders.shown.store(&self.counters);
        Ok(())
    }

    /// Takes connections while there is room for them; others wait in the kernel.
    fn listen(&mut self) -> io::Result<()> {
        let room = self.counters.open < self.orders.connections_max as u64;
        match (room, std::mem::replace(&mut self.accepts, room)) {
            (true, false) => self.poller.watch_listener(&self.orders.listener, LISTENER),
            (false, true) => self.poller.ignore(&self.orders.listener),
            _ => Ok(()),
        }
    }

    fn take_event(&mut self, event: Event) -> io::Result<()> {
        if event.token == LISTENER {
            self.accept();
            return self.listen();
        }
        let (index, generation) = (event.token.index(), event.token.generation());
        let found = self.connections.get_mut(index).and_then(Option::as_mut);
        if let Some(connection) = found.filter(|found| found.generation == generation) {
            connection.readable |= event.readable;
            connection.writable |= event.writable;
            connection.input_ends |= event.ended;
            self.pump(index, generation);
        }
        Ok(())
    }

    fn accept(&mut self) {
        for _ in 0..TURNS_MAX {
            if self.counters.open >= self.orders.connections_max as u64 {
                return;
            }
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match accept_with(&self.orders.listener, flags) {
                Ok(socket) => self.add(socket),
                Err(Errno::MFILE | Errno::NFILE) => {
                    // Until one of its own closes there is no room for another.
                    self.orders.connections_max = self.counters.open.max(1) as usize;
                    return;
                }
                Err(_) => return,
            }
        }
    }

    fn add(&mut self, socket: OwnedFd) {
        // Without it the end of an answer may wait for the client's acknowledgement.
        let _ = sockopt::set_tcp_nodelay(&socket, true);
        self.generation = self.generation.wrapping_add(1);
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let token = Token::new(index, self.generation);
        if self.poller.watch(&socket, token).is_err() {
            self.free.push(index);
            return;
        }
        let Ok(session) = self.orders.tls.as_ref().map(ServerTls::session).transpose() else {
            self.free.push(index);
            return;
        };
        self.counters.connections += 1;
        self.counters.open += 1;
        self.connections[index] = Some(Connection {
            agrees: session.is_some(),
            stream: Stream::new(TcpStream::from(socket), session),
            peer: Peer::new(self.orders.requests_max).with_folder(self.orders.folder.clone()),
            generation: self.generation,
            pending: Vec::new(),
            out: Vec::new(),
            out_sent: 0,
            readable: false,
            writable: true,
            input_ends: false,
            ended: false,
            lingers: false,
            last: self.poller.now(),
        });
    }

    /// Moves a connection on as far as it goes.
    fn pump(&mut self, index: usize, generation: u32) {
        let now = self.poller.now();
        let found = self.connections.get_mut(index).and_then(Option::as_mut);
        let Some(connection) = found.filter(|found| found.generation == generation) else {
            return;
        };
        let fate = connection.pump(now, &mut self.buffer, &mut self.counters);
        let counts = connection.peer.take_counts();
        self.counters.requests += counts.requests;
        self.counters.answers += counts.answers;
        self.counters.refused += counts.refused;
        match fate {
            Fate::Waits => {}
            Fate::WaitsUntil(at) => self.timers.set(at, Token::new(index, generation)),
            Fate::Closed => self.close(index),
        }
    }

    fn close(&mut self, index: usize) {
        let Some(mut connection) = self.connections[index].take() else {
            return;
        };
        connection.stream.say_end();
        self.counters.tls_failed += u64::from(connection.agrees);
        let done = connection.peer.is_closed() || connection.peer.is_idle();
        if !done || connection.out_sent < connection.out.len() {
            self.counters.cut += 1;
        }
        self.counters.open -= 1;
        self.free.push(index);
    }

    /// Shows counters, and closes what has been silent for too long.
    fn sweep(&mut self, now: Nanos) {
        for index in 0..self.connections.len() {
            let Some(connection) = &self.connections[index] else {
                continue;
            };
            let silent = now.since(connection.last);
            // A file that the client does not take is silence of the client.
            let holds_back = connection.peer.is_answering() && connection.peer.rest().is_none();
            let waits = holds_back && connection.out.is_empty();
            let idle = silent > self.orders.idle_nanos && !waits;
            if idle || (connection.lingers && silent > LINGER_NANOS) {
                self.close(index);
            }
        }
        self.orders.shown.store(&self.counters);
    }
}

impl Connection {
    fn pump(&mut self, now: Nanos, buffer: &mut [u8], counters: &mut ServeCounters) -> Fate {
        for _ in 0..TURNS_MAX {
            match self.turn(now, buffer, counters) {
                Ok(None) => {}
                Ok(Some(fate)) => return fate,
                Err(_) => return Fate::Closed,
            }
        }
        Fate::WaitsUntil(now)
    }

    /// One thing that can be done; what becomes of the connection when there is nothing.
    fn turn(
        &mut self,
        now: Nanos,
        buffer: &mut [u8],
        counters: &mut ServeCounters,
    ) -> io::Result<Option<Fate>> {
        if self.agrees && !self.agree(counters)? {
            return Ok(Some(Fate::Waits));
        }
        if !self.flush(now, counters)? || !self.shut_down()? {
            return Ok(Some(Fate::Waits));
        }
        let later = self.peer.transmit(now, &mut self.out);
        // The end of a file may be that of the connection, with no output left.
        if !self.out.is_empty() || (self.peer.is_closed() && !self.lingers) {
            return Ok(None);
        }
        if let Some(later) = later {
            return Ok(Some(Fate::WaitsUntil(later)));
        }
        if self.peer.rest().is_some() {
            return self.send_file(now, counters);
        }
        if !self.pending.is_empty() {
            let taken = self.peer.receive(now, &self.pending, &mut self.out);
            self.pending.drain(..taken);
            return Ok(None);
        }
        if self.ended {
            return Ok(Some(Fate::Closed));
        }
        self.read(now, buffer, counters)
    }

    /// The TLS handshake; whether it is over.
    fn agree(&mut self, counters: &mut ServeCounters) -> io::Result<bool> {
        match self.stream.handshake() {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        self.agrees = false;
        // A record behind the handshake may have come with it.
        self.readable = true;
        counters.tls += 1;
        counters.tls_resumed += u64::from(self.stream.is_resumed() == Some(true));
        Ok(true)
    }

    /// Says the end behind the last answer; whether that went.
    fn shut_down(&mut self) -> io::Result<bool> {
        if self.peer.is_closed() && !self.lingers {
            match self.stream.shutdown() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.writable = false;
                    return Ok(false);
                }
                other => other?,
            }
            self.lingers = true;
            self.pending = Vec::new();
        }
        Ok(true)
    }

    /// Sends what is waiting; whether all of it went.
    fn flush(&mut self, now: Nanos, counters: &mut ServeCounters) -> io::Result<bool> {
        while self.out_sent < self.out.len() {
            if !self.writable {
                return Ok(false);
            }
            match self.stream.write(&self.out[self.out_sent..]) {
                Ok(sent) => {
                    self.out_sent += sent;
                    self.last = now;
                    counters.bytes_out += sent as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match self.stream.flush() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.writable = false;
                return Ok(false);
            }
            other => other?,
        }
        self.out.clear();
        // An idle connection keeps no memory of a long answer.
        self.out.shrink_to(1024);
        self.out_sent = 0;
        Ok(true)
    }

    /// Sends a piece of a file, by the kernel where there is no TLS.
    fn send_file(&mut self, now: Nanos, counters: &mut ServeCounters) -> io::Result<Option<Fate>> {
        let Some(rest) = self.peer.rest() else {
            return Ok(None);
        };
        if !self.writable {
            return Ok(Some(Fate::Waits));
        }
        let len = usize::try_from(rest.bytes).unwrap_or(usize::MAX);
        let sent = match self.stream.has_tls() {
            true => read_piece(&rest, len.min(PIECE_BYTES), &mut self.out),
            false => self
                .stream
                .send_file(rest.file, rest.offset, len.min(SENDFILE_BYTES)),
        };
        match sent {
            // The file became shorter: the length that was said cannot be kept.
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(sent) => {
                self.last = now;
                self.peer.sent(sent as u64);
                if !self.stream.has_tls() {
                    counters.bytes_out += sent as u64;
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.writable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    fn read(
        &mut self,
        now: Nanos,
        buffer: &mut [u8],
        counters: &mut ServeCounters,
    ) -> io::Result<Option<Fate>> {
        if !self.readable {
            return Ok(Some(Fate::Waits));
        }
        match self.stream.read(buffer) {
            Ok(0) => self.ended = true,
            Ok(len) => {
                if !self.peer.is_in_head() {
                    self.last = now;
                }
                counters.bytes_in += len as u64;
                let drained = self.stream.is_drained(len, buffer.len());
                self.readable = !drained || self.input_ends;
                let taken = self.peer.receive(now, &buffer[..len], &mut self.out);
                self.pending.extend_from_slice(&buffer[taken..len]);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(None)
    }
}

/// Appends a piece of a file; how long it is.
fn read_piece(rest: &Rest<'_>, len: usize, out: &mut Vec<u8>) -> io::Result<usize> {
    let before = out.len();
    out.resize(before + len, 0);
    let read = rest.file.read_at(&mut out[before..], rest.offset);
    out.truncate(before + read.as_ref().map_or(0, |read| *read));
    read
}
