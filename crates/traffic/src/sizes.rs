//! Sizes of test frames.

use std::fmt;

use crate::random::{Random, scale};
use crate::{FCS_BYTES, RecipeError};

/// The shortest Ethernet frame with FCS.
const SIZE_MIN: u16 = 64;
/// The largest jumbo frame of common switches, with FCS.
const SIZE_MAX: u16 = 9_216;
/// Most parts of the weights of a list, their common divisor taken out: how long the table is that
/// a size is drawn from.
const PARTS_MAX: u32 = 4_096;

/// The simple Internet mix: 7 of 64 bytes to 4 of 570 to 1 of 1518, as RFC 6985 appendix A and
/// FD.io CSIT have it; 353.8 bytes on average.
const IMIX: [(u16, u32); 3] = [(64, 7), (570, 4), (1518, 1)];

/// The same, each as often as its weight.
const IMIX_PARTS: [u16; 12] = [64, 64, 64, 64, 64, 64, 64, 570, 570, 570, 570, 1518];

/// Ethernet sizes with FCS: 64 means 60 bytes in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// All the same.
    Fixed(u16),
    /// Evenly from the first to the second.
    Range(u16, u16),
    /// 7 of 64 bytes to 4 of 570 to 1 of 1518.
    Imix,
    /// Sizes and how often each comes beside the others.
    Weighted(Vec<(u16, u32)>),
}

impl Sizes {
    /// Reads `64`, `64-1518`, `imix`, or sizes with their weights: `64:7+570:4+1518:1`, where a
    /// weight left out is 1.
    ///
    /// # Errors
    /// A sentence, for anything else and for sizes below 64 or above 9216.
    pub fn parse(text: &str) -> Result<Self, RecipeError> {
        let sizes = match text.split_once('-') {
            _ if text == "imix" => Some(Self::Imix),
            Some((first, last)) => first
                .parse()
                .ok()
                .zip(last.parse().ok())
                .map(|(first, last)| Self::Range(first, last)),
            None => text
                .parse()
                .ok()
                .map(Self::Fixed)
                .or_else(|| weighted(text)),
        };
        sizes.filter(Self::is_legal).ok_or_else(|| {
            let wanted = format!(
                "Ethernet sizes with FCS from {SIZE_MIN} to {SIZE_MAX}: 64, 64-1518, imix, or \
                 with weights, 64:7+1518:1, that sum to at most {PARTS_MAX}"
            );
            RecipeError::value("size", text, &wanted)
        })
    }

    /// Whether the sizes are such as [`Self::parse`] gives.
    #[must_use]
    pub fn is_legal(&self) -> bool {
        let legal = SIZE_MIN..=SIZE_MAX;
        match self {
            Self::Fixed(size) => legal.contains(size),
            Self::Range(first, last) => {
                first <= last && legal.contains(first) && legal.contains(last)
            }
            Self::Imix => true,
            Self::Weighted(list) => {
                let parts = list
                    .iter()
                    .map(|&(_, weight)| u64::from(weight))
                    .sum::<u64>();
                list.iter()
                    .all(|(size, weight)| legal.contains(size) && *weight > 0)
                    && (1..=u64::from(PARTS_MAX) * u64::from(divisor(list))).contains(&parts)
            }
        }
    }

    /// Bytes in memory of the shortest frame, without FCS.
    #[must_use]
    pub fn frame_bytes_min(&self) -> usize {
        let size = match self {
            Self::Fixed(size) | Self::Range(size, _) => *size,
            Self::Imix => IMIX[0].0,
            Self::Weighted(list) => list.iter().map(|&(size, _)| size).min().unwrap_or(SIZE_MIN),
        };
        usize::from(size) - FCS_BYTES
    }

    /// Bytes in memory of the longest frame.
    #[must_use]
    pub fn frame_bytes_max(&self) -> usize {
        let size = match self {
            Self::Fixed(size) | Self::Range(_, size) => *size,
            Self::Imix => IMIX[2].0,
            Self::Weighted(list) => list.iter().map(|&(size, _)| size).max().unwrap_or(SIZE_MIN),
        };
        usize::from(size) - FCS_BYTES
    }

    /// Bytes in memory of a frame on average.
    #[must_use]
    pub fn frame_bytes_mean(&self) -> f64 {
        let size = match self {
            Self::Fixed(size) => f64::from(*size),
            Self::Range(first, last) => f64::midpoint(f64::from(*first), f64::from(*last)),
            Self::Imix => mean(&IMIX),
            Self::Weighted(list) => mean(list),
        };
        size - FCS_BYTES as f64
    }
}

fn mean(list: &[(u16, u32)]) -> f64 {
    let bytes: f64 = list
        .iter()
        .map(|&(size, weight)| f64::from(size) * f64::from(weight))
        .sum();
    bytes
        / list
            .iter()
            .map(|&(_, weight)| f64::from(weight))
            .sum::<f64>()
}

fn weighted(text: &str) -> Option<Sizes> {
    let entry = |part: &str| {
        let (size, weight) = part.split_once(':').unwrap_or((part, "1"));
        Some((size.parse().ok()?, weight.parse().ok()?))
    };
    text.split(['+', ','])
        .map(entry)
        .collect::<Option<_>>()
        .map(Sizes::Weighted)
}

/// The greatest common divisor of the weights; 1 where there is none.
fn divisor(list: &[(u16, u32)]) -> u32 {
    let gcd = |mut a: u32, mut b: u32| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    list.iter()
        .fold(0, |divisor, &(_, weight)| gcd(divisor, weight))
        .max(1)
}

/// Draws sizes.
pub(crate) enum SizeDraws {
    Fixed(u16),
    Even {
        first: u16,
        count: u16,
    },
    /// Apart from other tables: one in memory took 7 % more of the time of such frames.
    Imix,
    Table(Vec<u16>),
}

impl SizeDraws {
    /// Of legal sizes; each is drawn as often as its weight says, exactly.
    pub(crate) fn new(sizes: &Sizes) -> Self {
        let list: &[(u16, u32)] = match sizes {
            Sizes::Fixed(size) => return Self::Fixed(*size),
            Sizes::Range(first, last) => {
                return Self::Even {
                    first: *first,
                    count: last - first + 1,
                };
            }
            Sizes::Imix => return Self::Imix,
            Sizes::Weighted(list) => list,
        };
        let divisor = divisor(list);
        let repeated = |&(size, weight): &(u16, u32)| {
            std::iter::repeat_n(size, (weight / divisor).min(PARTS_MAX) as usize)
        };
        Self::Table(list.iter().flat_map(repeated).collect())
    }

    /// Bytes in memory of the next frame, without FCS.
    #[inline(always)]
    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let size = match self {
            Self::Fixed(size) => *size,
            Self::Even { first, count } => first + random.below((*count).into()) as u16,
            Self::Imix => IMIX_PARTS[scale(random.next() >> 32, 12) as usize],
            Self::Table(table) => {
                let index = scale(random.next() >> 32, table.len() as u64) as usize;
                table.get(index).copied().unwrap_or(SIZE_MIN)
            }
        };
        usize::from(size) - FCS_BYTES
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(size) => write!(f, "{size}"),
            Self::Range(first, last) => write!(f, "{first}-{last}"),
            Self::Imix => f.write_str("imix"),
            Self::Weighted(list) => list.iter().enumerate().try_for_each(|(index, part)| {
                let plus = if index == 0 { "" } else { "+" };
                write!(f, "{plus}{}:{}", part.0, part.1)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each size and how often it was drawn, and on average the mean.
    fn drawn(sizes: &Sizes) -> Vec<(usize, usize)> {
        let draws = SizeDraws::new(sizes);
        let mut random = Random::new(9, 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..120_000 {
            *counts.entry(draws.draw(&mut random)).or_default() += 1;
        }
        let bytes: usize = counts.iter().map(|(size, count)| size * count).sum();
        let mean = bytes as f64 / 120_000.0;
        assert!(
            (mean / sizes.frame_bytes_mean() - 1.0).abs() < 0.02,
            "{sizes}"
        );
        let ends = (sizes.frame_bytes_min(), sizes.frame_bytes_max());
        let first_and_last = counts.first_key_value().zip(counts.last_key_value());
        assert_eq!(
            first_and_last.map(|(first, last)| (*first.0, *last.0)),
            Some(ends)
        );
        counts.into_iter().collect()
    }

    #[test]
    fn weights_are_kept() {
        let imix = drawn(&Sizes::Imix);
        let weighted = drawn(&Sizes::Weighted(
            IMIX.map(|(size, weight)| (size, 1_000 * weight)).into(),
        ));
        for counts in [imix, weighted] {
            for ((size, count), (wanted, parts)) in counts.into_iter().zip(IMIX) {
                assert_eq!(size + FCS_BYTES, usize::from(wanted));
                assert!(
                    count.abs_diff(10_000 * parts as usize) < 1_000,
                    "{size}: {count}"
                );
            }
        }
        assert_eq!(drawn(&Sizes::Fixed(9_018)), [(9_014, 120_000)]);
        assert_eq!(drawn(&Sizes::Range(64, 163)).len(), 100);
    }

    #[test]
    fn sizes_are_read_and_written() {
        for text in ["64", "64-1518", "imix", "64:7+570:4+1518:1"] {
            assert_eq!(Sizes::parse(text).unwrap().to_string(), text);
        }
        let list = Sizes::Weighted(vec![(64, 1), (128, 1)]);
        assert_eq!(Sizes::parse("64,128"), Ok(list));
    }
}
