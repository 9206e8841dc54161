//! Which Ethernet address an IP address of a link has: the machine of RFC 4861 section 7.3, for
//! IPv6 and, by ARP (RFC 826), for IPv4.
//!
//! [`Neighbours::lookup`] answers for each packet. What nobody knows yet is asked for when somebody
//! [wants](Neighbours::want) it; [`Neighbours::poll`] says what to send, and what came of it.
//! Memory is bounded: those that never answered are at most a quarter of all, and give way to each
//! other.

mod entry;
mod follow;
mod key;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use frame::Nanos;
use wire::MacAddress;

use crate::timers::Timers;
use crate::{Allowance, KeyedHash};
use entry::Entry;

pub use entry::State;
pub use follow::Told;
pub use key::Key;
pub use settings::{NeighbourSettings, StaticRange};

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Its Ethernet address.
    Known(MacAddress),
    /// It was asked for, or is to be: [`Neighbours::want`].
    Unknown,
    /// It was asked for in vain a moment ago.
    Failed,
}

/// What to do, or what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request is to be sent: to all, or to the station that had the address last.
    Ask {
        /// Who is asked for.
        key: Key,
        /// Whom to ask.
        to: Option<MacAddress>,
    },
    /// Frames that wait for it can leave.
    Resolved {
        /// Who.
        key: Key,
        /// Its Ethernet address.
        mac: MacAddress,
    },
    /// Frames that wait for it cannot leave.
    Failed {
        /// Who.
        key: Key,
    },
    /// Frames that wait for it cannot wait any longer: it had to make room while it was asked for,
    /// and may be there all the same.
    Displaced {
        /// Who.
        key: Key,
    },
}

/// What a message told of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Who it is about.
    pub key: Key,
    /// The Ethernet address, where it names one.
    pub mac: Option<MacAddress>,
    /// How it was told.
    pub how: How,
}

/// How an Ethernet address was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By who asks for somebody else's: it is no proof that frames reach it. `of_us`: it asks for
    /// an address of this station, and so will get frames from it.
    Request {
        /// Whether it asks for an address of ours.
        of_us: bool,
    },
    /// By an answer.
    Answer {
        /// It answers a request of ours, so frames reach it.
        solicited: bool,
        /// It replaces another Ethernet address that is known.
        overrides: bool,
    },
}

/// The time of a timer that is not set.
const NEVER: Nanos = Nanos(u64::MAX);

/// Neighbours by their addresses.
#[derive(Debug)]
pub struct Neighbours {
    settings: NeighbourSettings,
    /// By interface and first address; they do not overlap.
    statics: Vec<StaticRange>,
    entries: HashMap<Key, Entry, KeyedHash>,
    /// When to look at which entry; see [`Entry::armed`].
    timers: Timers<Key>,
    /// Those that never answered and since when, the oldest first, and some that did since.
    incomplete: VecDeque<(Key, Nanos)>,
    incomplete_count: usize,
    events: VecDeque<Event>,
    /// How often somebody unknown may be looked for, by interface.
    attempts: Vec<Allowance>,
    /// How often those that are known may be asked whether they are still there.
    probes: Allowance,
}

impl Neighbours {
    /// Nobody is known but `statics`. `key` chooses the places in the table: it should be drawn at
    /// random.
    #[must_use]
    pub fn new(settings: NeighbourSettings, mut statics: Vec<StaticRange>, key: [u64; 2]) -> Self {
        statics.sort_unstable_by_key(|range| (range.interface, range.first));
        Self {
            attempts: Vec::new(),
            probes: Allowance::new(settings.requests_per_second, settings.requests_per_second),
            settings,
            statics,
            // A worker does not allocate.
            entries: HashMap::with_capacity_and_hasher(settings.max, KeyedHash(key)),
            timers: Timers::default(),
            incomplete: VecDeque::with_capacity(settings.incomplete_max()),
            incomplete_count: 0,
            events: VecDeque::new(),
        }
    }

    /// What is known of an address that a packet is for.
    #[inline]
    pub fn lookup(&mut self, key: &Key, now: Nanos) -> Lookup {
        let Some(entry) = self.entries.get_mut(key) else {
            return self.lookup_static(key);
        };
        match entry.state {
            State::Reachable | State::Followed | State::Delay | State::Probe => {
                Lookup::Known(entry.mac)
            }
            State::Stale => {
                let mac = entry.mac;
                self.begin_delay(*key, now);
                Lookup::Known(mac)
            }
            State::Incomplete => Lookup::Unknown,
            State::Failed => Lookup::Failed,
        }
    }

    #[inline]
    fn lookup_static(&self, key: &Key) -> Lookup {
        if self.statics.is_empty() {
            return Lookup::Unknown;
        }
        self.of_statics(key).map_or(Lookup::Unknown, Lookup::Known)
    }

    fn of_statics(&self, key: &Key) -> Option<MacAddress> {
        let wanted = (key.interface, key.address);
        let behind = self
            .statics
            .partition_point(|range| (range.interface, range.first) <= wanted);
        let range = self.statics.get(behind.checked_sub(1)?)?;
        range.holds(key).then_some(range.mac)
    }

    /// Says that a packet waits for an address that is [`Lookup::Unknown`]. False where it is not
    /// asked for, and so not worth to be waited for: requests are limited, and so is what a scan
    /// makes of entries and timers.
    pub fn want(&mut self, key: Key, now: Nanos) -> bool {
        if self.is_incomplete(&key) {
            return true;
        }
        let is_known = self.entries.contains_key(&key) || self.of_statics(&key).is_some();
        if is_known || !self.may_attempt(key.interface, now) || !self.make_room() {
            return false;
        }
        self.incomplete.push_back((key, now));
        self.incomplete_count += 1;
        self.entries.insert(key, Entry::incomplete(now));
        self.send_request(key, None, now);
        true
    }

    /// Each interface has its own allowance: a scan of one link does not silence another.
    fn may_attempt(&mut self, interface: u16, now: Nanos) -> bool {
        let at = usize::from(interface);
        if at >= self.attempts.len() {
            let rate = self.settings.attempts_per_second();
            self.attempts.resize(at + 1, Allowance::new(rate, rate));
        }
        self.attempts[at].take(now)
    }

    /// Makes room for one that never answered; false where there is none.
    fn make_room(&mut self) -> bool {
        while self.incomplete_count >= self.settings.incomplete_max()
            || self.entries.len() >= self.settings.max
        {
            let Some(oldest) = self.incomplete.pop_front() else {
                return false;
            };
            if self.waits_since(oldest) {
                self.entries.remove(&oldest.0);
                self.incomplete_count -= 1;
                self.events.push_back(Event::Displaced { key: oldest.0 });
            }
        }
        while let Some(front) = self.incomplete.front().copied()
            && !self.waits_since(front)
        {
            self.incomplete.pop_front();
        }
        true
    }

    fn waits_since(&self, (key, since): (Key, Nanos)) -> bool {
        let entry = self.entries.get(&key);
        entry.is_some_and(|entry| entry.state == State::Incomplete && entry.since == since)
    }

    /// Whether only those that somebody wants get a place, and none is kept that nobody uses.
    fn is_crowded(&self) -> bool {
        self.entries.len() >= self.settings.max - self.settings.max / 4
    }

    fn is_incomplete(&self, key: &Key) -> bool {
        let entry = self.entries.get(key);
        entry.is_some_and(|entry| entry.state == State::Incomplete)
    }

    /// Takes note of a message.
    pub fn hear(&mut self, heard: &Heard, now: Nanos) {
        let is_station = |mac: &MacAddress| !mac.is_multicast() && mac.0 != [0; 6];
        let told = heard.mac.filter(is_station);
        if (heard.mac.is_some() && told.is_none()) || self.of_statics(&heard.key).is_some() {
            return;
        }
        match heard.how {
            How::Request { of_us } => self.hear_request(heard.key, told, of_us, now),
            How::Answer {
                solicited,
                overrides,
            } => {
                let Some(known) = self.entries.get(&heard.key).copied() else {
                    // Nobody asked for it (RFC 4861 section 7.2.5).
                    return;
                };
                if let Some((mac, state)) = known.after_answer(told, solicited, overrides) {
                    self.take_over(heard.key, mac, state, now);
                }
            }
        }
    }

    /// RFC 4861 section 7.2.3; RFC 826: who is known gets its new Ethernet address, who asks for
    /// an address of this station gets an entry.
    fn hear_request(&mut self, key: Key, told: Option<MacAddress>, of_us: bool, now: Nanos) {
        let Some(mac) = told else {
            return;
        };
        match self.entries.get(&key) {
            Some(entry) if entry.has(mac) => {}
            Some(_) => self.take_over(key, mac, State::Stale, now),
            None if of_us && !self.is_crowded() => {
                self.entries
                    .insert(key, Entry::known(mac, State::Stale, now));
                self.arm(key, now.after(self.settings.forget_after));
            }
            None => {}
        }
    }

    /// An entry that is there gets an Ethernet address and a state.
    fn take_over(&mut self, key: Key, mac: MacAddress, state: State, now: Nanos) {
        let Some(entry) = self.entries.get_mut(&key) else {
            return;
        };
        let before = entry.state;
        let never = !entry.is_known();
        *entry = Entry {
            armed: entry.armed,
            ..Entry::known(mac, state, now)
        };
        if before == State::Incomplete {
            self.incomplete_count -= 1;
        }
        if never {
            self.events.push_back(Event::Resolved { key, mac });
        }
        let due = match state {
            State::Reachable => self.settings.reachable_for,
            _ => self.stale_for(),
        };
        self.arm(key, now.after(due));
    }

    /// How long a neighbour that gets no packets is remembered.
    fn stale_for(&self) -> u64 {
        match self.is_crowded() {
            true => self.settings.delay,
            false => self.settings.forget_after,
        }
    }

    #[cold]
    fn begin_delay(&mut self, key: Key, now: Nanos) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.enter(State::Delay, now);
            self.arm(key, now.after(self.settings.delay));
        }
    }

    /// The entry is to be looked at then, and not before. The timer that it has may be earlier:
    /// then it is set anew when that fires.
    fn arm(&mut self, key: Key, due: Nanos) {
        let Some(entry) = self.entries.get_mut(&key) else {
            return;
        };
        entry.due = due;
        if due < entry.armed {
            entry.armed = due;
            self.timers.push(due, key);
            if self.timers.len() > 64 + 4 * self.entries.len() {
                let armed = self.entries.iter().map(|(key, entry)| (entry.armed, *key));
                self.timers = armed.filter(|(due, _)| *due != NEVER).collect();
            }
        }
    }

    fn send_request(&mut self, key: Key, to: Option<MacAddress>, now: Nanos) {
        self.events.push_back(Event::Ask { key, to });
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.asked += 1;
        }
        self.arm(key, now.after(self.settings.ask_every));
    }

    /// What to do next; none when there is nothing to do now.
    pub fn poll(&mut self, now: Nanos) -> Option<Event> {
        if self.events.is_empty() {
            self.run_timers(now);
        }
        self.events.pop_front()
    }

    /// When [`Neighbours::poll`] should be called next.
    #[must_use]
    pub fn due(&self) -> Option<Nanos> {
        match self.events.is_empty() {
            true => self.timers.first().map(|(due, _)| due),
            false => Some(Nanos::ZERO),
        }
    }

    /// Looks at entries whose time has come, some of them.
    fn run_timers(&mut self, now: Nanos) {
        const AT_ONCE: usize = 64;
        for _ in 0..AT_ONCE {
            let Some((due, key)) = self.timers.take(now) else {
                return;
            };
            let Some(entry) = self.entries.get_mut(&key) else {
                continue;
            };
            if entry.armed != due {
                continue;
            }
            entry.armed = NEVER;
            let (state, next) = (entry.state, entry.due);
            if next > now {
                self.arm(key, next);
            } else {
                self.expire(key, state, now);
            }
        }
    }

    fn expire(&mut self, key: Key, state: State, now: Nanos) {
        match state {
            State::Reachable => self.enter(key, State::Stale, self.stale_for(), now),
            // Nobody used it for long, or it failed a while ago: the next packet asks anew.
            State::Stale | State::Failed => {
                self.entries.remove(&key);
            }
            State::Delay => {
                self.enter(key, State::Probe, self.settings.ask_every, now);
                self.probe(key, now);
            }
            State::Probe => self.probe(key, now),
            State::Incomplete => self.ask_again(key, now),
            // Its state ends when the kernel says so.
            State::Followed => {}
        }
    }

    fn enter(&mut self, key: Key, state: State, length: u64, now: Nanos) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.enter(state, now);
        }
        self.arm(key, now.after(length));
    }

    fn has_been_asked(&self, key: &Key) -> bool {
        let entry = self.entries.get(key);
        entry.is_none_or(|entry| entry.asked >= self.settings.asks)
    }

    /// Asks one that never answered, or gives it up.
    fn ask_again(&mut self, key: Key, now: Nanos) {
        if !self.has_been_asked(&key) {
            return self.send_request(key, None, now);
        }
        self.give_up(key, now);
    }

    /// One that never answered is not asked for a while.
    fn give_up(&mut self, key: Key, now: Nanos) {
        self.incomplete_count -= 1;
        self.enter(key, State::Failed, self.settings.failed_for, now);
        self.events.push_back(Event::Failed { key });
    }

    /// Asks one that is known whether it is still there. One that does not answer is forgotten,
    /// so that the next packet asks all (RFC 4861 section 7.3.3): it may have another Ethernet
    /// address by now.
    fn probe(&mut self, key: Key, now: Nanos) {
        if self.has_been_asked(&key) {
            self.entries.remove(&key);
            return;
        }
        if !self.probes.take(now) {
            return self.arm(key, now.after(self.settings.ask_every));
        }
        let to = self.entries.get(&key).map(|entry| entry.mac);
        self.send_request(key, to, now);
    }

    /// Forgets what was heard on an interface, since its link went down. Those that are asked for
    /// now go on being asked for, and static ones stay.
    pub fn forget(&mut self, interface: u16) {
        let stays = |key: &Key, entry: &Entry| {
            key.interface != interface || entry.state == State::Incomplete
        };
        // A timer without its entry fires in vain.
        self.entries.retain(|key, entry| stays(key, entry));
    }

    /// Those that are known or asked for, but for static ones: address, state, Ethernet address
    /// where there is one, and since when the state holds.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, State, Option<MacAddress>, Nanos)> {
        self.entries.iter().map(|(key, entry)| {
            let mac = entry.is_known().then_some(entry.mac);
            (key, entry.state, mac, entry.since)
        })
    }

    /// How many there are, but for static ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nobody is known but static neighbours.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
