//! Flows that come and go: a window over numbers that moves on.

use table::flows::{FlowId, Sighting};
use wire::protocol;

use crate::shuffle::Seeded;

/// RSS buckets, as the engine has them.
pub(super) const BUCKETS: u16 = 128;

/// Which flows are alive, and when.
#[derive(Debug)]
pub(super) struct Population {
    /// How many packets come for.
    pub(super) live: u64,
    /// Packets between two new flows; 0 for none.
    pub(super) packets_per_new: u64,
    /// The first of the window.
    base: u64,
    packets: u64,
    seeded: Seeded,
}

/// The two ends of flow `number`, and the ports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) ports: u32,
}

impl Ends {
    pub(super) fn of(number: u64) -> Self {
        let word = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let word = (word ^ word >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self {
            src: (word >> 32) as u32,
            dst: 0xC0A8_0000 | number as u32 & 0xFFFF,
            ports: (word as u32) << 16 | 443,
        }
    }

    /// What the table is asked for.
    #[inline]
    pub(super) fn sighting(self, hash: u32) -> Sighting<u32> {
        let src = (self.src, (self.ports >> 16) as u16);
        let (id, from) = FlowId::of(src, (self.dst, self.ports as u16), protocol::UDP);
        let bucket = hash as u16 % BUCKETS;
        Sighting { id, from, bucket }
    }
}

impl Population {
    pub(super) fn new(live: u64, packets_per_new: u64, seed: u64) -> Self {
        Self {
            live,
            packets_per_new,
            base: 0,
            packets: 0,
            seeded: Seeded::new(seed),
        }
    }

    /// The flow of the next packet: any of those alive; each that is new begins with a
    /// packet of its own.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.packets += 1;
        if self.packets_per_new > 0 && self.packets.is_multiple_of(self.packets_per_new) {
            self.base += 1;
            return self.base + self.live - 1;
        }
        let draw = u128::from(self.seeded.next()) * u128::from(self.live);
        self.base + (draw >> 64) as u64
    }
}
