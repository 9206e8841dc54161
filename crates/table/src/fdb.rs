//! The forwarding database of a switch: behind which port a station is, by VLAN and MAC address.
//!
//! A worker owns it: one thread writes and reads. Four entries share a cache line, and an entry
//! lies in one of two lines that a keyed hash names, so that nobody outside can fill a line. Half
//! of the places stay free, hence the first line has nearly every entry, and a lookup that hits
//! reads one line. Every call does bounded work, and nothing is allocated after `new`.
//!
//! An entry's age is compared at each lookup, which is exact. A sweep frees the places of old
//! entries: a timer wheel would need a link in each entry and move one at every sighting, where
//! the sweep reads each line a few times an age and gives the same answers.
//!
//! With several workers each has a database of its own and tells the others what it learns
//! ([`Sighting`]). Of two sightings the later wins in each of them, and of two in the same
//! millisecond that of the worker with the lower number, so that all come to the same answers.

mod entry;
mod learn;
mod listing;
// Random histories take Miri minutes, and nothing here is unsafe.
#[cfg(all(test, not(miri)))]
mod oracle;
mod recent;
#[cfg(all(test, not(miri)))]
mod tests;

use frame::{Nanos, PortId, WorkerId, prefetch};

use crate::compiled::CompileError;
use crate::memory::{Slab, zeroed};
use entry::{Entry, Line, PLACES};
use recent::Recent;

pub use entry::{Mac, Sighting};
pub use learn::{Applied, Learned, Learning};
pub use listing::{FdbEntry, LINE_ENTRIES};

/// Parts of an age in which every line is swept.
const SWEEPS: u64 = 8;
/// Lines swept in one call.
const SWEEP_MAX: u64 = 256;
/// How far the clock of another worker may be ahead, in milliseconds.
const AHEAD_MS: u32 = 60_000;

/// What an [`Fdb`] is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FdbLimits {
    /// Entries that are learned at most, on all ports together.
    pub stations: u32,
    /// Entries that are learned at most, by port number. A port without one learns nothing.
    pub by_port: Vec<u32>,
    /// An entry is forgotten when its station was not seen for so many milliseconds.
    pub age_ms: u32,
}

/// What happened to the entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FdbCounts {
    /// Stations that were new.
    pub learned: u64,
    /// Stations that went to another port.
    pub moved: u64,
    /// Entries that were too old.
    pub expired: u64,
    /// Entries that gave way to another of their port.
    pub evicted: u64,
    /// Stations that were not learned: no room, or a static entry at another port.
    pub refused: u64,
}

/// A station to look for, and where: made by [`Fdb::probe`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe {
    /// As [`Entry`] has it, marked used.
    key: u64,
    hash: u64,
}

/// Entries of port `forgotten` that are not younger than `at` are no longer believed.
#[derive(Clone, Copy, Debug, Default)]
struct Forgotten {
    at: u32,
    /// Times that the sweep has yet to come round until no such entry is left; 0: none is.
    rounds: u8,
}

/// Stations by VLAN and MAC address.
#[derive(Debug)]
pub struct Fdb {
    lines: Slab<Line>,
    key: [u64; 2],
    worker: WorkerId,
    limits: FdbLimits,
    /// Learned entries, by port.
    counts: Vec<u32>,
    total: u32,
    /// What a port learned last, by port.
    recent: Vec<Recent>,
    forgotten: Vec<Forgotten>,
    /// Ports that have something in `forgotten`.
    forgetting: u32,
    /// Now, in milliseconds that wrap and that do not, and in parts of an age.
    now: u32,
    now_ms: u64,
    part: u8,
    /// The line that is swept next, and when the sweep was last moved.
    sweep: usize,
    swept: Option<Nanos>,
    /// Nanoseconds until the next line is due.
    sweep_every: u64,
    counted: FdbCounts,
}

impl Fdb {
    /// An empty database of `worker`, whose places are chosen by `key`. The age is at least 1 ms.
    ///
    /// # Errors
    ///
    /// The memory is not there.
    pub fn new(limits: FdbLimits, key: [u64; 2], worker: WorkerId) -> Result<Self, CompileError> {
        let ports = limits.by_port.len();
        let limits = with_age(limits);
        let lines = zeroed(lines_for(limits.stations))?;
        Ok(Self {
            sweep_every: sweep_every(&limits, lines.len()),
            lines,
            key: [key[0], key[1] | 1],
            worker,
            counts: vec![0; ports],
            total: 0,
            recent: vec![Recent::default(); ports],
            forgotten: vec![Forgotten::default(); ports],
            forgetting: 0,
            limits,
            now: 0,
            now_ms: 0,
            part: 0,
            sweep: 0,
            swept: None,
            counted: FdbCounts::default(),
        })
    }

    /// Other limits from now on. The number of lines stays, so that `stations` cannot grow beyond
    /// what they hold.
    pub fn set_limits(&mut self, limits: FdbLimits) {
        let ports = limits.by_port.len().max(self.counts.len());
        let room = u32::try_from(self.lines.len() * PLACES / 2).unwrap_or(u32::MAX);
        self.counts.resize(ports, 0);
        self.recent.resize(ports, Recent::default());
        self.forgotten.resize(ports, Forgotten::default());
        self.limits = FdbLimits {
            stations: limits.stations.min(room),
            ..with_age(limits)
        };
        self.sweep_every = sweep_every(&self.limits, self.lines.len());
    }

    /// Sets the time. It is compared with that of the workers whose sightings are applied, so
    /// all of them need the same clock.
    #[inline]
    pub fn set_now(&mut self, now: Nanos) {
        self.now_ms = now.0 / 1_000_000;
        self.now = self.now_ms as u32; // comparisons wrap
        self.part = entry::part_of(self.now_ms, self.limits.age_ms);
    }

    /// Where `mac` would be in `vlan`; the first line begins to load.
    #[inline]
    #[must_use]
    pub fn probe(&self, vlan: u16, mac: &Mac) -> Probe {
        let key = entry::key_of(vlan, mac);
        let probe = Probe {
            key,
            hash: self.hash(key),
        };
        prefetch::read((&raw const self.lines[self.first(probe.hash)]).cast());
        probe
    }

    /// The port that the station is behind, if that is known and not too long ago.
    #[inline]
    #[must_use]
    pub fn lookup(&self, probe: &Probe) -> Option<PortId> {
        let entry = self.entry(self.find(probe)?);
        (!self.is_over(entry)).then_some(entry.port())
    }

    /// Puts a station that does not move and is not forgotten. A learned one gives way to it where
    /// there is no other place; false when only static ones are there.
    pub fn set_static(&mut self, vlan: u16, mac: &Mac, port: PortId) -> bool {
        let probe = self.probe(vlan, mac);
        let slot = match self.find(&probe) {
            Some(slot) => {
                self.remove(slot);
                Some(slot)
            }
            None => self.free_slot(&probe).or_else(|| self.evict_for(&probe)),
        };
        if let Some(slot) = slot {
            *self.entry_mut(slot) = Entry::fixed(probe.key, port);
        }
        slot.is_some()
    }

    /// Removes an entry, static or learned; whether there was one.
    pub fn forget(&mut self, vlan: u16, mac: &Mac) -> bool {
        let found = self.find(&self.probe(vlan, mac));
        if let Some(slot) = found {
            self.remove(slot);
        }
        found.is_some()
    }

    /// Forgets what was learned behind a port up to now. Its entries are not believed from this
    /// moment on; the sweep frees their places.
    pub fn forget_port(&mut self, port: PortId) {
        if let Some(forgotten) = self.forgotten.get_mut(port.index()) {
            self.forgetting += u32::from(forgotten.rounds == 0);
            *forgotten = Forgotten {
                at: self.now,
                // The first end of a round may come at once.
                rounds: 2,
            };
        }
    }

    /// Frees the places of entries that are too old: all of them in an eighth of the age, and a
    /// bounded number in one call.
    pub fn sweep(&mut self, now: Nanos) {
        let swept = *self.swept.get_or_insert(now);
        // Most calls end here.
        if now.since(swept) < self.sweep_every {
            return;
        }
        let lines = self.lines.len() as u64;
        let period = sweep_period(&self.limits);
        let due = u128::from(now.since(swept)) * u128::from(lines) / u128::from(period);
        let most = SWEEP_MAX.min(lines);
        let count = due.min(u128::from(most)) as u64; // at most `most`
        self.swept = Some(match count == most {
            true => now,
            // What is left of a line counts next time.
            false => swept.after((count * period).div_ceil(lines)),
        });
        for _ in 0..count {
            self.sweep_line();
        }
    }

    fn sweep_line(&mut self) {
        for place in 0..PLACES {
            let slot = self.sweep * PLACES + place;
            if self.entry(slot).is_used() && self.is_over(self.entry(slot)) {
                self.expire(slot);
            }
        }
        self.sweep += 1;
        if self.sweep == self.lines.len() {
            self.sweep = 0;
            self.end_round();
        }
    }

    /// Ports whose forgotten entries are all gone need no comparison any more.
    fn end_round(&mut self) {
        for forgotten in self.forgotten.iter_mut().filter(|one| one.rounds > 0) {
            forgotten.rounds -= 1;
            self.forgetting -= u32::from(forgotten.rounds == 0);
        }
    }

    /// What happened so far.
    #[must_use]
    pub fn counts(&self) -> FdbCounts {
        self.counted
    }

    /// Learned entries that take up room, on all ports.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.total
    }

    /// Whether nothing is learned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Learned entries of a port that take up room.
    #[must_use]
    pub fn len_of(&self, port: PortId) -> u32 {
        self.counts.get(port.index()).copied().unwrap_or(0)
    }

    /// Bytes of its lines.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }

    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        let [a, b] = self.key;
        fold(fold(key ^ a, b) ^ b.rotate_left(32), a | 1)
    }

    #[inline(always)]
    fn first(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.lines.len() - 1)
    }

    /// The other line of an entry that is in `line`: an odd step away, so that it is another one.
    #[inline(always)]
    fn other(&self, hash: u64, line: usize) -> usize {
        (line ^ (hash as u32 as usize | 1)) & (self.lines.len() - 1)
    }

    /// The place of the entry that `probe` looks for.
    #[inline(always)]
    fn find(&self, probe: &Probe) -> Option<usize> {
        let first = self.first(probe.hash);
        let in_line = |line: usize| Some(line * PLACES + self.lines[line].place_of(probe.key)?);
        in_line(first).or_else(|| in_line(self.other(probe.hash, first)))
    }

    #[inline(always)]
    fn entry(&self, slot: usize) -> &Entry {
        &self.lines[slot / PLACES].0[slot % PLACES]
    }

    #[inline(always)]
    fn entry_mut(&mut self, slot: usize) -> &mut Entry {
        &mut self.lines[slot / PLACES].0[slot % PLACES]
    }

    /// Whether a used entry is not to be believed any more.
    #[inline(always)]
    fn is_over(&self, entry: &Entry) -> bool {
        if entry.is_static() {
            return false;
        }
        let elapsed = self.now.wrapping_sub(entry.time);
        let too_old = elapsed >= self.limits.age_ms && elapsed <= u32::MAX - AHEAD_MS;
        too_old || self.forgetting > 0 && self.is_forgotten(entry)
    }

    #[cold]
    fn is_forgotten(&self, entry: &Entry) -> bool {
        self.forgotten[entry.port().index()].rounds > 0
            && !entry::is_later(entry.time, self.forgotten[entry.port().index()].at)
    }

    fn expire(&mut self, slot: usize) {
        self.remove(slot);
        self.counted.expired += 1;
    }

    fn remove(&mut self, slot: usize) {
        let entry = std::mem::take(self.entry_mut(slot));
        if entry.is_used() && !entry.is_static() {
            self.counts[entry.port().index()] -= 1;
            self.total -= 1;
        }
    }
}

/// An age of 0 would be none.
fn with_age(limits: FdbLimits) -> FdbLimits {
    FdbLimits {
        age_ms: limits.age_ms.max(1),
        ..limits
    }
}

/// Nanoseconds in which all lines are swept.
fn sweep_period(limits: &FdbLimits) -> u64 {
    u64::from(limits.age_ms) * 1_000_000 / SWEEPS
}

fn sweep_every(limits: &FdbLimits, lines: usize) -> u64 {
    sweep_period(limits).div_ceil(lines as u64)
}

/// Twice the places that so many entries need, in a power of two of lines.
fn lines_for(stations: u32) -> usize {
    (stations as usize * 2)
        .div_ceil(PLACES)
        .next_power_of_two()
        .max(2)
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
