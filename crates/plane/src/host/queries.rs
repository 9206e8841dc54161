//! Queries that go on: how far each is, and when it must be over.

use std::collections::{HashMap, VecDeque};

use frame::{Nanos, Producer};
use stack::tcp::{Cause, ConnectionId, Event, Socket};

use super::config::{End, QueryShape};
use super::counts::QueryCounts;

/// What messages are made of: byte `k` of a message is `k` modulo 256.
const PATTERN: [u8; 4096] = pattern();
/// Deadlines that may stand in line for queries that are over.
const OVER_MAX: usize = 64;

const fn pattern() -> [u8; 4096] {
    let mut bytes = [0; 4096];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
}

/// How long a query took that was done, in nanoseconds from the first SYN on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryTimes {
    /// Until the connection was complete.
    pub connect: u64,
    /// Until the first byte came.
    pub first_byte: u64,
    /// Until both ends had closed.
    pub whole: u64,
}

/// How far a query is.
#[derive(Clone, Copy, Debug)]
struct Query {
    received: usize,
    sent: usize,
    begun: Nanos,
    connected: Nanos,
    /// When the first byte came.
    answered: Nanos,
    request_line: Line,
    /// The empty line came that an HTTP request ends with.
    has_request: bool,
    /// The other end sends no more.
    has_ended: bool,
    is_overdue: bool,
}

/// Where the bytes of a request are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Before any line.
    None,
    /// At the begin of a line.
    Begin,
    /// Within a line.
    Within,
}

/// The queries of one end.
#[derive(Debug)]
pub(super) struct Queries {
    /// Which end this is.
    end: End,
    shape: QueryShape,
    live: HashMap<ConnectionId, Query>,
    /// When each must be over, in the order in which they began; some are over already.
    deadlines: VecDeque<(Nanos, ConnectionId)>,
    /// When the queries begin that others ask for now.
    now: Nanos,
    /// Who wants to know how long queries took.
    pub(super) times: Option<Producer<QueryTimes>>,
    pub(super) counts: QueryCounts,
}

impl Queries {
    pub(super) fn new(end: End, shape: QueryShape) -> Self {
        Self {
            end,
            shape,
            live: HashMap::new(),
            deadlines: VecDeque::new(),
            now: Nanos::ZERO,
            times: None,
            counts: QueryCounts::default(),
        }
    }

    pub(super) fn live(&self) -> usize {
        self.live.len()
    }

    /// Tells what time it is.
    pub(super) fn at(&mut self, now: Nanos) {
        self.now = now;
    }

    /// A connection was asked for.
    pub(super) fn begin(&mut self, id: ConnectionId) {
        self.live.insert(id, Query::begin(self.now));
        self.deadlines
            .push_back((self.now.after(self.shape.timeout), id));
        if self.deadlines.len() > OVER_MAX + 2 * self.live.len() {
            let live = &self.live;
            self.deadlines.retain(|(_, id)| live.contains_key(id));
        }
        self.counts.begun += 1;
        self.counts.open = self.live.len() as u64;
    }

    /// A query that should be over and is not: it is to be ended.
    pub(super) fn take_overdue(&mut self, now: Nanos) -> Option<ConnectionId> {
        while let Some(&(due, id)) = self.deadlines.front() {
            if due > now {
                return None;
            }
            self.deadlines.pop_front();
            if let Some(query) = self.live.get_mut(&id) {
                query.is_overdue = true;
                return Some(id);
            }
        }
        None
    }

    /// Something happened to a connection.
    pub(super) fn on_event(&mut self, socket: &mut Socket<'_>, event: Event<'_>) {
        let id = socket.id();
        if event == Event::Connected {
            self.counts.established += 1;
            if self.end == End::Server {
                self.begin(id);
            }
        }
        let Some(query) = self.live.get_mut(&id) else {
            return;
        };
        match event {
            Event::Data(bytes) => query.take(bytes, self.now, self.shape.answer.is_some()),
            Event::Ended => query.has_ended = true,
            Event::Closed(cause) => return self.close(id, cause),
            Event::Connected => query.connected = self.now,
            Event::Acknowledged(_) | Event::Writable => {}
        }
        query.proceed(self.end, &self.shape, socket);
    }

    fn close(&mut self, id: ConnectionId, cause: Cause) {
        let Some(query) = self.live.remove(&id) else {
            return;
        };
        let counts = &mut self.counts;
        let count = match cause {
            _ if query.is_overdue => &mut counts.overdue,
            Cause::Finished if query.is_whole(self.end, &self.shape) => {
                if let Some(times) = &mut self.times {
                    let is_told = times.push(query.times(self.now)).is_ok();
                    counts.untimed += u64::from(!is_told);
                }
                &mut counts.done
            }
            Cause::Finished | Cause::Aborted => &mut counts.wrong_length,
            Cause::Refused => &mut counts.refused,
            Cause::Reset => &mut counts.reset,
            Cause::TimedOut => &mut counts.timed_out,
        };
        *count += 1;
        counts.open = self.live.len() as u64;
    }
}

impl QueryShape {
    /// Bytes that an end sends.
    pub(super) fn sends(&self, end: End) -> usize {
        match (end, &self.answer) {
            (End::Server, Some(answer)) => answer.len(),
            (End::Server, None) => self.response,
            (End::Client, _) => self.request,
        }
    }

    /// What an end sends from a place on, as far as it lies in one piece.
    fn piece(&self, end: End, from: usize) -> &[u8] {
        match (end, &self.answer) {
            (End::Server, Some(answer)) => &answer[from..],
            _ => {
                let piece = &PATTERN[from % PATTERN.len()..];
                &piece[..piece.len().min(self.sends(end) - from)]
            }
        }
    }
}

impl Query {
    fn begin(now: Nanos) -> Self {
        Self {
            received: 0,
            sent: 0,
            begun: now,
            connected: now,
            answered: now,
            request_line: Line::None,
            has_request: false,
            has_ended: false,
            is_overdue: false,
        }
    }

    /// Takes bytes of the other end; `by_lines` looks for the empty line behind a request.
    fn take(&mut self, bytes: &[u8], now: Nanos, by_lines: bool) {
        if self.received == 0 {
            self.answered = now;
        }
        self.received = self.received.saturating_add(bytes.len());
        if by_lines && !self.has_request {
            self.has_request = bytes.iter().any(|byte| self.request_line.ends_by(*byte));
        }
    }

    fn times(&self, now: Nanos) -> QueryTimes {
        QueryTimes {
            connect: self.connected.since(self.begun),
            first_byte: self.answered.since(self.begun),
            whole: now.since(self.begun),
        }
    }

    /// Whether all came that an end waits for.
    fn has_all(&self, end: End, shape: &QueryShape) -> bool {
        match (end, &shape.answer) {
            (End::Server, Some(_)) => self.has_request,
            (End::Server, None) => self.received >= shape.request,
            (End::Client, _) => self.received >= shape.response,
        }
    }

    /// Sends what is due and closes where that is due.
    fn proceed(&mut self, end: End, shape: &QueryShape, socket: &mut Socket<'_>) {
        let has_all = self.has_all(end, shape);
        if self.has_ended && !has_all {
            return socket.close();
        }
        if end == End::Client || has_all {
            self.send(end, shape, socket);
        }
        let is_done = has_all && self.sent == shape.sends(end);
        if is_done && (self.has_ended || shape.closes_first == end) {
            socket.close();
        }
    }

    /// Gives TCP what it has room for.
    fn send(&mut self, end: End, shape: &QueryShape, socket: &mut Socket<'_>) {
        while self.sent < shape.sends(end) {
            let piece = shape.piece(end, self.sent);
            let taken = socket.send(piece);
            self.sent += taken;
            if taken < piece.len() {
                return;
            }
        }
    }

    /// Whether all went over. A server takes longer requests than it was told of.
    fn is_whole(&self, end: End, shape: &QueryShape) -> bool {
        let has_right = match end {
            End::Server => self.has_all(end, shape),
            End::Client => self.received == shape.response,
        };
        has_right && self.sent == shape.sends(end)
    }
}

impl Line {
    /// Whether a byte ends the request: a line feed at the begin of a line. Lines before the first
    /// that are empty are passed over (RFC 9112 section 2.2).
    fn ends_by(&mut self, byte: u8) -> bool {
        let ends = byte == b'\n' && *self == Self::Begin;
        *self = match (byte, *self) {
            (b'\n', Self::Within | Self::Begin) => Self::Begin,
            (b'\n' | b'\r', line) => line,
            _ => Self::Within,
        };
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row: what comes, and after how many bytes the request is whole.
    #[test]
    fn an_empty_line_ends_a_request() {
        for (text, whole) in [
            ("GET / HTTP/1.1\r\n\r\n", Some(18)),
            ("GET / HTTP/1.1\n\n", Some(16)),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody", Some(27)),
            ("\r\n\r\nGET / HTTP/1.1\r\n\r\n", Some(22)),
            ("GET / HTTP/1.1\r\nHost: a\r\n", None),
            ("GET / HTTP/1.1\r\n \r\n", None),
            ("\n\n\n", None),
            ("", None),
        ] {
            // In pieces of each length, as segments may cut it.
            for length in 1..=text.len().max(1) {
                let mut query = Query::begin(Nanos::ZERO);
                let mut taken = 0;
                for piece in text.as_bytes().chunks(length) {
                    query.take(piece, Nanos::ZERO, true);
                    taken += piece.len();
                    let expected = whole.is_some_and(|whole| taken >= whole);
                    assert_eq!(query.has_request, expected, "{text:?} by {length}");
                }
            }
        }
    }
}
