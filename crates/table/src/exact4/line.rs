//! What one line holds.
//!
//! A place without an address repeats the address of place 0; a line without any holds a
//! remainder that no address of the line has. So a compare needs no count. A line that did not
//! take all its addresses has place 0 above place 1; every other line has them in order.

use crate::simd::Lanes;

/// A 64-byte line: all places are compared at once.
pub(crate) trait Line: Copy + zerocopy::FromZeros + Send + Sync + 'static {
    /// Addresses that fit.
    const PLACES: usize;
    /// Addresses a line holds on average: what overflows goes to a stash, so this trades memory
    /// against the few lookups that need it.
    const FILL: usize;
    /// Fewest lines for which remainders are unambiguous.
    const LINES_MIN: usize;

    /// Where `place` stands in the line: bit `i` is place `i`.
    fn find<S: Lanes>(&self, lanes: S, place: u32) -> u32;
    /// True when an address of this line may lie in the stash.
    fn overflowed(&self) -> bool;
    /// A line whose places `0..places.len()` hold `places`, in this order; the rest repeats the
    /// first.
    fn holding(places: &[u32]) -> Self;
    /// What is compared, of a place.
    fn remainder(place: u32) -> u32;
}

/// 32 places of 16 bits.
pub(crate) type Narrow = [u16; 32];
/// 16 places of 32 bits.
pub(crate) type Wide = [u32; 16];

impl Line for Narrow {
    const PLACES: usize = 32;
    // 18 of 32: by the Poisson distribution one line in about 1,000 overflows, by an address or
    // two, and a miss seldom pays a search of the stash.
    const FILL: usize = 18;
    // A line spans at most 65,535 places, so that one 16-bit remainder stays free in each.
    const LINES_MIN: usize = 65_538;

    #[inline(always)]
    fn find<S: Lanes>(&self, lanes: S, place: u32) -> u32 {
        lanes.equal16(self, place as u16)
    }
    #[inline(always)]
    fn overflowed(&self) -> bool {
        self[0] > self[1]
    }
    fn holding(places: &[u32]) -> Self {
        let mut line = [places[0] as u16; 32];
        for (slot, &place) in line.iter_mut().zip(places) {
            *slot = place as u16;
        }
        line
    }
    fn remainder(place: u32) -> u32 {
        place & 0xffff
    }
}

impl Line for Wide {
    const PLACES: usize = 16;
    const FILL: usize = 8;
    const LINES_MIN: usize = 1;

    #[inline(always)]
    fn find<S: Lanes>(&self, lanes: S, place: u32) -> u32 {
        lanes.equal32(self, place)
    }
    #[inline(always)]
    fn overflowed(&self) -> bool {
        self[0] > self[1]
    }
    fn holding(places: &[u32]) -> Self {
        let mut line = [places[0]; 16];
        for (slot, &place) in line.iter_mut().zip(places) {
            *slot = place;
        }
        line
    }
    fn remainder(place: u32) -> u32 {
        place
    }
}
