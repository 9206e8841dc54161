//! The byte order of a capture: that of the machine that wrote it.

/// Order of the bytes of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The order of the machine this runs on: what a writer uses when it is told nothing.
    pub const NATIVE: Self = if cfg!(target_endian = "big") {
        Self::Big
    } else {
        Self::Little
    };

    /// Two bytes as an integer.
    #[inline]
    #[must_use]
    pub const fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    /// Four bytes as an integer.
    #[inline]
    #[must_use]
    pub const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// Eight bytes as an integer.
    #[inline]
    #[must_use]
    pub const fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// An integer as two bytes.
    #[inline]
    #[must_use]
    pub const fn bytes_u16(self, value: u16) -> [u8; 2] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    /// An integer as four bytes.
    #[inline]
    #[must_use]
    pub const fn bytes_u32(self, value: u32) -> [u8; 4] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    /// The two bytes at `offset`, if they are there.
    #[inline]
    pub(super) fn u16_at(self, bytes: &[u8], offset: usize) -> Option<u16> {
        Some(self.u16(*bytes.get(offset..)?.first_chunk()?))
    }

    /// The four bytes at `offset`, if they are there.
    #[inline]
    pub(super) fn u32_at(self, bytes: &[u8], offset: usize) -> Option<u32> {
        Some(self.u32(*bytes.get(offset..)?.first_chunk()?))
    }
}
