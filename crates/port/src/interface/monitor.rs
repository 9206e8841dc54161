//! The control side's eye on an interface while its queues are in use, and how both tell each other
//! what they saw: workers have no clock, and the control side no frames.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::{Interface, Link};

/// Queues are counted in one look of so many: that question takes a lock of the kernel's.
const COUNT_EVERY: u32 = 5;

/// What a look at an interface showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Whether frames can pass.
    pub link: Link,
    /// Receive queues, where the port depends on their number and the driver tells it.
    pub queues: Option<u32>,
    /// Frames came whose checksum their sender left to the receiver.
    pub checksums_left: bool,
    /// What the interface is called by, where that is no longer its first name.
    pub new_name: Option<String>,
}

/// What the control side and the queues of one port tell each other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signal(Arc<Words>);

#[derive(Debug, Default)]
struct Words {
    /// Written by the control side, on lines that workers only read.
    changes: AtomicU32,
    /// Written once by a worker.
    checksums_left: AtomicBool,
}

impl Signal {
    /// How often the control side saw something change: a queue that sees another number than
    /// before looks after its interface at once.
    #[inline]
    pub(crate) fn changes(&self) -> u32 {
        self.0.changes.load(Ordering::Relaxed)
    }

    /// Frames come whose checksum is left to the receiver.
    #[cold]
    pub(crate) fn checksums_left(&self) {
        // The line is read by all workers: no second store.
        if !self.0.checksums_left.load(Ordering::Relaxed) {
            self.0.checksums_left.store(true, Ordering::Relaxed);
        }
    }
}

/// Whether the other end of a port that is no interface of the kernel's is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Presence(Arc<AtomicBool>);

impl Presence {
    pub(crate) fn set(&self, there: bool) {
        self.0.store(there, Ordering::Relaxed);
    }

    /// Whether it is there now.
    pub(crate) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// As the link of an interface.
    fn link(&self) -> Link {
        match self.is_there() {
            true => Link::Up(0),
            false => Link::NoCarrier(0),
        }
    }
}

/// What is looked at.
#[derive(Debug)]
enum Watched {
    Interface(Interface),
    Peer(Presence),
}

/// Looks at the interface of a port some times a second.
pub struct Monitor {
    watched: Watched,
    signal: Signal,
    counts_queues: bool,
    looks: u32,
    last: Option<(Link, Option<u32>)>,
}

impl Monitor {
    /// Of the interface that has this name, as long as it is there; `None` where the kernel gives
    /// nothing to ask it by.
    pub(crate) fn new(name: &str, signal: &Signal, counts_queues: bool) -> Option<Self> {
        let interface = Interface::named(name).ok()?.held();
        Some(Self {
            counts_queues,
            ..Self::with(Watched::Interface(interface), signal)
        })
    }

    /// Of a port whose other end is a process.
    pub(crate) fn of_peer(presence: &Presence) -> Self {
        Self::with(Watched::Peer(presence.clone()), &Signal::default())
    }

    fn with(watched: Watched, signal: &Signal) -> Self {
        Self {
            watched,
            signal: signal.clone(),
            counts_queues: false,
            looks: 0,
            last: None,
        }
    }

    /// The interface now. Queues of the port are told where that is not what it was.
    pub fn look(&mut self) -> View {
        let link = match &self.watched {
            Watched::Interface(interface) => interface.link(),
            Watched::Peer(presence) => presence.link(),
        };
        let known = self.last.and_then(|(_, queues)| queues);
        let due = self.looks.is_multiple_of(COUNT_EVERY);
        self.looks = self.looks.wrapping_add(1);
        let queues = match link {
            Link::Absent => None,
            _ if self.counts_queues && (due || known.is_none()) => match &self.watched {
                Watched::Interface(interface) => interface.rx_queues().ok(),
                Watched::Peer(_) => None,
            },
            _ => known,
        };
        if self.last.is_some_and(|last| last != (link, queues)) {
            self.signal.0.changes.fetch_add(1, Ordering::Relaxed);
        }
        self.last = Some((link, queues));
        let new_name = match &self.watched {
            Watched::Interface(interface) => interface.new_name(),
            Watched::Peer(_) => None,
        };
        View {
            link,
            queues,
            new_name,
            checksums_left: self.signal.0.checksums_left.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Monitor");
        shown.field("watched", &self.watched);
        shown.field("last", &self.last).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_the_loopback_finds_no_change() {
        let signal = Signal::default();
        let mut monitor = Monitor::new("lo", &signal, true).unwrap();
        let first = monitor.look();
        assert_ne!(first.link, Link::Absent);
        for _ in 0..12 {
            assert_eq!(monitor.look(), first);
        }
        assert_eq!(signal.changes(), 0);
        signal.checksums_left();
        assert!(monitor.look().checksums_left);
    }

    #[test]
    fn what_is_not_there_is_absent() {
        let mut monitor = Monitor::new("absent0", &Signal::default(), true).unwrap();
        let view = monitor.look();
        assert_eq!((view.link, view.queues), (Link::Absent, None));
    }
}
