//! The control side's eye on an interface while its queues are in use.

use std::fmt;

use super::departure::Departure;
use super::kept_off::KeptOff;
use super::signal::{Presence, Signal};
use super::{Interface, Link, LinkCounts};

/// Queues, and what the driver dropped, are counted in one look of so many: that takes a lock of
/// the kernel's.
const COUNT_EVERY: u32 = 5;
/// Offloads are looked at in one look of so many, for the same reason.
const OFFLOADS_EVERY: u32 = 10;

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
    /// Its first name.
    pub name: String,
    /// Its longest IP packet, bytes, where it is there and says so.
    pub mtu: Option<u32>,
    /// That when the port was opened.
    pub mtu_first: Option<u32>,
    /// The largest MTU whose frames the port has room for, where that is known.
    pub mtu_max: Option<u32>,
    /// Frames that are longer than its MTU allows are not sent by it.
    pub keeps_to_mtu: bool,
    /// It is up as it was at the look before, and was not at a moment in between.
    pub blink: Option<Link>,
    /// Where it is gone: it was moved to another network namespace.
    pub moved: bool,
    /// Offloads that the port has off and that somebody switched on.
    pub switched_on: Vec<String>,
    /// What its driver dropped, where the port depends on it and it was asked in this look.
    pub driver_drops: Option<DriverDrops>,
}

/// What tells that a driver drops frames for their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverDrops {
    /// Frames dropped by the driver or behind it, since the interface was made.
    pub frames: u64,
    /// Bytes of the longest frame that the port received, without FCS.
    pub longest: u32,
}

impl View {
    /// One in which nothing is known but the link.
    #[must_use]
    pub fn of(link: Link) -> Self {
        Self {
            link,
            queues: None,
            checksums_left: false,
            new_name: None,
            name: String::new(),
            mtu: None,
            mtu_first: None,
            mtu_max: None,
            keeps_to_mtu: true,
            blink: None,
            moved: false,
            switched_on: Vec::new(),
            driver_drops: None,
        }
    }
}

/// What is looked at.
#[derive(Debug)]
enum Watched {
    Interface(Box<Eyed>),
    Peer(Presence),
}

/// An interface, and what is known of it.
#[derive(Debug)]
struct Eyed {
    interface: Interface,
    counts_queues: bool,
    counts_drops: bool,
    keeps_to_mtu: bool,
    kept_off: KeptOff,
    departure: Option<Departure>,
    last: Option<(Link, Option<u32>, Option<u32>)>,
    looks: u32,
}

/// Looks at the interface of a port some times a second.
pub struct Monitor {
    watched: Watched,
    signal: Signal,
}

impl Monitor {
    /// Of a port's interface, as long as it is there; `None` where the kernel gives nothing to ask
    /// it by. Of `off` those that are off now, the port wants so.
    pub(crate) fn new(
        interface: &Interface,
        signal: &Signal,
        off: Vec<&'static str>,
    ) -> Option<Self> {
        let eyed = Eyed {
            interface: interface.again().ok()?.held(),
            counts_queues: false,
            counts_drops: false,
            keeps_to_mtu: true,
            kept_off: KeptOff::new(off),
            departure: Departure::heard().ok(),
            last: None,
            looks: 0,
        };
        Some(Self {
            watched: Watched::Interface(Box::new(eyed)),
            signal: signal.clone(),
        })
    }

    /// For a port that depends on how many receive queues there are.
    pub(crate) fn counting_queues(mut self) -> Self {
        if let Watched::Interface(eyed) = &mut self.watched {
            eyed.counts_queues = true;
        }
        self
    }

    /// For a port whose driver may have no room for full frames, and whose queues tell how long
    /// frames are.
    pub(crate) fn counting_drops(mut self) -> Self {
        if let Watched::Interface(eyed) = &mut self.watched {
            eyed.counts_drops = true;
        }
        self
    }

    /// For a port that sends frames whatever the MTU is: a tap, whose host takes any.
    pub(crate) fn of_any_length(mut self) -> Self {
        if let Watched::Interface(eyed) = &mut self.watched {
            eyed.keeps_to_mtu = false;
        }
        self
    }

    /// Of a port whose other end is a process.
    pub(crate) fn of_peer(presence: &Presence) -> Self {
        Self {
            watched: Watched::Peer(presence.clone()),
            signal: Signal::default(),
        }
    }

    /// The link alone, the driver asked too: for the time before a run.
    #[must_use]
    pub fn look_at_link(&self) -> Link {
        match &self.watched {
            Watched::Interface(eyed) => eyed.interface.link_of_driver(),
            Watched::Peer(presence) => presence.link(),
        }
    }

    /// The interface now. Queues of the port are told where that is not what it was.
    pub fn look(&mut self) -> View {
        match &mut self.watched {
            Watched::Interface(eyed) => eyed.look(&self.signal),
            Watched::Peer(presence) => View::of(presence.link()),
        }
    }
}

impl Eyed {
    fn look(&mut self, signal: &Signal) -> View {
        let was = self.last.map(|(link, ..)| link);
        let link = self.link();
        let blink = self.departure.as_ref().and_then(Departure::blink);
        let blink = blink.filter(|_| link.is_up() && was == Some(link));
        let there = link.index();
        let mtu = there.and_then(|_| self.interface.mtu().ok());
        mtu.into_iter().for_each(|mtu| signal.saw_mtu(mtu));
        let queues = there.and_then(|_| self.queues());
        let now = (link, queues, mtu);
        if blink.is_some() || self.last.is_some_and(|last| last != now) {
            signal.changed();
        }
        let driver_drops = there.and_then(|index| self.driver_drops(index, signal));
        if self.looks.is_multiple_of(OFFLOADS_EVERY) {
            self.kept_off.look(&self.interface, there);
        }
        self.last = Some(now);
        self.looks = self.looks.wrapping_add(1);
        let departure = self.departure.as_ref().filter(|_| there.is_none());
        View {
            queues,
            mtu,
            blink,
            moved: departure.is_some_and(Departure::is_move),
            name: self.interface.name().to_owned(),
            new_name: self.interface.new_name(),
            mtu_first: signal.mtu_first(),
            mtu_max: signal.mtu_max(),
            keeps_to_mtu: self.keeps_to_mtu,
            checksums_left: signal.has_checksums_left(),
            switched_on: self.kept_off.switched_on().to_vec(),
            driver_drops,
            ..View::of(link)
        }
    }

    /// The link now. Of an interface that was there at the last look and is gone, it is heard why.
    fn link(&mut self) -> Link {
        let was = self.last.and_then(|(link, ..)| link.index());
        let Some(departure) = self.departure.as_mut() else {
            return self.interface.link();
        };
        let Some(was) = was else {
            // What was told before the first look is no news.
            departure.hear(0);
            return self.interface.link();
        };
        // Before the look: one that was told of to have gone is not found there.
        departure.hear(was);
        let link = self.interface.link();
        if link.index() != Some(was) {
            departure.wait(was);
        }
        link
    }

    /// What the driver dropped, asked now and then.
    fn driver_drops(&self, index: u32, signal: &Signal) -> Option<DriverDrops> {
        let due = self.counts_drops && self.looks.is_multiple_of(COUNT_EVERY);
        let counts = due.then(|| LinkCounts::of(index).ok()).flatten()?;
        Some(DriverDrops {
            frames: counts.rx_dropped,
            longest: signal.longest(),
        })
    }

    /// Receive queues, counted now and then.
    fn queues(&self) -> Option<u32> {
        let known = self.last.and_then(|(_, queues, _)| queues);
        let due = self.looks.is_multiple_of(COUNT_EVERY) || known.is_none();
        match self.counts_queues && due {
            true => self.interface.rx_queues().ok(),
            false => known,
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Monitor");
        shown
            .field("watched", &self.watched)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Interface {
        Interface::named(name).unwrap()
    }

    #[test]
    fn a_look_at_the_loopback_finds_no_change() {
        let signal = Signal::default();
        let monitor = Monitor::new(&named("lo"), &signal, vec!["rx-gro"]).unwrap();
        let mut monitor = monitor.counting_queues();
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
        let mut monitor = Monitor::new(&named("absent0"), &Signal::default(), Vec::new()).unwrap();
        let view = monitor.look();
        assert_eq!(
            (view.link, view.queues, view.mtu),
            (Link::Absent, None, None)
        );
        assert!(!view.moved);
    }
}
