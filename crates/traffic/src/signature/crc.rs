//! CRC-32C, eight bytes a step, by the processor's instruction or by tables.

use frame::Crc32c;

/// Castagnoli's polynomial (RFC 3720 appendix B.4), bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// For each place of a byte within eight, what it adds to the remainder.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut place = 1;
    while place < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[place - 1][byte];
            tables[place][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        place += 1;
    }
    tables
}

/// How a remainder takes in eight bytes.
pub(crate) trait Steps: Copy {
    /// The remainder behind eight more bytes, the first of them the lowest of `bytes`.
    fn step(self, remainder: u32, bytes: u64) -> u32;
}

impl Steps for Crc32c {
    #[inline(always)]
    fn step(self, remainder: u32, bytes: u64) -> u32 {
        Self::step(self, remainder, bytes)
    }
}

/// By look-ups, on any processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tables;

impl Steps for Tables {
    #[inline(always)]
    fn step(self, remainder: u32, bytes: u64) -> u32 {
        let mixed = (bytes ^ u64::from(remainder)).to_le_bytes();
        let at = |place: usize| TABLES[7 - place][usize::from(mixed[place])];
        at(0) ^ at(1) ^ at(2) ^ at(3) ^ at(4) ^ at(5) ^ at(6) ^ at(7)
    }
}

/// A remainder in the making. It begins at 0, so that leading zeros leave it as it is: a payload of
/// zeros costs nothing to cover. Its length is covered beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crc<S> {
    remainder: u32,
    steps: S,
}

impl<S: Steps> Crc<S> {
    #[inline(always)]
    pub(crate) const fn start(steps: S) -> Self {
        Self {
            remainder: 0,
            steps,
        }
    }

    /// With the eight bytes of a word behind, its highest first.
    #[inline(always)]
    pub(crate) fn word(self, word: u64) -> Self {
        Self {
            remainder: self.steps.step(self.remainder, word.swap_bytes()),
            ..self
        }
    }

    /// With any bytes behind.
    #[inline]
    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let whole = words
            .iter()
            .fold(self, |crc, word| crc.word(u64::from_be_bytes(*word)));
        let remainder = rest.iter().fold(whole.remainder, |remainder, byte| {
            (remainder >> 8) ^ TABLES[0][usize::from(remainder as u8 ^ byte)]
        });
        Self { remainder, ..whole }
    }

    #[inline(always)]
    pub(crate) const fn value(self) -> u32 {
        self.remainder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published<S: Steps>(steps: S) {
        // RFC 3720 appendix B.4: begun with ones and complemented at the end.
        let begun = Crc {
            remainder: u32::MAX,
            steps,
        };
        let standard = |bytes: &[u8]| !begun.bytes(bytes).value();
        assert_eq!(standard(&[0; 32]), 0x8a91_36aa);
        assert_eq!(standard(&[0xff; 32]), 0x62a8_ab43);
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(standard(&ascending), 0x46dd_794e);
        assert_eq!(standard(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn agrees_with_published_values() {
        published(Tables);
        match Crc32c::detect() {
            Some(instruction) => published(instruction),
            None => println!("skipped: this processor has no instruction for CRC-32C"),
        }
    }

    #[test]
    fn leading_zeros_change_nothing() {
        let start = Crc::start(Tables);
        assert_eq!(start.bytes(&[0; 1000]).value(), 0);
        let word = start.word(0x0102_0304_0506_0708);
        assert_eq!(start.bytes(&[1, 2, 3, 4, 5, 6, 7, 8]).value(), word.value());
    }
}
