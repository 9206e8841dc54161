//! The keys that a caller looks up soon.
//!
//! Keys of 16 bytes from memory are a quarter of a line each. Whoever goes through an array of them
//! in bursts can ask for those of a later burst before it looks one up, but only for all of them at
//! once: 16 lines and more, where a core has some two dozen places for lines that are under way,
//! and the lines of the table wait behind them. So lookups ask for them a few at a time, while they
//! answer. What lies behind a burst may be something else, or nothing; a caller that looks up one
//! array again and again then asks for the same few lines each time.

use frame::prefetch;

/// How far ahead of those that are answered keys are asked for. Networks of a routing table had in
/// bursts of 64 to 512 0.88 to 0.98 of the rate with 128, and 1.0 with 256 or 1,024 (Zen 5).
const AHEAD: usize = 512;

/// Asks for keys.
#[derive(Clone, Copy)]
pub(crate) struct KeyStream {
    first: *const u128,
    /// Into the second cache level.
    far: bool,
}

impl KeyStream {
    /// Of a burst, and what follows it.
    #[inline(always)]
    pub(crate) fn of(burst: &[u128]) -> Self {
        Self {
            first: burst.as_ptr().wrapping_add(AHEAD),
            far: prefetch::prefers_far(),
        }
    }

    /// Asks for eight keys [`AHEAD`] keys behind number `key` of the burst.
    #[inline(always)]
    pub(crate) fn ask8(self, key: usize) {
        let first = self.first.wrapping_add(key);
        let ask = |line: *const u128| match self.far {
            true => prefetch::read_far(line.cast()),
            false => prefetch::read(line.cast()),
        };
        ask(first);
        ask(first.wrapping_add(4));
    }
}
