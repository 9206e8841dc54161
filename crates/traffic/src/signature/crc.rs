//! CRC-32C, eight bytes a step.

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

/// A remainder in the making. It begins at 0, so that leading zeros leave it as it is: a payload of
/// zeros costs nothing to cover. Its length is covered beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crc(u32);

impl Crc {
    pub(crate) const START: Self = Self(0);

    /// With the eight bytes of a word behind, its highest first.
    #[inline(always)]
    pub(crate) fn word(self, word: u64) -> Self {
        let mixed = (word.swap_bytes() ^ u64::from(self.0)).to_le_bytes();
        let at = |place: usize| TABLES[7 - place][usize::from(mixed[place])];
        Self(at(0) ^ at(1) ^ at(2) ^ at(3) ^ at(4) ^ at(5) ^ at(6) ^ at(7))
    }

    /// With any bytes behind.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let whole = words
            .iter()
            .fold(self, |crc, word| crc.word(u64::from_be_bytes(*word)));
        rest.iter().fold(whole, |Self(crc), byte| {
            Self((crc >> 8) ^ TABLES[0][usize::from(crc as u8 ^ byte)])
        })
    }

    pub(crate) const fn value(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_published_values() {
        // RFC 3720 appendix B.4: begun with ones and complemented at the end.
        let standard = |bytes: &[u8]| !Crc(u32::MAX).bytes(bytes).value();
        assert_eq!(standard(&[0; 32]), 0x8a91_36aa);
        assert_eq!(standard(&[0xff; 32]), 0x62a8_ab43);
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(standard(&ascending), 0x46dd_794e);
        assert_eq!(standard(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn leading_zeros_change_nothing() {
        assert_eq!(Crc::START.bytes(&[0; 1000]), Crc::START);
        let word = Crc::START.word(0x0102_0304_0506_0708);
        assert_eq!(Crc::START.bytes(&[1, 2, 3, 4, 5, 6, 7, 8]), word);
    }
}
