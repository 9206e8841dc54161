//! One station in 16 bytes, four of them in a line, and what workers tell each other of one.

use frame::{PortId, WorkerId};
use zerocopy::FromZeros;

/// A station's address.
pub type Mac = [u8; 6];

/// Entries of a line.
pub(super) const PLACES: usize = 4;
/// Parts of an age, to say how long ago a station was told to other workers.
const PARTS: u32 = 64;
/// A station is told again after so many of these parts: an eighth.
const TOLD_PARTS: u8 = 8;

const VLAN_SHIFT: u32 = 48;
const USED: u64 = 1 << 60;
const STATIC: u64 = 1 << 61;
/// Its station was seen once only.
const ONCE: u64 = 1 << 62;
/// What tells entries apart.
const KEY: u64 = USED | (USED - 1);

/// The key of a station, marked used.
#[inline(always)]
pub(super) fn key_of(vlan: u16, mac: &Mac) -> u64 {
    let [a, b, c, d, e, f] = *mac;
    let address = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
    USED | u64::from(vlan & 0xFFF) << VLAN_SHIFT | address
}

/// The part of an age that a time is in, in milliseconds that do not wrap; parts do.
#[inline(always)]
pub(super) fn part_of(time_ms: u64, age_ms: u32) -> u8 {
    (time_ms / u64::from((age_ms / PARTS).max(1))) as u8
}

/// Whether a time in milliseconds is after another; they wrap.
#[inline(always)]
pub(super) fn is_later(time: u32, than: u32) -> bool {
    time.wrapping_sub(than).cast_signed() > 0
}

/// That a worker saw a station behind a port. The later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// VLAN and address, as an entry has them.
    pub(super) key: u64,
    /// When, in milliseconds that wrap.
    pub(super) time: u32,
    /// Where.
    pub(super) port: PortId,
    /// Who saw it.
    pub(super) worker: WorkerId,
    /// It was seen before.
    pub(super) again: bool,
}

impl Sighting {
    /// The VLAN of the station.
    #[must_use]
    pub fn vlan(&self) -> u16 {
        vlan_of(self.key)
    }

    /// The address of the station.
    #[must_use]
    pub fn mac(&self) -> Mac {
        mac_of(self.key)
    }

    /// The port that it was seen at.
    #[must_use]
    pub fn port(&self) -> PortId {
        self.port
    }
}

/// A station as it lies in a line.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
#[repr(C)]
pub(super) struct Entry {
    key: u64,
    /// When it was seen last, in milliseconds that wrap.
    pub(super) time: u32,
    /// Who saw it then.
    pub(super) worker: u16,
    port: u8,
    /// The part of an age in which it was last told to other workers.
    told: u8,
}

const _: () = assert!(size_of::<Line>() == 64, "a line of the cache");

impl Entry {
    /// A static one.
    pub(super) fn fixed(key: u64, port: PortId) -> Self {
        Self {
            key: key | STATIC,
            port: port.0,
            ..Self::default()
        }
    }

    /// One that is new, told to other workers in `part`.
    pub(super) fn learned(sighting: &Sighting, part: u8) -> Self {
        Self {
            key: sighting.key | if sighting.again { 0 } else { ONCE },
            time: sighting.time,
            worker: sighting.worker.0,
            port: sighting.port.0,
            told: part,
        }
    }

    #[inline(always)]
    pub(super) fn is_used(&self) -> bool {
        self.key != 0
    }

    #[inline(always)]
    pub(super) fn is_static(&self) -> bool {
        self.key & STATIC != 0
    }

    #[inline(always)]
    pub(super) fn is_once(&self) -> bool {
        self.key & ONCE != 0
    }

    /// Its key, as probes have it.
    #[inline(always)]
    pub(super) fn key(&self) -> u64 {
        self.key & KEY
    }

    #[inline(always)]
    pub(super) fn port(&self) -> PortId {
        PortId(self.port)
    }

    pub(super) fn vlan(&self) -> u16 {
        vlan_of(self.key)
    }

    pub(super) fn mac(&self) -> Mac {
        mac_of(self.key)
    }

    /// What it says, to be told to other workers.
    pub(super) fn sighting(&self) -> Sighting {
        Sighting {
            key: self.key(),
            time: self.time,
            port: self.port(),
            worker: WorkerId(self.worker),
            again: !self.is_once(),
        }
    }

    /// Whether a sighting counts more than what is known: it is later, or at the same time by this
    /// worker or one with a lower number.
    #[inline(always)]
    pub(super) fn gives_way_to(&self, sighting: &Sighting) -> bool {
        match sighting.time == self.time {
            true => sighting.worker.0 <= self.worker,
            false => is_later(sighting.time, self.time),
        }
    }

    /// Notes when and by whom it was last seen, if that is later.
    #[inline(always)]
    pub(super) fn refresh(&mut self, sighting: &Sighting) {
        if self.gives_way_to(sighting) {
            self.time = sighting.time;
            self.worker = sighting.worker.0;
        }
    }

    /// Its station was seen more than once; whether that is news.
    #[inline(always)]
    pub(super) fn confirm(&mut self) -> bool {
        let news = self.is_once();
        self.key &= !ONCE;
        news
    }

    #[inline(always)]
    pub(super) fn is_told(&self, part: u8) -> bool {
        part.wrapping_sub(self.told) < TOLD_PARTS
    }

    #[inline(always)]
    pub(super) fn set_told(&mut self, part: u8) {
        self.told = part;
    }

    /// It is to be told at the next sighting.
    pub(super) fn set_untold(&mut self, part: u8) {
        self.told = part.wrapping_sub(TOLD_PARTS);
    }
}

fn vlan_of(key: u64) -> u16 {
    (key >> VLAN_SHIFT & 0xFFF) as u16
}

fn mac_of(key: u64) -> Mac {
    let [_, _, a, b, c, d, e, f] = key.to_be_bytes();
    [a, b, c, d, e, f]
}

/// Entries that are found together.
#[derive(Clone, Copy, Debug, FromZeros)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [Entry; PLACES]);

impl Line {
    #[inline(always)]
    pub(super) fn place_of(&self, key: u64) -> Option<usize> {
        self.0.iter().position(|entry| entry.key() == key)
    }
}
