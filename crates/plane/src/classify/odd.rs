//! Which frames of a burst are odd: no sound IP with both addresses, or carriers of other packets.

use frame::BURST_MAX;
use wire::{Parsed, TunnelPorts};

use super::is_sound_ip;

/// Frames of which one is looked for at a time that is odd or a tunnel's.
const CHUNK: usize = 16;

/// Their places in the burst, in order.
#[derive(Debug)]
pub(super) struct Odd {
    places: [u8; BURST_MAX],
    len: usize,
}

impl Odd {
    pub(super) const fn new() -> Self {
        Self {
            places: [0; BURST_MAX],
            len: 0,
        }
    }

    /// The places.
    #[inline]
    pub(super) fn places(&self) -> &[u8] {
        &self.places[..self.len]
    }

    /// Keeps those that are still odd.
    pub(super) fn retain(&mut self, mut is_odd: impl FnMut(usize) -> bool) {
        let mut left = 0;
        for at in 0..self.len {
            let place = self.places[at];
            if is_odd(usize::from(place)) {
                self.places[left] = place;
                left += 1;
            }
        }
        self.len = left;
    }

    /// Finds the frames that are odd or may carry another packet, by their destination ports and
    /// records. Either has no destination port, or that of a tunnel: a test of a whole chunk, where
    /// one of each frame cost every plain frame a nanosecond.
    #[inline(always)]
    pub(super) fn find(&mut self, ports: &TunnelPorts, dst_ports: &[u16], parsed: &[Parsed]) {
        self.len = 0;
        for (at, dst_ports) in dst_ports.chunks(CHUNK).enumerate() {
            if !ports.zero_or_known(dst_ports) {
                continue;
            }
            let first = at * CHUNK;
            for (place, parsed) in parsed.iter().enumerate().skip(first).take(CHUNK) {
                let odd = !is_sound_ip(parsed) | ports.may_carry(parsed);
                self.places[self.len % BURST_MAX] = place as u8;
                self.len += usize::from(odd);
            }
        }
    }
}
