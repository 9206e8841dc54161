//! How stations become known: by their frames, and by what other workers tell.

use frame::PortId;

use super::entry::{self, Entry, PLACES, Sighting};
use super::{Fdb, Probe};

/// Places that a port looks at for an entry of its own to give up.
const EVICT_LOOKS: usize = 8;

/// What a frame told of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learned {
    /// The station was not known.
    New,
    /// It is where it was.
    Same,
    /// It went to this port.
    Moved {
        /// Where it was.
        from: PortId,
    },
    /// Another worker saw it elsewhere, and later.
    Outdated,
    /// There is no room for it: what was known of it stays.
    Refused,
    /// It has a static entry at another port, which stays.
    Fixed {
        /// Where it should be.
        at: PortId,
    },
}

/// The answer to [`Fdb::learn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learning {
    /// What the frame told.
    pub learned: Learned,
    /// What the other workers should be told. It counts as told: where it could not be, say so by
    /// [`Fdb::not_told`].
    pub tell: Option<Sighting>,
}

impl Learning {
    fn silent(learned: Learned) -> Self {
        let tell = None;
        Self { learned, tell }
    }
}

/// What another worker's sighting changed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It was noted, or there is no room for it.
    Taken,
    /// Something later is known; where this worker saw it, the others should be told.
    Outdated(Option<Sighting>),
}

impl Fdb {
    /// Notes that the station of `probe` sent a frame that came in by `port`.
    #[inline]
    pub fn learn(&mut self, probe: &Probe, port: PortId) -> Learning {
        let sighting = Sighting {
            key: probe.key,
            time: self.now,
            port,
            worker: self.worker,
            again: false,
        };
        let Some(slot) = self.find_fresh(probe) else {
            return self.learn_new(probe, &sighting);
        };
        let part = self.part;
        let entry = self.entry_mut(slot);
        if entry.port() != port || entry.is_static() {
            return self.learn_elsewhere(slot, &sighting);
        }
        entry.refresh(&sighting);
        let news = entry.confirm();
        if !news && entry.is_told(part) {
            return Learning::silent(Learned::Same);
        }
        // Its own, not what it knows of another's: that worker may have seen the station elsewhere
        // in the same millisecond since, and this would reach a third one behind that.
        let seen = Sighting {
            again: true,
            ..sighting
        };
        self.telling(Learned::Same, slot, seen)
    }

    /// What should have been told could not be: it is due again at the station's next frame.
    pub fn not_told(&mut self, sighting: &Sighting) {
        let (slot, part) = (self.find(&self.probe_of(sighting)), self.part);
        if let Some(slot) = slot {
            self.entry_mut(slot).set_untold(part);
        }
    }

    /// Takes over what another worker saw.
    pub fn apply(&mut self, sighting: &Sighting) -> Applied {
        let probe = self.probe_of(sighting);
        // It was told when it was seen, however long it was under way.
        let part = self.part_at(sighting.time);
        let Some(slot) = self.find_fresh(&probe) else {
            let unknown = Entry::learned(sighting, part);
            if !self.is_over(&unknown) {
                self.add(&probe, sighting, part);
            }
            return Applied::Taken;
        };
        let own = self.worker;
        let entry = self.entry_mut(slot);
        if entry.is_static() {
            return Applied::Taken;
        }
        if entry.port() == sighting.port {
            entry.confirm();
            // An older one leaves open what is still to be told of a newer one.
            if entry.gives_way_to(sighting) {
                entry.refresh(sighting);
                entry.set_told(part);
            }
            return Applied::Taken;
        }
        if entry.gives_way_to(sighting) {
            self.move_to(slot, sighting, part);
            return Applied::Taken;
        }
        let ours = entry.sighting();
        Applied::Outdated((ours.worker == own).then_some(ours))
    }

    /// The part of an age of a time near now. Parts of times that wrap would leap where those do:
    /// one in 32 stations would count as told that is not.
    fn part_at(&self, time: u32) -> u8 {
        let since = i64::from(time.wrapping_sub(self.now).cast_signed());
        entry::part_of(self.now_ms.saturating_add_signed(since), self.limits.age_ms)
    }

    fn probe_of(&self, sighting: &Sighting) -> Probe {
        Probe {
            key: sighting.key,
            hash: self.hash(sighting.key),
        }
    }

    /// The place of an entry that is not too old; one that is is removed.
    #[inline(always)]
    fn find_fresh(&mut self, probe: &Probe) -> Option<usize> {
        let slot = self.find(probe)?;
        if self.is_over(self.entry(slot)) {
            self.expire(slot);
            return None;
        }
        Some(slot)
    }

    fn telling(&mut self, learned: Learned, slot: usize, sighting: Sighting) -> Learning {
        let part = self.part;
        self.entry_mut(slot).set_told(part);
        let tell = Some(sighting);
        Learning { learned, tell }
    }

    fn learn_new(&mut self, probe: &Probe, sighting: &Sighting) -> Learning {
        match self.add(probe, sighting, self.part) {
            Some(slot) => self.telling(Learned::New, slot, *sighting),
            None => Learning::silent(Learned::Refused),
        }
    }

    /// The station's entry is at another port, or static.
    fn learn_elsewhere(&mut self, slot: usize, sighting: &Sighting) -> Learning {
        let entry = self.entry(slot);
        let from = entry.port();
        if entry.is_static() {
            if from == sighting.port {
                return Learning::silent(Learned::Same);
            }
            self.counted.refused += 1;
            return Learning::silent(Learned::Fixed { at: from });
        }
        if !entry.gives_way_to(sighting) {
            return Learning::silent(Learned::Outdated);
        }
        if !self.move_to(slot, sighting, self.part) {
            return Learning::silent(Learned::Refused);
        }
        let moved = self.entry(slot).sighting();
        self.telling(Learned::Moved { from }, slot, moved)
    }

    /// Puts an entry to the port where its station was seen; false when that port has no room.
    fn move_to(&mut self, slot: usize, sighting: &Sighting, part: u8) -> bool {
        let from = self.entry(slot).port();
        if !self.has_port_room(sighting.port) && !self.evict_of(sighting.port) {
            self.counted.refused += 1;
            return false;
        }
        // Seen twice, though at two ports: what a port takes over it does not give up at once.
        let again = Sighting {
            again: true,
            ..*sighting
        };
        *self.entry_mut(slot) = Entry::learned(&again, part);
        self.counts[from.index()] -= 1;
        self.counts[sighting.port.index()] += 1;
        self.counted.moved += 1;
        true
    }

    /// Puts a new entry in; `None` when there is no room.
    fn add(&mut self, probe: &Probe, sighting: &Sighting, part: u8) -> Option<usize> {
        let port = sighting.port;
        let has_room = self.total < self.limits.stations && self.has_port_room(port);
        let slot = (has_room || self.evict_of(port))
            .then(|| self.free_slot(probe))
            .flatten();
        let Some(slot) = slot else {
            self.counted.refused += 1;
            return None;
        };
        *self.entry_mut(slot) = Entry::learned(sighting, part);
        self.recent[port.index()].push(slot);
        self.counts[port.index()] += 1;
        self.total += 1;
        self.counted.learned += 1;
        Some(slot)
    }

    fn has_port_room(&self, port: PortId) -> bool {
        let limit = self.limits.by_port.get(port.index()).copied().unwrap_or(0);
        self.len_of(port) < limit
    }

    /// Gives up one of the port's newest entries whose station was seen once; false when none of
    /// a few is one.
    fn evict_of(&mut self, port: PortId) -> bool {
        for _ in 0..EVICT_LOOKS {
            let recent = self.recent.get_mut(port.index());
            let Some(slot) = recent.and_then(|recent| recent.pop()) else {
                return false;
            };
            let entry = self.entry(slot);
            if entry.is_once() && entry.port() == port {
                self.remove(slot);
                self.counted.evicted += 1;
                return true;
            }
        }
        false
    }

    /// A free place in one of the two lines of `probe`. If both are full, an entry of theirs goes
    /// to its own other line.
    pub(super) fn free_slot(&mut self, probe: &Probe) -> Option<usize> {
        let first = self.first(probe.hash);
        let other = self.other(probe.hash, first);
        self.free_in(first)
            .or_else(|| self.free_in(other))
            .or_else(|| self.clear_one(first))
            .or_else(|| self.clear_one(other))
    }

    /// A place of a learned entry in one of the two lines of `probe`, which is given up.
    pub(super) fn evict_for(&mut self, probe: &Probe) -> Option<usize> {
        let first = self.first(probe.hash);
        let lines = [first, self.other(probe.hash, first)];
        let mut slots = lines
            .into_iter()
            .flat_map(|line| line * PLACES..(line + 1) * PLACES);
        let slot = slots.find(|&slot| !self.entry(slot).is_static())?;
        self.remove(slot);
        self.counted.evicted += 1;
        Some(slot)
    }

    /// A free place of a line; places of entries that are too old are free.
    fn free_in(&mut self, line: usize) -> Option<usize> {
        (line * PLACES..(line + 1) * PLACES).find(|&slot| {
            let entry = self.entry(slot);
            if entry.is_used() && self.is_over(entry) {
                self.expire(slot);
            }
            !self.entry(slot).is_used()
        })
    }

    /// Moves one entry of a full line to its other line.
    fn clear_one(&mut self, line: usize) -> Option<usize> {
        (line * PLACES..(line + 1) * PLACES).find(|&slot| {
            let hash = self.hash(self.entry(slot).key());
            let to = self.free_in(self.other(hash, line));
            if let Some(to) = to {
                *self.entry_mut(to) = std::mem::take(self.entry_mut(slot));
            }
            to.is_some()
        })
    }
}
