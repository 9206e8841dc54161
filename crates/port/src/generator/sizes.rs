//! Sizes of generated frames.

use std::fmt;

use crate::SpecError;
use crate::random::{Random, scale};

/// Bytes of the frame check sequence: part of the sizes a user gives, not of frames in memory.
pub(super) const FCS_BYTES: u16 = 4;
/// The shortest Ethernet frame with FCS.
const SIZE_MIN: u16 = 64;
/// The largest jumbo frame of common switches, with FCS.
const SIZE_MAX: u16 = 9_216;

/// The simple Internet mix: 7 of 64 bytes to 4 of 570 to 1 of 1518, as RFC 6985 appendix A and
/// FD.io CSIT have it; 353.8 bytes on average.
const IMIX: [u16; 12] = [64, 64, 64, 64, 64, 64, 64, 570, 570, 570, 570, 1518];

/// Ethernet sizes with FCS: 64 means 60 bytes in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizes {
    /// All the same.
    Fixed(u16),
    /// Evenly from the first to the second.
    Range(u16, u16),
    /// 7 of 64 bytes to 4 of 570 to 1 of 1518.
    Imix,
}

impl Sizes {
    pub(super) fn parse(text: &str) -> Result<Self, SpecError> {
        let size = |text: &str| {
            text.parse()
                .ok()
                .filter(|size| (SIZE_MIN..=SIZE_MAX).contains(size))
        };
        let sizes = match text.split_once('-') {
            _ if text == "imix" => Some(Self::Imix),
            None => size(text).map(Self::Fixed),
            Some((first, last)) => match (size(first), size(last)) {
                (Some(first), Some(last)) if first <= last => Some(Self::Range(first, last)),
                _ => None,
            },
        };
        sizes.ok_or_else(|| {
            let wanted = format!(
                "Ethernet sizes with FCS from {SIZE_MIN} to {SIZE_MAX}: 64, 64-1518, or imix"
            );
            SpecError::value("size", text, &wanted)
        })
    }

    /// Whether the sizes are such as [`Self::parse`] gives.
    pub(super) fn is_legal(self) -> bool {
        let legal = SIZE_MIN..=SIZE_MAX;
        match self {
            Self::Fixed(size) => legal.contains(&size),
            Self::Range(first, last) => {
                first <= last && legal.contains(&first) && legal.contains(&last)
            }
            Self::Imix => true,
        }
    }

    /// Bytes in memory of the next frame, without FCS.
    #[inline(always)]
    pub(super) fn draw(self, random: &mut Random) -> u16 {
        let size = match self {
            Self::Fixed(size) => size,
            Self::Range(first, last) => first + random.below(u64::from(last - first) + 1) as u16,
            Self::Imix => IMIX[scale(random.next() >> 32, IMIX.len() as u64) as usize],
        };
        size - FCS_BYTES
    }

    /// Bytes in memory of the longest frame.
    pub(super) const fn frame_bytes_max(self) -> u16 {
        match self {
            Self::Fixed(size) | Self::Range(_, size) => size - FCS_BYTES,
            Self::Imix => 1518 - FCS_BYTES,
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(size) => write!(f, "{size}"),
            Self::Range(first, last) => write!(f, "{first}-{last}"),
            Self::Imix => f.write_str("imix"),
        }
    }
}
