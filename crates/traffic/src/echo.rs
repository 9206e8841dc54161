//! Messages that come back: each has a number and a time, and each return is accounted for.

use frame::Nanos;

use crate::Histogram;
use crate::sink::{Arrival, Window};

/// Bytes of a label: number, time in ns modulo 2^48, and check, 48 bits each.
pub const LABEL_BYTES: usize = 18;
/// How far back it is known which numbers have come.
const WINDOW: usize = 1 << 20;
const MASK: u64 = (1 << 48) - 1;

/// What was sent, and what became of it. `sent` is `back` and those that have not come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EchoCounts {
    /// Messages that were labelled.
    pub sent: u64,
    /// Those that came back.
    pub back: u64,
    /// Those that came back once more.
    pub repeated: u64,
    /// Those that came back so late that it is not known any more whether they had.
    pub late: u64,
    /// What came and is none of ours.
    pub foreign: u64,
}

/// The messages of one sender.
#[derive(Clone)]
pub struct Echoes {
    key: [u64; 2],
    window: Window,
    counts: EchoCounts,
    times: Histogram,
}

impl Echoes {
    /// None yet. Who does not know `key` makes no label: it must be drawn at random.
    #[must_use]
    pub fn new(key: [u64; 2]) -> Self {
        Self {
            key,
            window: Window::new(WINDOW),
            counts: EchoCounts::default(),
            times: Histogram::new(),
        }
    }

    /// Writes the next label to the begin of a message; false where it has no room.
    #[inline]
    pub fn write(&mut self, now: Nanos, message: &mut [u8]) -> bool {
        let Some(label) = message.first_chunk_mut::<LABEL_BYTES>() else {
            return false;
        };
        let (number, time) = (self.counts.sent & MASK, now.0 & MASK);
        let fields = [number, time, self.check(number, time)];
        for (place, field) in label.chunks_exact_mut(6).zip(fields) {
            place.copy_from_slice(&field.to_be_bytes()[2..]);
        }
        self.counts.sent += 1;
        true
    }

    /// Accounts for a message that came. The time since it was sent counts once for each.
    #[inline]
    pub fn take(&mut self, now: Nanos, message: &[u8]) {
        let label = message.first_chunk::<LABEL_BYTES>();
        let Some((number, time)) = label.and_then(|label| self.read(label)) else {
            self.counts.foreign += 1;
            return;
        };
        let count = match self.window.take(number) {
            Arrival::Highest | Arrival::Below => {
                self.times.record(now.0.wrapping_sub(time) & MASK);
                &mut self.counts.back
            }
            Arrival::Duplicate => &mut self.counts.repeated,
            Arrival::Outside => &mut self.counts.late,
        };
        *count += 1;
    }

    /// Counts a message that cannot be one of ours.
    pub fn reject(&mut self) {
        self.counts.foreign += 1;
    }

    /// Number and time of a label of ours.
    fn read(&self, label: &[u8; LABEL_BYTES]) -> Option<(u64, u64)> {
        let field = |at: usize| {
            let bytes = label.get(at..at + 6).unwrap_or_default();
            bytes
                .iter()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        let (number, time) = (field(0), field(6));
        let is_ours = self.check(number, time) == field(12) && number < self.counts.sent;
        is_ours.then_some((number, time))
    }

    /// Two rounds of a multiplication with both halves of the product, by the key.
    #[inline]
    fn check(&self, number: u64, time: u64) -> u64 {
        let [first, second] = self.key;
        let round = |state: u64, word: u64| {
            let product = u128::from(state ^ word) * u128::from(second | 1);
            (product as u64 ^ (product >> 64) as u64).wrapping_add(first)
        };
        round(round(first, number << 16), time << 16 | 1) & MASK
    }

    /// What was sent, and what became of it.
    #[must_use]
    pub const fn counts(&self) -> EchoCounts {
        self.counts
    }

    /// From sending to coming back, ns, of each that came back.
    #[must_use]
    pub const fn times(&self) -> &Histogram {
        &self.times
    }
}

impl std::fmt::Debug for Echoes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Echoes")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03];

    fn message(echoes: &mut Echoes, now: u64) -> Vec<u8> {
        let mut bytes = vec![0xAB; 40];
        assert!(echoes.write(Nanos(now), &mut bytes));
        assert_eq!(bytes[LABEL_BYTES..], [0xAB; 22]);
        bytes
    }

    #[test]
    fn each_return_is_accounted_for() {
        let mut echoes = Echoes::new(KEY);
        let sent: Vec<_> = (0..10).map(|at| message(&mut echoes, at * 1000)).collect();
        for (number, times) in [(3, 1), (1, 2), (9, 1), (0, 3)] {
            for _ in 0..times {
                echoes.take(Nanos(100_000), &sent[number]);
            }
        }
        let expected = EchoCounts {
            sent: 10,
            back: 4,
            repeated: 3,
            ..EchoCounts::default()
        };
        assert_eq!(echoes.counts(), expected);
        let times = echoes.times().report();
        assert_eq!((times.count, times.min, times.max), (4, 91_000, 100_000));
    }

    #[test]
    fn what_others_made_is_foreign() {
        let (mut echoes, mut others) = (Echoes::new(KEY), Echoes::new([7, 8]));
        let own = message(&mut echoes, 5);
        let other = message(&mut others, 5);
        echoes.take(Nanos(9), &other);
        for bit in 0..8 * LABEL_BYTES {
            let mut changed = own.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            echoes.take(Nanos(9), &changed);
        }
        for len in 0..LABEL_BYTES {
            echoes.take(Nanos(9), &own[..len]);
        }
        let foreign = 1 + 8 * 18 + 18;
        let counts = echoes.counts();
        assert_eq!((counts.foreign, counts.back), (foreign, 0));
        // A number that was not sent yet, as after a restart with the same key.
        let mut again = Echoes::new(KEY);
        again.take(Nanos(9), &own);
        assert_eq!((again.counts().foreign, again.counts().back), (1, 0));
        assert!(!again.write(Nanos(1), &mut [0; LABEL_BYTES - 1]));
        assert_eq!(again.counts().sent, 0);
    }

    #[test]
    fn what_comes_after_the_window_is_late() {
        let mut echoes = Echoes::new(KEY);
        let first = message(&mut echoes, 1);
        let rest: Vec<_> = (0..WINDOW).map(|_| message(&mut echoes, 2)).collect();
        echoes.take(Nanos(9), &rest[WINDOW - 1]);
        echoes.take(Nanos(9), &first);
        let counts = echoes.counts();
        assert_eq!((counts.back, counts.late), (1, 1));
    }
}
