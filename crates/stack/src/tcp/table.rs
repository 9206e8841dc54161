//! All connections of a worker.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

use frame::Nanos;

use super::connection::{Birth, Connection};
use super::ends::Ends;
use super::secret::Secret;
use super::segment::{Header, Segment, flag};
use super::slab::Slab;
use super::time_wait::TimeWaits;
use super::{
    Application, Arrival, BadSegment, Cause, ConnectionId, Event, Outgoing, Pair, Socket, State,
    StateCounts, TcpCounts, TcpSettings,
};
use crate::KeyedHash;
use crate::timers::Timers;

/// Answers without a connection that wait to leave, at most.
const REPLIES_MAX: usize = 256;
/// Deadlines that are looked at in one call.
const DEADLINES_AT_ONCE: usize = 64;

/// The TCP of a host, as far as one worker has it.
#[derive(Debug)]
pub struct Tcp {
    pub(super) settings: Arc<TcpSettings>,
    pub(super) secret: Secret,
    pub(super) slab: Slab,
    pub(super) index: HashMap<Ends, ConnectionId, KeyedHash>,
    pub(super) listening: Vec<u16>,
    pub(super) half_open: usize,
    /// SYNs were answered by cookies, which are good until then.
    pub(super) cookies_until: Nanos,
    pub(super) time_waits: TimeWaits,
    pub(super) timers: Timers<ConnectionId>,
    /// Connections that may have something to send.
    pub(super) ready: VecDeque<ConnectionId>,
    pub(super) replies: VecDeque<(Pair, Header)>,
    pub(super) out_of_order: usize,
    pub(super) states: StateCounts,
    pub(super) counts: TcpCounts,
}

/// What of a connection is accounted for by the table, before something happens to it.
#[derive(Clone, Copy, Debug)]
struct Before {
    out_of_order: usize,
    is_half_open: bool,
    state: State,
}

impl Tcp {
    /// No connections yet. `key` must be drawn at random: it hides sequence numbers.
    #[must_use]
    pub fn new(settings: TcpSettings, key: [u64; 2]) -> Self {
        let hash = KeyedHash(key);
        let (max, length) = (settings.time_wait_max, settings.time_wait);
        Self {
            settings: Arc::new(settings),
            secret: Secret(key),
            slab: Slab::default(),
            index: HashMap::with_hasher(hash),
            listening: Vec::new(),
            half_open: 0,
            cookies_until: Nanos::ZERO,
            time_waits: TimeWaits::new(max, length, key),
            timers: Timers::default(),
            ready: VecDeque::new(),
            replies: VecDeque::new(),
            out_of_order: 0,
            states: StateCounts::default(),
            counts: TcpCounts::default(),
        }
    }

    pub(super) fn birth(&self, pair: Pair, now: Nanos) -> Birth {
        Birth {
            pair,
            initial: self.secret.initial(&pair, now),
            clock_offset: self.secret.clock_offset(&pair),
            now,
            settings: Arc::clone(&self.settings),
        }
    }

    pub(super) fn add(&mut self, connection: Connection) -> ConnectionId {
        let pair = connection.pair;
        self.states.add(connection.state);
        let id = self.slab.insert(connection);
        self.index.insert(Ends::from(&pair), id);
        self.make_ready(id);
        id
    }

    fn make_ready(&mut self, id: ConnectionId) {
        if let Some(connection) = self.slab.get_mut(id)
            && !connection.is_ready
        {
            connection.is_ready = true;
            self.ready.push_back(id);
        }
    }

    /// Takes the transport part of a packet that came from `source` to an own address.
    ///
    /// # Errors
    /// The segment is malformed, or its checksum is wrong.
    pub fn receive<A: Application>(
        &mut self,
        (source, destination): (IpAddr, IpAddr),
        bytes: &[u8],
        now: Nanos,
        application: &mut A,
    ) -> Result<(), BadSegment> {
        self.counts.received += 1;
        let read = Segment::read(source, destination, bytes);
        let (pair, segment) = read.inspect_err(|_| self.counts.bad += 1)?;
        let known = self.index.get(&Ends::from(&pair)).copied();
        match known.or_else(|| self.accept_cookie(pair, &segment, now)) {
            Some(id) => self.with(id, now, application, |connection, arrival| {
                connection.arrive(&segment, arrival);
            }),
            None => self.arrive_unknown(pair, &segment, now),
        }
        Ok(())
    }

    pub(super) fn reply(&mut self, pair: Pair, header: Header) {
        match self.replies.len() < REPLIES_MAX {
            true => self.replies.push_back((pair, header)),
            false => self.counts.unanswered += 1,
        }
    }

    /// Does something to a connection, and what follows from it for the table.
    fn with<A: Application>(
        &mut self,
        id: ConnectionId,
        now: Nanos,
        application: &mut A,
        act: impl FnOnce(&mut Connection, &mut Arrival<'_, A>),
    ) {
        let room = self.settings.out_of_order_max - self.out_of_order;
        let Some(connection) = self.slab.get_mut(id) else {
            return;
        };
        let before = Before::of(connection);
        let mut arrival = Arrival {
            id,
            now,
            application,
            room,
        };
        act(connection, &mut arrival);
        let after = Before::of(connection);
        self.out_of_order = self.out_of_order + after.out_of_order - before.out_of_order;
        self.states.pass(before.state, after.state);
        if before.is_half_open && !after.is_half_open {
            self.half_open -= 1;
            self.counts.accepted += u64::from(!matches!(connection.state, State::Closed(_)));
        }
        self.settle(id, now, application);
    }

    /// Takes a connection out that is over; else it may send, and has a deadline.
    fn settle<A: Application>(&mut self, id: ConnectionId, now: Nanos, application: &mut A) {
        let Some(connection) = self.slab.get_mut(id) else {
            return;
        };
        let cause = match connection.state {
            State::Closed(cause) => cause,
            State::TimeWait => Cause::Finished,
            _ => {
                self.make_ready(id);
                return self.arm(id);
            }
        };
        if connection.is_known {
            application.on_event(&mut Socket { id, connection }, Event::Closed(cause));
        }
        self.bury(id, now);
    }

    fn bury(&mut self, id: ConnectionId, now: Nanos) {
        let Some(mut connection) = self.slab.remove(id) else {
            return;
        };
        let pair = connection.pair;
        self.index.remove(&Ends::from(&pair));
        self.out_of_order -= connection.rcv.out_of_order.len();
        if let Some(reset) = connection.reset.take() {
            return self.reply(pair, *reset);
        }
        if connection.state == State::TimeWait {
            self.time_waits.add(&connection, now);
            let header = connection.header(connection.snd.next, flag::ACK, now);
            self.reply(pair, header);
        }
    }

    /// Sees to it that a connection is looked at when its next deadline comes. One that it has
    /// already may be earlier: then the next is seen to when that comes.
    fn arm(&mut self, id: ConnectionId) {
        let Some(connection) = self.slab.get_mut(id) else {
            return;
        };
        let Some(due) = connection.deadlines.first() else {
            return;
        };
        if connection.armed.is_none_or(|armed| due < armed) {
            connection.armed = Some(due);
            self.timers.push(due, id);
            if self.timers.len() > 64 + 4 * self.slab.len() {
                let connections = self.slab.iter();
                let armed = connections.filter_map(|(id, one)| Some((one.armed?, id)));
                self.timers = armed.collect();
            }
        }
    }

    /// Does what is due, a bounded piece of it.
    pub fn run<A: Application>(&mut self, now: Nanos, application: &mut A) {
        self.time_waits.run(now);
        for _ in 0..DEADLINES_AT_ONCE {
            let Some((due, id)) = self.timers.take(now) else {
                return;
            };
            let Some(connection) = self.slab.get_mut(id) else {
                continue;
            };
            if connection.armed != Some(due) {
                continue;
            }
            connection.armed = None;
            self.with(id, now, application, |connection, arrival| {
                connection.run_deadlines(arrival.now);
            });
        }
    }

    /// Writes the next segment that may leave now into `out`, which should have room for an MSS
    /// and 60 bytes; a segment that does not fit is as good as lost.
    pub fn transmit(&mut self, now: Nanos, out: &mut [u8]) -> Option<Outgoing> {
        while let Some((pair, header)) = self.replies.pop_front() {
            if let Some(len) = header.write(&pair, (&[], &[]), out) {
                return Some(self.outgoing(&pair, len));
            }
        }
        while let Some(id) = self.ready.pop_front() {
            let Some(connection) = self.slab.get_mut(id) else {
                continue;
            };
            let before = connection.state;
            let departure = connection.depart(now);
            self.states.pass(before, connection.state);
            connection.is_ready = departure.is_some();
            let pair = connection.pair;
            let written = departure.and_then(|departure| {
                let payload = connection.payload(&departure);
                departure.header.write(&pair, payload, out)
            });
            // Others are next: a connection with much to send does not delay them.
            if departure.is_some() {
                self.ready.push_back(id);
            }
            self.arm(id);
            let is_again = departure.is_some_and(|departure| departure.is_again);
            self.counts.retransmitted += u64::from(is_again);
            if let Some(len) = written {
                return Some(self.outgoing(&pair, len));
            }
        }
        None
    }

    fn outgoing(&mut self, pair: &Pair, len: usize) -> Outgoing {
        self.counts.sent += 1;
        Outgoing {
            source: pair.local.ip(),
            destination: pair.remote.ip(),
            len,
        }
    }

    /// Lets the application use a connection outside of an event; false where it is gone.
    pub fn act<A: Application>(
        &mut self,
        id: ConnectionId,
        now: Nanos,
        application: &mut A,
        act: impl FnOnce(&mut Socket<'_>),
    ) -> bool {
        let is_there = self.slab.get_mut(id).is_some();
        self.with(id, now, application, |connection, _| {
            act(&mut Socket { id, connection });
        });
        is_there
    }

    /// When [`Tcp::run`] or [`Tcp::transmit`] should be called next.
    #[must_use]
    pub fn due(&self) -> Option<Nanos> {
        if !self.ready.is_empty() || !self.replies.is_empty() {
            return Some(Nanos::ZERO);
        }
        let timer = self.timers.first().map(|(due, _)| due);
        [timer, self.time_waits.due()].into_iter().flatten().min()
    }

    /// All connections but those in TIME_WAIT.
    pub fn connections(&self) -> impl Iterator<Item = (ConnectionId, &Pair, State)> {
        let all = self.slab.iter();
        all.map(|(id, connection)| (id, &connection.pair, connection.state))
    }

    /// How many connections there are, those in TIME_WAIT aside.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slab.len()
    }

    /// Whether there is no connection.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slab.len() == 0
    }

    /// How many connections are in which state.
    #[must_use]
    pub fn states(&self) -> StateCounts {
        self.states
    }

    /// How many connections are in TIME_WAIT.
    #[must_use]
    pub fn time_waits(&self) -> usize {
        self.time_waits.len()
    }

    /// How many connections others asked for that are not complete.
    #[must_use]
    pub fn half_open(&self) -> usize {
        self.half_open
    }

    /// Bytes that wait for what precedes them.
    #[must_use]
    pub fn out_of_order(&self) -> usize {
        self.out_of_order
    }

    /// What was counted since the start.
    #[must_use]
    pub fn counts(&self) -> TcpCounts {
        self.counts
    }
}

impl Before {
    fn of(connection: &Connection) -> Self {
        Self {
            out_of_order: connection.rcv.out_of_order.len(),
            is_half_open: connection.state == State::SynReceived && !connection.is_known,
            state: connection.state,
        }
    }
}
