//! An epoll instance and the clock of the thread that owns it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use frame::Nanos;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

/// Events taken from the kernel at once.
const EVENTS_MAX: usize = 256;

/// Which connection an event or a timer is about. The generation tells a connection from the one
/// before at the same index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Token(u64);

impl Token {
    pub(crate) const fn new(index: usize, generation: u32) -> Self {
        Self((index as u32 as u64) << 32 | generation as u64)
    }

    pub(crate) const fn index(self) -> usize {
        (self.0 >> 32) as usize
    }

    pub(crate) const fn generation(self) -> u32 {
        self.0 as u32
    }
}

/// What happened to a socket. Each change is reported once (edge-triggered).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) token: Token,
    /// Something can be read: bytes, the end or an error.
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The end of the input has come, or an error. Until then a read that fills no buffer has taken
    /// everything there was (epoll(7)), and whatever comes behind is another event.
    pub(crate) ended: bool,
}

/// An epoll instance. It stays on the thread that made it.
pub(crate) struct Poller {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
    start: Instant,
}

impl Poller {
    /// A new one, whose clock began at `start`.
    pub(crate) fn new(start: Instant) -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(EVENTS_MAX),
            start,
        })
    }

    /// Nanoseconds since the start of the run.
    pub(crate) fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Watches a connection, until it is closed, for everything.
    pub(crate) fn watch(&self, socket: impl AsFd, token: Token) -> io::Result<()> {
        let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(
            &self.epoll,
            socket,
            EventData::new_u64(token.0),
            both,
        )?)
    }

    /// Watches a listener, which is readable as long as connections wait.
    pub(crate) fn watch_listener(&self, socket: impl AsFd, token: Token) -> io::Result<()> {
        Ok(epoll::add(
            &self.epoll,
            socket,
            EventData::new_u64(token.0),
            EventFlags::IN,
        )?)
    }

    /// No longer watches a socket that stays open.
    pub(crate) fn ignore(&self, socket: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Waits for events, at most until a time.
    pub(crate) fn wait(&mut self, until: Nanos) -> io::Result<()> {
        let nanos = until.since(self.now());
        let timeout = Timespec {
            tv_sec: (nanos / 1_000_000_000) as i64,
            tv_nsec: (nanos % 1_000_000_000) as _,
        };
        self.events.clear();
        match epoll::wait(
            &self.epoll,
            spare_capacity(&mut self.events),
            Some(&timeout),
        ) {
            Err(error) if error != rustix::io::Errno::INTR => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// How many events the last wait brought.
    pub(crate) fn count(&self) -> usize {
        self.events.len()
    }

    /// One of them.
    pub(crate) fn event(&self, index: usize) -> Event {
        let event = self.events[index];
        let (data, flags) = (event.data, event.flags);
        let ended = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        Event {
            token: Token(data.u64()),
            readable: ended || flags.contains(EventFlags::IN),
            writable: ended || flags.contains(EventFlags::OUT),
            ended,
        }
    }
}
