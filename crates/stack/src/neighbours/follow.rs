//! Neighbours that the kernel finds, and tells of.

use frame::Nanos;
use wire::MacAddress;

use super::entry::{Entry, State};
use super::{Event, Key, Neighbours};

/// What the kernel told of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Its Ethernet address, until something else is told.
    Known(MacAddress),
    /// It does not answer.
    Failed,
    /// The kernel does not know it any more.
    Gone,
}

impl Neighbours {
    /// Takes over what the kernel told of a neighbour. Static neighbours stay as they are, and one
    /// for whom there is no room is asked for when somebody wants it.
    pub fn follow(&mut self, key: Key, told: Told, now: Nanos) {
        match told {
            Told::Known(mac) => self.follow_known(key, mac, now),
            Told::Failed => self.follow_failed(key, now),
            Told::Gone => {
                // One that is asked for goes on being asked for: the kernel may be asked anew.
                let is_known = |entry: &Entry| entry.state == State::Followed;
                if self.entries.get(&key).is_some_and(is_known) {
                    self.entries.remove(&key);
                }
            }
        }
    }

    fn follow_known(&mut self, key: Key, mac: MacAddress, now: Nanos) {
        let Some(entry) = self.entries.get_mut(&key) else {
            if self.entries.len() < self.settings.max && self.of_statics(&key).is_none() {
                let entry = Entry::known(mac, State::Followed, now);
                self.entries.insert(key, entry);
            }
            return;
        };
        let (before, was_known) = (entry.state, entry.is_known());
        entry.mac = mac;
        entry.enter(State::Followed, now);
        if before == State::Incomplete {
            self.incomplete_count -= 1;
        }
        if !was_known {
            self.events.push_back(Event::Resolved { key, mac });
        }
    }

    /// What waits for one that the kernel cannot find is given up, and so is what comes in the next
    /// seconds.
    fn follow_failed(&mut self, key: Key, now: Nanos) {
        let Some(entry) = self.entries.get(&key) else {
            return;
        };
        match entry.state {
            State::Incomplete => self.give_up(key, now),
            State::Failed => {}
            _ => {
                self.entries.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::neighbours::{Lookup, NeighbourSettings};

    const MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);
    const OTHER: MacAddress = MacAddress([2, 0, 0, 0, 0, 8]);

    fn key(last: u8) -> Key {
        Key {
            interface: 3,
            address: IpAddr::from([10, 0, 0, last]),
        }
    }

    fn neighbours(max: usize) -> Neighbours {
        let settings = NeighbourSettings {
            max,
            ..NeighbourSettings::default()
        };
        Neighbours::new(settings, Vec::new(), [1, 2])
    }

    fn seconds(number: u64) -> Nanos {
        Nanos(number * 1_000_000_000)
    }

    /// Each row: what is told, and what a lookup has then, where the neighbour was unknown, was
    /// wanted, or was known.
    #[test]
    fn what_is_told_holds_until_something_else_is() {
        for (told, unknown, wanted, known) in [
            (
                Told::Known(OTHER),
                Lookup::Known(OTHER),
                Lookup::Known(OTHER),
                Lookup::Known(OTHER),
            ),
            (
                Told::Failed,
                Lookup::Unknown,
                Lookup::Failed,
                Lookup::Unknown,
            ),
            (
                Told::Gone,
                Lookup::Unknown,
                Lookup::Unknown,
                Lookup::Unknown,
            ),
        ] {
            let mut all = neighbours(8);
            assert!(all.want(key(2), seconds(1)));
            all.follow(key(3), Told::Known(MAC), seconds(1));
            for last in 1..=3 {
                all.follow(key(last), told, seconds(1));
            }
            let found = [1, 2, 3].map(|last| all.lookup(&key(last), seconds(1)));
            assert_eq!(found, [unknown, wanted, known], "{told:?}");
        }
    }

    #[test]
    fn one_that_is_followed_is_never_asked_and_never_forgotten() {
        let mut all = neighbours(8);
        all.follow(key(1), Told::Known(MAC), seconds(1));
        for hours in 0..100 {
            let now = seconds(hours * 3600);
            assert_eq!(all.lookup(&key(1), now), Lookup::Known(MAC));
            assert_eq!(all.poll(now), None);
        }
    }

    #[test]
    fn who_waits_is_let_go_once_the_kernel_knows() {
        for (told, event) in [
            (
                Told::Known(MAC),
                Event::Resolved {
                    key: key(1),
                    mac: MAC,
                },
            ),
            (Told::Failed, Event::Failed { key: key(1) }),
        ] {
            let mut all = neighbours(8);
            assert!(all.want(key(1), seconds(1)));
            assert!(matches!(all.poll(seconds(1)), Some(Event::Ask { .. })));
            all.follow(key(1), told, seconds(1));
            assert_eq!(all.poll(seconds(1)), Some(event));
            // Timers of the time before change nothing.
            for second in 2..10 {
                assert_eq!(all.poll(seconds(second)), None);
            }
        }
    }

    #[test]
    fn no_more_are_known_than_there_is_room_for() {
        let mut all = neighbours(8);
        for last in 0..200 {
            all.follow(key(last), Told::Known(MAC), seconds(1));
        }
        assert_eq!(all.len(), 8);
        all.follow(key(0), Told::Gone, seconds(1));
        all.follow(key(199), Told::Known(MAC), seconds(1));
        assert_eq!(all.lookup(&key(199), seconds(1)), Lookup::Known(MAC));
    }
}
